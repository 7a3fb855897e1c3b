//! The simulated fabric: its specification, its model, its counters and its guards.

pub(crate) mod build;
pub mod counters;
pub mod fabric;
mod guards;
pub mod headrooms;
pub mod pausing;
mod shapes;
pub mod spec;
