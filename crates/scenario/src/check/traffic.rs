//! Checks that traffic can reach its destinations and starts in time.

use becalm_engine::Time;
use becalm_fabric::Paths;
use becalm_schema::{Located, Place, Review};

use crate::resolve::{Network, Plan};
use crate::sections::Sections;
use crate::sections::flows::Group;
use crate::sections::jobs::Nics;
use crate::sections::quantities::Buffer;
use crate::sections::topology::generator::Deadlock;

pub(super) fn check(sections: &Sections, network: &Network, plan: &Plan, review: &mut Review<'_>) {
    let paths = Paths::new(&network.topology, &network.routes);
    let groups = sections.flows.items().iter().zip(plan.groups.iter().zip(&plan.last_starts));
    for (group, (flows, last)) in groups {
        let Some(group) = group.get() else { continue };
        let pairs = plan.flows[flows.start as usize..flows.end as usize].iter();
        let check = paths.check(pairs.map(|flow| (flow.source, flow.destination)));
        if let Err(error) = check {
            let places = [group.to.place(), group.pattern.place(), group.connections.place()];
            review.add(Place::first_given(&places), error.to_string());
        }
        starts(group, *last, sections, review);
    }
    jobs(sections, &paths, plan, review);
    cycles(sections, &paths, plan, review);
}

/// Reports jobs with hosts that cannot reach each other.
fn jobs(sections: &Sections, paths: &Paths<'_>, plan: &Plan, review: &mut Review<'_>) {
    for (job, flows) in sections.jobs.items().iter().zip(&plan.groups[sections.flows.items().len()..]) {
        let Some(job) = job.get() else { continue };
        let pairs = plan.flows[flows.start as usize..flows.end as usize].iter();
        if let Err(error) = paths.check(pairs.map(|flow| (flow.source, flow.destination))) {
            let rails = job.on_nodes().is_some() && job.nics.get() != Some(&Nics::Pxn);
            let advice = if rails { "; valid: nics = \"pxn\", or spine switches" } else { "" };
            let place = Place::first_given(&[job.nodes.place(), job.hosts.place()]);
            review.add(place, format!("{error}{advice}"));
        }
    }
}

/// Reports flows that start after they end.
fn starts(group: &Group, last: Option<Time>, sections: &Sections, review: &mut Review<'_>) {
    let (Some(&duration), Some(last)) = (sections.run.get().and_then(|run| run.duration.get()), last) else { return };
    let (end, what) = match *group.stop {
        Some(stop) if stop < duration => (stop, "their stop"),
        _ => (duration, "the run's end"),
    };
    if group.stop.is_some_and(|stop| stop <= *group.start) {
        return;
    }
    if let Some(change) = group.traffic.changes().iter().find(|change| *change.at >= end) {
        return review.add(change.at.place(), format!("does nothing: it is not before {what} at {end}"));
    }
    let latest = last.saturating_add(*group.start_spread);
    if latest < end {
        return;
    }
    let late = |start: &Located<Option<Time>>| start.is_some_and(|at| at >= end).then_some(start.place());
    let own = group.connections.iter().flatten().find_map(|connection| late(&connection.start));
    let common = match last {
        _ if *group.start >= end => group.start.place(),
        _ if last >= end => group.stagger.place(),
        _ => group.start_spread.place(),
    };
    let problem = format!("the last of these flows would start at {latest}; it must start before {what} at {end}");
    review.add(own.unwrap_or(common), problem);
}

/// Reports routes on which buffers may wait for each other in a cycle, if the topology permits such routes.
fn cycles(sections: &Sections, paths: &Paths<'_>, plan: &Plan, review: &mut Review<'_>) {
    let Some(choice) = sections.topology.complete() else { return };
    // No packet ever waits for buffer space.
    let buffer = sections.switch.get().and_then(|switch| switch.buffer.get());
    if buffer.is_some_and(|buffer| *buffer == Buffer::Unlimited) {
        return;
    }
    let Some(Deadlock { place, advice }) = choice.deadlock() else { return };
    let ways = plan.flows.iter().flat_map(|&flow| sections.ways(flow));
    let Some(cycle) = paths.dependency_cycle_of_lanes(ways) else { return };
    let links = cycle.join(", ").replace("->", " -> ");
    let problem = format!("its routes can deadlock: each of these links may wait for the next: {links}; {advice}");
    review.add(place, problem);
}
