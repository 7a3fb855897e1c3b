//! Hosts: adapters, the ends of flows, and the sources of traffic.

pub(crate) mod adapter;
pub(crate) mod flow;
pub(crate) mod source;
pub mod traffic;
