//! How fast a source may send.
//!
//! Rates are shares of the link's rate, and times in the analysis are multiples of a packet's transmission time at
//! that rate; so a flow with rate `r` sends one packet in `1/r`.

pub mod aimd;
pub mod binary_feedback;
pub mod discrete;
pub mod fimd;
pub mod fixed;
pub mod ibta;
pub mod lipd;
pub mod none;
mod rate;
pub mod table;
mod window;

pub use discrete::{Step, Table, TableError};
pub use rate::{Law, RateControl, RateLimited, Settings, increase_curve, recovery_time};
pub use window::Window;
