//! The limit on congestion notification packets (CNPs): one preset sets both ends of a flow.

use becalm_control::{CnpLimit, EchoScheme, Echoing, Responding, ResponseParams, ResponseScheme};
use becalm_engine::{Time, order};
use becalm_schema::{Choice, Field};

use crate::sections::Sections;

/// Sets the parameters of the echo's limit that are left out: to the limit of the first response in use that has one.
pub(crate) fn settle(sections: &mut Sections) {
    let limit = in_use(sections).find_map(|(_, response)| Responding::cnp_limit(response));
    if let Some(echo) = sections.echo.get_mut() {
        Echoing::adopt_limit(echo, &limit.unwrap_or(CnpLimit::PAPER));
    }
}

/// Warnings about flows whose ends have the values of different sources, one for each response.
pub(crate) fn warnings(sections: &Sections) -> Vec<String> {
    let Some(interval) = Echoing::cnp_interval(&sections.echo) else { return Vec::new() };
    let Some(found) = CnpLimit::of_interval(interval) else { return Vec::new() };
    let mixed = in_use(sections).filter_map(|(place, response)| {
        let meant = Responding::cnp_limit(response).filter(|meant| meant.interval != interval)?;
        Some(mix(&format!("{place}response.{}", response.name()), &meant, sections.echo.name(), &found))
    });
    let mut warnings: Vec<String> = mixed.collect();
    order::sort_and_dedup(&mut warnings, Ord::cmp);
    warnings
}

fn mix(response: &str, meant: &CnpLimit, echo: &str, found: &CnpLimit) -> String {
    let show = |interval: Time| interval.show();
    format!(
        "{response}: has the values of {}, which send a notification at most every {}, but [echo.{echo}] sends one at \
         most every {}, the value of {}; use one preset for all responses and leave out echo.{echo}.cnp_interval, or \
         set it to another value",
        meant.source,
        show(meant.interval),
        show(found.interval),
        found.source
    )
}

/// The responses in use, as far as they could be read, each with the path of its table: first the common one, then
/// those of groups and jobs.
fn in_use(sections: &Sections) -> impl Iterator<Item = (String, &ResponseParams)> {
    let flows = sections.flows.items().iter().enumerate().filter_map(|(i, group)| {
        let group = group.get()?;
        Some((format!("flows[{i}]."), group.response.get()?.as_ref()))
    });
    let jobs = sections.jobs.items().iter().enumerate().filter_map(|(i, job)| {
        let job = job.get()?;
        Some((format!("jobs[{i}]."), job.response.get()?.as_ref()))
    });
    let all: Vec<(String, Option<&ResponseParams>)> = flows.chain(jobs).collect();
    let shared = all.iter().any(|(_, own)| own.is_none());
    let common = sections.response.get().filter(|_| shared).map(|common| (String::new(), common));
    common.into_iter().chain(all.into_iter().filter_map(|(place, own)| Some((place, own?))))
}
