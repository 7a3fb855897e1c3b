//! Which packets a switch marks.

mod congestion;
pub mod ibta;
pub mod input_output_triggered;
pub mod input_triggered;
pub mod naive;
pub mod none;
pub mod queue_threshold;
mod trigger;

pub use trigger::Method;
