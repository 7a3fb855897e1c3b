//! Messages of jobs take another port while a cable is down.
//!
//! A node's ports are in planes that meet only in the hosts, so no switch can send a packet of a port's plane on by
//! another. The sending rank therefore posts a message again, as a whole, by another port, as soon as a cable at either
//! end of its port goes down. The ranks know at once which cables are down, and which messages have not arrived.

use crate::context::Context;
use crate::host::hosts::Hosts;
use crate::ids::FlowId;
use crate::policy::{Observer, Response};

impl<R: Response, E> Hosts<R, E> {
    /// The flow that a message takes: its own or, while a cable at one of its ends is down, that of the next port whose
    /// cables are up. Messages with the same tag stay in order, so they follow earlier ones that are on their way by
    /// another port.
    pub(super) fn way<O>(&self, own: FlowId, send: u32, cx: &Context<'_, O>) -> FlowId {
        if !cx.shared.faults.moves_paths() {
            return own;
        }
        let mut follows = self.jobs.others(own).filter(|&flow| self.jobs.carries_same(flow, own, send));
        follows.find(|&flow| !self.is_cut(flow, cx)).unwrap_or_else(|| match self.is_cut(own, cx) {
            true => self.detour(own, cx).unwrap_or(own),
            false => own,
        })
    }

    /// Whether a cable at one end of a flow is down.
    fn is_cut<O>(&self, flow: FlowId, cx: &Context<'_, O>) -> bool {
        let (source, destination) = self.ends_of(flow);
        [source, destination].into_iter().any(|host| cx.shared.faults.is_cut(host, cx.now))
    }

    fn detour<O>(&self, flow: FlowId, cx: &Context<'_, O>) -> Option<FlowId> {
        self.jobs.others(flow).find(|&other| !self.is_cut(other, cx))
    }

    /// Posts the messages that have not arrived, and whose flow has a cable that is down, again by other ports. Returns the
    /// number of their packets.
    #[cold]
    pub(super) fn detour_all<O: Observer>(&mut self, cx: &mut Context<'_, O>) -> u64 {
        let mut packets = 0;
        for flow in self.jobs.underway() {
            if !self.is_cut(flow, cx) || self.detour(flow, cx).is_none() {
                continue;
            }
            for (send, left) in self.withdraw(flow, cx) {
                let bytes = self.jobs.spec_of(flow).program.op(send).action.bytes();
                let way = self.way(self.jobs.own_flow(flow, send), send, cx);
                self.jobs.post_again(way, send, left);
                self.post_to(way, (send, bytes), cx);
                packets += self.flows.packets.packets_of(bytes);
            }
        }
        packets
    }

    /// Takes the messages of a flow that have not arrived, each with whether it has left its sender.
    fn withdraw<O: Observer>(&mut self, flow: FlowId, cx: &mut Context<'_, O>) -> Vec<(u32, bool)> {
        let sender = &mut self.flows.senders[flow.index()];
        let (pacer, dropped) = (sender.pacer, sender.cut(&self.flows.packets));
        let host = self.flows.host_of(flow) as usize;
        let adapter = &mut self.adapters[host];
        if adapter.backlog.is_limited() {
            adapter.backlog.sent(dropped.packets as u32);
            if let Some(source) = adapter.backlog.call() {
                cx.post(cx.now, adapter.node, source, self.flows.seed);
            }
        }
        adapter.unblock();
        adapter.unlist(pacer, &mut self.flows);
        adapter.update_pacer(pacer, cx.now, &mut self.flows);
        self.wake_adapter(flow, cx);
        self.jobs.take_messages(flow, dropped)
    }
}
