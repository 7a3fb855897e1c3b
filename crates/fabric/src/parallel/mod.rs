//! A fabric on several threads: the assignment of nodes to threads, and the interaction of the parts.

pub mod fabric;
mod part;
pub mod partition;
