//! One fabric on several threads.

pub mod fabric;
pub mod partition;
