//! Posting of messages by sources.

use becalm_engine::{Time, mix};

use crate::context::Context;
use crate::distribution::Distribution;
use crate::event::Event;
use crate::host::hosts::Hosts;
use crate::host::sender::SendRequest;
use crate::host::traffic::Traffic;
use crate::ids::{FlowId, SourceId};
use crate::policy::{Notice, Observer, Response};

impl<R: Response, E> Hosts<R, E> {
    /// Does what a source has to do now, and schedules what it does next.
    pub fn post<O: Observer>(&mut self, id: SourceId, cx: &mut Context<'_, O>) {
        let next = match self.sources[id.index()].spec.traffic {
            Traffic::Greedy { bytes, sizes } => self.switch_greedy(id, bytes, sizes, cx),
            Traffic::OnOff { mean_on, mean_off } => self.switch_on_off(id, mean_on, mean_off, cx),
            Traffic::Poisson { mean_interval, bytes, sizes, paced } => {
                self.post_next(id, mean_interval, (bytes, sizes), paced, cx)
            }
            Traffic::Batch { count, bytes, sizes } => {
                self.post_batch(id, count, (bytes, sizes), cx);
                None
            }
        };
        next.into_iter().for_each(|time| self.schedule_post(time, id, cx));
    }

    /// Begins or ends greedy traffic; returns when to end it.
    fn switch_greedy<O: Observer>(
        &mut self,
        id: SourceId,
        bytes: u32,
        sizes: Distribution,
        cx: &mut Context<'_, O>,
    ) -> Option<Time> {
        let source = &mut self.sources[id.index()];
        let (flow, stop) = (source.first_flow(), source.spec.stop);
        source.on = cx.now < stop;
        let ends_at = (source.on && stop != Time::MAX).then_some(stop);
        let sender = &mut self.flows.senders[flow.index()];
        sender.set_greedy(source.on.then_some(bytes), cx.now);
        sender.vary(sizes, &source.random);
        self.update_eligibility(flow, cx);
        ends_at
    }

    /// Begins an ON or an OFF period; returns when the next one begins.
    fn switch_on_off<O: Observer>(
        &mut self,
        id: SourceId,
        mean_on: Time,
        mean_off: Time,
        cx: &mut Context<'_, O>,
    ) -> Option<Time> {
        let source = &mut self.sources[id.index()];
        let (flow, stop) = (source.first_flow(), source.spec.stop);
        source.on = !source.on && cx.now < stop;
        let (on, begins_again) = (source.on, source.on && source.paused);
        source.paused = true;
        let change = cx.now.saturating_add(source.random.exponential(if on { mean_on } else { mean_off }));
        let sender = &mut self.flows.senders[flow.index()];
        sender.set_greedy(on.then_some(self.flows.packets.mtu), cx.now);
        let pacer = sender.pacer;
        if begins_again {
            self.notify(pacer, &Notice::Restart, cx);
        }
        self.update_eligibility(flow, cx);
        if on && stop != Time::MAX { Some(change.min(stop)) } else { (change < stop).then_some(change) }
    }

    /// Posts one message of Poisson traffic; returns when to post the next one.
    fn post_next<O: Observer>(
        &mut self,
        id: SourceId,
        mean_interval: Time,
        (bytes, sizes): (u32, Distribution),
        paced: bool,
        cx: &mut Context<'_, O>,
    ) -> Option<Time> {
        let source = &mut self.sources[id.index()];
        let flow = source.pick_flow();
        let next = cx.now.saturating_add(source.random.exponential(mean_interval));
        let (bytes, stop) = (sizes.size(bytes, &mut source.random), source.spec.stop);
        // Exponential intervals have no memory: to leave out what falls into the gap is to begin at its end.
        if !(paced && self.flows.pacer_of(flow).rests(cx.now)) {
            self.post_messages(flow, bytes, 1, cx);
        }
        (next < stop).then_some(next)
    }

    fn post_batch<O: Observer>(
        &mut self,
        id: SourceId,
        count: u32,
        (bytes, sizes): (u32, Distribution),
        cx: &mut Context<'_, O>,
    ) {
        let flows = self.sources[id.index()].spec.flows.clone();
        if flows.len() == 1 && sizes == Distribution::Fixed {
            return self.post_messages(FlowId(flows.start), bytes, count, cx);
        }
        for _ in 0..count {
            let source = &mut self.sources[id.index()];
            let flow = source.pick_flow();
            let bytes = sizes.size(bytes, &mut source.random);
            self.post_messages(flow, bytes, 1, cx);
        }
    }

    fn post_messages<O: Observer>(&mut self, flow: FlowId, bytes: u32, count: u32, cx: &mut Context<'_, O>) {
        let host = self.flows.host_of(flow);
        let order = self.adapters[host as usize].next_order();
        let request = SendRequest { at: cx.now, order, bytes, count };
        self.flows.senders[flow.index()].post(request, &self.flows.packets);
        self.update_eligibility(flow, cx);
    }

    /// Schedules the next event of a source.
    pub fn schedule_post<O: Observer>(&self, time: Time, id: SourceId, cx: &mut Context<'_, O>) {
        let node = self.node_of_source(id.index());
        // A hash decides among sources that begin together; the number does where hashes are equal.
        cx.schedule(time, node, id.0 as u16, mix(self.flows.seed, u64::from(id.0)), Event::Post(id));
    }
}
