//! Congestion-control schemes, above the seams of the fabric: pure state machines without a clock of their own.
//!
//! A tour, from the ground up:
//!
//! - [`scheme`]: the parameters and properties of a scheme; its documentation.
//! - [`registry`]: the macros that list schemes by name. A scheme needs only its file and one line of a list.
//! - [`cct`]: the delays of IBTA congestion control and their tables, in the encoding of switches and adapters.
//! - the schemes, a room for each seam, and in each a list and one file per scheme:
//!
//! | room | runs at | answers |
//! |---|---|---|
//! | [`marking`] | a switch | which packets are marked |
//! | [`echo`] | a destination adapter | how a mark gets back to the source |
//! | [`response`] | a source flow | how fast the flow may send |
//!
//! A scheme's file begins with a description, its source, its parameters, and departures from the source; the page of
//! the scheme is made from that.
//!
//! ```
//! use becalm_control::{Responding, ResponseParams, ResponseScheme};
//! use becalm_engine::Time;
//! use becalm_fabric::policy::{Notice, Response};
//!
//! let params: ResponseParams = becalm_schema::read("[lipd]\nrmin = 0.01", "response.toml").unwrap();
//! let mut flow = Responding::new(&params);
//! flow.notice(Time::ZERO, &Notice::ack(true));
//! assert_eq!(flow.pace().gap, 1.0);
//! ```

pub mod cct;
pub mod echo;
pub mod marking;
pub mod registry;
pub mod response;
pub mod scheme;

pub use echo::{EchoParams, Echoing};
pub use marking::{Marking, MarkingParams};
pub use response::{Responding, ResponseParams};
pub use scheme::{Cnps, EchoScheme, Feedback, MarkingScheme, ResponseScheme, SchemeDoc};

// For the macros of the registry, wherever a list is.
#[doc(hidden)]
pub use {becalm_engine, becalm_fabric, becalm_schema};
