//! Checks of whether the sections of a scenario fit together.
//!
//! - `run`, `switch`, `schemes`, `send_queue`, `groups`, `jobs`, `trains`: checks that need only the sections.
//! - `network`, `paths`, `traffic`, `observe`: checks that need the network or the traffic.
//! - `probe`, `hearing`: properties of schemes, determined by trials.
//!
//! An unreadable value does not prevent checks of the others.

mod flow_control;
mod groups;
pub(crate) mod hearing;
mod jobs;
mod network;
mod observe;
mod paths;
pub(crate) mod probe;
mod run;
mod schemes;
mod send_queue;
pub(crate) mod switch;
mod traffic;
mod trains;

use becalm_schema::Review;

use crate::resolve::{Buffers, Network, Plan};
use crate::sections::Sections;

/// Reports conflicts between sections.
pub(crate) fn sections(sections: &Sections, review: &mut Review<'_>) {
    run::check(sections, review);
    switch::check(sections, review);
    flow_control::check(sections, review);
    groups::check(sections, review);
    jobs::check(sections, review);
    schemes::check(sections, review);
    send_queue::check(sections, review);
    trains::check(sections, review);
}

/// Reports conflicts with the network.
pub(crate) fn network(sections: &Sections, network: &Network, buffers: Buffers, review: &mut Review<'_>) {
    network::check(sections, network, review);
    flow_control::thresholds(sections, buffers, review);
    trains::length(sections, network, buffers, review);
}

/// Reports conflicts with the traffic.
pub(crate) fn plan(sections: &Sections, network: &Network, plan: &Plan, review: &mut Review<'_>) {
    traffic::check(sections, network, plan, review);
    observe::check(sections, network, plan, review);
}
