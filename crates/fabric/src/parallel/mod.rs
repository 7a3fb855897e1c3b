//! One fabric on several threads: which thread handles which node, and how the parts work together.

pub mod fabric;
mod part;
pub mod partition;
