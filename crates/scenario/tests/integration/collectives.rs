//! Collectives of 2 to 64 ranks on one switch: their alpha-beta forms, and the bytes on each link.

use becalm_scenario::Results;
use becalm_workload::collectives::{AllGather, AllReduce, AllToAll, Broadcast, ReduceScatter, Repetition};
use becalm_workload::{Action, Collective};

use crate::scenes::{names, numbers, run};

/// Bytes of a vector. Parts are equal for many numbers of ranks, and differ by a byte for others.
const BYTES: u64 = 64 * 3 * 5 * 7 * 256;
/// Time to add a byte in s.
const ADD: f64 = 0.25e-9;
const OVERHEAD: f64 = 300e-9;

/// A job of `p` hosts on one store-and-forward switch, without ACKs: 1 GB/s, 100 ns in cables, 40 ns in the switch.
pub fn star(p: u32, job: &str) -> String {
    format!(
        "[run]\nduration = \"1 s\"\nend = \"jobs\"\n[topology.edges]\nhosts = [\"h1..h{p}\"]\nswitches = [\"s\"]\n\
         delay = \"50 ns\"\ncables = [{{between = [\"h1..h{p}\", \"s\"]}}]\n[switch]\nbuffer = \"unlimited\"\n\
         forwarding_delay = \"40 ns\"\nswitching = \"store_and_forward\"\n\
         [echo.ibta]\ntransport = \"unreliable\"\n[observe]\nlinks = []\nstep = \"10 ms\"\nwindow = \"10 ms\"\n\
         [[jobs]]\nname = \"j\"\nhosts = [\"*\"]\noverhead = \"300 ns\"\n{job}\n"
    )
}

/// Bytes on the wire of a message.
fn wire(bytes: u64) -> u64 {
    bytes + 20 * bytes.div_ceil(2048).max(1)
}

/// Time in s from the start of a message's send to the end of its receive: overheads, delays, and its packets. The
/// first packet is also stored at the switch.
pub fn message(bytes: u64) -> f64 {
    let stored = bytes.min(2048) + 20;
    2.0 * OVERHEAD + 2.0 * 50e-9 + 40e-9 + (wire(bytes) + stored) as f64 * 1e-9
}

/// A number of ranks, with terms of the forms.
#[derive(Clone, Copy)]
struct Ranks {
    p: u32,
}

impl Ranks {
    /// Size of the largest part of a vector.
    fn part(self) -> u64 {
        BYTES.div_ceil(u64::from(self.p))
    }

    fn steps(self) -> f64 {
        f64::from(self.p - 1)
    }

    /// Number of steps that double a distance: the logarithm, rounded up.
    fn log(self) -> u32 {
        self.p.next_power_of_two().ilog2()
    }

    /// Time of consecutive messages of 1/2, 1/4, ... of the vector.
    fn halves(self) -> f64 {
        (1..=self.log()).map(|k| message(BYTES >> k)).sum()
    }

    /// Time to add all parts except one.
    fn additions(self) -> f64 {
        ADD * BYTES as f64 * self.steps() / f64::from(self.p)
    }

    /// Time of the messages with the parts that each distance forwards, over all distances.
    fn doubled(self, parts: fn(u32, u32) -> u32) -> f64 {
        (0..self.log()).map(|k| message(u64::from(parts(1 << k, self.p)) * self.part())).sum()
    }
}

/// A collective, its key in a scenario, its form in s, and whether it requires a power of two of ranks.
struct Case {
    collective: Collective,
    text: &'static str,
    power: bool,
    seconds: fn(Ranks) -> f64,
    /// Number of one-part messages that each rank sends and receives, if all ranks behave alike.
    parts: Option<fn(Ranks) -> u32>,
}

fn round(r: Ranks) -> u32 {
    r.p - 1
}

fn case(collective: Collective, text: &'static str, power: bool, seconds: fn(Ranks) -> f64) -> Case {
    Case { collective, text, power, seconds, parts: None }
}

/// Collectives in which all ranks behave alike, with parts of the vector.
fn in_parts() -> Vec<Case> {
    let case = |collective, text, seconds, parts: fn(Ranks) -> u32| Case {
        collective,
        text,
        power: false,
        seconds,
        parts: Some(parts),
    };
    vec![
        case(
            Collective::ReduceScatter(ReduceScatter::Ring, BYTES),
            "reduce_scatter",
            |r| r.steps() * message(r.part()) + r.additions(),
            round,
        ),
        case(Collective::AllGather(AllGather::Ring, BYTES), "all_gather", |r| r.steps() * message(r.part()), round),
        case(
            Collective::AllReduce(AllReduce::Ring, BYTES),
            "all_reduce",
            |r| 2.0 * r.steps() * message(r.part()) + r.additions(),
            |r| 2 * round(r),
        ),
        case(
            Collective::AllToAll(AllToAll::Pairwise, BYTES),
            "all_to_all algorithm = \"pairwise\"",
            |r| r.steps() * message(r.part()),
            round,
        ),
        // All sends start at once in posting order, so no two ranks send to the same rank at the same time.
        case(
            Collective::AllToAll(AllToAll::Linear, BYTES),
            "all_to_all algorithm = \"linear\"",
            |r| message(r.part()) + (r.steps() - 1.0) * wire(r.part()) as f64 * 1e-9,
            round,
        ),
    ]
}

/// All other collectives.
fn in_blocks() -> Vec<Case> {
    vec![
        case(Collective::Barrier, "barrier", false, |r| f64::from(r.log()) * message(0)),
        case(Collective::AllGather(AllGather::Bruck, BYTES), "all_gather algorithm = \"bruck\"", false, |r| {
            r.doubled(|distance, p| distance.min(p - distance))
        }),
        case(Collective::AllToAll(AllToAll::Bruck, BYTES), "all_to_all algorithm = \"bruck\"", false, |r| {
            r.doubled(|distance, p| (0..p).filter(|i| i & distance != 0).count() as u32)
        }),
        case(
            Collective::AllGather(AllGather::RecursiveDoubling, BYTES),
            "all_gather algorithm = \"recursive_doubling\"",
            true,
            |r| r.doubled(|distance, _| distance),
        ),
        case(
            Collective::ReduceScatter(ReduceScatter::RecursiveHalving, BYTES),
            "reduce_scatter algorithm = \"recursive_halving\"",
            true,
            |r| r.halves() + r.additions(),
        ),
        case(
            Collective::AllReduce(AllReduce::HalvingDoubling, BYTES),
            "all_reduce algorithm = \"halving_doubling\"",
            true,
            |r| 2.0 * r.halves() + r.additions(),
        ),
        case(
            Collective::AllReduce(AllReduce::RecursiveDoubling, BYTES),
            "all_reduce algorithm = \"recursive_doubling\"",
            true,
            |r| f64::from(r.log()) * (message(BYTES) + ADD * BYTES as f64),
        ),
        case(Collective::Reduce(BYTES), "reduce", true, |r| f64::from(r.log()) * (message(BYTES) + ADD * BYTES as f64)),
        case(Collective::Broadcast(Broadcast::Binomial, BYTES), "broadcast", true, |r| {
            f64::from(r.log()) * message(BYTES)
        }),
        case(
            Collective::Broadcast(Broadcast::ScatterAllGather, BYTES),
            "broadcast algorithm = \"scatter_all_gather\"",
            true,
            |r| r.halves() + r.steps() * message(r.part()),
        ),
    ]
}

impl Case {
    /// Keys of the job.
    fn job(&self) -> String {
        let (name, algorithm) = self.text.split_once(' ').unwrap_or((self.text, ""));
        let adds = if name.contains("reduce") { "reduce_rate = \"4 GB/s\"\n" } else { "" };
        let bytes = if name == "barrier" { String::new() } else { format!("bytes = \"{BYTES} B\"") };
        let comma = if algorithm.is_empty() { "" } else { ", " };
        format!("{adds}collective.{name} = {{{bytes}{comma}{algorithm}}}")
    }

    /// Ranks that send to all ranks at once send complete messages in order, not interleaved packets.
    fn adapter(&self) -> &'static str {
        if self.text.contains("linear") { "[adapter]\ninjection = \"posted\"\n" } else { "" }
    }

    /// Runs the collective with `p` ranks and checks the bytes on each link; returns its duration relative to its form.
    fn check(&self, p: u32) -> f64 {
        let results = run(&format!("{}{}", star(p, &self.job()), self.adapter()));
        let found = on_links(&results, p);
        let expected = self.sent(p);
        assert_eq!(found, expected, "{} of {p}: bytes from and to each host", self.text);
        if let (Some(parts), true) = (self.parts, BYTES.is_multiple_of(u64::from(p))) {
            let each = u64::from(parts(Ranks { p })) * wire(BYTES / u64::from(p));
            assert_eq!(found, vec![(each, each); p as usize], "{} of {p}", self.text);
        }
        numbers(&results, "jobs", "time")[0] / (self.seconds)(Ranks { p })
    }

    /// Bytes on the wire that each rank sends and receives, summed over messages.
    fn sent(&self, p: u32) -> Vec<(u64, u64)> {
        let once = Repetition { times: 1, compute: becalm_engine::Time::ZERO, reduction_per_byte: 0.0 };
        let program = self.collective.program(p, &once).unwrap();
        let mut bytes = vec![(0, 0); p as usize];
        for number in 0..program.len() as u32 {
            if let Action::Send { to, bytes: size, .. } = program.op(number).action {
                bytes[program.id(number).rank as usize].0 += wire(size);
                bytes[to as usize].1 += wire(size);
            }
        }
        bytes
    }
}

/// Bytes on the links from and to each host.
fn on_links(results: &Results, p: u32) -> Vec<(u64, u64)> {
    let (from, to) = (names(results, "links", "from"), names(results, "links", "to"));
    let bytes = numbers(results, "links", "bytes");
    let of =
        |ends: &[String], host: &str| ends.iter().zip(&bytes).find(|(end, _)| *end == host).unwrap().1.round() as u64;
    (1..=p).map(|host| format!("h{host}")).map(|host| (of(&from, &host), of(&to, &host))).collect()
}

/// Checks collectives for all numbers of ranks, and prints their largest deviations from their forms.
fn check(cases: &[Case], ranks: impl Iterator<Item = u32> + Clone) {
    for case in cases {
        let suitable = ranks.clone().filter(|p| !case.power || p.is_power_of_two());
        let worst = suitable.map(|p| (case.check(p) - 1.0, p)).max_by(|a, b| a.0.abs().total_cmp(&b.0.abs())).unwrap();
        println!("{}: off by {:.1e} at the most, with {} ranks", case.text, worst.0, worst.1);
        assert!(worst.0.abs() < 1e-3, "{}: {worst:?}", case.text);
    }
}

#[test]
fn parts_go_round_as_fast_as_their_forms_say() {
    check(&in_parts(), 2..=64);
}

#[test]
fn blocks_double_and_halve_as_fast_as_their_forms_say() {
    check(&in_blocks(), 2..=64);
}

#[test]
fn two_trees_are_near_the_bound_of_bandwidth() {
    let job = "all_reduce algorithm = \"double_binary_tree\", pieces = 64";
    let trees = case(Collective::AllReduce(AllReduce::DoubleBinaryTree(64), BYTES), job, false, |_| 1.0);
    for p in [2, 3, 4, 7, 8, 16, 31, 32, 64] {
        trees.check(p);
    }
    for p in [4, 8, 16, 32] {
        let job = "collective.all_reduce = {bytes = \"4 MiB\", algorithm = \"double_binary_tree\", pieces = 64}";
        let bus = numbers(&run(&star(p, job)), "jobs", "bus_bandwidth")[0];
        // The busiest link carries the vector twice.
        let bound = 1e9 * 2048.0 / 2068.0 * f64::from(p - 1) / f64::from(p);
        assert!(bus > 0.9 * bound && bus < 1.001 * bound, "{bus} of {bound}");
    }
}
