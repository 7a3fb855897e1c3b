//! Responses of sources to congestion.
//!
//! Rates are shares of the link rate. Times in the analysis are multiples of a packet's transmission time at that rate,
//! so a flow with rate `r` sends one packet every `1/r`.

pub mod discrete;
mod law;
mod rate;
mod timer;
mod window;

pub use discrete::{Step, Table, TableError};
pub use law::{Law, Rounding, Settings, increase_curve, recovery_time};
pub use rate::RateControl;
pub use timer::{Clock, Phase, TimerScope};
pub use window::Window;

crate::responses! {
    ResponseParams, Responding;
    "none" => none::Unlimited,
    "fixed" => fixed::Fixed,
    "lipd" => lipd::Lipd,
    "fimd" => fimd::Fimd,
    "aimd" => aimd::Aimd,
    "ibta" => ibta::Ibta,
    "table" => table::Tabulated,
    "binary_feedback" => binary_feedback::BinaryFeedback,
    "dcqcn" => dcqcn::Dcqcn,
    "dctcp" => dctcp::Dctcp,
    "timely" => timely::Timely,
    "swift" => swift::Swift,
    "hpcc" => hpcc::Hpcc,
    "nscc" => nscc::Nscc,
    "external" => external::External,
}
