//! From a TOML scenario to results: the only place that puts the pieces together.
//!
//! - [`sections`]: what a scenario can say, one file per section; [`quantities`]: amounts with units.
//! - [`Scenario`]: a text that was read, completed with defaults, and checked as a whole; all mistakes at once.
//! - [`Scenario::run`]: from a scenario and a replication to [`Results`].
//! - [`Scenario::facts`]: what follows from a scenario without running it.
//! - [`catalogue`], [`json_schema`]: what scenarios can say, as data.
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
mod checks;
mod congestion;
mod facts;
mod hosts;
mod links;
mod plan;
pub mod quantities;
mod run;
mod scenario;
mod schemes;
pub mod sections;
mod sendings;
mod shapes;
mod tables;

pub use catalogue::{catalogue, json_schema};
pub use run::{Prepared, Progress, Results, RunError};
pub use scenario::Scenario;
