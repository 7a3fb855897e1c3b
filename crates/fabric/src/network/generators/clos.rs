use becalm_engine::Time;

use crate::network::link::Rate;
use crate::network::topology::Topology;

/// A two-level folded Clos network. Every leaf switch is connected to every spine switch.
///
/// Hosts are `H0`, `H1`, ..., numbered leaf by leaf. Switches are `leaf0`, ... and `spine0`, ...
#[derive(Clone, Copy, Debug)]
pub struct ClosSpec {
    /// Number of leaf switches.
    pub leaves: u32,
    /// Number of spine switches.
    pub spines: u32,
    /// Number of hosts per leaf.
    pub hosts_per_leaf: u32,
    /// Rate of every link.
    pub rate: Rate,
    /// Propagation delay of every link.
    pub delay: Time,
}

impl Topology {
    /// Generates a folded Clos network.
    pub fn clos(spec: &ClosSpec) -> Topology {
        let mut topology = Topology::default();
        let leaves: Vec<_> = (0..spec.leaves).map(|i| topology.add_switch(format!("leaf{i}"))).collect();
        let spines: Vec<_> = (0..spec.spines).map(|i| topology.add_switch(format!("spine{i}"))).collect();
        for i in 0..spec.leaves * spec.hosts_per_leaf {
            let host = topology.add_host(format!("H{i}"));
            topology.connect(host, leaves[(i / spec.hosts_per_leaf) as usize], spec.rate, spec.delay);
        }
        for &leaf in &leaves {
            for &spine in &spines {
                topology.connect(leaf, spine, spec.rate, spec.delay);
            }
        }
        topology
    }
}
