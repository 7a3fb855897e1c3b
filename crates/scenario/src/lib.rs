//! From a TOML scenario to results: the only place that puts the pieces together.
//!
//! A tour, in the order in which a text goes through the rooms; each uses only those before it:
//!
//! - [`sections`]: what a scenario can say, one file per section, as values that know their places.
//! - `resolve`: what its names stand for: one network, and who sends to whom.
//! - `check`: whether its parts fit together; all errors at once.
//! - [`Scenario`]: a text that was read, resolved and checked. [`Scenario::summary`] is what follows without a run,
//!   [`Scenario::memory_estimate`] what a run will take.
//! - `assemble`: the model, as the fabric wants it.
//! - `run`: [`Scenario::run`], from a scenario and a replication to [`Results`].
//!
//! [`catalogue`] and [`json_schema`] tell what scenarios can say, as data.
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
mod memory;
mod resolve;
mod run;
mod scenario;
pub mod sections;
mod summary;

pub use catalogue::{catalogue, json_schema};
pub use memory::MemoryEstimate;
pub use run::{Prepared, Progress, Results, RunError};
pub use scenario::Scenario;
