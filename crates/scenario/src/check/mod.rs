//! What no section can see alone: whether the parts of a scenario fit together.
//!
//! - `run`, `switch`, `schemes`, `send_queue`, `groups`: what follows from the sections.
//! - `network`, `traffic`, `observe`: what follows from the network and from who sends to whom.
//!
//! A value that could not be read keeps nothing else from being checked.

mod groups;
mod network;
mod observe;
mod probe;
mod run;
mod schemes;
mod send_queue;
mod switch;
mod traffic;

use becalm_schema::Review;

use crate::resolve::{Network, Plan};
use crate::sections::Sections;

/// Notes what does not fit in the sections.
pub(crate) fn sections(sections: &Sections, review: &mut Review<'_>) {
    run::check(sections, review);
    switch::check(sections, review);
    groups::check(sections, review);
    schemes::check(sections, review);
    send_queue::check(sections, review);
}

/// Notes what does not suit the network.
pub(crate) fn network(sections: &Sections, network: &Network, review: &mut Review<'_>) {
    network::check(sections, network, review);
}

/// Notes what does not suit who sends to whom.
pub(crate) fn plan(sections: &Sections, network: &Network, plan: &Plan, review: &mut Review<'_>) {
    traffic::check(sections, network, plan, review);
    observe::check(sections, network, plan, review);
}
