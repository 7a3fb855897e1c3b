//! Equal ports: throughput and packet order with each path selection law.

use std::collections::BTreeSet;

use becalm_engine::{Simulator, Time};
use becalm_fabric::policy::{Answer, Echo, Observer, Unanswered};
use becalm_fabric::*;

use crate::doubles::*;

/// Start and end of the measurement.
type Window = (Time, Time);

const SHORT: Window = (Time::from_us(100), Time::from_us(500));
/// At full load, a queue of random arrivals grows with the square root of time, and queued packets are not delivered.
const LONG: Window = (Time::from_ms(5), Time::from_ms(25));

/// Two leaf switches with `n` hosts each and `n` spine switches; each host sends to its counterpart on the other leaf.
fn leaves(n: u32, paths: PathSelection, buffer: u32, seed: u64) -> FabricSpec<Steady, Unmarked, Silent> {
    let clos = ClosSpec { leaves: 2, spines: n, hosts_per_leaf: n, rate: gigabyte(), delay: Time::from_ns(50) };
    let topology = Topology::clos(&clos);
    let hosts: Vec<NodeId> = topology.hosts().collect();
    let flows: Vec<_> = (0..2 * n).map(|i| free_flow(hosts[i as usize], hosts[((i + n) % (2 * n)) as usize])).collect();
    let sources = (0..2 * n).map(|i| SourceSpec::always(FlowId(i), greedy())).collect();
    let FabricSpec { topology, adapters, responses, markers, switch, packets, flows, sources, jobs, changes, .. } =
        plain(topology, flows, sources);
    let routes = Routes::all_shortest(&topology);
    let switch = SwitchConfig { paths, buffer: Room::Slots(buffer), arbiter: Arbiter::RoundRobin, ..switch };
    let echo = Silent;
    FabricSpec {
        topology,
        adapters,
        responses,
        markers,
        routes,
        switch,
        packets,
        flows,
        sources,
        jobs,
        changes,
        faults: Vec::new(),
        echo,
        seed,
    }
}

/// Sends no answers.
#[derive(Clone, Copy, Debug)]
struct Silent;

impl Echo for Silent {
    fn answer(&mut self, _: Time, _: &Packet, _: &Unanswered) -> Answer {
        Answer::SILENT
    }
}

/// Runs a fabric. Returns the flows' mean share of their links, and the number of packets out of order.
fn run(spec: FabricSpec<Steady, Unmarked, Silent>, (from, until): Window) -> (f64, u64) {
    let flows = spec.flows.len() as u32;
    let mut run = simulate(spec, ());
    run.run_until(from);
    let bytes = |run: &Simulator<Fabric<Steady, Unmarked, Silent, ()>>| -> u64 {
        (0..flows).map(|i| run.model.flow(FlowId(i)).delivered_bytes).sum()
    };
    let before = bytes(&run);
    run.run_until(until);
    run.model.check(&run.agenda).expect("the guards hold");
    assert_eq!(run.model.deadlock(run.now()), None);
    let disordered = (0..flows).map(|i| run.model.flow(FlowId(i)).disordered_packets).sum();
    let link = gigabyte().bytes_per_second() * until.since(from).as_secs();
    ((bytes(&run) - before) as f64 / (link * f64::from(flows)), disordered)
}

/// Share of uplinks used by any flow, according to the hash; flow numbers start at `first`.
fn taken(n: u32, first: u32, seed: u64) -> f64 {
    let topology = leaves(n, PathSelection::Destination, 4, 0).topology;
    let routes = Routes::all_shortest(&topology);
    let paths = Paths::new(&topology, &routes);
    let hosts: Vec<NodeId> = topology.hosts().collect();
    let uplink = |i: u32| {
        let ends = (hosts[i as usize], hosts[((i + n) % (2 * n)) as usize]);
        paths.hashed(ends, (FlowId(first + i), Kind::Data), seed, true).expect("joined")[1]
    };
    let used: BTreeSet<PortId> = (0..2 * n).map(uplink).collect();
    used.len() as f64 / f64::from(2 * n)
}

/// Expected share of `n` equal uplinks used by `n` flows that choose at random: 1 - (1 - 1/n)^n.
fn expected(n: u32) -> f64 {
    1.0 - (1.0 - 1.0 / f64::from(n)).powi(n as i32)
}

#[test]
fn hashed_flows_take_as_many_uplinks_as_balls_fill_urns() {
    for (n, printed) in [(2, 0.750), (4, 0.684), (8, 0.656), (16, 0.644)] {
        assert!((expected(n) - printed).abs() < 0.001);
        // 200 seeds with ten sets of flows each, in both directions.
        let shares = (0..200).flat_map(|seed| (0..10).map(move |set| taken(n, set * 1000, seed)));
        let mean = shares.sum::<f64>() / 2000.0;
        println!("n = {n}: {mean:.4} of {:.4}", expected(n));
        assert!((mean / expected(n) - 1.0).abs() < 0.01, "n = {n}: {mean} of {}", expected(n));
    }
}

#[test]
fn colliding_flows_share_their_uplink() {
    for n in [2, 4, 8, 16] {
        let mut sum = 0.0;
        for seed in 0..200 {
            let (share, disordered) = run(leaves(n, PathSelection::Flow { salted: true }, 8, seed), SHORT);
            let taken = taken(n, 0, seed);
            assert!((share / taken - 1.0).abs() < 0.01, "n = {n}, seed {seed}: {share} of {taken}");
            assert_eq!(disordered, 0);
            sum += share;
        }
        println!("n = {n}: {:.4} of {:.4}", sum / 200.0, expected(n));
    }
}

#[test]
fn spraying_and_adaptive_routing_fill_all_uplinks() {
    for n in [2, 4, 8, 16] {
        let carried = |paths| run(leaves(n, paths, 256, 1), LONG);
        for (law, least) in [
            (PathSelection::Packet, 0.99),
            (PathSelection::RoundRobin, 0.99),
            (PathSelection::LeastWaiting { sample: PathSelection::ALL }, 0.95),
            (PathSelection::LeastWaiting { sample: 2 }, 0.95),
            (PathSelection::Entropy { values: 1 << 12, balancer: Balancer::Reps }, 0.97),
        ] {
            let (share, disordered) = carried(law);
            println!("n = {n}, {law:?}: {share:.4}, {disordered} out of order");
            assert!(share >= least, "n = {n}, {law:?}: {share}");
        }
        assert!(carried(PathSelection::Packet).1 > 0, "or there would be nothing to put in order");
    }
}

#[test]
fn adaptive_routing_goes_around_a_slow_spine() {
    let carried = |paths| {
        let mut spec = leaves(2, paths, 8, 1);
        let mut slow = Topology::default();
        for node in spec.topology.nodes() {
            match node.kind {
                NodeKind::Host => slow.add_host(node.name.clone()),
                NodeKind::Switch => slow.add_switch(node.name.clone()),
            };
        }
        let spine = spec.topology.find("spine1").expect("a spine");
        for cable in spec.topology.cables() {
            let rate = if cable.a.node == spine || cable.b.node == spine { 2e9 } else { 8e9 };
            slow.connect(cable.a.node, cable.b.node, Rate::from_bits_per_second(rate), cable.delay);
        }
        spec.topology = slow;
        run(spec, SHORT).0
    };
    // The two spines carry 1 and 1/4 of a link's rate, for two hosts on each side.
    let adaptive = carried(PathSelection::LeastWaiting { sample: PathSelection::ALL });
    let blind = carried(PathSelection::RoundRobin);
    println!("adaptive {adaptive:.3}, in turn {blind:.3}");
    assert!(adaptive > 0.95 * 0.625, "{adaptive}");
    assert!(blind < 1.05 * 0.25, "{blind}: every other packet waits for the slow spine");
}

/// Uplinks of each flow's packets, by flow.
#[derive(Default)]
struct Uplinks(Vec<BTreeSet<u16>>);

impl Observer for Uplinks {
    fn hop(&mut self, _: Time, from: PortId, packet: &Packet) {
        // Leaves have the lowest node numbers. Their first four ports lead to hosts, and the others to spines.
        if from.node.0 < 2 && from.port >= 4 {
            self.0.resize(8, BTreeSet::new());
            self.0[packet.flow.index()].insert(from.port);
        }
    }
}

#[test]
fn a_flowlet_keeps_its_port_for_as_long_as_its_packets_are_close() {
    // Packets with a duration of 2 us follow each other without a gap.
    let uplinks = |gap| {
        let mut run = simulate(leaves(4, PathSelection::Flowlet { gap }, 256, 1), Uplinks::default());
        run.run_until(Time::from_us(500));
        run.model.check(&run.agenda).expect("the guards hold");
        run.model.observer.0.iter().map(BTreeSet::len).collect::<Vec<_>>()
    };
    assert_eq!(uplinks(Time::from_us(5)), [1; 8]);
    assert!(uplinks(Time::from_us(1)).into_iter().all(|ports| ports > 1), "every packet is a flowlet of its own");
}

/// Share of the cables to the top level used by any flow, in a shift between pods of a tree of 8-port switches.
fn top_cables(salted: bool) -> f64 {
    let spec = FatTreeSpec::ports_tree(8, 3, gigabyte(), Time::ZERO);
    let (topology, routes) = (Topology::fat_tree(&spec), Routes::all_of_tree(&spec));
    let paths = Paths::new(&topology, &routes);
    let hosts: Vec<NodeId> = topology.hosts().collect();
    let n = hosts.len();
    let third = |i: usize| {
        let ends = (hosts[i], hosts[(i + 16) % n]);
        paths.hashed(ends, (FlowId(i as u32), Kind::Data), 1, salted).expect("joined")[2]
    };
    let used: BTreeSet<PortId> = (0..n).map(third).collect();
    used.len() as f64 / n as f64
}

#[test]
fn without_salt_the_second_level_repeats_the_choice_of_the_first() {
    let (salted, unsalted) = (top_cables(true), top_cables(false));
    println!("salted {salted:.3}, unsalted {unsalted:.3}");
    assert!((0.55..0.72).contains(&salted), "{salted}: about 1 - 1/e");
    // Each of the 32 switches of the second level has four cables to the top, and uses one.
    assert!(unsalted <= 0.25, "{unsalted}");
}

#[test]
fn entries_that_are_given_are_the_only_port() {
    let spec = FatTreeSpec::ports_tree(4, 3, gigabyte(), Time::ZERO);
    let topology = Topology::fat_tree(&spec);
    let mut given = Routes::all_of_tree(&spec);
    let ports = |routes: &Routes, switch, host| routes.ports(switch, host).iter().collect::<Vec<_>>();
    given.set(0, 9, 3);
    let computed = Routes::all_of_tree(&spec);
    for switch in 0..topology.switch_count() {
        for host in 0..topology.host_count() {
            let wanted = if (switch, host) == (0, 9) { vec![3] } else { ports(&computed, switch, host) };
            assert_eq!(ports(&given, switch, host), wanted, "switch {switch}, host {host}");
        }
    }
    assert_eq!((ports(&computed, 0, 9), ports(&computed, 0, 1)), (vec![2, 3], vec![1]));
}
