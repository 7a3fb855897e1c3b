//! Resolves the names in a scenario to a network and its flows.
//!
//! - `routes`: explicit forwarding entries. `links`: named directions of cables.
//! - `network`: nodes, cables, routes and links, built once. `shapes`: the switches as markers see them.
//! - `pairs`, `sending`: sources and their destinations. `flow`, `plan`: the flows of all groups, and the adapters of all
//!   hosts.
//! - `nodes`: nodes with several adapters. `seats`: hosts or GPUs of ranks, and the adapters of their messages.
//! - `faults`: faults at ports. `buffers`: the size of input buffers. `levels`: the service levels of paths.
//! - `jobs`: programs, the hosts of their ranks, and the flows between ranks. `groups`: collective operations of all ranks
//!   or of groups of ranks.
//! - `sources`: the traffic sources of a group.

mod buffers;
mod faults;
mod flow;
mod groups;
mod jobs;
mod levels;
mod links;
mod network;
mod nodes;
mod pairs;
mod plan;
mod routes;
mod seats;
mod sending;
mod shapes;
mod sources;

pub(crate) use buffers::{Buffers, credit_loop};
pub(crate) use faults::PortFault;
pub(crate) use flow::Flow;
pub(crate) use jobs::Job;
pub(crate) use links::Link;
pub(crate) use network::Network;
pub(crate) use plan::Plan;
