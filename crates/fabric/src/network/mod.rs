//! Networks: links, nodes and cables, the generators of topologies, and routes.

pub mod generators;
pub mod link;
pub mod routing;
pub mod topology;
