//! Finds the provided code of the external schemes in a scenario.

use becalm_control::{EchoParams, MarkingParams, ResponseParams};
use becalm_external::{Params, Provided, Seam};
use becalm_schema::{Located, Review};

use crate::sections::Sections;

/// Finds the code of all external schemes and sets their parameters.
pub(crate) fn link(sections: &mut Sections, provided: &Provided, review: &mut Review<'_>) {
    let marking = sections.marking.place();
    if let Some(MarkingParams::External(params)) = sections.marking.get_mut() {
        note(params.link(Seam::Marking, provided), marking, review);
    }
    let echo = sections.echo.place();
    if let Some(EchoParams::External(params)) = sections.echo.get_mut() {
        note(params.link(Seam::Echo, provided), echo, review);
    }
    let response = sections.response.place();
    if let Some(ResponseParams::External(params)) = sections.response.get_mut() {
        note(params.link(Seam::Response, provided), response, review);
    }
    for group in sections.flows.get_mut().into_iter().flatten().filter_map(Located::get_mut) {
        own(&mut group.response, provided, review);
    }
    for job in sections.jobs.get_mut().into_iter().flatten().filter_map(Located::get_mut) {
        own(&mut job.response, provided, review);
    }
}

fn own(response: &mut Located<Option<ResponseParams>>, provided: &Provided, review: &mut Review<'_>) {
    let place = response.place();
    if let Some(Some(ResponseParams::External(params))) = response.get_mut() {
        note(params.link(Seam::Response, provided), place, review);
    }
}

fn note(linked: Result<(), Vec<becalm_schema::Conflict>>, place: becalm_schema::Place, review: &mut Review<'_>) {
    for mut conflict in linked.err().into_iter().flatten() {
        conflict.key = format!("external.{}", conflict.key).into();
        review.conflict(place, conflict);
    }
}

/// The tables of all external schemes.
fn tables(sections: &Sections) -> impl Iterator<Item = &Params> {
    let marking = match &*sections.marking {
        MarkingParams::External(params) => Some(params),
        _ => None,
    };
    let echo = match &*sections.echo {
        EchoParams::External(params) => Some(params),
        _ => None,
    };
    let groups = sections.groups().filter_map(|group| group.response);
    let responses = std::iter::once(&*sections.response).chain(groups.collect::<Vec<_>>());
    let responses = responses.filter_map(|response| match response {
        ResponseParams::External(params) => Some(params),
        _ => None,
    });
    marking.into_iter().chain(echo).chain(responses)
}

/// Whether all external schemes may run on several threads.
pub(crate) fn is_native(sections: &Sections) -> bool {
    tables(sections).filter_map(Params::linked).all(|linked| linked.scheme.is_native())
}

/// The name of a scheme whose code was not provided, if any.
pub(crate) fn unprovided(sections: &Sections) -> Option<&str> {
    tables(sections).find(|params| params.linked().is_none()).map(|params| params.name.0.as_str())
}
