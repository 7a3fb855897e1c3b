//! Congestion-control schemes: pure state machines without a clock, called by the fabric.
//!
//! Contents, from the ground up:
//!
//! - [`scheme`]: the parameters, properties and documentation of a scheme.
//! - [`registry`]: the macros that list schemes by name. A scheme needs only its file and one line in a list.
//! - [`cnps`]: the limit on congestion notification packets.
//! - [`cct`]: the tables of delays of IBTA congestion control, in the encoding of switches and adapters.
//! - the schemes: one module for each role, with a list and one file per scheme:
//!
//! | module | runs at | determines |
//! |---|---|---|
//! | [`marking`] | a switch | which packets are marked |
//! | [`echo`] | a destination adapter | how a mark returns to the source |
//! | [`response`] | a source flow | how fast the flow may send |
//!
//! A scheme's file begins with a description of the scheme, its source, its parameters, and departures from the source.
//! The scheme's documentation page is generated from this text.
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
pub mod cnps;
pub mod echo;
pub mod marking;
pub mod registry;
pub mod response;
pub mod scheme;

pub use cnps::{CnpLimit, CnpScope};
pub use echo::{EchoParams, Echoing};
pub use marking::{Marking, MarkingParams};
pub use response::{Responding, ResponseParams};
pub use scheme::{Cnps, Companions, EchoScheme, Feedback, MarkingFor, MarkingScheme, ResponseScheme, SchemeDoc};

// The registry's macros need these wherever a list is declared.
#[doc(hidden)]
pub use {becalm_engine, becalm_fabric, becalm_schema};
