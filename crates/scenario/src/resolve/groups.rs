//! Collective operations of all ranks of a job, or of groups of its ranks.

use std::collections::HashMap;

use becalm_engine::Stream;
use becalm_schema::Review;
use becalm_workload::collectives::{Repetition, all_to_all_v, in_groups};
use becalm_workload::{Collective as Lowered, LongCollective, Program, ProgramError};

use super::seats::Seat;
use crate::sections::jobs::{Job, Placement};

/// The program of a job's collective operation or all-to-all; `None` after an error.
pub(super) fn program(
    job: &Job,
    seats: &[Seat],
    ranks: u32,
    random: &mut Stream,
    review: &mut Review<'_>,
) -> Option<Result<Program, ProgramError>> {
    if job.groups.is_empty() {
        let all: Vec<u32> = (0..ranks).collect();
        return of_group(job, ranks, per_node(job, seats, ranks, &all), random)
            .map_err(|why| refuse(job, why, review))
            .ok();
    }
    if let Some(problem) = wrong(&job.groups, ranks) {
        review.add(job.groups.place(), problem);
        return None;
    }
    // Groups of the same shape have the same program.
    let mut programs: HashMap<(u32, u32), Result<Program, ProgramError>> = HashMap::new();
    let shape = |group: &[u32]| (group.len() as u32, per_node(job, seats, ranks, group));
    for (number, group) in job.groups.iter().enumerate() {
        let (ranks, per_node) = shape(group);
        if programs.contains_key(&(ranks, per_node)) {
            continue;
        }
        match of_group(job, ranks, per_node, random) {
            Ok(program) => programs.insert((ranks, per_node), program),
            Err(why) => {
                refuse(job, format!("group {number}: {why}"), review);
                return None;
            }
        };
    }
    let mut members = Vec::new();
    for group in job.groups.iter() {
        match &programs[&shape(group)] {
            Ok(program) => members.push((&group[..], program)),
            Err(error) => return Some(Err(error.clone())),
        }
    }
    let operations: usize = members.iter().map(|(_, program)| program.len()).sum();
    if operations as u64 > LongCollective::MOST {
        refuse(job, too_many(operations as u64), review);
        return None;
    }
    Some(in_groups(ranks, members))
}

/// Number of ranks of the largest group.
pub(super) fn largest(job: &Job, ranks: u32) -> u32 {
    job.groups.iter().map(|group| group.len() as u32).max().unwrap_or(ranks)
}

/// Time that a rank needs to add a byte, in picoseconds.
pub(super) fn reduction(job: &Job) -> f64 {
    job.reduce_rate.as_ref().map_or(0.0, |rate| 1.0 / rate.rate().bytes_per_second() * 1e12)
}

/// What is wrong with groups of these ranks.
fn wrong(groups: &[Vec<u32>], ranks: u32) -> Option<String> {
    let mut group_of: HashMap<u32, usize> = HashMap::new();
    for (number, group) in groups.iter().enumerate() {
        if group.is_empty() {
            return Some(format!("group {number} has no ranks"));
        }
        for &rank in group {
            if rank >= ranks {
                return Some(format!("group {number}: there is no rank {rank}; the ranks are 0 to {}", ranks - 1));
            }
            match group_of.insert(rank, number) {
                Some(other) if other == number => return Some(format!("group {number} names rank {rank} twice")),
                Some(other) => return Some(format!("rank {rank} is in group {other} and in group {number}")),
                None => {}
            }
        }
    }
    None
}

/// The program of this number of ranks, of which consecutive ones share a node.
///
/// # Errors
/// The reason why the number is not possible.
fn of_group(
    job: &Job,
    ranks: u32,
    per_node: u32,
    random: &mut Stream,
) -> Result<Result<Program, ProgramError>, String> {
    let (times, compute) = (*job.repeat, *job.compute);
    let Some(collective) = &*job.collective else {
        let loads = job.all_to_all_v.as_ref().ok_or("is missing")?;
        let sizes = loads.sizes(ranks, random)?;
        let operations = (u64::from(ranks) * 2).saturating_mul(u64::from(ranks)).saturating_mul(times.into());
        if operations > LongCollective::MOST {
            return Err(too_many(operations));
        }
        let size = |from: u32, to: u32| sizes[(from * ranks + to) as usize];
        return Ok(all_to_all_v(ranks, size, &Repetition { times, compute, reduction_per_byte: 0.0 }));
    };
    let lowered = collective.lowered(per_node);
    lowered.suits(ranks)?;
    let repetition = Repetition { times, compute, reduction_per_byte: reduction(job) };
    lowered.fits(ranks, &repetition).map_err(|long| {
        let fit = |other: &Lowered| other.suits(ranks).is_ok() && other.fits(ranks, &repetition).is_ok();
        too_long(&long, &collective.algorithms(per_node, fit))
    })?;
    // A program of several groups is a list of operations.
    Ok(if job.groups.is_empty() { lowered.program(ranks, &repetition) } else { lowered.listed(ranks, &repetition) })
}

/// The number of ranks of a group that are consecutive on each node or host; 1 if it differs, or if the order is random.
fn per_node(job: &Job, seats: &[Seat], ranks: u32, group: &[u32]) -> u32 {
    if *job.placement != Placement::Packed {
        return 1;
    }
    let each = (ranks as usize).div_ceil(seats.len());
    let node = |rank: u32| match seats[rank as usize / each] {
        Seat::Gpu(node, _) => (true, node),
        Seat::Host(host) => (false, host.0),
    };
    let mut sizes = group.chunk_by(|&a, &b| node(a) == node(b)).map(<[u32]>::len);
    let first = sizes.next().unwrap_or(1);
    if sizes.all(|size| size == first) { first as u32 } else { 1 }
}

fn refuse(job: &Job, problem: String, review: &mut Review<'_>) {
    let place = if job.collective.is_some() { job.collective.place() } else { job.all_to_all_v.place() };
    review.add(place, problem);
}

fn too_many(operations: u64) -> String {
    format!("needs about {operations} operations, but at most {} are possible", LongCollective::MOST)
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
