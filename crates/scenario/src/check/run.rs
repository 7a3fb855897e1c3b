//! Checks of the run and of the caps of adapters.

use becalm_schema::Review;

use crate::check::groups::readable;
use crate::sections::Sections;
use crate::sections::adapter::{Adapter, PortControl};
use crate::sections::flows::{Restart, Traffic};
use crate::sections::run::End;

/// The highest service level.
const HIGHEST: u32 = 15;

pub(super) fn check(sections: &Sections, review: &mut Review<'_>) {
    warmup(sections, review);
    end(sections, review);
    if let Some(adapter) = sections.adapter.get() {
        caps(adapter, review);
        control_map(adapter, review);
        port_control(adapter, sections, review);
    }
}

fn warmup(sections: &Sections, review: &mut Review<'_>) {
    let Some(run) = sections.run.get() else { return };
    let (Some(warmup), Some(duration)) = (run.warmup.get(), run.duration.get()) else { return };
    if warmup >= duration {
        review.add(run.warmup.place(), format!("must be below duration = {duration}"));
    }
}

/// Checks `run.end`. A run that ends with its jobs must have jobs, and a run that ends with its messages must have
/// traffic that ends.
fn end(sections: &Sections, review: &mut Review<'_>) {
    let Some(run) = sections.run.get() else { return };
    match run.end.get() {
        Some(End::Jobs) if sections.jobs.get().is_some_and(Vec::is_empty) => {
            review.add(run.end.place(), "needs at least one job");
        }
        Some(End::Delivered) => {
            let endless = readable(&sections.flows).filter(|group| group.stop.get() == Some(&None));
            for group in endless.filter(|group| !matches!(group.traffic.get(), None | Some(Traffic::Batch(_)))) {
                let Some(name) = group.name.get() else { continue };
                let problem = format!("needs traffic that ends, but `{name}` never ends; set its stop");
                review.add(run.end.place(), problem);
            }
        }
        _ => {}
    }
}

/// Reports caps that have no effect.
fn caps(adapter: &Adapter, review: &mut Review<'_>) {
    // If all hosts have caps, an entry without caps exempts its hosts.
    if adapter.injection_rate.given().is_some() || adapter.drain_rate.given().is_some() {
        return;
    }
    for caps in adapter.caps.items() {
        if caps.get().is_some_and(|own| own.injection_rate.given().is_none() && own.drain_rate.given().is_none()) {
            review.add(caps.place(), "does nothing: neither injection_rate nor drain_rate is set");
        }
    }
}

/// Reports a map of levels that do not exist, or of all levels.
fn control_map(adapter: &Adapter, review: &mut Review<'_>) {
    let Some(map) = adapter.control_map.set() else { return };
    if map.iter().any(|&sl| sl > HIGHEST) {
        review.add(adapter.control_map.place(), "must be service levels from 0 to 15");
    } else if (0..=HIGHEST).all(|sl| map.contains(&sl)) {
        review.add(adapter.control_map.place(), "does nothing: it contains all service levels");
    }
}

/// Checks that flows with a common response have no separate ones.
fn port_control(adapter: &Adapter, sections: &Sections, review: &mut Review<'_>) {
    if adapter.port_control.get() != Some(&PortControl::Sl) {
        return;
    }
    for group in readable(&sections.flows).filter(|group| group.restart.get() == Some(&Restart::Message)) {
        review.add(group.restart.place(), "needs a response for each flow: adapter.port_control = \"qp\"");
    }
    let groups = sections.flows.items().iter().filter_map(|group| group.get()?.response.given());
    let jobs = sections.jobs.items().iter().filter_map(|job| job.get()?.response.given());
    for response in groups.chain(jobs) {
        review.add(response, "cannot be set for a group when adapter.port_control = \"sl\"");
    }
}
