//! Sources of traffic and their state.

use std::ops::Range;

use becalm_engine::{Stream, Time};

use crate::host::traffic::{SourceSpec, Traffic};
use crate::ids::FlowId;

/// Domain of a source's random stream.
const TRAFFIC_STREAM: u64 = 1;

/// A source and its state.
#[derive(Debug)]
pub(crate) struct Source {
    pub spec: SourceSpec,
    pub random: Stream,
    /// Whether the source's flow is currently greedy.
    pub on: bool,
    /// Whether an ON period has ended.
    pub paused: bool,
    /// Messages that wait for space in the host's send queue.
    pub held: Option<Held>,
}

/// Messages to post as soon as they fit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    pub flow: FlowId,
    pub bytes: u64,
    pub count: u32,
    pub then: Then,
}

/// The action of a source after posting.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Then {
    /// Generate the next message after this time.
    Next(Time),
    /// Generate this many more messages of a batch.
    Rest(u32),
}

impl Source {
    /// Creates source `number` of a run, in its initial state.
    pub fn new(spec: SourceSpec, seed: u64, number: u64) -> Source {
        Source { spec, random: Stream::new(seed, number, TRAFFIC_STREAM), on: false, paused: false, held: None }
    }

    /// The time of the source's first event, if any.
    pub fn first_time(&mut self) -> Option<Time> {
        let start = self.spec.start;
        let first = match self.spec.traffic {
            Traffic::Poisson { mean_interval, .. } => start.saturating_add(self.random.exponential(mean_interval)),
            Traffic::Greedy { .. } | Traffic::OnOff { .. } | Traffic::Batch { .. } => start,
        };
        (first < self.spec.stop).then_some(first)
    }

    /// Starts the next ON or OFF period of on-off traffic. Returns when the source changes again, if it does.
    pub fn next_period(&mut self, now: Time, mean_on: Time, mean_off: Time) -> Option<Time> {
        let stop = self.spec.stop;
        self.on = !self.on && now < stop;
        let change = now.saturating_add(self.random.exponential(if self.on { mean_on } else { mean_off }));
        if self.on && stop != Time::MAX { Some(change.min(stop)) } else { (change < stop).then_some(change) }
    }

    /// The source's first flow. All of its flows start at the same host.
    pub fn first_flow(&self) -> FlowId {
        FlowId(self.spec.flows.start)
    }

    /// The size of the next message, for traffic that posts messages.
    pub fn pick_size(&mut self) -> u64 {
        match &self.spec.traffic {
            Traffic::Poisson { bytes, sizes, .. } | Traffic::Batch { bytes, sizes, .. } => {
                sizes.size(*bytes, &mut self.random)
            }
            Traffic::Greedy { .. } | Traffic::OnOff { .. } => unreachable!("flows generate these messages"),
        }
    }

    /// The flow of the next message.
    pub fn pick_flow(&mut self) -> FlowId {
        let flows = &self.spec.flows;
        FlowId(flows.start + self.spec.mix.pick(flows.len() as u32, &mut self.random))
    }
}

impl SourceSpec {
    /// The successive times in which the source always has data in a run with this seed, in which it is source `number`.
    /// None if it posts messages.
    pub fn busy_periods(&self, seed: u64, number: u64) -> impl Iterator<Item = Range<Time>> + use<> {
        let mut source = Source::new(self.clone(), seed, number);
        let mut next = if self.traffic.posts() { None } else { source.first_time() };
        std::iter::from_fn(move || {
            while let Some(now) = next {
                next = match source.spec.traffic {
                    Traffic::OnOff { mean_on, mean_off } => source.next_period(now, mean_on, mean_off),
                    _ => return next.take().map(|start| start..source.spec.stop),
                };
                if source.on {
                    return Some(now..next.unwrap_or(Time::MAX));
                }
            }
            None
        })
    }
}
