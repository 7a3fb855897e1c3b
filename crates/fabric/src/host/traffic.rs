//! Kinds of traffic, and the sources that generate it.

use std::ops::Range;

use becalm_engine::Time;

use crate::distribution::Distribution;
use crate::ids::FlowId;

/// A kind of traffic.
#[derive(Clone, Debug, PartialEq)]
pub enum Traffic {
    /// As much data as the pace allows, from `start` until `stop`, as one message after the other.
    Greedy {
        /// Mean payload of a message in bytes; one that is not finished at `stop` never is.
        bytes: u32,
        /// Distribution of payloads.
        sizes: Distribution,
    },
    /// Greedy while ON, silent while OFF, both exponentially distributed; begins with ON. Every packet is a message.
    /// Every ON period is a new flow for the response ([`Notice::Restart`](crate::policy::Notice::Restart)).
    OnOff {
        /// Mean ON time.
        mean_on: Time,
        /// Mean OFF time.
        mean_off: Time,
    },
    /// Messages at exponentially distributed intervals.
    Poisson {
        /// Mean interval between messages.
        mean_interval: Time,
        /// Mean payload of a message in bytes.
        bytes: u32,
        /// Distribution of payloads.
        sizes: Distribution,
        /// Whether no message is made for a flow while the gap after its last packet lasts, so that the gap
        /// lengthens the interval; otherwise messages are posted all the same, and wait.
        paced: bool,
    },
    /// A number of messages, all posted at `start`.
    Batch {
        /// Messages.
        count: u32,
        /// Mean payload of a message in bytes.
        bytes: u32,
        /// Distribution of payloads.
        sizes: Distribution,
    },
}

/// A source: one kind of traffic over one or more flows of the same host.
///
/// With several flows, each message goes to one of them at random; `Greedy` and `OnOff` take exactly one flow.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceSpec {
    /// The flows, as a contiguous range; all start at the same host.
    pub flows: Range<u32>,
    /// Kind of traffic.
    pub traffic: Traffic,
    /// Time at which it begins.
    pub start: Time,
    /// Time at which it ends; messages posted by then are still sent, except by `Greedy` and `OnOff`.
    pub stop: Time,
}

impl SourceSpec {
    /// A source over a single flow for the whole run.
    pub fn always(flow: FlowId, traffic: Traffic) -> SourceSpec {
        SourceSpec { flows: flow.0..flow.0 + 1, traffic, start: Time::ZERO, stop: Time::MAX }
    }
}
