//! Responses that receive too little information about congestion, and marks that none reads. They are valid, but probably not intended.

use becalm_control::{Feedback, MarkingParams, Responding, ResponseParams, ResponseScheme};
use becalm_engine::order;
use becalm_schema::Choice;

use crate::check::hearing::{hears_marks, limits_marks};
use crate::sections::Sections;

/// Warnings about responses without the feedback that they need, one for each response and reason, and about marks
/// without a reader.
pub(crate) fn warnings(sections: &Sections) -> Vec<String> {
    let of_each = in_use(sections).filter_map(|response| {
        let reason = unheard(response, sections)?;
        Some(format!("[response.{}]: {reason}", response.name()))
    });
    let mut found: Vec<String> = of_each.chain(unread(sections)).collect();
    order::sort_and_dedup(&mut found, Ord::cmp);
    found
}

/// A warning about marks that no response reacts to.
fn unread(sections: &Sections) -> Option<String> {
    let reads = |response: &ResponseParams| !Responding::can_be_tried(response) || hears_marks(response);
    let marks = *sections.marking != MarkingParams::default();
    (marks && !in_use(sections).any(reads)).then(|| {
        let mut names: Vec<&str> = in_use(sections).map(|response| response.name()).collect();
        order::sort_and_dedup(&mut names, Ord::cmp);
        format!(
            "[marking.{}]: marks have no reader: [response.{}] ignores them, so they slow no source; choose a response \
             that reacts to marks, or [marking.none]",
            sections.marking.name(),
            names.join("], [response.")
        )
    })
}

/// The responses of all groups and jobs.
fn in_use(sections: &Sections) -> impl Iterator<Item = &ResponseParams> {
    let groups = sections.flows.iter().map(|group| group.response.as_ref());
    let jobs = sections.jobs.iter().map(|job| job.response.as_ref());
    groups.chain(jobs).map(|own| own.unwrap_or(&sections.response))
}

/// The reason why a response receives too little feedback; `None` if it receives enough or uses none.
fn unheard(response: &ResponseParams, sections: &Sections) -> Option<String> {
    match Responding::feedback(response) {
        Feedback::Marks | Feedback::MarksAndDelay => unmarked(response, sections),
        Feedback::Telemetry if !sections.switch.paths.config().keeps_order() => Some(
            "compares the telemetry of successive packets on one path, but [switch.paths] sends the packets of a flow \
             over several paths"
                .into(),
        ),
        Feedback::Telemetry | Feedback::RoundTripTime => None,
    }
}

/// The reason that no marks, or too few, reach a response.
fn unmarked(response: &ResponseParams, sections: &Sections) -> Option<String> {
    if *sections.marking == MarkingParams::default() {
        let why = "never slows down: it reacts to marks, but no switch marks packets; choose a [marking]";
        return hears_marks(response).then(|| why.into());
    }
    (Responding::counts_marks(response) && limits_marks(&sections.echo)).then(|| {
        format!(
            "reacts to the share of marked packets, but [echo.{}] skips marks that arrive soon after another, so it \
             slows down too little; [echo.ack] reports all marks",
            sections.echo.name()
        )
    })
}
