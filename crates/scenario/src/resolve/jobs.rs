//! Jobs: their programs, and the hosts of their ranks.

use std::collections::HashMap;
use std::sync::Arc;

use becalm_engine::{Stream, Time};
use becalm_fabric::NodeId;
use becalm_schema::{Located, Place, Review};
use becalm_workload::collectives::Repetition;
use becalm_workload::{
    Action, Builder, Collective as Lowered, LongCollective, Op, OpId, Part, Program, ProgramError, When,
};

use super::network::Network;
use super::pairs::too_many;
use crate::sections::collective::{AllToAllAlgorithm, Collective};
use crate::sections::jobs::{Job as Section, Operation, Placement};
use crate::sections::schedule::Schedule;

/// A job that can run.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub program: Arc<Program>,
    /// The host of every rank.
    pub hosts: Vec<NodeId>,
    /// Pairs of a sending and a receiving rank on different hosts, in ascending order. Each pair has one
    /// flow.
    pub pairs: Vec<(u32, u32)>,
}

/// The job of a section; `None` after an error.
pub(super) fn resolve(
    located: &Located<Section>,
    network: &Network,
    most: usize,
    random: &mut Stream,
    review: &mut Review<'_>,
) -> Option<Job> {
    let job = located.get()?;
    let before = review.count();
    let hosts = named(job, network, review);
    if hosts.is_empty() && review.count() == before {
        review.add(job.hosts.place(), "must name at least one host");
    }
    let section = located.complete()?;
    if review.count() > before {
        return None;
    }
    let ranks = ranks(section, hosts.len() as u32);
    let program = program(section, located.place(), ranks, review)?;
    let hosts = place(section, hosts, program.ranks(), random, review)?;
    let host = |rank: u32| hosts[rank as usize];
    let pairs: Vec<_> = program.pairs().into_iter().filter(|&(from, to)| host(from) != host(to)).collect();
    if pairs.len() > most {
        review.add(located.place(), too_many_pairs(section, pairs.len(), most));
        return None;
    }
    Some(Job { program: Arc::new(program), hosts, pairs })
}

/// The problem of a job with this number of pairs of ranks, each of which needs one of `most` flows.
fn too_many_pairs(job: &Section, pairs: usize, most: usize) -> String {
    let fewer = "fewer ranks, or fewer pairs of ranks on different hosts that exchange messages";
    let bruck = match &*job.collective {
        Some(Collective::AllToAll(p)) if p.algorithm != AllToAllAlgorithm::Bruck => ", as with algorithm = \"bruck\"",
        _ => "",
    };
    too_many(pairs, most, &format!("{fewer}{bruck}"))
}

/// The hosts that a job names. With `placement = "list"`, a host may be named several times.
fn named(job: &Section, network: &Network, review: &mut Review<'_>) -> Vec<NodeId> {
    if job.placement.get() == Some(&Placement::List) {
        return job.hosts.items().iter().filter_map(|name| network.host(name, review)).collect();
    }
    network.hosts(&job.hosts, review)
}

/// The number of ranks. If it is not set, it is the number that the operations need or, without operations, one per
/// host.
fn ranks(job: &Section, hosts: u32) -> u32 {
    let needed = |op: &Operation| op.rank.max(op.to.unwrap_or(0)).max(op.from.unwrap_or(0)) + 1;
    let of_ops = job.ops.iter().flatten().map(needed).max();
    let of_file = schedule(job).map(|(_, schedule)| schedule.program.ranks());
    job.ranks.or(of_ops).or(of_file).unwrap_or(hosts)
}

/// The program of a file, and its location in the scenario.
fn schedule(job: &Section) -> Option<(Place, &Schedule)> {
    let goal = job.goal.as_ref().map(|goal| (job.goal.place(), &goal.0));
    goal.or_else(|| job.chakra.as_ref().map(|chakra| (job.chakra.place(), &chakra.0)))
}

fn program(job: &Section, table: Place, ranks: u32, review: &mut Review<'_>) -> Option<Program> {
    if let Some((place, schedule)) = schedule(job) {
        let own = schedule.program.ranks();
        if own != ranks {
            review.add(job.ranks.place(), format!("must be {own}, the number of ranks in the file, or left out"));
            return None;
        }
        return checked(Ok((*schedule.program).clone()), job, place, review);
    }
    let (place, made) = match (&*job.collective, &*job.ops) {
        (Some(collective), None) => {
            let lowered = collective.lowered();
            if let Err(why) = lowered.suits(ranks) {
                review.add(job.collective.place(), why);
                return None;
            }
            let seconds = job.reduce_rate.as_ref().map_or(0.0, |rate| 1.0 / rate.rate().bytes_per_second());
            let repetition =
                Repetition { times: *job.repeat, compute: *job.compute, reduction_per_byte: seconds * 1e12 };
            if let Err(long) = lowered.fits(ranks, &repetition) {
                let fit = |other: &Lowered| other.suits(ranks).is_ok() && other.fits(ranks, &repetition).is_ok();
                review.add(job.collective.place(), too_long(&long, &collective.algorithms(fit)));
                return None;
            }
            (job.collective.place(), lowered.program(ranks, &repetition))
        }
        (None, Some(ops)) => (job.ops.place(), listed(ops, ranks, table, review)?.build()),
        _ => return None,
    };
    checked(made, job, place, review)
}

/// The problem of a collective with too many operations. These other algorithms need few enough.
fn too_long(long: &LongCollective, algorithms: &[&str]) -> String {
    let quoted: Vec<String> = algorithms.iter().map(|word| format!("\"{word}\"")).collect();
    match (quoted.is_empty(), long.is_possible()) {
        (true, _) => long.to_string(),
        (false, true) => format!("{long}, or algorithm = {}", quoted.join(" or ")),
        (false, false) => format!("{long}; valid: algorithm = {}", quoted.join(" or ")),
    }
}

/// The program with a rendezvous for large messages; `None` if it cannot end.
fn checked(
    made: Result<Program, ProgramError>,
    job: &Section,
    place: Place,
    review: &mut Review<'_>,
) -> Option<Program> {
    let eager = job.eager.map_or(u64::MAX, |limit| limit.0);
    let lowered = made.and_then(|program| program.with_rendezvous(eager));
    let checked = lowered.and_then(|program| program.check().map(|()| program));
    checked.map_err(|error| review.add(place, error.to_string())).ok()
}

/// The program of the operations listed in a job's table.
fn listed(ops: &[Operation], ranks: u32, table: Place, review: &mut Review<'_>) -> Option<Builder> {
    let mut builder = Builder::new(ranks);
    let mut names: HashMap<(u32, &str), OpId> = HashMap::new();
    for (number, operation) in ops.iter().enumerate() {
        let mut wrong = |key: &str, problem: String| {
            review.add_in(table, &format!("ops[{number}].{key}"), problem);
        };
        if operation.rank >= ranks {
            wrong("rank", format!("there is no rank {}; the ranks are 0 to {}", operation.rank, ranks - 1));
            return None;
        }
        let id = builder
            .add(operation.rank, Op { action: action(operation), lane: operation.lane as u16, part: Part::Eager });
        let earlier = operation.after.iter().map(|name| (name, When::Done));
        for (name, when) in earlier.chain(operation.after_start.iter().map(|name| (name, When::Start))) {
            let Some(&other) = names.get(&(operation.rank, name.as_str())) else {
                wrong("after", format!("rank {} has no earlier operation `{name}`", operation.rank));
                return None;
            };
            builder.after(id, other, when);
        }
        if let Some(name) = &operation.name
            && names.insert((operation.rank, name), id).is_some()
        {
            wrong("name", format!("rank {} already has an operation `{name}`", operation.rank));
            return None;
        }
    }
    Some(builder)
}

fn action(operation: &Operation) -> Action {
    let tag = operation.tag;
    match (operation.send, operation.recv) {
        (Some(bytes), _) => Action::Send { to: operation.to.unwrap_or(0), bytes: bytes.0, tag: tag.unwrap_or(0) },
        (_, Some(bytes)) => Action::Recv { from: operation.from, bytes: bytes.0, tag },
        _ => Action::Calc { time: operation.calc.unwrap_or(Time::ZERO) },
    }
}

/// The host of every rank.
fn place(
    job: &Section,
    hosts: Vec<NodeId>,
    ranks: u32,
    random: &mut Stream,
    review: &mut Review<'_>,
) -> Option<Vec<NodeId>> {
    let n = hosts.len();
    let each = (ranks as usize).div_ceil(n);
    let packed = || (0..ranks as usize).map(|rank| hosts[rank / each]).collect::<Vec<_>>();
    match *job.placement {
        Placement::Packed => Some(packed()),
        Placement::RoundRobin => Some((0..ranks as usize).map(|rank| hosts[rank % n]).collect()),
        Placement::Random => {
            let mut placed = packed();
            for i in (1..placed.len()).rev() {
                placed.swap(i, random.below(i as u32 + 1) as usize);
            }
            Some(placed)
        }
        Placement::List if n as u32 == ranks => Some(hosts),
        Placement::List => {
            review
                .add(job.hosts.place(), format!("placement = \"list\" needs one host for each rank: {ranks}, not {n}"));
            None
        }
    }
}
