//! Cyclic waits are reported with their cycles; congestion is not reported as a deadlock.

use becalm_engine::Time;
use becalm_fabric::*;

use crate::doubles::*;

/// Three switches in a ring, one host each, all routes clockwise.
pub fn ring() -> (Topology, Routes) {
    let mut topology = Topology::default();
    let switches: Vec<_> = (0..3).map(|i| topology.add_switch(format!("s{i}"))).collect();
    for i in 0..3 {
        topology.connect(switches[i], switches[(i + 1) % 3], gigabyte(), Time::ZERO);
    }
    for (i, &switch) in switches.iter().enumerate() {
        let host = topology.add_host(format!("h{i}"));
        topology.connect(host, switch, gigabyte(), Time::ZERO);
    }
    let mut routes = Routes::empty(&topology);
    for switch in 0..3u32 {
        for host in 0..3u32 {
            let clockwise = if switch == 0 { 0 } else { 1 };
            routes.set(switch, host, if switch == host { 2 } else { clockwise });
        }
    }
    (topology, routes)
}

/// Each host sends two hops clockwise, through buffers of this many packets.
pub fn ring_spec((topology, routes): (Topology, Routes), packets: u32) -> FabricSpec<Steady, Unmarked, Acks> {
    let host = |i: usize| topology.find(&format!("h{}", i % 3)).expect("a host of the ring");
    let flows: Vec<_> = (0..3).map(|i| free_flow(host(i), host(i + 2))).collect();
    let sources = (0..3).map(|i| SourceSpec::always(FlowId(i), greedy())).collect();
    let mut spec = plain(topology, flows, sources);
    spec.routes = routes;
    spec.switch.buffer = Room::Slots(packets);
    spec
}

#[test]
fn a_ring_of_full_buffers_is_reported() {
    let mut run = simulate(ring_spec(ring(), 2), ());
    run.run_until(Time::from_ms(1));
    run.model.check(&run.agenda).expect("the guards hold");
    let found = run.model.deadlock(run.now());
    let Some(FabricError::Deadlock { cycle, .. }) = found else { panic!("{found:?}") };
    assert_eq!(cycle.len(), 4);
    assert_eq!(cycle.first(), cycle.last());
    for i in 0..3 {
        assert!(cycle.iter().any(|buffer| buffer.starts_with(&format!("s{i}["))), "{cycle:?}");
    }
}

#[test]
fn a_cycle_of_routes_is_found_before_the_run() {
    let (topology, routes) = ring();
    let host = |i: usize| topology.find(&format!("h{}", i % 3)).expect("a host of the ring");
    let far = (0..3).map(|i| (host(i), host(i + 2)));
    let paths = Paths::new(&topology, &routes);
    let cycle = paths.dependency_cycle(far).expect("a cycle");
    assert_eq!(cycle, ["s0->s1", "s1->s2", "s2->s0"]);
    assert_eq!(paths.dependency_cycle([(host(0), host(1))].into_iter()), None);
    let spec = FatTreeSpec::ports_tree(4, 3, gigabyte(), Time::ZERO);
    let (tree, routes) = (Topology::fat_tree(&spec), Routes::d_mod_k(&spec));
    let hosts: Vec<_> = tree.hosts().collect();
    let pairs = hosts.iter().flat_map(|&a| hosts.iter().map(move |&b| (a, b))).filter(|(a, b)| a != b);
    assert_eq!(Paths::new(&tree, &routes).dependency_cycle(pairs), None);
}

#[test]
fn a_congestion_tree_is_not() {
    let topology = Topology::dumbbell(&DumbbellSpec { remote: 3, local: 3, rate: gigabyte(), delay: Time::ZERO });
    let centre = topology.find("BC").expect("a host of the dumbbell");
    let flows: Vec<_> = topology.hosts().filter(|&h| h != centre).map(|h| free_flow(h, centre)).collect();
    let sources = (0..flows.len() as u32).map(|i| SourceSpec::always(FlowId(i), greedy())).collect();
    let mut run = simulate(plain(topology, flows, sources), ());
    for us in 0..3_000 {
        run.run_until(Time(us * 1_000_000 + us * 7_919));
        assert_eq!(run.model.deadlock(run.now()), None);
    }
}
