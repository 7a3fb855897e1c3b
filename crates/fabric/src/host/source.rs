//! Sources of traffic and their state.

use becalm_engine::{Stream, Time};

use crate::host::traffic::{SourceSpec, Traffic};
use crate::ids::FlowId;

/// The purpose of the random stream of a source.
const TRAFFIC_STREAM: u64 = 1;

/// A source and its state.
#[derive(Debug)]
pub(crate) struct Source {
    pub spec: SourceSpec,
    pub random: Stream,
    /// Whether its flow is greedy now.
    pub on: bool,
    /// Whether an ON period has ended before.
    pub paused: bool,
    /// What waits for room in the host's send queue.
    pub held: Option<Held>,
}

/// Messages to post as soon as there is room for them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    pub flow: FlowId,
    pub bytes: u32,
    pub count: u32,
    pub then: Then,
}

/// What a source does after it has posted.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Then {
    /// Makes the next message after this time.
    Next(Time),
    /// Makes this many more of a batch.
    Rest(u32),
}

impl Source {
    /// The `number`-th source of a run, before it has done anything.
    pub fn new(spec: SourceSpec, seed: u64, number: u64) -> Source {
        Source { spec, random: Stream::new(seed, number, TRAFFIC_STREAM), on: false, paused: false, held: None }
    }

    /// The time of its first event, if it has one.
    pub fn first_time(&mut self) -> Option<Time> {
        let start = self.spec.start;
        let first = match self.spec.traffic {
            Traffic::Poisson { mean_interval, .. } => start.saturating_add(self.random.exponential(mean_interval)),
            Traffic::Greedy { .. } | Traffic::OnOff { .. } | Traffic::Batch { .. } => start,
        };
        (first < self.spec.stop).then_some(first)
    }

    /// The first of its flows; all are of the same host.
    pub fn first_flow(&self) -> FlowId {
        FlowId(self.spec.flows.start)
    }

    /// The size of the next message, where messages are posted.
    pub fn pick_size(&mut self) -> u32 {
        match &self.spec.traffic {
            Traffic::Poisson { bytes, sizes, .. } | Traffic::Batch { bytes, sizes, .. } => {
                sizes.size(*bytes, &mut self.random)
            }
            Traffic::Greedy { .. } | Traffic::OnOff { .. } => unreachable!("their flows have messages of their own"),
        }
    }

    /// The flow of the next message.
    pub fn pick_flow(&mut self) -> FlowId {
        let flows = &self.spec.flows;
        match flows.len() as u32 {
            1 => FlowId(flows.start),
            n => FlowId(flows.start + self.random.below(n)),
        }
    }
}
