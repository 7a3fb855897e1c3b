//! The simulated fabric: specification, model, counters and guards.

pub(crate) mod build;
pub mod counters;
pub mod fabric;
mod guards;
pub mod headrooms;
pub mod pausing;
mod shapes;
pub mod spec;
