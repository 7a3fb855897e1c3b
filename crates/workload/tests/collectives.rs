//! Collectives in the LogGOPS model: their alpha-beta forms, their bytes, and their correctness.

use becalm_engine::Time;
use becalm_workload::collectives::*;
use becalm_workload::{Action, LogGops, Program};

/// Bytes of a vector; its parts differ by a byte for some numbers of ranks.
const BYTES: u64 = 64 * 63 * 61 * 5;

const NODES: Channels = Channels { count: 4, per_node: 4 };

const ONCE: Repetition = Repetition { times: 1, compute: Time::ZERO, reduction_per_byte: 2.0 };

fn program(collective: Collective, ranks: u32) -> Program {
    let program = collective.program(ranks, &ONCE).unwrap();
    LogGops::FREE.ends(&program).unwrap();
    program
}

/// Bytes that each rank sends, and bytes that each rank receives.
fn sent(program: &Program) -> (Vec<u64>, Vec<u64>) {
    let n = program.ranks();
    let out = (0..n).map(|rank| (0..n).map(|to| program.bytes(rank, to)).sum()).collect();
    let into = (0..n).map(|rank| (0..n).map(|from| program.bytes(from, rank)).sum()).collect();
    (out, into)
}

fn all() -> Vec<Collective> {
    use Collective as C;
    let n = BYTES;
    vec![
        C::Barrier,
        C::Broadcast(Broadcast::Binomial, n),
        C::Broadcast(Broadcast::ScatterAllGather, n),
        C::Reduce(n),
        C::AllReduce(AllReduce::Ring, n),
        C::AllReduce(AllReduce::RecursiveDoubling, n),
        C::AllReduce(AllReduce::HalvingDoubling, n),
        C::AllReduce(AllReduce::DoubleBinaryTree(8), n),
        C::AllReduce(AllReduce::NearHalvingDoubling, n),
        C::AllReduce(AllReduce::Rings(NODES), n),
        C::AllReduce(AllReduce::NodeTrees(NODES, 4), n),
        C::AllReduce(AllReduce::Hierarchical(2, NODES.per_node), n),
        C::AllGather(AllGather::Rings(NODES), n),
        C::ReduceScatter(ReduceScatter::Rings(NODES), n),
        C::AllGather(AllGather::Ring, n),
        C::AllGather(AllGather::RecursiveDoubling, n),
        C::AllGather(AllGather::Bruck, n),
        C::ReduceScatter(ReduceScatter::Ring, n),
        C::ReduceScatter(ReduceScatter::RecursiveHalving, n),
        C::AllToAll(AllToAll::Linear, n),
        C::AllToAll(AllToAll::Pairwise, n),
        C::AllToAll(AllToAll::Bruck, n),
    ]
}

#[test]
fn every_collective_ends_for_any_number_of_ranks() {
    for ranks in 2..=64 {
        for collective in all().into_iter().filter(|collective| collective.suits(ranks).is_ok()) {
            let program = collective.program(ranks, &Repetition { times: 2, ..ONCE }).unwrap();
            LogGops::FREE.ends(&program).unwrap_or_else(|error| panic!("{collective:?} of {ranks}: {error}"));
        }
    }
    assert!(Collective::Barrier.suits(1).is_err());
    assert!(Collective::AllGather(AllGather::RecursiveDoubling, 8).suits(6).is_err());
}

/// Each receive has the size of its matching send, in programs with unique tags and pairs.
#[test]
fn receives_expect_what_is_sent() {
    for ranks in [2, 3, 5, 8, 13, 16] {
        for collective in all().into_iter().filter(|collective| collective.suits(ranks).is_ok()) {
            let program = program(collective, ranks);
            let mut sends = Vec::new();
            let mut receives = Vec::new();
            for rank in 0..ranks {
                for number in program.of_rank(rank) {
                    match program.op(number).action {
                        Action::Send { to, bytes, tag } => sends.push((rank, to, tag, bytes)),
                        Action::Recv { from, bytes, tag } => receives.push((from.unwrap(), rank, tag.unwrap(), bytes)),
                        Action::Calc { .. } => {}
                    }
                }
            }
            sends.sort_unstable();
            receives.sort_unstable();
            assert_eq!(sends, receives, "{collective:?} of {ranks}");
        }
    }
}

#[test]
fn bytes_are_the_least_where_the_schedule_is_optimal() {
    for ranks in 2..=64u32 {
        let part = |times: u64| times * u64::from(ranks - 1) * BYTES;
        let near =
            |bytes: u64, times: u64| (bytes * u64::from(ranks)).abs_diff(part(times)) <= 2 * u64::from(ranks * ranks);
        let optimal = [
            (Collective::AllReduce(AllReduce::Ring, BYTES), 2),
            (Collective::AllGather(AllGather::Ring, BYTES), 1),
            (Collective::AllGather(AllGather::Bruck, BYTES), 1),
            (Collective::ReduceScatter(ReduceScatter::Ring, BYTES), 1),
            (Collective::AllToAll(AllToAll::Pairwise, BYTES), 1),
            (Collective::AllToAll(AllToAll::Linear, BYTES), 1),
        ];
        for (collective, times) in optimal {
            let (out, into) = sent(&program(collective, ranks));
            assert!(out.iter().chain(&into).all(|&bytes| near(bytes, times)), "{collective:?} of {ranks}");
            assert_eq!(collective.bus_factor(ranks), times as f64 * f64::from(ranks - 1) / f64::from(ranks));
        }
        let (out, into) = sent(&program(Collective::AllReduce(AllReduce::DoubleBinaryTree(4), BYTES), ranks));
        assert!(out.iter().chain(&into).all(|&bytes| bytes <= 2 * BYTES + BYTES / 2), "{out:?}");
        let broadcast: u64 = sent(&program(Collective::Broadcast(Broadcast::Binomial, BYTES), ranks)).0.iter().sum();
        assert_eq!(broadcast, u64::from(ranks - 1) * BYTES);
    }
}

/// If only latency counts, the time of a collective is its number of sequential steps times the latency.
#[test]
fn steps_are_counted() {
    let wire = LogGops { latency: Time::from_ns(1000), ..LogGops::FREE };
    for ranks in 2..=64u32 {
        let steps = |collective: Collective| {
            let ends = wire.ends(&program(collective, ranks)).unwrap();
            ends.into_iter().max().unwrap().0 / 1_000_000
        };
        let log = u64::from(ranks.next_power_of_two().ilog2());
        let folded = if ranks.is_power_of_two() { log } else { log + 1 };
        let branches = u64::from((0..ranks).map(u32::count_ones).max().unwrap());
        assert_eq!(steps(Collective::Barrier), log);
        assert_eq!(steps(Collective::AllGather(AllGather::Bruck, 0)), log);
        assert_eq!(steps(Collective::AllToAll(AllToAll::Bruck, 0)), log);
        assert_eq!(steps(Collective::AllToAll(AllToAll::Linear, 0)), 1);
        assert_eq!(steps(Collective::Broadcast(Broadcast::Binomial, 0)), branches);
        assert_eq!(steps(Collective::Reduce(0)), branches);
        assert_eq!(steps(Collective::AllReduce(AllReduce::Ring, 0)), 2 * u64::from(ranks - 1));
        // Ranks that do not wait for another rank's vector first are one step ahead.
        let doubling = steps(Collective::AllReduce(AllReduce::RecursiveDoubling, 0));
        assert!(doubling == folded || doubling + 1 == folded && !ranks.is_power_of_two(), "{doubling} of {ranks}");
    }
}
