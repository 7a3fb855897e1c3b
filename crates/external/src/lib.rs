//! External schemes: libraries with a C interface, and objects of a language that manages their state.
//!
//! The modules:
//!
//! - [`abi`]: the types of the C interface, as in `include/becalm.h`.
//! - [`read`]: the declaration of a scheme, read from memory.
//! - [`scheme`]: schemes that are provided to a scenario, and the traits of objects.
//! - [`parameters`]: the declared parameters of a scheme, and their values in a scenario.
//! - [`params`]: the table `[response.external]` and the search for its scheme.
//! - [`RunningResponse`], [`RunningMarker`], [`RunningEcho`]: schemes in a run. Their results are checked.
//! - [`fault`]: the report of a failed scheme.
//! - `native`: calls through function pointers.
//!
//! A scenario names a scheme, but never contains its code. The caller loads libraries; this crate does not.

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
pub use fault::{Failure, Faults, Place, raised};
pub use layout::layout;
pub use linked::Linked;
pub use marker::RunningMarker;
pub use native::{addresses, loading, tell_called};
pub use params::Params;
pub use response::RunningResponse;
pub use scheme::{Provided, Scheme, Seam};

/// The C header.
pub const HEADER: &str = include_str!("../include/becalm.h");
