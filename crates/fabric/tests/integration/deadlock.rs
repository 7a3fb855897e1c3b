//! Cyclic waits are reported with their cycles; congestion is not reported as a deadlock.

use std::collections::HashSet;

use becalm_engine::Time;
use becalm_fabric::policy::Observer;
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
    let Some(FabricError::Deadlock { cycle, stopped, flows, .. }) = found else { panic!("{found:?}") };
    assert_eq!((cycle.len(), stopped, flows), (4, 3, 3));
    assert_eq!(cycle.first(), cycle.last());
    for i in 0..3 {
        assert!(cycle.iter().any(|buffer| buffer.starts_with(&format!("s{i}["))), "{cycle:?}");
    }
}

#[test]
fn a_small_packet_behind_a_large_one_does_not_hide_the_cycle() {
    let mut spec = ring_spec(ring(), 2);
    // Two data packets leave space for an ACK, which waits for its turn behind data that lack credit.
    spec.switch.buffer = Room::Bytes(2 * 2112 + 256);
    let mut run = simulate(spec, ());
    let mut delivered = [0; 2];
    for (until, delivered) in (1..).zip(&mut delivered) {
        run.run_until(Time::from_ms(until));
        *delivered = (0..3).map(|flow| run.model.flow(FlowId(flow)).delivered_packets).sum();
    }
    assert_eq!(delivered[0], delivered[1], "nothing moves");
    let found = run.model.deadlock(run.now());
    assert!(matches!(found, Some(FabricError::Deadlock { stopped: 3, flows: 3, .. })), "{found:?}");
}

/// The lanes of packets on links, with their flow and kind.
#[derive(Default)]
struct Lanes(HashSet<(FlowId, bool, u8)>);

impl Observer for Lanes {
    fn hop(&mut self, _: Time, _: PortId, packet: &Packet) {
        self.0.insert((packet.flow, packet.kind == Kind::Data, packet.vl));
    }
}

#[test]
fn answers_use_the_lane_of_their_flow() {
    let mut spec = ring_spec(ring(), 2);
    spec.switch.vls = 3;
    for (flow, vl) in spec.flows.iter_mut().zip([0, 1, 2]) {
        (flow.vl, flow.answers_vl) = (vl, (vl + 1) % 3);
    }
    let mut run = simulate(spec, Lanes::default());
    run.run_until(Time::from_ms(1));
    run.model.check(&run.agenda).expect("the guards hold");
    assert_eq!(run.model.deadlock(run.now()), None);
    let of = |flow: u8| [(FlowId(flow.into()), true, flow), (FlowId(flow.into()), false, (flow + 1) % 3)];
    assert_eq!(run.model.observer.0, (0..3).flat_map(of).collect());
}

#[test]
fn lanes_break_a_cycle_of_routes() {
    let (topology, routes) = ring();
    let host = |i: usize| topology.find(&format!("h{}", i % 3)).expect("a host of the ring");
    let paths = Paths::new(&topology, &routes);
    let far = |lanes: [u8; 3]| (0..3).map(move |i| (i, lanes[i])).map(|(i, vl)| (host(i), host(i + 2), vl));
    let cycle = paths.dependency_cycle_of_lanes(far([1, 1, 1])).expect("a cycle");
    assert_eq!(cycle, ["s0->s1", "s1->s2", "s2->s0"]);
    assert_eq!(paths.dependency_cycle_of_lanes(far([0, 0, 1])), None);
    let mixed = far([1, 1, 1]).chain([(host(0), host(1), 0)]);
    let cycle = paths.dependency_cycle_of_lanes(mixed).expect("a cycle");
    assert_eq!(cycle, ["s0->s1 (VL 1)", "s1->s2 (VL 1)", "s2->s0 (VL 1)"]);
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

/// Three switches with two hosts each, below two others.
#[test]
fn routes_of_all_pairs_that_go_down_and_up_again_can_form_a_cycle() {
    let mut topology = Topology::default();
    let hosts: Vec<_> = (0..6).map(|i| topology.add_host(format!("h{i}"))).collect();
    let leaves = [0, 1, 2].map(|i| topology.add_switch(format!("l{i}")));
    let spines = [0, 1].map(|i| topology.add_switch(format!("s{i}")));
    let ends = hosts.iter().enumerate().map(|(i, &host)| (host, leaves[i / 2]));
    let up = leaves.iter().flat_map(|&leaf| spines.map(|spine| (leaf, spine)));
    ends.chain(up).for_each(|(a, b)| topology.connect(a, b, gigabyte(), Time::ZERO));
    let pairs = || hosts.iter().flat_map(|&a| hosts.iter().map(move |&b| (a, b))).filter(|(a, b)| a != b);
    let cycle = |routes: &Routes| Paths::new(&topology, routes).dependency_cycle(pairs());
    let mut routes = Routes::shortest(&topology);
    assert_eq!((cycle(&routes), cycle(&Routes::all_shortest(&topology))), (None, None));
    // The ports of leaves lead to their hosts and then to the spines. Packets for the last leaf pass the middle one, and
    // packets for the first leaf pass the last one.
    let (l0, l1, l2, s0, s1) = (0, 1, 2, 3, 4);
    let to_leaf = [
        vec![(l1, 3), (s1, 2), (l2, 2), (s0, 0)],
        vec![(l2, 2), (s0, 1), (l0, 2)],
        vec![(l0, 2), (s0, 1), (l1, 3), (s1, 2)],
    ];
    for (host, entries) in (0u32..).zip(to_leaf.iter().flat_map(|entries| [entries, entries])) {
        entries.iter().for_each(|&(switch, port)| routes.set(switch, host, port));
    }
    assert_eq!(cycle(&routes).expect("a cycle"), ["s0->l1", "l1->s1", "s1->l2", "l2->s0"]);
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
