//! Sources at work: what posts messages, and when.

use becalm_engine::{Agenda, Key, Stream, Time};

use crate::distribution::Distribution;
use crate::event::Event;
use crate::host::flow::SendRequest;
use crate::host::traffic::{SourceSpec, Traffic};
use crate::ids::{FlowId, SourceId};
use crate::policy::{Echo, Marker, Notice, Observer, Response};
use crate::sim::fabric::Fabric;

/// The purpose of the random stream of a source.
const TRAFFIC_STREAM: u64 = 1;

/// A source and where it stands.
#[derive(Debug)]
pub(crate) struct Source {
    spec: SourceSpec,
    random: Stream,
    on: bool,
    /// Whether an ON period has ended before.
    paused: bool,
}

impl Source {
    /// The `number`-th source of a run, before it has done anything.
    pub fn new(spec: SourceSpec, seed: u64, number: u64) -> Source {
        Source { spec, random: Stream::new(seed, number, TRAFFIC_STREAM), on: false, paused: false }
    }

    /// When the source is first heard of.
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

    fn pick_flow(&mut self) -> FlowId {
        let flows = &self.spec.flows;
        match flows.len() as u32 {
            1 => FlowId(flows.start),
            n => FlowId(flows.start + self.random.below(n)),
        }
    }
}

impl<R: Response, K: Marker, E: Echo + Clone, O: Observer> Fabric<R, K, E, O> {
    /// Lets a source do what is due, and schedules what it does next.
    pub(crate) fn post(&mut self, id: SourceId, now: Time, agenda: &mut Agenda<Event>) {
        let source = &mut self.sources[id.index()];
        let first = FlowId(source.spec.flows.start);
        let next = match source.spec.traffic {
            Traffic::Greedy { bytes, sizes } => {
                source.on = now < source.spec.stop;
                let sender = &mut self.senders[first.index()];
                sender.set_greedy(source.on.then_some(bytes), now);
                sender.vary(sizes, &source.random);
                self.update_eligibility(first, now, agenda);
                return self.schedule_stop(id, agenda);
            }
            Traffic::OnOff { mean_on, mean_off } => {
                let source = &mut self.sources[id.index()];
                source.on = !source.on && now < source.spec.stop;
                let (on, begins_again) = (source.on, source.on && source.paused);
                source.paused = true;
                let mean = if on { mean_on } else { mean_off };
                let change = now.saturating_add(source.random.exponential(mean));
                let next = if on { change.min(source.spec.stop) } else { change };
                self.senders[first.index()].set_greedy(on.then_some(self.packets.mtu), now);
                if begins_again {
                    self.notify(self.senders[first.index()].pacer, Notice::Restart, now, agenda);
                }
                self.update_eligibility(first, now, agenda);
                next
            }
            Traffic::Poisson { mean_interval, bytes, sizes, paced } => {
                let flow = source.pick_flow();
                let next = now.saturating_add(source.random.exponential(mean_interval));
                let bytes = sizes.size(bytes, &mut source.random);
                // Exponential intervals have no memory: to leave out what falls into the gap is to begin at its end.
                if !(paced && self.pacers[self.senders[flow.index()].pacer as usize].rests(now)) {
                    self.post_messages(flow, bytes, 1, now, agenda);
                }
                next
            }
            Traffic::Batch { count, bytes, sizes } => {
                self.post_batch(id, count, bytes, sizes, now, agenda);
                return;
            }
        };
        let spec = &self.sources[id.index()].spec;
        if next < spec.stop || (self.sources[id.index()].on && next == spec.stop && next != Time::MAX) {
            self.schedule_post(next, id, agenda);
        }
    }

    fn post_batch(
        &mut self,
        id: SourceId,
        count: u32,
        bytes: u32,
        sizes: Distribution,
        now: Time,
        agenda: &mut Agenda<Event>,
    ) {
        let flows = self.sources[id.index()].spec.flows.clone();
        if flows.len() == 1 && sizes == Distribution::Fixed {
            return self.post_messages(FlowId(flows.start), bytes, count, now, agenda);
        }
        for _ in 0..count {
            let source = &mut self.sources[id.index()];
            let flow = source.pick_flow();
            let bytes = sizes.size(bytes, &mut source.random);
            self.post_messages(flow, bytes, 1, now, agenda);
        }
    }

    fn post_messages(&mut self, flow: FlowId, bytes: u32, count: u32, now: Time, agenda: &mut Agenda<Event>) {
        let host = self.host_of(flow);
        let order = self.adapters[host as usize].next_order();
        self.senders[flow.index()].post(SendRequest { at: now, order, bytes, count }, &self.packets);
        self.update_eligibility(flow, now, agenda);
    }

    fn schedule_stop(&self, id: SourceId, agenda: &mut Agenda<Event>) {
        let source = &self.sources[id.index()];
        if source.on && source.spec.stop != Time::MAX {
            self.schedule_post(source.spec.stop, id, agenda);
        }
    }

    pub(crate) fn schedule_post(&self, time: Time, id: SourceId, agenda: &mut Agenda<Event>) {
        let host = self.host_of(FlowId(self.sources[id.index()].spec.flows.start));
        let node = self.adapters[host as usize].node;
        let event = Event::Post(id);
        agenda.at(time, Key::new(node.0, event.kind(), u64::from(id.0), 0), event);
    }
}
