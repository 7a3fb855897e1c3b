//! From a TOML scenario to results: the crate that puts the pieces together.
//!
//! A tour of the modules, in the order in which a text passes through them; each uses only those before it:
//!
//! - [`sections`]: the sections of a scenario, one file each, as values with their places.
//! - `resolve`: from names to one network and its flows.
//! - `link`: from the names of external schemes to their code.
//! - `check`: checks that the parts of a scenario fit together, and reports all errors at once.
//! - [`Scenario`]: a text that has been read, resolved and checked. [`Scenario::summary`] has the values that need no
//!   run, [`Scenario::memory_estimate`] the memory of a run, [`Scenario::work_estimate`] its work,
//!   [`Scenario::network_tables`] the network and the paths.
//! - `assemble`: the model in the form that the fabric needs.
//! - `fabric`: nodes, links and paths, for code that displays them.
//! - `run`: [`Scenario::run`], from a scenario and a replication to [`Results`].
//! - `trace`: [`Scenario::trace`], a run that records single packets.
//! - `variants`: the scenario with recordings for a page, or without congestion control.
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
mod fabric;
mod link;
mod memory;
mod network;
mod resolve;
mod run;
mod scenario;
pub mod sections;
mod summary;
mod trace;
mod unheard;
mod variants;
mod warnings;
mod work;

pub use catalogue::{catalogue, json_schema, result_schema};
pub use fabric::{Direction, FlowPaths};
pub use memory::MemoryEstimate;
pub use run::{Course, Prepared, Progress, Results, RunError};
pub use scenario::Scenario;
pub use trace::{Trace, TraceSpec};
