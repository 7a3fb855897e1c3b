//! Checks of single groups of flows.

use std::collections::HashSet;

use becalm_engine::Time;
use becalm_schema::{Located, Place, Review};

use crate::sections::Sections;
use crate::sections::flows::{Group, Traffic};

pub(super) fn check(sections: &Sections, review: &mut Review<'_>) {
    if sections.flows.get().is_some_and(Vec::is_empty) && sections.jobs.get().is_some_and(Vec::is_empty) {
        match sections.flows.given() {
            Some(place) => review.add(place, "must have at least one group, unless there are jobs"),
            None => review.add(sections.flows.place(), "flows is missing: add a group of flows, or a job"),
        }
    }
    let mut names = HashSet::new();
    for (group, place) in sections.flows.items().iter().filter_map(|group| Some((group.get()?, group.place()))) {
        name(group, &mut names, review);
        ends(group, place, review);
        weights(group, review);
        stop(group, review);
        spread(group, review);
        lane(group.sl.get(), group.sl.place(), sections, review);
    }
    for job in sections.jobs.items().iter().filter_map(|job| job.get()) {
        lane(job.sl.get(), job.sl.place(), sections, review);
    }
    for path in sections.path_levels() {
        lane(path.sl.get(), path.sl.place(), sections, review);
    }
    if let Some(packet) = sections.packet.get() {
        lane(packet.answers_sl.set(), packet.answers_sl.place(), sections, review);
    }
}

fn name<'a>(group: &'a Group, names: &mut HashSet<&'a str>, review: &mut Review<'_>) {
    let Some(name) = group.name.get() else { return };
    if name.is_empty() {
        review.add(group.name.place(), "must not be empty");
    }
    if !names.insert(name) {
        review.add(group.name.place(), "another group has this name");
    }
}

/// Checks that senders and receivers are given exactly once.
fn ends(group: &Group, place: Place, review: &mut Review<'_>) {
    let Group { from, to, pattern, connections, .. } = group;
    if connections.given().is_some() {
        let beside = from.given().or(to.given()).or(pattern.given());
        if let Some(place) = beside {
            review.add(place, "cannot be set together with connections, which name senders and receivers");
        }
        return;
    }
    if from.given().is_none() {
        review.add(place, "from is missing: set the senders or connections");
    }
    match (to.given(), pattern.given()) {
        (None, None) => review.add(place, "to is missing: set the receivers or a pattern"),
        (Some(_), Some(pattern)) => review.add(pattern, "cannot be set together with to"),
        _ => {}
    }
}

/// Checks that each entry of `to` has a weight, and that messages have a choice of destinations.
fn weights(group: &Group, review: &mut Review<'_>) {
    let (Some(place), Some(weights)) = (group.weights.given(), group.weights.set()) else { return };
    if matches!(group.traffic.get(), Some(Traffic::Greedy(_) | Traffic::OnOff(_))) {
        review.add(place, "needs traffic.poisson or traffic.batch: other traffic does not choose a destination");
    }
    if let Some(wrong) = weights.iter().find(|weight| !(weight.is_finite() && **weight > 0.0)) {
        review.add(place, format!("must be positive numbers, not {wrong}"));
    }
    match group.to.set() {
        Some(to) if to.len() != weights.len() => {
            review.add(
                place,
                format!("must have one weight for each of the {} entries of to, not {}", to.len(), weights.len()),
            );
        }
        None if group.to.given().is_none() => review.add(place, "needs to, whose entries it weighs"),
        _ => {}
    }
}

fn stop(group: &Group, review: &mut Review<'_>) {
    let (Some(start), Some(stop)) = (group.start.get(), group.stop.set()) else { return };
    if stop <= start {
        review.add(group.stop.place(), format!("must be later than start = {start}"));
    }
}

/// Reports a spread of the starts of Poisson traffic, which has no effect.
fn spread(group: &Group, review: &mut Review<'_>) {
    let spreads = group.start_spread.get().is_some_and(|spread| *spread > Time::ZERO);
    if let (Some(place), Some(Traffic::Poisson(_))) =
        (group.start_spread.given().filter(|_| spreads), group.traffic.get())
    {
        review.add(place, "does nothing: poisson traffic already arrives at random times");
    }
}

/// Checks that a service level has a lane.
fn lane(level: Option<&u32>, place: Place, sections: &Sections, review: &mut Review<'_>) {
    let Some(switch) = sections.switch.get() else { return };
    let (Some(&sl), Some(&vls), Some(_)) = (level, switch.vls.get(), switch.sl_to_vl.get()) else { return };
    match switch.vl(sl) {
        Some(vl) if vl < vls => {}
        Some(vl) => {
            review.add(place, format!("service level {sl} uses VL {vl}, but switch.vls = {vls}"));
        }
        None => {
            review.add(place, format!("service level {sl} has no VL: switch.sl_to_vl is too short"));
        }
    }
}

/// The groups that could be read, at least in part.
pub(super) fn readable(groups: &Located<Vec<Located<Group>>>) -> impl Iterator<Item = &Group> {
    groups.items().iter().filter_map(|group| group.get())
}
