//! What the names of a scenario stand for: its network, and who sends to whom.
//!
//! - `names`: lists of names, and names that stand for nothing.
//! - `topology`, `routes`: nodes, cables and forwarding tables. `links`: the directions of cables by name.
//! - `network`: all of that, made once. `shapes`: its switches as markers know them.
//! - `pairs`, `sending`: which host sends to which others. `plan`: the flows of all groups, and the adapters of all hosts.
//! - `sources`: what makes the flows of a group send.

mod links;
mod names;
mod network;
mod pairs;
mod plan;
mod routes;
mod sending;
mod shapes;
mod sources;
mod topology;

pub(crate) use links::Link;
pub(crate) use names::{ALL, unknown};
pub(crate) use network::Network;
pub(crate) use plan::{Flow, Plan};
