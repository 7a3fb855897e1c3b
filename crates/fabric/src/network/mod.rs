//! Networks: links, nodes and cables, the generators of topologies, routes, and latencies without load.

pub mod generators;
pub mod latency;
pub mod link;
pub mod routing;
pub mod topology;
