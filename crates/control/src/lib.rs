//! Congestion-control schemes, above the seams of the fabric: pure state machines without a clock of their own.
//!
//! | floor | runs at | answers |
//! |---|---|---|
//! | [`marking`] | a switch | which packets are marked |
//! | [`echo`] | a destination adapter | how a mark gets back to the source |
//! | [`response`] | a source flow | how fast the flow may send |
//!
//! [`cct`] holds the delays of IBTA congestion control and their tables, which switches and adapters write alike.
//!
//! One scheme is one file and one line in [`registry`]. The file begins with what the scheme does, where it comes
//! from, its parameters, and where it departs from its source; the page of the scheme is made from that.

pub mod cct;
pub mod echo;
pub mod marking;
pub mod registry;
pub mod response;

pub use registry::{EchoParams, Echoing, Marking, MarkingParams, Responding, ResponseParams, SchemeDoc, catalogue};
