//! Marking policies of switches.

mod congestion;
mod filter;
mod overrides;
pub mod ports;
mod starvation;
mod trigger;

pub use filter::{Filter, Filtered};
pub use trigger::Method;

crate::markers! {
    MarkingParams, Marking;
    "none" => none::NoMarks,
    "naive" => naive::Naive,
    "input_triggered" => input_triggered::InputTriggered,
    "input_output_triggered" => input_output_triggered::InputOutputTriggered,
    "ibta" => ibta::Ibta,
    "queue_threshold" => queue_threshold::QueueThreshold,
    "ramp" => ramp::Ramp,
    "random" => random::Random,
    "regeneration_cycle" => regeneration_cycle::RegenerationCycle,
    "queue_hysteresis" => queue_hysteresis::QueueHysteresis,
    "interval_average" => interval_average::IntervalAverage,
    "exponential_average" => exponential_average::ExponentialAverage,
    "external" => external::External,
}
