//! One fabric on several threads: who handles which node, and how the parts work together.

pub mod fabric;
mod part;
pub mod partition;
