//! Dragonflies and tori: changes of virtual lane prevent deadlocks.

use becalm_engine::{Stream, Time};
use becalm_fabric::*;

use crate::doubles::*;

/// Each host sends to `per_host` random hosts at full rate.
fn loaded(topology: Topology, routes: Routes, vls: u8, per_host: u32) -> FabricSpec<Steady, Unmarked, Acks> {
    let hosts: Vec<NodeId> = topology.hosts().collect();
    let n = hosts.len() as u32;
    let mut random = Stream::new(1, 0, 0);
    let ends: Vec<(u32, u32)> = (0..n * per_host).map(|i| (i % n, (i % n + 1 + random.below(n - 1)) % n)).collect();
    let flows: Vec<_> = ends.iter().map(|&(a, b)| free_flow(hosts[a as usize], hosts[b as usize])).collect();
    let sources = (0..flows.len() as u32).map(|i| SourceSpec::always(FlowId(i), greedy())).collect();
    let mut spec = plain(topology, flows, sources);
    spec.switch = SwitchConfig { vls, buffer: Room::Slots(1), arbiter: Arbiter::RoundRobin, ..SANTOS };
    spec.routes = routes;
    spec
}

/// Whether the run ends in a deadlock; checks the guards in both cases.
fn deadlocks(spec: FabricSpec<Steady, Unmarked, Acks>) -> bool {
    let mut run = simulate(spec, ());
    for us in 1..=20 {
        run.run_until(Time::from_us(100 * us));
        run.model.check(&run.agenda).expect("the guards hold");
    }
    run.model.deadlock(run.now()).is_some()
}

/// Checks that detours do not deadlock with this many lanes.
fn detours(topology: &Topology, routes: &Routes, vls: u8) {
    for law in [PathSelection::Valiant, PathSelection::Ugal] {
        let mut spec = loaded(topology.clone(), routes.clone(), vls, 4);
        spec.switch.paths = law;
        assert!(!deadlocks(spec), "{law:?}");
    }
}

#[test]
fn datelines_keep_a_torus_alive() {
    for sides in [vec![6], vec![4, 4], vec![3, 5, 2]] {
        let torus = TorusSpec { sides, hosts: 2, rate: gigabyte(), delay: Time::ZERO };
        let topology = Topology::torus(&torus);
        for all in [false, true] {
            let routes = torus.routes(&topology, all).with_lanes(torus.lane_changes());
            assert!(!deadlocks(loaded(topology.clone(), routes, 2, 4)), "{:?}", torus.sides);
        }
        let routes = torus.routes(&topology, false).with_lanes(torus.lane_changes());
        detours(&topology, &routes.with_detours(torus.detours(&topology)), 4);
    }
}

#[test]
fn a_torus_on_one_lane_deadlocks() {
    let torus = TorusSpec { sides: vec![6], hosts: 2, rate: gigabyte(), delay: Time::ZERO };
    let topology = Topology::torus(&torus);
    let routes = torus.routes(&topology, false);
    assert!(deadlocks(loaded(topology, routes, 1, 4)));
}

#[test]
fn a_dragonfly_stays_alive_on_two_lanes() {
    let (rate, delay) = (gigabyte(), Time::from_ns(50));
    for groups in [5, 9] {
        let spec = DragonflySpec { routers: 4, hosts: 2, globals: 2, groups, rate, delay, global_delay: delay };
        let topology = Topology::dragonfly(&spec);
        let routes = spec.routes(&topology, true).with_lanes(spec.lane_changes(&topology));
        assert!(!deadlocks(loaded(topology.clone(), routes.clone(), 2, 4)), "{groups} groups");
        detours(&topology, &routes.with_detours(spec.detours(&topology)), 3);
    }
}

/// Hosts send on the first lane of a pair. Data and ACKs change to the second lane at the first switch and stay on it.
#[test]
fn packets_that_cross_a_dateline_have_a_lane_along_the_ring() {
    #[derive(Default)]
    struct Lanes(Vec<(u32, Kind, u8)>);
    impl becalm_fabric::policy::Observer for Lanes {
        fn hop(&mut self, _: Time, from: PortId, packet: &Packet) {
            if packet.sequence == 0 {
                self.0.push((from.node.0, packet.kind, packet.vl));
            }
        }
    }
    let torus = TorusSpec { sides: vec![5], hosts: 1, rate: gigabyte(), delay: Time::from_ns(10) };
    let topology = Topology::torus(&torus);
    let routes = torus.routes(&topology, false).with_lanes(torus.lane_changes());
    let host = |name: &str| topology.find(name).expect("a host");
    let mut flow = free_flow(host("H4"), host("H1"));
    (flow.0.vl, flow.0.answers_vl) = (2, 2);
    let once = Traffic::Batch { count: 1, bytes: 100, sizes: Distribution::Fixed };
    let sources = vec![SourceSpec::always(FlowId(0), once)];
    let mut spec = plain(topology.clone(), vec![flow], sources);
    spec.switch = SwitchConfig { vls: 4, ..SANTOS };
    spec.routes = routes;
    let mut run = simulate(spec, Lanes::default());
    run.run_until_idle();
    let hops: Vec<(String, Kind, u8)> = run
        .model
        .observer
        .0
        .iter()
        .map(|&(node, kind, vl)| (topology.node(NodeId(node)).name.clone(), kind, vl))
        .collect();
    let hop = |name: &str, kind, vl| (name.to_string(), kind, vl);
    let wanted = [
        hop("H4", Kind::Data, 2),
        hop("S4", Kind::Data, 3),
        hop("S0", Kind::Data, 3),
        hop("S1", Kind::Data, 3),
        hop("H1", Kind::Ack, 2),
        hop("S1", Kind::Ack, 3),
        hop("S0", Kind::Ack, 3),
        hop("S4", Kind::Ack, 3),
    ];
    assert_eq!(hops, wanted);
}
