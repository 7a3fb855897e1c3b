//! Jobs: their programs, and the hosts of their ranks.

use std::collections::HashMap;
use std::sync::Arc;

use becalm_engine::{Stream, Time};
use becalm_fabric::NodeId;
use becalm_schema::{Located, Place, Review};
use becalm_workload::{
    Action, Builder, Channel, LongCollective, Messages, Op, OpId, Part, Program, ProgramError, When,
};

use super::faults::PortFault;
use super::groups::{self, reduction};
use super::network::Network;
use super::pairs::{MOST_WITH_JOBS, too_many};
use super::seats::{Seat, Seats};
use crate::sections::collective::{AllToAllAlgorithm, Collective};
use crate::sections::jobs::{Job as Section, Operation, Placement};
use crate::sections::schedule::Schedule;

/// A job that can run.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub program: Arc<Program>,
    /// The host of every rank.
    pub hosts: Vec<NodeId>,
    /// The hosts that one thread must handle.
    pub together: Vec<(NodeId, NodeId)>,
    /// The channels that cross the network, in ascending order. Each has one flow.
    pub channels: Arc<[Channel]>,
    /// The hosts at the ends of each of them.
    pub ends: Vec<(NodeId, NodeId)>,
    /// The largest number of bytes that a rank sends.
    pub most_sent: u64,
    /// Number of ranks of the largest group that executes a collective operation.
    pub group: u32,
}

impl Job {
    /// The messages of all ranks that cross the network, with the index of their channel.
    pub fn crossing(&self) -> impl Iterator<Item = (usize, Messages)> {
        let of_rank = move |rank: u32| {
            let sent = self.program.sent(rank).into_iter();
            sent.filter_map(move |sent| Some((self.channels.binary_search(&(rank, sent.to, sent.port)).ok()?, sent)))
        };
        (0..self.program.ranks()).flat_map(of_rank)
    }
}

/// The job of a section; `None` after an error.
pub(super) fn resolve(
    located: &Located<Section>,
    (network, faults): (&Network, &[PortFault]),
    (most, seed): (usize, u64),
    random: &mut Stream,
    review: &mut Review<'_>,
) -> Option<Job> {
    let job = located.get()?;
    let before = review.count();
    let seats = named(job, network, review);
    let section = located.complete()?;
    if review.count() > before || seats.is_empty() {
        return None;
    }
    let ranks = ranks(section, seats.len() as u32);
    let program = program(section, located.place(), (&seats, ranks), random, review)?;
    let group = groups::largest(section, ranks);
    let most_sent = (0..program.ranks()).map(|rank| sent(&program, rank)).max().unwrap_or(0);
    let seats = place(section, seats, program.ranks(), random, review)?;
    let seats = Seats::new((network, faults), seats, (*section.nics, section.pxn_chunk.0), seed);
    let program = if section.on_nodes().is_some() { routed(section, program, &seats, review)? } else { program };
    let of_ranks = (0..program.ranks()).flat_map(|rank| seats.with_detours(program.channels_of(rank)));
    let crossing = of_ranks.filter_map(|channel| Some((channel, seats.ends(channel)?)));
    let (channels, ends): (Vec<_>, Vec<_>) = crossing.unzip();
    if channels.len() > most {
        review.add(located.place(), too_many_pairs(section, channels.len(), most));
        return None;
    }
    let hosts = (0..program.ranks()).map(|rank| seats.host(rank)).collect();
    let (together, channels) = (seats.together(), channels.into());
    Some(Job { together, program: Arc::new(program), hosts, channels, ends, most_sent, group })
}

/// The bytes that a rank sends.
fn sent(program: &Program, rank: u32) -> u64 {
    program.sent(rank).iter().map(|sent| sent.bytes * sent.count).sum()
}

/// The program with its messages on the ways between nodes; `None` after an error.
fn routed(job: &Section, program: Program, seats: &Seats<'_>, review: &mut Review<'_>) -> Option<Program> {
    if let Some((from, to)) = seats.parted(&program.channels()) {
        let problem = format!("rank {from} and rank {to} have no port in common that has not failed");
        review.add(job.nodes.place(), problem);
        return None;
    }
    program.with_ways(seats).map_err(|error| review.add(job.nics.place(), error.to_string())).ok()
}

/// The problem of a job with this number of pairs of ranks, each of which needs one of `most` flows.
fn too_many_pairs(job: &Section, pairs: usize, most: usize) -> String {
    let fewer = "fewer ranks, or fewer pairs of ranks on different hosts that exchange messages";
    let bruck = match &*job.collective {
        Some(Collective::AllToAll(p)) if p.algorithm != AllToAllAlgorithm::Bruck => ", as with algorithm = \"bruck\"",
        _ => "",
    };
    too_many(pairs, (most, MOST_WITH_JOBS), &format!("{fewer}{bruck}"))
}

/// The hosts that a job names, or the GPUs of its nodes. With `placement = "list"`, a host may be named several times.
fn named(job: &Section, network: &Network, review: &mut Review<'_>) -> Vec<Seat> {
    if job.on_nodes().is_some() {
        let of_node =
            |node: u32| (0..network.nodes[node as usize].gpus.len() as u32).map(move |gpu| Seat::Gpu(node, gpu));
        let seats: Vec<Seat> = network.nodes_of(&job.nodes, review).into_iter().flat_map(of_node).collect();
        let unable = seats.iter().find_map(|seat| match *seat {
            Seat::Gpu(node, gpu) => {
                let node = &network.nodes[node as usize];
                node.gpus[gpu as usize].adapters().next().is_none().then_some((&node.name, gpu))
            }
            Seat::Host(_) => None,
        });
        if let Some((node, gpu)) = unable {
            review.add(job.nodes.place(), format!("GPU {gpu} of node `{node}` has no adapter that has not failed"));
        }
        return seats;
    }
    let hosts = match job.placement.get() {
        // A job with neither hosts nor nodes is an error of its own.
        _ if job.hosts.given().is_none() => Vec::new(),
        Some(&Placement::List) if !job.hosts.items().is_empty() => {
            job.hosts.items().iter().filter_map(|name| network.host(name, review)).collect()
        }
        _ => network.hosts(&job.hosts, review),
    };
    hosts.into_iter().map(Seat::Host).collect()
}

/// The number of ranks. If it is not set, it is the number that the operations need or, without operations, one per
/// host.
fn ranks(job: &Section, hosts: u32) -> u32 {
    let needed = |op: &Operation| op.rank.max(op.to.unwrap_or(0)).max(op.from.unwrap_or(0)) + 1;
    let of_ops = job.ops.iter().flatten().map(needed).max();
    let of_file = schedule(job).map(|(_, schedule)| schedule.program.ranks());
    let of_table = job.all_to_all_v.as_ref().filter(|_| job.groups.is_empty()).and_then(|loads| loads.ranks());
    let of_step = job.step.as_ref().map(|step| step.ranks().min(1 << 20) as u32);
    job.ranks.or(of_ops).or(of_file).or(of_table).or(of_step).unwrap_or(hosts)
}

/// The program of a file, and its location in the scenario.
fn schedule(job: &Section) -> Option<(Place, &Schedule)> {
    let goal = job.goal.as_ref().map(|goal| (job.goal.place(), &goal.0));
    goal.or_else(|| job.chakra.as_ref().map(|chakra| (job.chakra.place(), &chakra.0)))
}

fn program(
    job: &Section,
    table: Place,
    (seats, ranks): (&[Seat], u32),
    random: &mut Stream,
    review: &mut Review<'_>,
) -> Option<Program> {
    if let Some((place, schedule)) = schedule(job) {
        let own = schedule.program.ranks();
        if own != ranks {
            review.add(job.ranks.place(), format!("must be {own}, the number of ranks in the file, or left out"));
            return None;
        }
        return checked(Ok((*schedule.program).clone()), job, place, review);
    }
    let (place, made) = match (&*job.collective, &*job.ops) {
        (Some(_), None) => (job.collective.place(), groups::program(job, seats, ranks, random, review)?),
        (None, None) if job.all_to_all_v.is_some() => {
            (job.all_to_all_v.place(), groups::program(job, seats, ranks, random, review)?)
        }
        (None, None) if job.step.is_some() => (job.step.place(), trained(job, ranks, random, review)?),
        (None, Some(ops)) => (job.ops.place(), listed(ops, ranks, table, review)?.build()),
        _ => return None,
    };
    checked(made, job, place, review)
}

/// The program of a step of training; `None` after an error.
fn trained(
    job: &Section,
    ranks: u32,
    random: &mut Stream,
    review: &mut Review<'_>,
) -> Option<Result<Program, ProgramError>> {
    let step = job.step.as_ref()?;
    if step.ranks() != u64::from(ranks) {
        let place = Place::first_given(&[job.ranks.place(), job.step.place()]);
        let problem = format!("has {} ranks (tensor x pipeline x data), not {ranks}", step.ranks());
        review.add(place, problem);
        return None;
    }
    let lowered = match step.lowered(reduction(job), random) {
        Ok(lowered) => lowered,
        Err(problem) => {
            review.add(job.step.place(), format!("experts: {problem}"));
            return None;
        }
    };
    let operations = lowered.operations(*job.repeat);
    if operations > LongCollective::MOST {
        let problem = format!("needs about {operations} operations, but at most {} are possible", LongCollective::MOST);
        review.add(job.step.place(), problem);
        return None;
    }
    Some(lowered.program(*job.repeat, |rank| step.slowness(rank) * (1.0 + step.skew * random.unit())))
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
        let id = builder.add(
            operation.rank,
            Op { action: action(operation), lane: operation.lane as u16, part: Part::Eager, port: 0 },
        );
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

/// The seat of every rank.
fn place(
    job: &Section,
    hosts: Vec<Seat>,
    ranks: u32,
    random: &mut Stream,
    review: &mut Review<'_>,
) -> Option<Vec<Seat>> {
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
