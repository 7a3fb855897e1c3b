//! Posting of messages by traffic sources.

use becalm_engine::Time;

use crate::context::Context;
use crate::distribution::Distribution;
use crate::host::hosts::Hosts;
use crate::host::sender::SendRequest;
use crate::host::source::{Held, Then};
use crate::host::traffic::{SourceSpec, Traffic};
use crate::ids::{FlowId, SourceId};
use crate::policy::{Notice, Observer, Response};

impl<R: Response, E> Hosts<R, E> {
    /// Performs the action that a source is due to take, and schedules its next one.
    pub fn post<O: Observer>(&mut self, id: SourceId, cx: &mut Context<'_, O>) {
        if let Some(held) = self.sources[id.index()].held.take() {
            return self.post_held(id, held, cx);
        }
        let next = match self.sources[id.index()].spec.traffic {
            Traffic::Greedy { bytes, .. } => self.switch_greedy(id, bytes, cx),
            Traffic::OnOff { mean_on, mean_off } => self.switch_on_off(id, mean_on, mean_off, cx),
            Traffic::Poisson { .. } if self.is_blocked(id) => self.suspend(id),
            Traffic::Poisson { mean_interval, paced, .. } => self.post_next(id, mean_interval, paced, cx),
            Traffic::Batch { count, .. } => {
                self.post_batch(id, count, false, cx);
                None
            }
        };
        next.into_iter().for_each(|time| self.schedule_post(time, id, cx));
    }

    /// Starts or stops greedy traffic. Returns when to stop it.
    fn switch_greedy<O: Observer>(&mut self, id: SourceId, bytes: u64, cx: &mut Context<'_, O>) -> Option<Time> {
        let source = &mut self.sources[id.index()];
        let (flow, stop) = (source.first_flow(), source.spec.stop);
        source.on = cx.now < stop;
        let ends_at = (source.on && stop != Time::MAX).then_some(stop);
        let sender = &mut self.flows.senders[flow.index()];
        sender.set_greedy(source.on.then_some(bytes), cx.now);
        if let Traffic::Greedy { sizes, .. } = &source.spec.traffic {
            sender.vary(sizes, &source.random);
        }
        self.update_eligibility(flow, cx);
        ends_at
    }

    /// Starts an ON or OFF period. Returns when the next period starts.
    fn switch_on_off<O: Observer>(
        &mut self,
        id: SourceId,
        mean_on: Time,
        mean_off: Time,
        cx: &mut Context<'_, O>,
    ) -> Option<Time> {
        let source = &mut self.sources[id.index()];
        let (flow, next) = (source.first_flow(), source.next_period(cx.now, mean_on, mean_off));
        let (on, begins_again) = (source.on, source.on && source.paused);
        source.paused = true;
        let sender = &mut self.flows.senders[flow.index()];
        sender.set_greedy(on.then_some(u64::from(self.flows.packets.mtu)), cx.now);
        let pacer = sender.pacer;
        if begins_again {
            self.notify(pacer, &Notice::Restart, cx);
        }
        self.update_eligibility(flow, cx);
        next
    }

    /// Whether a message waits for space in the send queue of the source's host.
    fn is_blocked(&self, id: SourceId) -> bool {
        self.adapters[self.host_of_source(id)].backlog.is_blocked()
    }

    /// Stops a source until its host posts again. Returns no time.
    fn suspend(&mut self, id: SourceId) -> Option<Time> {
        let host = self.host_of_source(id);
        self.adapters[host].backlog.suspend(id);
        None
    }

    /// Lets the host's suspended sources go on, if no message waits. Exponential intervals are memoryless, so a source
    /// draws its next interval as if its time had stood still.
    fn resume<O: Observer>(&mut self, host: usize, cx: &mut Context<'_, O>) {
        for id in self.adapters[host].backlog.resume() {
            let source = &mut self.sources[id.index()];
            let Traffic::Poisson { mean_interval, .. } = source.spec.traffic else { continue };
            let next = cx.now.saturating_add(source.random.exponential(mean_interval));
            if next < source.spec.stop {
                self.schedule_post(next, id, cx);
            }
        }
    }

    #[inline(always)]
    fn host_of_source(&self, id: SourceId) -> usize {
        self.flows.host_of(self.sources[id.index()].first_flow()) as usize
    }

    /// Posts one message of Poisson traffic. Returns when to post the next one, unless this one waits.
    fn post_next<O: Observer>(
        &mut self,
        id: SourceId,
        mean_interval: Time,
        paced: bool,
        cx: &mut Context<'_, O>,
    ) -> Option<Time> {
        let source = &mut self.sources[id.index()];
        let flow = source.pick_flow();
        self.flows.prefetch(flow);
        let next = cx.now.saturating_add(source.random.exponential(mean_interval));
        let (bytes, stop) = (source.pick_size(), source.spec.stop);
        // Exponential intervals are memoryless, so omitting arrivals during the gap is the same as starting
        // at its end.
        if !(paced && self.flows.pacer_of(flow).rests(cx.now)) {
            let message = Held { flow, bytes, count: 1, then: Then::Next(next - cx.now) };
            if !self.offer(id, message, false, cx) {
                return None;
            }
        }
        (next < stop).then_some(next)
    }

    /// Posts this many messages of a batch, or as many as fit in the send queue. `again` as in `offer`. Returns `false`
    /// if the rest has to wait.
    fn post_batch<O: Observer>(&mut self, id: SourceId, count: u32, again: bool, cx: &mut Context<'_, O>) -> bool {
        let SourceSpec { traffic: Traffic::Batch { bytes, sizes, .. }, flows, .. } = &self.sources[id.index()].spec
        else {
            return true;
        };
        let (bytes, flows) = (*bytes, flows.clone());
        if flows.len() == 1 && *sizes == Distribution::Fixed {
            let all = Held { flow: FlowId(flows.start), bytes, count, then: Then::Rest(0) };
            return self.offer(id, all, again, cx);
        }
        for rest in (0..count).rev() {
            let source = &mut self.sources[id.index()];
            let flow = source.pick_flow();
            let bytes = source.pick_size();
            if !self.offer(id, Held { flow, bytes, count: 1, then: Then::Rest(rest) }, again, cx) {
                return false;
            }
        }
        true
    }

    /// Posts the messages that fit in the host's send queue. The others are dropped, or block the source.
    /// `again` states whether the source has already waited. Returns `false` if it has to wait.
    fn offer<O: Observer>(&mut self, id: SourceId, message: Held, again: bool, cx: &mut Context<'_, O>) -> bool {
        let Held { flow, bytes, count, .. } = message;
        let host = self.flows.host_of(flow) as usize;
        let fits = self.adapters[host].backlog.fits(self.flows.packets.packets_of(bytes), count, !again);
        if fits > 0 {
            self.post_messages(flow, bytes, fits, cx);
        }
        let rest = count - fits;
        if rest > 0 && self.adapters[host].backlog.drops() {
            self.flows.senders[flow.index()].drop_messages(bytes, rest, &self.flows.packets);
            return true;
        }
        if rest > 0 {
            self.sources[id.index()].held = Some(Held { count: rest, ..message });
            let backlog = &mut self.adapters[host].backlog;
            if again { backlog.wait_on() } else { backlog.wait(id) }
        }
        rest == 0
    }

    /// Retries a source's held messages and, if they all fit, continues with its traffic.
    fn post_held<O: Observer>(&mut self, id: SourceId, held: Held, cx: &mut Context<'_, O>) {
        if !self.offer(id, held, true, cx) {
            return;
        }
        match held.then {
            Then::Next(interval) => {
                let next = cx.now.saturating_add(interval);
                if next < self.sources[id.index()].spec.stop {
                    self.schedule_post(next, id, cx);
                }
            }
            // The source keeps its place in front of the others.
            Then::Rest(count) if !self.post_batch(id, count, true, cx) => return,
            Then::Rest(_) => {}
        }
        let host = self.flows.host_of(held.flow) as usize;
        self.adapters[host].backlog.posted_held();
        if let Some(other) = self.adapters[host].backlog.call() {
            self.schedule_post(cx.now, other, cx);
        }
        self.resume(host, cx);
    }

    /// Posts messages to a flow, whether or not they fit in the send queue.
    pub fn post_messages<O: Observer>(&mut self, flow: FlowId, bytes: u64, count: u32, cx: &mut Context<'_, O>) {
        let host = self.flows.host_of(flow);
        let adapter = &mut self.adapters[host as usize];
        let order = adapter.next_order();
        if adapter.backlog.is_limited() {
            adapter.backlog.posted(u64::from(count) * self.flows.packets.packets_of(bytes));
        }
        let (node, sender) = (adapter.node, &self.flows.senders[flow.index()]);
        // A packet of 0 B could overtake others, which take no time either.
        let bytes = if sender.header == 0 { bytes.max(1) } else { bytes };
        if sender.restart && !sender.has_packet() {
            self.flows.restart(flow, node, cx);
        }
        let request = SendRequest { at: cx.now, order, bytes, count };
        self.flows.senders[flow.index()].post(request, &self.flows.packets);
        self.update_eligibility(flow, cx);
    }

    /// Schedules the next event of a source.
    pub fn schedule_post<O: Observer>(&self, time: Time, id: SourceId, cx: &mut Context<'_, O>) {
        let node = self.node_of_source(id.index());
        cx.post(time, node, id, self.flows.seed);
    }
}
