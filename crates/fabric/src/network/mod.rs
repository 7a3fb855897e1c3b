//! Networks: links, topologies and their generators, routes, and latencies on an idle network.

pub mod generators;
pub mod latency;
pub mod link;
pub mod routing;
pub mod topology;
