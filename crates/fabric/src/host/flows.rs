//! The sending ends of all flows, and the pacers that they share.

use becalm_engine::mix;

use crate::config::PacketConfig;
use crate::context::Context;
use crate::event::Signal;
use crate::host::pacer::{EligibleFlows, Pacer};
use crate::host::sender::Sender;
use crate::ids::{FlowId, NodeId};
use crate::policy::{Observer, Response};

/// The sending ends of all flows, by flow, and the pacers by their number.
#[derive(Debug)]
pub(crate) struct Flows<R> {
    pub senders: Vec<Sender>,
    pub pacers: Vec<Pacer<R>>,
    pub packets: PacketConfig,
    pub seed: u64,
    /// The first flow of jobs, which are the last flows of all.
    pub first_of_jobs: u32,
}

impl<R> Flows<R> {
    /// The pacer of a flow.
    pub fn pacer_of(&self, flow: FlowId) -> &Pacer<R> {
        &self.pacers[self.senders[flow.index()].pacer as usize]
    }

    /// Whether a pacer has one flow only.
    #[inline]
    pub fn is_alone(&self, pacer: u32) -> bool {
        matches!(self.pacers[pacer as usize].flows, EligibleFlows::One(_))
    }

    /// The rank of a flow's sending host.
    pub fn host_of(&self, flow: FlowId) -> u32 {
        self.pacer_of(flow).host
    }
}

impl<R: Response> Flows<R> {
    /// Schedules the timer of a response at its host, if it wants one earlier than any that is pending.
    pub fn arm_timer<O: Observer>(&mut self, id: u32, host: NodeId, cx: &mut Context<'_, O>) {
        let pacer = &mut self.pacers[id as usize];
        let Some(deadline) = pacer.response.deadline() else { return };
        if pacer.timer.is_some_and(|pending| pending <= deadline) {
            return;
        }
        pacer.timer = Some(deadline);
        cx.schedule(deadline, host, id as u16, mix(self.seed, u64::from(id)), Signal::Timer(id));
    }

    /// Begins a new flow for the response with the next message.
    pub fn restart<O: Observer>(&mut self, id: FlowId, host: NodeId, cx: &mut Context<'_, O>) {
        let sender = &mut self.senders[id.index()];
        sender.begin_flow();
        let pacer = sender.pacer;
        self.pacers[pacer as usize].restart(cx.now);
        self.arm_timer(pacer, host, cx);
    }

    /// The flow of a pacer that sends next.
    #[inline(always)]
    pub fn next_flow(&mut self, pacer: u32) -> Option<FlowId> {
        let Pacer { pace, ref flows, .. } = self.pacers[pacer as usize];
        match *flows {
            EligibleFlows::One(id) => self.senders[id.index()].may_send(pace.window).then_some(id),
            EligibleFlows::Several(_) => self.next_of_several(pacer),
        }
    }

    /// The flow of a pacer with several that sends next; flows that cannot send are removed.
    fn next_of_several(&mut self, pacer: u32) -> Option<FlowId> {
        let pacer = &mut self.pacers[pacer as usize];
        let EligibleFlows::Several(list) = &mut pacer.flows else { return None };
        while let Some((id, _)) = list.first() {
            let sender = &mut self.senders[id as usize];
            if sender.may_send(pacer.pace.window) {
                return Some(FlowId(id));
            }
            sender.listed = false;
            list.pop();
        }
        None
    }

    /// Moves a flow that has sent to the end of its pacer's list, or removes it.
    pub fn rotate(&mut self, id: FlowId) {
        let sender = &mut self.senders[id.index()];
        let pacer = &mut self.pacers[sender.pacer as usize];
        if let EligibleFlows::Several(list) = &mut pacer.flows {
            list.pop();
            sender.listed = sender.may_send(pacer.pace.window);
            if sender.listed {
                list.push(id.0, sender.first_order().unwrap_or(u64::MAX));
            }
        }
    }

    /// Adds a flow that may send to its pacer's list.
    pub fn list(&mut self, id: FlowId) {
        let sender = &mut self.senders[id.index()];
        let pacer = &mut self.pacers[sender.pacer as usize];
        if let EligibleFlows::Several(list) = &mut pacer.flows
            && !sender.listed
            && sender.may_send(pacer.pace.window)
        {
            sender.listed = true;
            list.push(id.0, sender.first_order().unwrap_or(u64::MAX));
        }
    }
}
