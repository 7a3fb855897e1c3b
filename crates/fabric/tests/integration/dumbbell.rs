//! The dumbbell without congestion control: Santos 2003, Fig. 2, and Santos 2002, Fig. 2.

use becalm_engine::Time;
use becalm_fabric::policy::Pace;
use becalm_fabric::*;

use crate::doubles::*;

/// Link shares of the victim and of the inter-switch link with all flows active.
fn shares(remote: u32, local: u32, window: u32) -> (f64, f64) {
    let rate = gigabyte();
    let topology = Topology::dumbbell(&DumbbellSpec { remote, local, rate, delay: Time::ZERO });
    let host = |name: &str| topology.find(name).expect("a host of the dumbbell");
    let to_centre = (1..=local).map(|i| format!("B{i}")).chain((1..=remote).map(|i| format!("A{i}")));
    let mut flows = Vec::new();
    let mut sources = Vec::new();
    for (name, to) in to_centre.map(|name| (name, "BC")).chain([("AV".to_string(), "BV")]) {
        let response = Steady(Pace { gap: 0.0, window });
        flows.push((free_flow(host(&name), host(to)).0, response));
        let start = Time::from_us(100) * (flows.len() as u64 - 1);
        let source = SourceSpec { start, ..SourceSpec::always(FlowId(flows.len() as u32 - 1), greedy()) };
        sources.push(source);
    }
    let victim = FlowId(flows.len() as u32 - 1);
    let trunk = PortId { node: host("A"), port: 0 };
    let mut run = simulate(plain(topology, flows, sources), ());
    run.run_until(Time::from_ms(20));
    let before = (run.model.flow(victim).delivered_bytes, run.model.port(trunk, run.now()).bytes);
    run.run_until(Time::from_ms(60));
    run.model.check(&run.agenda).expect("the guards hold");
    let window = rate.bytes_per_second() * Time::from_ms(40).as_secs();
    let share = |now: u64, before: u64| (now - before) as f64 / window;
    (share(run.model.flow(victim).delivered_bytes, before.0), share(run.model.port(trunk, run.now()).bytes, before.1))
}

/// Each of the four slots in the trunk's buffer alternates between a remote packet and a victim packet. 24 packets wait
/// for the root: 20 local and 4 remote, including this one. After the remote packet is served, a victim packet occupies
/// its slot for another transmission. Therefore 4 of every 25 packets on the root are remote. (The paper's figure shows
/// 15% and 30%.)
#[test]
fn one_remote_and_five_local_flows_without_a_window() {
    let (victim, trunk) = shares(1, 5, u32::MAX);
    assert!((victim - 4.0 / 25.0).abs() < 1e-3, "victim {victim}");
    assert!((trunk - 8.0 / 25.0).abs() < 1e-3, "inter-switch {trunk}");
}

#[test]
fn ten_remote_and_ten_local_flows_with_a_window_of_one() {
    let (victim, trunk) = shares(10, 10, 1);
    assert!((victim - 0.04).abs() < 0.02, "victim {victim}");
    assert!((trunk - 0.325).abs() < 0.02, "inter-switch {trunk}");
}
