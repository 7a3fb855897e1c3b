//! Halves the rate at a mark, and lets it grow in the time between ACKs.
//!
//! # What it does
//! A mark doubles the time between two packets. An unmarked ACK shortens it, by as much as the time since the ACK before
//! suggests.
//!
//! # Source
//! None: it shows how a response that goes by time is written.
//!
//! # Parameters
//! - `recovery`: the time in which a flow without marks gets back to twice its rate.
//! - `slowest`: the longest gap.
//!
//! # Departures from the source
//! None.

use becalm_control::ResponseScheme;
use becalm_engine::Time;
use becalm_fabric::policy::{Notice, Pace, Response};

becalm_schema::table! {
    /// A mark halves the rate; time without marks brings it back.
    pub struct Params {
        /// Time in which the rate doubles.
        pub recovery: Time = Time::from_us(50); ""; Time::from_ns(1)..=Time::from_ms(1000),
        /// Longest gap between packets.
        pub slowest: f64 = 255.0; "packet times"; 1.0..=1e6,
    }
}

/// The response.
#[derive(Clone, Debug)]
pub struct Halving {
    params: Params,
    period: f64,
    heard: Time,
}

impl ResponseScheme for Halving {
    type Params = Params;

    fn new(params: &Params) -> Halving {
        Halving { params: params.clone(), period: 1.0, heard: Time::ZERO }
    }
}

impl Response for Halving {
    fn pace(&self) -> Pace {
        Pace { gap: self.period - 1.0, window: u32::MAX }
    }

    fn notice(&mut self, now: Time, notice: Notice) {
        match notice {
            Notice::Ack { marked: true } | Notice::Becn => {
                self.period = (self.period * 2.0).min(1.0 + self.params.slowest);
            }
            Notice::Ack { marked: false } => {
                let share = now.since(self.heard).as_secs() / self.params.recovery.as_secs();
                self.period = (self.period / (1.0 + share)).max(1.0);
            }
            Notice::Timer | Notice::Restart => return,
        }
        self.heard = now;
    }
}
