//! Runs TOML scenarios. This crate combines all others, from reading a scenario to computing its results.
//!
//! The modules are listed in the order in which they process a scenario. Each module uses only modules before it.
//!
//! - `names`: lists of names, and messages about unknown names.
//! - [`sections`]: the sections of a scenario as values with source locations, with one module per section.
//! - `resolve`: resolves names to a network and its flows.
//! - `link`: finds the code of external schemes by name.
//! - `check`: checks that the parts of a scenario fit together. Reports all errors at once.
//! - [`Scenario`]: a scenario that has been read, resolved and checked. These methods need no run:
//!   [`Scenario::summary`] returns derived values, [`Scenario::memory_estimate`] the memory of a run,
//!   [`Scenario::work_estimate`] its work, [`Scenario::network_tables`] the network and the paths, and
//!   [`Scenario::offered`] the load that the groups offer.
//! - `assemble`: builds the model from a scenario.
//! - `fabric`: nodes, links and paths for display.
//! - `run`: [`Scenario::run`] runs a replication and returns its [`Results`].
//! - `trace`: [`Scenario::trace`] records individual packets of a run.
//! - `variants`: the same scenario with recordings for a page, or without congestion control.
//!
//! [`catalogue`] and [`json_schema`] describe what scenarios can contain, as data.
//!
//! ```
//! let text = r#"
//!     [run]
//!     duration = "1 ms"
//!     [topology.dumbbell]
//!     [[flows]]
//!     name = "local"
//!     from = ["B1"]
//!     to = ["BC"]
//! "#;
//! let scenario = becalm_scenario::Scenario::parse(text, "example.toml").unwrap();
//! let results = scenario.run(0, 1, &mut |_| true).unwrap();
//! assert!(results.packet_hops > 900);
//! ```

mod assemble;
mod catalogue;
mod check;
mod cnps;
mod fabric;
mod link;
mod memory;
mod names;
mod network;
mod offered;
mod reach;
mod resolve;
mod run;
mod scenario;
pub mod sections;
mod summary;
mod trace;
mod trains;
mod unheard;
mod variants;
mod warnings;
mod work;

pub use catalogue::{catalogue, json_schema, result_schema};
pub use fabric::{Direction, FlowPaths};
pub use memory::MemoryEstimate;
pub use run::{Course, Prepared, Progress, Results, RunError, Stopper};
pub use scenario::Scenario;
pub use trace::{Trace, TraceSpec};
