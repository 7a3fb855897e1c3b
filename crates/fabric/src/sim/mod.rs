//! The simulated fabric.

mod build;
pub mod counters;
pub mod fabric;
mod guards;
