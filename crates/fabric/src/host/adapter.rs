//! A host's adapter: injection of answers and data packets, and the receive buffer.

use std::collections::VecDeque;

use becalm_engine::{Time, mix};

use crate::config::{AdapterConfig, Injection};
use crate::context::Context;
use crate::event::Event;
use crate::flow_control::credit::CreditReturn;
use crate::flow_control::pauses::Pauses;
use crate::host::backlog::Backlog;
use crate::host::flows::Flows;
use crate::host::paced::Paced;
use crate::host::pacer::PacerState;
use crate::host::send_queue::SendQueue;
use crate::host::sender::Sender;
use crate::ids::{FlowId, NodeId, PortId};
use crate::network::link::EgressLink;
use crate::packet::{Kind, Packet, tie};
use crate::policy::{Observer, Response, Sent};

/// The adapter of one host.
#[derive(Debug)]
pub(crate) struct Adapter {
    pub node: NodeId,
    pub link: EgressLink,
    pub credit_return: CreditReturn,
    pub(super) config: AdapterConfig,
    vls: u8,
    /// Units of the receive buffer that are taken, by VL, where there is a drain rate.
    pub taken: Vec<u32>,
    /// With PFC, where there is a drain rate.
    pub pauses: Option<Box<Pauses>>,
    stalled: Vec<bool>,
    busy_until: Time,
    /// Time at which the next data packet has been fetched from memory.
    fetched_at: Time,
    /// Time at which the host can have the next message ready.
    message_at: Time,
    /// Time at which the first message in preparation is ready; [`Time::MAX`] if none is awaited.
    prepared_at: Time,
    /// Time at which the receive buffer is drained.
    pub(super) drained_at: Time,
    /// Packets in the receive buffer, in the order in which they came.
    pub draining: VecDeque<Packet>,
    /// The earliest pending [`Event::Wake`].
    wake_at: Time,
    /// ACKs and CNPs to send, in order.
    pub answers: VecDeque<Packet>,
    /// Pacers that may send.
    ready: SendQueue,
    /// The first of these lacks credit on the only lane. Until credit comes or something else changes that could let
    /// another go first, nothing can be sent, and no attempt is made.
    blocked: bool,
    /// Messages posted so far.
    posted: u64,
    pub backlog: Backlog,
    /// Pacers that may send later; an entry that disagrees with its pacer's state is void.
    paced: Paced,
    /// Scratch space of [`Adapter::send_next`].
    passed_over: Vec<(u32, u64)>,
    /// The only pacer, which fetches nothing from memory, is listed while the link is busy if it may send as soon as it is free.
    pub lists_early: bool,
    /// The time from which the pacer that was listed early may send; [`Time::MAX`] if there is none.
    early: Time,
    pub packets: u64,
    pub bytes: u64,
}

impl Adapter {
    pub fn new(
        node: NodeId,
        (link, credit_return): (EgressLink, CreditReturn),
        vls: u8,
        config: AdapterConfig,
    ) -> Adapter {
        Adapter {
            node,
            link,
            credit_return,
            config,
            vls,
            taken: vec![0; usize::from(vls)],
            pauses: None,
            stalled: vec![false; usize::from(vls)],
            busy_until: Time::ZERO,
            fetched_at: Time::ZERO,
            message_at: Time::ZERO,
            prepared_at: Time::MAX,
            drained_at: Time::ZERO,
            draining: VecDeque::new(),
            wake_at: Time::MAX,
            answers: VecDeque::new(),
            ready: SendQueue::new(config.injection),
            blocked: false,
            posted: 0,
            backlog: Backlog::new(&config),
            paced: Paced::default(),
            passed_over: Vec::new(),
            lists_early: false,
            early: Time::MAX,
            packets: 0,
            bytes: 0,
        }
    }

    /// The number of the next message in the order of posting.
    pub fn next_order(&mut self) -> u64 {
        self.posted += 1;
        self.posted - 1
    }

    /// Whether the receive buffer can fill up.
    pub fn drains(&self) -> bool {
        self.config.drain_rate.is_some()
    }

    pub fn port(&self) -> PortId {
        PortId { node: self.node, port: 0 }
    }

    /// Checks again whether a flow may send, after an event that could have changed it.
    pub fn update_eligibility<R: Response>(&mut self, id: FlowId, now: Time, flows: &mut Flows<R>) {
        flows.list(id);
        self.update_pacer(flows.senders[id.index()].pacer, now, flows);
    }

    /// Checks again whether a pacer may send, after an event that could have changed it.
    pub fn update_pacer<R: Response>(&mut self, id: u32, now: Time, flows: &mut Flows<R>) {
        if flows.pacers[id as usize].state == PacerState::Ready {
            return;
        }
        let Some(flow) = flows.next_flow(id) else {
            flows.pacers[id as usize].state = PacerState::Idle;
            return;
        };
        let pacer = &mut flows.pacers[id as usize];
        let due = pacer.due();
        let early = due > now;
        if !early || (self.lists_early && due <= self.busy_until && pacer.state == PacerState::Idle) {
            pacer.state = PacerState::Ready;
            self.early = if early { due } else { Time::MAX };
            // A greedy message has no place: it counts as posted now.
            let order = flows.senders[flow.index()].first_order();
            self.ready.push(id, order.unwrap_or(self.posted));
            self.blocked &= self.config.injection == Injection::RoundRobin;
        } else if pacer.state != PacerState::Paced(due) {
            pacer.state = PacerState::Paced(due);
            self.paced.push((due, mix(flows.seed, u64::from(id)), id));
        }
    }

    /// Takes the pacer that was listed early off the list again, since its pace has changed.
    pub fn unlist<R>(&mut self, id: u32, flows: &mut Flows<R>) {
        if self.early < Time::MAX {
            self.early = Time::MAX;
            self.ready.pop();
            flows.pacers[id as usize].state = PacerState::Idle;
        }
    }

    /// Sends a packet if the link is free and a packet can go; schedules the next attempt.
    pub fn try_transmit<O: Observer, R: Response>(&mut self, flows: &mut Flows<R>, cx: &mut Context<'_, O>) {
        if self.is_awaited(cx.now) {
            return;
        }
        self.collect_due(cx.now, flows);
        if self.blocked && (self.answers.is_empty() || cx.shared.config.buffer.is_in_packets()) {
            return;
        }
        if cx.now >= self.busy_until {
            self.send_next(flows, cx);
        }
        let Some(next) = self.next_chance(cx.now) else { return };
        if next < self.wake_at {
            self.wake_at = next;
            cx.schedule(next, self.node, 0, 0, Event::Wake);
        }
    }

    /// Whether the link is busy, an attempt is due no later than it is free, and nothing has to be seen to before.
    #[inline]
    fn is_awaited(&self, now: Time) -> bool {
        now < self.busy_until && self.wake_at <= self.busy_until && self.paced.next() > now
    }

    /// Time of the next attempt to send, unless it depends on credit, which comes with an event.
    fn next_chance(&self, now: Time) -> Option<Time> {
        let mut next = Time::MAX;
        let mut consider = |time: Time| {
            if time > now {
                next = next.min(time);
            }
        };
        let fetch = self.busy_until.max(self.fetched_at);
        if !self.answers.is_empty() {
            consider(self.busy_until);
        }
        if !self.ready.is_empty() {
            consider(fetch);
        }
        let prepares = self.prepared_at < Time::MAX;
        if prepares {
            consider(fetch.max(self.prepared_at));
        }
        // Where all that is ready waits for the credit of the only lane, so will what comes to be due.
        if self.ready.is_empty() || self.vls > 1 || prepares {
            consider(self.busy_until.max(self.paced.next()));
        }
        (next < Time::MAX).then_some(next)
    }

    /// Tries to send at the next event: credit has come, or a pace or the end of traffic may hold back the first in turn.
    pub fn unblock(&mut self) {
        self.blocked = false;
    }

    /// Handles a wake-up.
    pub fn on_wake(&mut self, now: Time) {
        if self.wake_at == now {
            self.wake_at = Time::MAX;
        }
    }

    /// Moves pacers whose time has come to the list of those that may send, and drops void entries on the way.
    #[inline(always)]
    fn collect_due<R: Response>(&mut self, now: Time, flows: &mut Flows<R>) {
        if self.early <= now {
            self.early = Time::MAX;
        }
        while let Some((due, _, id)) = self.paced.first() {
            let void = flows.pacers[id as usize].state != PacerState::Paced(due);
            if due > now && !void {
                return;
            }
            self.paced.pop();
            if !void {
                flows.pacers[id as usize].state = PacerState::Idle;
                self.update_pacer(id, now, flows);
            }
        }
    }

    /// Sends an answer, or else a packet of the next pacer that may send and has credit.
    fn send_next<O: Observer, R: Response>(&mut self, flows: &mut Flows<R>, cx: &mut Context<'_, O>) {
        if self.send_answer(cx) || cx.now < self.fetched_at {
            return;
        }
        self.prepared_at = Time::MAX;
        let (mut dry, all_vls) = (0u16, self.all_vls());
        while dry != all_vls {
            let Some((id, order)) = self.ready.pop() else { break };
            let Some(flow) = self.recheck(id, cx.now, flows) else { continue };
            let sender = &flows.senders[flow.index()];
            let prepared = self.prepared(sender);
            if prepared > cx.now {
                self.prepared_at = self.prepared_at.min(prepared);
            } else if self.has_credit(sender.vl, flows.packets.largest(), cx) {
                self.send_data(flow, flows, cx);
                break;
            } else {
                dry |= 1 << sender.vl;
                self.blocked = self.vls == 1 && self.passed_over.is_empty();
            }
            self.passed_over.push((id, order));
        }
        while let Some((id, order)) = self.passed_over.pop() {
            self.ready.push_front(id, order);
        }
    }

    /// One bit per lane.
    fn all_vls(&self) -> u16 {
        (1 << self.vls) - 1
    }

    /// Sends the first answer that has credit; returns whether there is one.
    fn send_answer<O: Observer>(&mut self, cx: &mut Context<'_, O>) -> bool {
        let (mut dry, all_vls) = (0u16, self.all_vls());
        for i in 0..self.answers.len() {
            let &Packet { vl, size, .. } = &self.answers[i];
            if dry & 1 << vl == 0 && self.has_credit(vl, size, cx) {
                let answer = if i == 0 { self.answers.pop_front() } else { self.answers.remove(i) };
                let mut answer = answer.expect("there is one");
                cx.shared.trails.hold(cx.now.since(answer.posted), &mut answer);
                self.transmit(&answer, cx);
                return true;
            }
            dry |= 1 << vl;
            if dry == all_vls {
                return false;
            }
        }
        false
    }

    /// Time at which the next packet of a flow can be fetched.
    fn prepared(&self, sender: &Sender) -> Time {
        match sender.next_begins() {
            Some(posted) => self.message_at.max(posted + self.config.message_overhead),
            None => Time::ZERO,
        }
    }

    /// The flow that a pacer sends for, if it still may: its pace or its windows may have changed since it was listed.
    fn recheck<R: Response>(&mut self, id: u32, now: Time, flows: &mut Flows<R>) -> Option<FlowId> {
        if flows.pacers[id as usize].due() <= now
            && let Some(flow) = flows.next_flow(id)
        {
            return Some(flow);
        }
        flows.pacers[id as usize].state = PacerState::Idle;
        self.update_pacer(id, now, flows);
        None
    }

    fn send_data<O: Observer, R: Response>(&mut self, id: FlowId, flows: &mut Flows<R>, cx: &mut Context<'_, O>) {
        let sender = &mut flows.senders[id.index()];
        if sender.next_begins().is_some() {
            self.message_at = cx.now + self.config.message_overhead;
        }
        let from_backlog = self.backlog.is_limited() && sender.sends_posted();
        let segment = sender.next_segment(cx.now, flows.packets.mtu);
        let size = segment.payload + sender.header;
        let mut packet = Packet {
            posted: segment.posted,
            injected: cx.now,
            flow: id,
            destination: sender.destination,
            sequence: sender.packets,
            size,
            tie: tie(flows.seed, id, Kind::Data, sender.packets),
            kind: Kind::Data,
            vl: sender.vl,
            last: segment.last,
            marked: false,
            held: 0,
            covers: 0,
            marks: 0,
        };
        if sender.is_recorded {
            cx.shared.trails.begin(&mut packet);
        }
        sender.sent(size);
        let pacer = sender.pacer;
        let sent = Sent { now: cx.now, bytes: size, in_flight: sender.in_flight };
        flows.pacers[pacer as usize].sent(&sent, self.link.rate.time_of(size));
        flows.rotate(id);
        if segment.last && flows.senders[id.index()].restarts() {
            flows.restart(id, self.node, cx);
        }
        if let Some(rate) = self.config.injection_rate {
            self.fetched_at = cx.now + rate.time_of(size);
        }
        cx.shared.packets += 1;
        self.transmit(&packet, cx);
        if segment.last && id.0 >= flows.first_of_jobs {
            cx.schedule(self.busy_until, self.node, 0, u64::from(id.0), Event::Left(id));
        }
        self.update_pacer(pacer, cx.now, flows);
        if from_backlog {
            self.backlog.sent();
            if let Some(source) = self.backlog.call() {
                cx.post(cx.now, self.node, source, flows.seed);
            }
        }
    }

    /// Whether the next buffer has room; reports the beginning and the end of a wait.
    #[inline(always)]
    fn has_credit<O: Observer>(&mut self, vl: u8, size: u32, cx: &mut Context<'_, O>) -> bool {
        let has_credit = cx.has_credit(&self.link, vl, cx.shared.config.buffer.need(size));
        if !has_credit || self.stalled[usize::from(vl)] {
            self.note_wait(vl, !has_credit, cx);
        }
        has_credit
    }

    /// Notes that the first packet of a lane waits for credit, or does no longer.
    fn note_wait<O: Observer>(&mut self, vl: u8, waits: bool, cx: &mut Context<'_, O>) {
        if std::mem::replace(&mut self.stalled[usize::from(vl)], waits) != waits {
            cx.observer.stalled(cx.now, self.port(), vl, waits);
        }
        if waits {
            cx.wait_for_credit(self.port(), &self.link, vl);
        }
    }

    fn transmit<O: Observer>(&mut self, packet: &Packet, cx: &mut Context<'_, O>) {
        let &Packet { vl, size, .. } = packet;
        if self.link.credited() {
            cx.shared.credit[self.link.credit_index(vl)].take(cx.shared.config.buffer.need(size));
        }
        self.packets += 1;
        self.bytes += u64::from(size);
        self.busy_until = cx.launch(self.port(), &self.link, packet, self.link.rate.time_of(size));
    }
}
