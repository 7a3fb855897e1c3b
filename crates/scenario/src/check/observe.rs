//! Checks of recordings over time.

use std::collections::HashSet;

use becalm_engine::Time;
use becalm_schema::{Place, Review};

use crate::names::unknown;
use crate::resolve::{Network, Plan};
use crate::sections::Sections;
use crate::sections::observe::{FrameStep, Observe};

/// Limit on the number of values in series. It prevents memory exhaustion because of a wrong unit.
const MOST_SAMPLES: u64 = 20_000_000;

pub(super) fn check(sections: &Sections, network: &Network, plan: &Plan, review: &mut Review<'_>) {
    let Some(observe) = sections.observe.get() else { return };
    window(observe, review);
    links(observe, network, review);
    let Some((duration, place)) = sections.run.get().and_then(|run| Some((*run.duration.get()?, run.duration.place())))
    else {
        return;
    };
    for time in observe.snapshots.items() {
        if time.get().is_some_and(|time| *time > duration) {
            review.add(time.place(), format!("is after the run's end at {duration}"));
        }
    }
    let frames = &observe.frames;
    if frames.get().is_some_and(|step| matches!(step, Some(FrameStep::Every(step)) if *step > duration)) {
        review
            .add(frames.place(), format!("is longer than the run, which ends at {duration}: there would be no frame"));
    }
    if let Some(observe) = sections.observe.complete() {
        let places = [observe.step.place(), sections.observe.place(), place];
        samples(observe, network, plan, duration, Place::first_given(&places), review);
    }
}

fn window(observe: &Observe, review: &mut Review<'_>) {
    let (Some(window), Some(step)) = (observe.window.get(), observe.step.get()) else { return };
    if window < step {
        let place = Place::first_given(&[observe.window.place(), observe.step.place()]);
        review.add(place, format!("window must be at least step = {step}"));
    }
}

fn links(observe: &Observe, network: &Network, review: &mut Review<'_>) {
    let names = network.link_names();
    let known: HashSet<&str> = names.iter().copied().collect();
    for link in observe.links.items() {
        if let Some(name) = link.get().filter(|name| *name != "*" && !known.contains(name.as_str())) {
            unknown("link", name, &names, link.place(), review);
        }
    }
}

fn samples(observe: &Observe, network: &Network, plan: &Plan, duration: Time, place: Place, review: &mut Review<'_>) {
    let all = observe.links.iter().any(|name| **name == "*");
    let followed = if all { network.links.len() } else { observe.links.len() };
    let flows = if *observe.flows { plan.flows.len() } else { 0 };
    let samples = duration.0 / observe.step.0.max(1) + 2;
    let paces = if *observe.paces { plan.groups.len() } else { 0 };
    let values = samples.saturating_mul((followed + plan.groups.len() + flows + paces) as u64);
    if values > MOST_SAMPLES {
        let problem = format!(
            "series would have {values} values, more than {MOST_SAMPLES}; use a longer step or record fewer links"
        );
        review.add(place, problem);
    }
}
