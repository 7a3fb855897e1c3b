//! What a run tells: observers that watch the fabric, and the tables that come out.
//!
//! From the ground up:
//!
//! - [`table`]: named columns with units.
//! - [`fairness`]: Jain's index.
//! - [`ports`]: ports as indices into flat arrays.
//! - `quantiles`: compact histograms.
//! - [`fingerprint`], [`latency`], [`occupancy`], [`spans`], [`hosts`], [`tree`]: observers, one per question.
//! - [`watch`]: all of them at once, as the one observer of a run.
//! - [`series`]: rates over time in a sliding window, from cumulative counters that are read at fixed steps.
//! - [`paces`]: the gaps and windows that responses ask for, read at the same steps.
//! - [`snapshots`]: what stands at every link at chosen times.
//!
//! An observer is called for every packet on every link: each keeps flat arrays indexed by number and hashes nothing.

pub mod fairness;
pub mod fingerprint;
pub mod hosts;
pub mod latency;
pub mod occupancy;
pub mod paces;
pub mod ports;
mod quantiles;
pub mod series;
pub mod snapshots;
pub mod spans;
pub mod table;
pub mod tree;
pub mod watch;

pub use fairness::jain;
pub use fingerprint::Fingerprint;
pub use hosts::{Hosts, Received};
pub use latency::{Latency, Summary};
pub use occupancy::Occupancy;
pub use paces::Paces;
pub use ports::Ports;
pub use series::Series;
pub use snapshots::Snapshot;
pub use spans::Spans;
pub use table::{Column, Data, Table};
pub use tree::Tree;
pub use watch::Watch;
