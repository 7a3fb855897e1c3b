//! Which packets a switch marks.

mod congestion;
pub mod exponential_average;
mod filter;
pub mod ibta;
pub mod input_output_triggered;
pub mod input_triggered;
pub mod interval_average;
pub mod naive;
pub mod none;
pub mod ports;
pub mod queue_hysteresis;
pub mod queue_threshold;
pub mod regeneration_cycle;
mod starvation;
mod trigger;

pub use filter::{Filter, Filtered};
pub use trigger::Method;
