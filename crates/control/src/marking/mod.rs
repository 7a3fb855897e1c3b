//! Which packets a switch marks.

pub mod input_output_triggered;
pub mod input_triggered;
pub mod naive;
pub mod none;
mod trigger;

pub use trigger::Method;
