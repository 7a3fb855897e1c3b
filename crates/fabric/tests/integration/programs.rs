//! Programs on hosts: exact times, and the same results on any number of threads.

use std::sync::Arc;

use becalm_engine::{Stream, Time};
use becalm_fabric::policy::{Joint, Observer};
use becalm_fabric::*;
use becalm_workload::{Action, Builder, Channel, Op, OpId, Part, Program, When};
use proptest::prelude::*;

use crate::doubles::*;

/// A fabric with a program on these hosts, and other traffic.
fn running(
    topology: Topology,
    program: Program,
    ranks: &[u32],
    others: Vec<(FlowSpec, Steady)>,
) -> FabricSpec<Steady, Unmarked, Acks> {
    let nodes: Vec<NodeId> = topology.hosts().collect();
    let hosts: Vec<NodeId> = ranks.iter().map(|&host| nodes[host as usize]).collect();
    let host = |rank: u32| hosts[rank as usize];
    let channels: Vec<Channel> = program.channels().into_iter().filter(|&(a, b, _)| host(a) != host(b)).collect();
    let first_flow = FlowId(others.len() as u32);
    let stop = Time::from_us(60);
    let sources =
        (0..first_flow.0).map(|flow| SourceSpec { stop, ..SourceSpec::always(FlowId(flow), greedy()) }).collect();
    let mut flows = others;
    flows.extend(channels.iter().map(|&(from, to, _)| free_flow(host(from), host(to))));
    let job = JobSpec {
        program: Arc::new(program),
        start: Time::from_us(1),
        hosts,
        together: Vec::new(),
        channels: channels.into(),
        first_flow,
        overhead: Time::from_ns(100),
        overhead_per_byte: 10.0,
        local_latency: Time::from_ns(300),
        local_rate: Some(Rate::from_bits_per_second(40e9)),
        record: true,
        steady: None,
    };
    FabricSpec { jobs: vec![job], ..plain(topology, flows, sources) }
}

#[test]
fn times_of_a_message_are_exact() {
    let mut builder = Builder::new(3);
    builder.send(0, 1, 5000, 7);
    let received = builder.recv(1, 0, 5000, 7);
    let answer = builder.send(1, 2, 1000, 8);
    builder.after(answer, received, When::Done);
    builder.recv(2, None, 1000, None);
    let mut run = simulate(running(star(2), builder.build().unwrap(), &[0, 1, 1], Vec::new()), ());
    run.run_until_idle();
    let ends: Vec<Time> = (0..3).map(|rank| run.model.rank(0, rank).ended()).collect();
    // 100 ns plus 5000 times 10 ps of work, and three packets with 5060 B in total at 1 GB/s. The cut-through switch
    // only adds its forwarding delay.
    let left = Time::from_us(1) + Time::from_ns(150) + Time::from_ns(5060);
    let arrived = left + SANTOS.forwarding_delay;
    // The receive needs 150 ns and the answer 110 ns. The copy needs 200 ns, and arrives 300 ns later.
    let answered = arrived + Time::from_ns(150 + 110 + 200);
    assert_eq!(ends, [left, answered, answered + Time::from_ns(300 + 110)]);
    assert_eq!(run.model.rank(0, 0).spans()[0].start, Time::from_us(1));
    assert_eq!((run.model.rank(0, 1).worked(), run.model.open_ranks()), (Time::from_ns(260), 0));
}

#[test]
fn a_rank_that_waits_in_vain_is_named() {
    let mut builder = Builder::new(2);
    builder.send(0, 1, 64, 7);
    builder.recv(1, 0, 64, 8);
    let program = builder.build().unwrap();
    let mut run = simulate(running(star(2), program.clone(), &[0, 1], Vec::new()), ());
    run.run_until_idle();
    let stuck = run.model.rank(0, 1).stuck(&program).unwrap().to_string();
    assert_eq!(stuck, "rank 1, operation 0 (recv 64 B from 0, tag 8) waits for a message that is never sent");
    assert_eq!(run.model.open_ranks(), 1);
}

/// A random program that ends: rounds of messages between random ranks, which depend on operations of earlier rounds.
fn random_program(ranks: u32, rounds: u32, seed: u64) -> Program {
    let mut random = Stream::new(seed, 0, 0);
    let mut builder = Builder::new(ranks);
    let mut earlier: Vec<Vec<OpId>> = vec![Vec::new(); ranks as usize];
    for round in 0..rounds {
        let (from, to) = (random.below(ranks), random.below(ranks));
        let (bytes, any) = (u64::from(random.below(6_000)), random.below(3) == 0);
        let lanes = [random.below(2), random.below(2), 0].map(|lane| lane as u16);
        let send = Action::Send { to, bytes, tag: round };
        let recv = Action::Recv { from: (!any).then_some(from), bytes, tag: Some(round) };
        let calc = Action::Calc { time: Time::from_ns(u64::from(random.below(5000))) };
        for ((rank, action), lane) in [(from, send), (to, recv), (to, calc)].into_iter().zip(lanes) {
            let op = builder.add(rank, Op { action, lane, part: Part::Eager, port: 0 });
            let of_rank = &mut earlier[rank as usize];
            for _ in 0..random.below(3).min(of_rank.len() as u32) {
                let other = of_rank[random.below(of_rank.len() as u32) as usize];
                builder.after(op, other, if random.below(4) == 0 { When::Start } else { When::Done });
            }
            of_rank.push(op);
        }
    }
    builder.build().unwrap()
}

/// Operations of all ranks with their times, and all packets.
fn outcome(spec: FabricSpec<Steady, Unmarked, Acks>, parts: usize) -> (Vec<Vec<(Time, Time)>>, u64, u64) {
    let ranks = spec.jobs[0].hosts.len() as u32;
    let whole = Partition::whole(&spec.topology);
    let partition = Partition::balanced(&spec.topology, &spec.routes, &spec.flows, &[], parts);
    let mut run = ParallelFabric::new(spec, Hash::default, &partition, &whole).unwrap();
    run.run(Time::from_ms(5), &mut |_| true);
    assert_eq!(run.open_ranks(), 0);
    let run = run.join();
    run.model.check(&run.agenda).unwrap();
    let spans = |rank| run.model.rank(0, rank).spans().iter().map(|span| (span.start, span.end)).collect();
    ((0..ranks).map(spans).collect(), run.model.observer.0, run.events())
}

/// Order-independent sum over all packets on links.
#[derive(Clone, Debug, Default)]
struct Hash(u64);

impl Observer for Hash {
    fn hop(&mut self, now: Time, from: PortId, packet: &Packet) {
        let word = becalm_engine::mix(now.0, u64::from(from.node.0) << 32 | u64::from(packet.flow.0));
        self.0 = self.0.wrapping_add(becalm_engine::mix(word, u64::from(packet.sequence)));
    }
}

impl Joint for Hash {
    fn join(&mut self, other: Self, _: &dyn Fn(NodeId) -> bool) {
        self.0 = self.0.wrapping_add(other.0);
    }
}

/// A ring of four switches with two hosts each and cables with a delay.
fn ring() -> Topology {
    let mut topology = Topology::default();
    let switches: Vec<NodeId> = (0..4).map(|i| topology.add_switch(format!("s{i}"))).collect();
    for i in 0..8 {
        let host = topology.add_host(format!("h{i}"));
        topology.connect(host, switches[i / 2], gigabyte(), Time::from_ns(20));
    }
    for i in 0..3 {
        topology.connect(switches[i], switches[i + 1], gigabyte(), Time::from_ns(500));
    }
    topology
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, ..ProptestConfig::default() })]
    #[test]
    fn random_programs_run_the_same_on_any_number_of_threads(seed: u64, ranks in 2u32..12, rounds in 1u32..40) {
        let program = random_program(ranks, rounds, seed);
        let hosts: Vec<u32> = (0..ranks).map(|rank| (rank * 3) % 8).collect();
        let spec = || {
            let topology = ring();
            let nodes: Vec<NodeId> = topology.hosts().collect();
            let others = vec![free_flow(nodes[0], nodes[7]), free_flow(nodes[2], nodes[7])];
            running(topology, program.clone(), &hosts, others)
        };
        let alone = outcome(spec(), 1);
        for parts in [2, 4] {
            prop_assert_eq!(&outcome(spec(), parts), &alone);
        }
        // No operation begins before its dependencies.
        for rank in 0..ranks {
            let first = program.of_rank(rank).start;
            for op in program.of_rank(rank) {
                let (start, end) = alone.0[rank as usize][(op - first) as usize];
                prop_assert!(start <= end && end < Time::MAX);
                for (waits, when) in program.waiting(op) {
                    let begin = alone.0[rank as usize][(waits - first) as usize].0;
                    let earliest = if when == When::Done { end } else { start };
                    prop_assert!(begin >= earliest, "{begin} < {earliest}");
                }
            }
        }
    }
}
