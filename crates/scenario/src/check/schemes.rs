//! Checks that marking, echo and responses fit together. Schemes declare their properties, so no scheme is
//! named here.

use becalm_control::{
    EchoScheme, Echoing, Feedback, Marking, MarkingParams, MarkingScheme, Responding, ResponseParams, ResponseScheme,
};
use becalm_fabric::policy::Echo;
use becalm_schema::{Choice, Conflict, Located, Place, Review};

use super::groups::readable;
use super::probe::{idles_without_marks, least_window, loses_state, never_delays};
use crate::sections::Sections;
use crate::sections::flows::{Group, Restart, Traffic};
use crate::sections::quantities::Buffer;

pub(super) fn check(sections: &Sections, review: &mut Review<'_>) {
    unlimited(sections, review);
    idle(sections, review);
    windows(sections, review);
    acks(sections, review);
    paced(sections, review);
    restarts(sections, review);
}

/// Reports restarts of responses that have no effect.
fn restarts(sections: &Sections, review: &mut Review<'_>) {
    for group in readable(&sections.flows).filter(|group| group.restart.get() == Some(&Restart::Message)) {
        if matches!(group.traffic.get(), Some(Traffic::OnOff(_))) {
            let problem = "does nothing: on_off flows already restart with every ON period";
            review.add(group.restart.place(), problem);
        } else if let Some(response) = response_of(group, sections)
            && !loses_state(response)
        {
            let name = response.name();
            let problem = format!(
                "does nothing: response `{name}` never changes, or keeps its state when a flow restarts (`persistent`)"
            );
            review.add(group.restart.place(), problem);
        }
    }
}

/// Checks that a scheme that depends on the size of a buffer has a finite buffer.
fn unlimited(sections: &Sections, review: &mut Review<'_>) {
    let buffer = sections.switch.get().and_then(|switch| switch.buffer.get());
    let Some(marking) = sections.marking.get().filter(|_| buffer.is_some_and(|buffer| *buffer == Buffer::Unlimited))
    else {
        return;
    };
    if Marking::needs_finite_buffer(marking) {
        review.add_in(
            sections.marking.place(),
            marking.name(),
            "depends on how full a buffer is, but switch.buffer is unlimited",
        );
    }
}

/// Reports responses that never change.
fn idle(sections: &Sections, review: &mut Review<'_>) {
    let unmarked = sections.marking.get() == Some(&MarkingParams::default());
    let idle = |response: Option<&ResponseParams>| unmarked && response.is_some_and(idles_without_marks);
    let why = "does nothing, because no switch marks packets; choose a [marking]";
    if let Some(place) = sections.response.given() {
        let own = responses(sections);
        // A resolved scenario contains the default, whether any group uses it or not.
        let written = sections.response.get() != Some(&ResponseParams::default());
        if written && !own.is_empty() && own.iter().all(|response| response.is_some_and(|own| own.given().is_some())) {
            review.add(place, "does nothing: every group of flows sets its own response");
        } else if idle(sections.response.get()) {
            review.add(place, why);
        }
    }
    for response in responses(sections).into_iter().flatten() {
        if idle(response.set()) {
            review.add(response.place(), why);
        }
    }
}

/// The responses of groups and jobs; `None` for one that could not be read.
fn responses(sections: &Sections) -> Vec<Option<&Located<Option<ResponseParams>>>> {
    let groups = sections.flows.items().iter().map(|group| group.get().map(|group| &group.response));
    let jobs = sections.jobs.items().iter().map(|job| job.get().map(|job| &job.response));
    groups.chain(jobs).collect()
}

/// Reports responses without feedback, and windows that never reopen.
fn windows(sections: &Sections, review: &mut Review<'_>) {
    if sections.echo.get().is_none_or(|echo| Echoing::ack_every(echo).is_some()) {
        return;
    }
    let why = "never reopens, because no data packet is acknowledged; window must be \"unlimited\"";
    let mut blame = |params: &ResponseParams, place: Place| {
        if Responding::feedback(params) != Feedback::Marks {
            let problem = "reacts to ACKs, but no data packet is acknowledged";
            review.add_in(place, params.name(), problem);
            return;
        }
        if least_window(params) == u32::MAX {
            return;
        }
        let key = format!("{}.window", params.name());
        if Responding::moves_window(params) {
            review.add_in(place, params.name(), "changes a window, but no data packet is acknowledged");
        } else if review.has(place, &key) {
            review.add_in(place, &key, why);
        } else {
            review.add_in(place, params.name(), format!("has a default window that {why}"));
        }
    };
    let own = responses(sections);
    let common = own.iter().flatten().any(|response| response.given().is_none());
    if let Some(params) = sections.response.get().filter(|_| common) {
        blame(params, sections.response.place());
    }
    for response in own.into_iter().flatten() {
        if let Some(params) = response.set() {
            blame(params, response.place());
        }
    }
}

/// The response of a group, if it could be read.
fn response_of<'a>(group: &'a Group, sections: &'a Sections) -> Option<&'a ResponseParams> {
    group.response.get()?.as_ref().or(sections.response.get())
}

/// Reports ACKs that cover several packets if messages are too short for them, or if the window closes first.
fn acks(sections: &Sections, review: &mut Review<'_>) {
    let (Some(echo), Some(packet)) = (sections.echo.get(), sections.packet.complete()) else { return };
    let Some(every) = Echoing::ack_every(echo).filter(|&every| every > 1) else { return };
    // With requests, a window never closes before an ACK, and the default covers several packets.
    if Echoing::new(echo).hears_requests() {
        return;
    }
    let key = format!("{}.ack_every", echo.name());
    let place = sections.echo.place();
    let groups = sections.flows.items();
    let jobs = !sections.jobs.items().is_empty();
    if !jobs && groups.iter().all(|group| group.get().is_some_and(|group| group.most_packets(packet) == Some(1))) {
        let problem = "does nothing: every message is one packet, and the last packet is always acknowledged";
        review.add_in(place, &key, problem);
    }
    for group in readable(&sections.flows) {
        let (Some(params), Some(longest)) = (response_of(group, sections), group.most_packets(packet)) else {
            continue;
        };
        let (window, Some(name)) = (least_window(params), group.name.get()) else { continue };
        if u64::from(window) < u64::from(every).min(longest) {
            let problem = format!(
                "must be at most {window}, the smallest window of `{name}`, which would otherwise close before an \
                 ACK is sent"
            );
            review.conflict(place, Conflict::new(key.clone(), problem));
        }
    }
}

/// Reports `paced` sources whose response never delays a packet.
fn paced(sections: &Sections, review: &mut Review<'_>) {
    for group in readable(&sections.flows) {
        let Some(Traffic::Poisson(poisson)) = group.traffic.get() else { continue };
        let Some(response) = response_of(group, sections) else { continue };
        if poisson.paced.get() == Some(&true) && never_delays(response) {
            let problem = format!("does nothing: response `{}` never delays a packet", response.name());
            review.add(poisson.paced.place(), problem);
        }
    }
}
