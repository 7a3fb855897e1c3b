//! Switches.

mod arbitration;
mod arrival_order;
mod bypasses;
mod choices;
mod faults;
mod forwarding;
mod paths;
mod pausing;
mod pool;
mod ports;
mod queues;
mod records;
mod returning;
mod rules;
mod shares;
mod state;
mod storage;
mod turns;
mod view;
mod vl_arbiter;
mod watchdog;
mod watching;

pub(crate) use forwarding::Switch;
pub(crate) use pool::Slot;
pub(crate) use ports::Port;
pub(crate) use state::State;
pub(crate) use watchdog::Dog;
pub use watchdog::StormReport;
