//! The sending ends of all flows, and the pacers that they share.

use std::hint::black_box;
use std::mem::swap;

use becalm_engine::{Time, mix};

use crate::config::PacketConfig;
use crate::context::Context;
use crate::event::Signal;
use crate::host::later::{Common, Later};
use crate::host::pacer::{Pacer, PacerFlows};
use crate::host::send_queue::SendQueue;
use crate::host::sender::Sender;
use crate::host::store::Store;
use crate::ids::{FlowId, NodeId};
use crate::policy::{Notice, Observer, Pace, Response, Sent};

/// The sending ends of all flows, indexed by flow, and the pacers, indexed by number.
#[derive(Debug)]
pub(crate) struct Flows<R> {
    pub senders: Store<Sender>,
    pub pacers: Store<Pacer>,
    /// Indexed by pacer. Stored separately, because each has the size of the largest scheme's and most
    /// packets do not need it. A steady response of a later flow is not stored at all.
    pub responses: Store<R>,
    /// Flows that are made when they are needed, each with a pacer of the same number.
    pub later: Later<R>,
    pub common: Common,
    /// Indexed by [`PacerFlows::Several`]: the flows of a pacer that have a packet to send.
    pub lists: Vec<SendQueue>,
    /// Whether every flow has its own pacer, with the same number.
    pub own_pacers: bool,
    pub packets: PacketConfig,
    /// The lane of each flow's answers; empty if all answers use the lane on which the data packet arrived.
    pub answers_vls: Vec<u8>,
    pub seed: u64,
    /// The first flow of jobs. Flows of jobs follow all others.
    pub first_of_jobs: u32,
}

impl<R> Flows<R> {
    /// The pacer of a flow.
    pub fn pacer_of(&self, flow: FlowId) -> &Pacer {
        let pacer = if self.own_pacers { flow.0 } else { self.senders[flow.index()].pacer };
        &self.pacers[pacer as usize]
    }

    /// Loads all data needed for posting a message to a flow. With many flows, the data come from memory, and
    /// independent loads overlap.
    #[inline(always)]
    pub fn prefetch(&self, flow: FlowId) {
        let sender = &self.senders[flow.index()];
        let pacer = self.own_pacers.then(|| self.pacers[flow.index()].host);
        black_box((sender.pacer, sender.posted_messages, pacer));
    }

    /// Whether a pacer has only one flow.
    #[inline]
    pub fn is_alone(&self, pacer: u32) -> bool {
        matches!(self.pacers[pacer as usize].flows(), PacerFlows::One(_))
    }

    /// Takes over the pacers of another part's hosts, by rank, with their responses and lists.
    pub fn take_pacers(&mut self, other: &mut Flows<R>, theirs: impl Fn(u32) -> bool) {
        let hosts: Vec<u32> = (0..self.pacers.len()).map(|pacer| self.host_of_pacer(pacer)).collect();
        let theirs = |pacer: usize| theirs(hosts[pacer]);
        for pacer in (0..self.pacers.len()).filter(|&pacer| theirs(pacer)) {
            if let Some(PacerFlows::Several(list)) = self.pacers.get(pacer).map(Pacer::flows) {
                swap(&mut self.lists[list as usize], &mut other.lists[list as usize]);
            }
        }
        self.responses.take_over(&mut other.responses, theirs);
        self.pacers.take_over(&mut other.pacers, theirs);
    }

    /// The rank of a pacer's host.
    fn host_of_pacer(&self, pacer: usize) -> u32 {
        let later = || self.later.ends_of(FlowId(pacer as u32)).map_or(0, |ends| ends.source);
        self.pacers.get(pacer).map_or_else(later, |pacer| pacer.host)
    }

    /// The rank of a flow's sending host.
    pub fn host_of(&self, flow: FlowId) -> u32 {
        self.pacer_of(flow).host
    }

    /// The ranks of a flow's hosts.
    pub fn ends_of(&self, flow: FlowId) -> (u32, u32) {
        match self.later.ends_of(flow) {
            Some(ends) => (ends.source, ends.destination),
            None => (self.host_of(flow), self.senders[flow.index()].destination),
        }
    }
}

impl<R: Response> Flows<R> {
    /// Makes the sending end of a later flow, if it has none.
    #[inline]
    pub fn make(&mut self, flow: FlowId) {
        if self.senders.get(flow.index()).is_none() {
            self.make_now(flow);
        }
    }

    #[inline(never)]
    fn make_now(&mut self, flow: FlowId) {
        let (Some(ends), Some(response)) = (self.later.ends_of(flow), &self.later.response) else { return };
        self.pacers.get_or_make(flow.index(), || Pacer::new(ends.source, PacerFlows::One(flow), response));
        self.senders.get_or_make(flow.index(), || self.common.sender(flow, flow.0, ends, 0));
    }

    /// The pace of a flow.
    pub fn pace_of(&self, flow: FlowId) -> Pace {
        match (self.senders.get(flow.index()), &self.later.response) {
            (None, Some(response)) => response.pace(),
            _ => self.pacer_of(flow).pace(),
        }
    }

    /// Schedules the timer of a response at its host, if its deadline is earlier than a pending timer.
    pub fn arm_timer<O: Observer>(&mut self, id: u32, host: NodeId, cx: &mut Context<'_, O>) {
        let pacer = &mut self.pacers[id as usize];
        if pacer.is_steady {
            return;
        }
        let Some(deadline) = self.responses[id as usize].deadline() else { return };
        if pacer.timer().is_some_and(|pending| pending <= deadline) {
            return;
        }
        pacer.set_timer(Some(deadline));
        cx.schedule(deadline, host, id as u16, mix(self.seed, u64::from(id)), Signal::Timer(id));
    }

    /// Starts a new flow for the response with the next message.
    pub fn restart<O: Observer>(&mut self, id: FlowId, host: NodeId, cx: &mut Context<'_, O>) {
        let sender = &mut self.senders[id.index()];
        sender.begin_flow();
        let pacer = sender.pacer;
        let (pace, _) = self.responses[pacer as usize].react(cx.now, &Notice::Restart);
        self.pacers[pacer as usize].restart(pace);
        self.arm_timer(pacer, host, cx);
    }

    /// Records a packet that is sent, with this transmission time. For a train, `before` is the number of packets
    /// before the last one, and the pace applies as if each had been sent with its gap.
    #[inline(always)]
    pub fn sent(&mut self, id: u32, sent: &Sent, transmission: Time, before: u32) {
        let pacer = &mut self.pacers[id as usize];
        let (start, transmission) = match before {
            0 => (sent.now, transmission),
            _ => pacer.last_of_train(sent.now, transmission, before),
        };
        let pace = match pacer.follows_sending {
            true => self.responses[id as usize].paced_by(sent),
            false => pacer.pace(),
        };
        pacer.sent(start, transmission, pace);
    }

    /// The flow for which the pacer of these flows sends next, within its window.
    #[inline(always)]
    pub fn next_flow(&mut self, flows: PacerFlows, window: u32) -> Option<FlowId> {
        match flows {
            PacerFlows::One(id) => self.senders[id.index()].may_send(window).then_some(id),
            PacerFlows::Several(list) => self.next_of_several(list, window),
        }
    }

    /// The next flow on a list that may send within this window. Removes flows that cannot send.
    fn next_of_several(&mut self, list: u32, window: u32) -> Option<FlowId> {
        let list = &mut self.lists[list as usize];
        while let Some((id, _)) = list.first() {
            let sender = &mut self.senders[id as usize];
            if sender.may_send(window) {
                return Some(FlowId(id));
            }
            sender.listed = false;
            list.pop();
        }
        None
    }

    /// Moves a flow that has sent to the end of its pacer's list, or removes it.
    #[inline]
    pub fn rotate(&mut self, id: FlowId) {
        if !self.own_pacers {
            self.rotate_shared(id);
        }
    }

    fn rotate_shared(&mut self, id: FlowId) {
        let sender = &mut self.senders[id.index()];
        let pacer = &self.pacers[sender.pacer as usize];
        if let PacerFlows::Several(list) = pacer.flows() {
            let list = &mut self.lists[list as usize];
            list.pop();
            sender.listed = sender.may_send(pacer.pace().window);
            if sender.listed {
                list.push(id.0, sender.first_order().unwrap_or(u64::MAX));
            }
        }
    }

    /// Adds a flow that may send to its pacer's list.
    #[inline]
    pub fn list(&mut self, id: FlowId) {
        if !self.own_pacers {
            self.list_shared(id);
        }
    }

    fn list_shared(&mut self, id: FlowId) {
        let sender = &mut self.senders[id.index()];
        let pacer = &self.pacers[sender.pacer as usize];
        if let PacerFlows::Several(list) = pacer.flows()
            && !sender.listed
            && sender.may_send(pacer.pace().window)
        {
            sender.listed = true;
            self.lists[list as usize].push(id.0, sender.first_order().unwrap_or(u64::MAX));
        }
    }
}
