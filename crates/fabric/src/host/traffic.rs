//! Kinds of traffic, and the sources that generate it.

use std::ops::Range;

use becalm_engine::Time;

use crate::distribution::Distribution;
use crate::host::mix::Mix;
use crate::ids::FlowId;

/// A kind of traffic.
#[derive(Clone, Debug, PartialEq)]
pub enum Traffic {
    /// Back-to-back messages from `start` to `stop`, as fast as the pace allows.
    Greedy {
        /// Mean payload of a message in bytes. A message that is incomplete at `stop` is never completed.
        bytes: u64,
        /// Distribution of payloads.
        sizes: Distribution,
    },
    /// Greedy while ON and silent while OFF, starting with ON. The periods are exponentially distributed.
    /// Every packet is a message. Every ON period is a new flow for the response
    /// ([`Notice::Restart`](crate::policy::Notice::Restart)).
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
        bytes: u64,
        /// Distribution of payloads.
        sizes: Distribution,
        /// Whether messages of a flow are omitted during the gap after its last packet, so that the gap
        /// lengthens the interval. Otherwise, messages are posted during the gap and wait.
        paced: bool,
    },
    /// A number of messages, all posted at `start`.
    Batch {
        /// Number of messages.
        count: u32,
        /// Mean payload of a message in bytes.
        bytes: u64,
        /// Distribution of payloads.
        sizes: Distribution,
    },
}

impl Traffic {
    /// Whether messages are posted, instead of generated while they are sent.
    pub fn posts(&self) -> bool {
        matches!(self, Traffic::Poisson { .. } | Traffic::Batch { .. })
    }
}

/// A source: one kind of traffic on one or more flows of the same host.
///
/// With several flows, each message uses one of them at random, by the shares of `mix`. `Greedy` and `OnOff` require
/// exactly one flow.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceSpec {
    /// The flows, as a contiguous range. All start at the same host.
    pub flows: Range<u32>,
    /// The shares of the flows.
    pub mix: Mix,
    /// Kind of traffic.
    pub traffic: Traffic,
    /// Start time.
    pub start: Time,
    /// Stop time. Messages already posted are still sent, except for `Greedy` and `OnOff`.
    pub stop: Time,
}

impl SourceSpec {
    /// A source on a single flow that is active during the entire run.
    pub fn always(flow: FlowId, traffic: Traffic) -> SourceSpec {
        SourceSpec { flows: flow.0..flow.0 + 1, mix: Mix::default(), traffic, start: Time::ZERO, stop: Time::MAX }
    }

    /// Each flow and its share of the messages.
    pub fn shares(&self) -> impl Iterator<Item = (u32, f64)> + use<> {
        self.flows.clone().zip(self.mix.shares(self.flows.len() as u32))
    }
}
