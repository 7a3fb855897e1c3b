use becalm_engine::Time;

use crate::network::link::Rate;
use crate::network::topology::Topology;

/// Two switches connected by one link, the smallest network in which congestion spreads.
///
/// Hosts `A1`..`A<remote>` and `AV` are on switch `A`. Hosts `B1`..`B<local>`, `BC` (the hot destination) and
/// `BV` (the victim's destination) are on switch `B`.
#[derive(Clone, Copy, Debug)]
pub struct DumbbellSpec {
    /// Number of hosts `A1`, `A2`, ... on switch `A`.
    pub remote: u32,
    /// Number of hosts `B1`, `B2`, ... on switch `B`.
    pub local: u32,
    /// Rate of every link.
    pub rate: Rate,
    /// Propagation delay of every link.
    pub delay: Time,
}

impl Topology {
    /// Generates a dumbbell.
    pub fn dumbbell(spec: &DumbbellSpec) -> Topology {
        let mut topology = Topology::default();
        let a = topology.add_switch("A");
        let b = topology.add_switch("B");
        topology.connect(a, b, spec.rate, spec.delay);
        let on_a = (1..=spec.remote).map(|i| (a, format!("A{i}"))).chain([(a, "AV".to_string())]);
        let on_b = (1..=spec.local).map(|i| (b, format!("B{i}"))).chain([(b, "BC".to_string()), (b, "BV".to_string())]);
        for (switch, name) in on_a.chain(on_b) {
            let host = topology.add_host(name);
            topology.connect(host, switch, spec.rate, spec.delay);
        }
        topology
    }
}
