//! Checks of single jobs.

use std::collections::HashSet;

use becalm_schema::{Place, Review};

use crate::sections::Sections;
use crate::sections::collective::Collective;
use crate::sections::jobs::Job;

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
        program(job, place, review);
        start(job, sections, review);
    }
}

/// Checks that there is one program, and that its settings have an effect.
fn program(job: &Job, place: Place, review: &mut Review<'_>) {
    match (job.collective.given(), job.ops.given()) {
        (None, None) => review.add(place, "collective is missing: set a collective operation, or ops"),
        (Some(_), Some(ops)) => review.add(ops, "cannot be set beside collective"),
        (None, Some(_)) => {
            let only = [job.repeat.given(), job.compute.given(), job.reduce_rate.given()];
            for place in only.into_iter().flatten() {
                review.add(place, "does nothing without a collective operation");
            }
        }
        (Some(_), None) => {
            let adds = matches!(
                job.collective.set(),
                None | Some(Collective::Reduce(_) | Collective::AllReduce(_) | Collective::ReduceScatter(_))
            );
            if let Some(place) = job.reduce_rate.given().filter(|_| !adds) {
                review.add(place, "does nothing: this collective operation adds nothing up");
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
