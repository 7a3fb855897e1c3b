//! All hosts of a fabric, with their flows and sources.

use becalm_engine::Time;

use crate::context::Context;
use crate::host::adapter::Adapter;
use crate::host::flows::Flows;
use crate::host::jobs::Jobs;
use crate::host::receiver::Receiver;
use crate::host::source::Source;
use crate::host::store::Store;
use crate::ids::{FlowId, NodeId};
use crate::policy::{Notice, Observer, Response};

/// All hosts of a fabric, each with an echo of type `E`.
#[derive(Debug)]
pub(crate) struct Hosts<R, E> {
    /// Indexed by host rank.
    pub adapters: Vec<Adapter>,
    /// Indexed by host rank.
    pub echoes: Vec<E>,
    /// Indexed by flow.
    pub receivers: Store<Receiver>,
    pub sources: Vec<Source>,
    pub jobs: Jobs,
    /// Round-trip time of each flow's last ACK; empty unless requested.
    pub rtts: Vec<Time>,
    /// The sending ends of flows.
    pub flows: Flows<R>,
}

impl<R: Response, E> Hosts<R, E> {
    /// The node of a source's host.
    pub fn node_of_source(&self, source: usize) -> NodeId {
        self.adapters[self.flows.host_of(self.sources[source].first_flow()) as usize].node
    }

    /// The source and destination of a flow.
    pub fn ends_of(&self, flow: FlowId) -> (NodeId, NodeId) {
        let (source, destination) = self.flows.ends_of(flow);
        (self.adapters[source as usize].node, self.adapters[destination as usize].node)
    }

    /// Notifies the receiver of a job's flow of a message that is on its way.
    pub fn announce(&mut self, flow: FlowId, send: u32) {
        if let Some(ends) = self.flows.later.ends_of(flow) {
            let common = &self.flows.common;
            self.receivers.get_or_make(flow.index(), || common.receiver(common.header, ends.source));
        }
        self.jobs.announce(flow, send);
    }

    /// Re-evaluates whether a flow may send.
    pub fn update_eligibility<O: Observer>(&mut self, flow: FlowId, cx: &mut Context<'_, O>) {
        let host = self.flows.host_of(flow);
        self.adapters[host as usize].update_eligibility(flow, cx.now, &mut self.flows);
    }

    /// Passes a notice to a response, and adopts the resulting pace.
    pub fn notify<O: Observer>(&mut self, id: u32, notice: &Notice, cx: &mut Context<'_, O>) {
        let pacer = &mut self.flows.pacers[id as usize];
        let host = pacer.host as usize;
        if pacer.is_steady {
            return self.adapters[host].update_pacer(id, cx.now, &mut self.flows);
        }
        let (pace, deadline) = self.flows.responses[id as usize].react(cx.now, notice);
        let is_new = pacer.adopt(pace);
        if deadline.is_some() {
            self.arm_timer(id, cx);
        }
        if is_new {
            self.adapters[host].unblock();
            self.adapters[host].unlist(id, &mut self.flows);
        }
        self.adapters[host].update_pacer(id, cx.now, &mut self.flows);
    }

    /// Schedules the timer of a response, if its deadline is earlier than a pending timer.
    pub fn arm_timer<O: Observer>(&mut self, id: u32, cx: &mut Context<'_, O>) {
        let node = self.adapters[self.flows.pacers[id as usize].host as usize].node;
        self.flows.arm_timer(id, node, cx);
    }

    /// Handles a timer: notifies the response if its deadline is unchanged.
    pub fn on_timer<O: Observer>(&mut self, id: u32, cx: &mut Context<'_, O>) {
        let pacer = &mut self.flows.pacers[id as usize];
        if pacer.timer() != Some(cx.now) {
            return;
        }
        pacer.set_timer(None);
        if self.flows.responses[id as usize].deadline().is_some_and(|deadline| deadline <= cx.now) {
            self.notify(id, &Notice::Timer, cx);
        } else {
            self.arm_timer(id, cx);
        }
    }
}
