//! A user-defined response, in Python, C or another language.
//!
//! # What it does
//! It runs the user's code, which is passed on the command line (`becalm run scenario.toml --response mine.py:Mine`) or
//! in Python (`becalm.run(scenario, schemes=[Mine])`).
//!
//! # Source
//! The user's code.
//!
//! # Parameters
//! - `name`: the name that the code declares.
//! - `parameters`: the keys that the code declares, each with its kind, range and default.
//! - `sha256`: checksum of the scheme's file, reported in results. A scheme whose file has changed is rejected.
//!
//! # Departures from the source
//! None. A gap that is negative or not a number, a window of 0, a timer in the past, or an exception ends the run with
//! a message.

use becalm_engine::Time;
use becalm_external::{Faults, RunningResponse, abi};
use becalm_fabric::policy::{FlowShape, Notice, Pace, Response, Sent};

pub use becalm_external::Params;

use crate::scheme::{Companions, Feedback, ResponseScheme};

/// The response. Its state is boxed, since each entry of a list of schemes is as large as the largest scheme.
#[derive(Clone, Debug)]
pub struct External(Box<RunningResponse>);

impl External {
    /// A response with this constant pace and a timer that expires once.
    pub fn steered(pace: Pace, timer: Time) -> External {
        External(Box::new(RunningResponse::steered(pace, timer)))
    }

    /// Sets where the response reports its failures, and its number in the run.
    pub fn watched_by(&mut self, faults: Faults, number: u32) {
        self.0.watched_by(faults, number);
    }
}

/// Properties that a scheme declares, once it is known.
fn flags(params: &Params) -> u32 {
    params.linked().map_or(0, |linked| linked.scheme.properties().flags)
}

impl ResponseScheme for External {
    type Params = Params;

    fn companions() -> Option<Companions> {
        None
    }

    fn new(params: &Params) -> External {
        External(Box::new(RunningResponse::new(params)))
    }

    fn feedback(params: &Params) -> Feedback {
        let telemetry = params.linked().is_some_and(|linked| linked.scheme.properties().trail_bytes > 0);
        match flags(params) & abi::USES_RTT {
            _ if telemetry => Feedback::Telemetry,
            0 => Feedback::Marks,
            _ => Feedback::RoundTripTime,
        }
    }

    fn moves_window(params: &Params) -> bool {
        flags(params) & abi::MOVES_WINDOW != 0
    }

    fn counts_marks(params: &Params) -> bool {
        flags(params) & abi::COUNTS_MARKS != 0
    }

    fn can_be_tried(_: &Params) -> bool {
        false
    }
}

impl Response for External {
    fn start(&mut self, flow: &FlowShape) {
        self.0.start(flow);
    }

    fn trail(&self) -> Option<u32> {
        self.0.trail()
    }

    fn follows_sending(&self) -> bool {
        self.0.follows_sending()
    }

    #[inline]
    fn pace(&self) -> Pace {
        self.0.pace()
    }

    fn notice(&mut self, now: Time, notice: &Notice) {
        self.0.notice(now, notice);
    }

    #[inline]
    fn sent(&mut self, sent: &Sent) {
        self.0.sent(sent);
    }

    #[inline]
    fn deadline(&self) -> Option<Time> {
        self.0.deadline()
    }
}
