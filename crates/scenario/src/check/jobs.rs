//! Checks of single jobs.

use std::collections::HashSet;

use becalm_engine::Time;
use becalm_schema::{Place, Review};

use crate::sections::Sections;
use crate::sections::collective::Collective;
use crate::sections::jobs::{Job, Nics, Placement};

pub(super) fn check(sections: &Sections, review: &mut Review<'_>) {
    let groups = sections.flows.items().iter().filter_map(|group| group.get()?.name.get());
    let mut names: HashSet<&str> = groups.map(String::as_str).collect();
    for (job, place) in sections.jobs.items().iter().filter_map(|job| Some((job.get()?, job.place()))) {
        if let Some(name) = job.name.get() {
            if name.is_empty() {
                review.add(job.name.place(), "must not be empty");
            }
            if !names.insert(name) {
                review.add(job.name.place(), "another job or group of flows has this name");
            }
        }
        seats(job, place, review);
        program(job, place, review);
        start(job, sections, review);
    }
}

/// Checks that ranks have either hosts or nodes, and that the settings of nodes have an effect.
fn seats(job: &Job, place: Place, review: &mut Review<'_>) {
    match (job.on_hosts(), job.on_nodes()) {
        // An empty list has its own message, when its hosts are looked up.
        (None, None) if job.hosts.given().is_none() => review.add(place, "hosts is missing: set hosts or nodes"),
        (Some(_), Some(nodes)) => review.add(nodes, "cannot be combined with hosts"),
        _ => {}
    }
    if job.on_nodes().is_none() {
        for place in [job.other_nics(), job.other_chunk()].into_iter().flatten() {
            review.add(place, "does nothing without nodes");
        }
    } else if let (Some(place), Some(nics)) = (job.other_chunk(), job.nics.get())
        && *nics != Nics::Pxn
    {
        review.add(place, "does nothing without nics = \"pxn\"");
    }
    if job.on_nodes().is_some() && job.placement.get() == Some(&Placement::List) {
        review.add(job.placement.place(), "needs hosts instead of nodes");
    }
}

/// Checks that there is exactly one program, and that its settings have an effect.
fn program(job: &Job, place: Place, review: &mut Review<'_>) {
    let programs = [
        job.collective.given(),
        job.ops.given(),
        job.goal.given(),
        job.chakra.given(),
        job.step.given(),
        job.all_to_all_v.given(),
    ];
    let mut given = programs.into_iter().flatten();
    let first = given.next();
    for other in given {
        review.add(other, "is a second program: set only one of collective, all_to_all_v, step, ops, goal and chakra");
    }
    match (first, job.collective.given()) {
        (None, _) => review
            .add(place, "collective is missing: set a collective operation, all_to_all_v, step, ops, goal or chakra"),
        (Some(_), None) => {
            let repeats = job.repeat.get().is_some_and(|&repeat| repeat != 1);
            let computes = job.compute.get().is_some_and(|compute| *compute > Time::ZERO);
            let (step, loads) = (job.step.given().is_some(), job.all_to_all_v.given().is_some());
            let only = [
                job.repeat.given().filter(|_| repeats && !step && !loads),
                job.compute.given().filter(|_| computes && !loads),
                job.reduce_rate.given().filter(|_| !step),
                job.groups.given().filter(|_| !loads && job.groups.get().is_some_and(|groups| !groups.is_empty())),
            ];
            for place in only.into_iter().flatten() {
                review.add(place, "does nothing without a collective operation");
            }
        }
        (Some(_), Some(_)) => {
            let adds = matches!(
                job.collective.set(),
                None | Some(Collective::Reduce(_) | Collective::AllReduce(_) | Collective::ReduceScatter(_))
            );
            if let Some(place) = job.reduce_rate.given().filter(|_| !adds) {
                review.add(place, "does nothing: this collective operation computes no sum");
            }
        }
    }
}

fn start(job: &Job, sections: &Sections, review: &mut Review<'_>) {
    let duration = sections.run.get().and_then(|run| run.duration.get());
    if let (Some(start), Some(duration)) = (job.start.get(), duration)
        && start >= duration
    {
        review.add(job.start.place(), format!("must be before the run's end at {duration}"));
    }
}
