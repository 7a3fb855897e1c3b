//! Schemes from outside becalm: libraries with a C interface, and objects of a language that keeps its own state.
//!
//! A tour:
//!
//! - [`abi`]: the types of the C interface, those of `include/becalm.h`.
//! - [`read`]: the declaration of a scheme, read from memory.
//! - [`scheme`]: schemes as they are provided to a scenario, and what an object has to do.
//! - [`parameters`]: what a scheme declares, and the values in a scenario.
//! - [`params`]: the table `[response.external]`, and how it finds its scheme.
//! - [`RunningResponse`], [`RunningMarker`], [`RunningEcho`]: schemes in a run. What they answer is checked.
//! - [`fault`]: what a run reports of a scheme that failed.
//! - `native`: calls of functions behind pointers.
//!
//! A scenario names a scheme, and never brings its code. Nothing here loads a library: the caller does.

pub mod abi;
mod echo;
pub mod fault;
mod layout;
mod linked;
mod marker;
mod native;
pub mod parameters;
pub mod params;
pub mod read;
mod response;
pub mod scheme;

pub use echo::RunningEcho;
pub use fault::{Failure, Faults, Place};
pub use layout::layout;
pub use linked::Linked;
pub use marker::RunningMarker;
pub use native::addresses;
pub use params::Params;
pub use response::RunningResponse;
pub use scheme::{Provided, Scheme, Seam};

/// The C header.
pub const HEADER: &str = include_str!("../include/becalm.h");
