//! Keeps the round-trip time near a target.
//!
//! # What it does
//! An ACK with a round trip above the target increases the time between packets, at most once per round trip. Any other
//! ACK decreases it. The decrease grows with the time since the flow last sent.
//!
//! # Source
//! None; it is an example of a response that measures round-trip times.
//!
//! # Parameters
//! - `excess`: the target as a multiple of the round-trip time on an empty fabric.
//! - `slowest`: the longest gap between packets.
//!
//! # Departures from the source
//! None.

use becalm_control::{Feedback, ResponseScheme};
use becalm_engine::Time;
use becalm_fabric::policy::{Ack, FlowShape, Notice, Pace, Response, Sent};

becalm_schema::table! {
    /// Long round trips increase the time between packets; short round trips decrease it.
    pub struct Params {
        /// Target as a multiple of the round-trip time on an empty fabric.
        pub excess: f64 = 2.0; "base RTTs"; 1.0..=10.0,
        /// Longest gap between packets.
        pub slowest: f64 = 255.0; "packet times"; 1.0..=1e6,
    }
}

/// The response.
#[derive(Clone, Debug)]
pub struct RttTarget {
    params: Params,
    target: Time,
    /// Time between two packets, in packet times.
    period: f64,
    sent: Time,
    /// First packet sent after the flow last slowed down.
    fresh: u32,
}

impl ResponseScheme for RttTarget {
    type Params = Params;

    fn new(params: &Params) -> RttTarget {
        RttTarget { params: params.clone(), target: Time::MAX, period: 1.0, sent: Time::ZERO, fresh: 0 }
    }

    fn feedback(_: &Params) -> Feedback {
        Feedback::RoundTripTime
    }
}

impl RttTarget {
    fn acked(&mut self, now: Time, ack: &Ack) {
        if ack.rtt <= self.target {
            let idle = now.since(self.sent).as_secs() / self.target.as_secs();
            self.period = (self.period / (1.1 + idle)).max(1.0);
        } else if ack.sequence >= self.fresh {
            self.period = (self.period * 2.0).min(1.0 + self.params.slowest);
            self.fresh = ack.next;
        }
    }
}

impl Response for RttTarget {
    fn start(&mut self, flow: &FlowShape) {
        self.target = flow.base_rtt.scaled(self.params.excess);
    }

    fn pace(&self) -> Pace {
        Pace { gap: self.period - 1.0, window: u32::MAX }
    }

    fn notice(&mut self, now: Time, notice: &Notice) {
        match notice {
            Notice::Ack(ack) => self.acked(now, ack),
            Notice::Restart => self.period = 1.0,
            Notice::Becn | Notice::Timer => {}
        }
    }

    fn sent(&mut self, sent: &Sent) {
        self.sent = sent.now;
    }
}
