//! A host's adapter: sending, and the receive buffer.

mod sending;

use std::collections::VecDeque;

use becalm_engine::{Time, mix};

use crate::config::{AdapterConfig, Answers};
use crate::context::Context;
use crate::event::Signal;
use crate::flow_control::credit::CreditReturn;
use crate::flow_control::pauses::Pauses;
use crate::host::answers::AnswerQueue;
use crate::host::backlog::Backlog;
use crate::host::flows::Flows;
use crate::host::paced::Paced;
use crate::host::pacer::PacerState;
use crate::host::ready::{Listed, Ready};
use crate::ids::{FlowId, NodeId, PortId};
use crate::network::link::{EgressLink, Rate, Transmission};
use crate::packet::Packet;
use crate::policy::{Observer, Response};

/// The reception of a host that a fault slows or stops at some time. One packet is received after the other, and a packet
/// whose reception has begun continues at its rate.
#[derive(Debug, Default)]
pub(crate) struct Receiving {
    /// Arrival times of the packets in the receive buffer.
    pub(super) arrived: VecDeque<Time>,
    /// Whether the first packet is being received.
    pub(super) is_busy: bool,
    /// Rate during a fault.
    pub(super) slow: Option<Rate>,
    pub(super) stopped: bool,
}

/// A host's adapter.
///
/// Most events at a host read the first fields, which therefore share a few cache lines.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Adapter {
    pub(super) busy_until: Time,
    /// The earliest pending [`Signal::Wake`].
    wake_at: Time,
    /// Time from which the pacer listed early may send; [`Time::MAX`] if there is none.
    pub(super) early: Time,
    /// Pacers that may send later. An entry that does not match its pacer's state is invalid.
    paced: Paced,
    /// Time at which the next data packet will have been fetched from memory.
    fetched_at: Time,
    /// Time at which the first message being prepared is ready; [`Time::MAX`] if none is awaited.
    prepared_at: Time,
    pub node: NodeId,
    /// One bit per lane: whether its first packet waits for credit.
    stalled: u16,
    /// One bit per lane: whether data are due next, not answers.
    data_next: u16,
    /// One bit per lane: whether a flow of this host sends data on it.
    pub data_vls: u16,
    vls: u8,
    /// Whether the receive buffer can fill up.
    pub drains: bool,
    /// Whether the first ready pacer lacks credit on the only lane. Nothing is then sent or attempted until
    /// credit arrives, or another change may let a different packet go first.
    blocked: bool,
    /// Whether the adapter's only pacer is listed while the link is busy, if it may send once the link is
    /// free. Its packets are not fetched from memory.
    pub lists_early: bool,
    /// The last packet's bytes.
    last_size: u32,
    /// Start of the last packet's transmission.
    last_began: Time,
    pub link: EgressLink,
    pub(super) config: AdapterConfig,
    /// Earliest time at which the host can have prepared the next message.
    message_at: Time,
    /// Messages posted so far.
    posted: u64,
    pub packets: u64,
    pub bytes: u64,
    /// ACKs and CNPs to send.
    pub answers: AnswerQueue,
    /// Pacers that may send.
    pub ready: Ready,
    /// Scratch space of [`Adapter::send_next`].
    passed_over: Vec<Listed>,
    pub backlog: Backlog,
    pub credit_return: CreditReturn,
    /// Number of faults that now keep the adapter from sending. Until they end, `busy_until` is [`Time::MAX`], and this is
    /// the end of the last packet's transmission.
    pub(super) holds: (u8, Time),
    /// Present if a fault slows or stops the reception at some time.
    pub receiving: Option<Box<Receiving>>,
    /// Present with PFC, if the receive buffer can fill up or the host pauses its switch in a fault.
    pub pauses: Option<Box<Pauses>>,
    /// Occupied units of the receive buffer by VL, if there is a drain rate.
    pub taken: Vec<u32>,
    /// Packets in the receive buffer, in order of arrival.
    pub draining: VecDeque<Packet>,
    /// Time at which the receive buffer will be empty.
    pub(super) drained_at: Time,
    /// CNPs that are not ready to be sent yet.
    pub cnps: VecDeque<Packet>,
    /// By lane: packets that the receive buffer had no room for, and their bytes. Empty unless a watchdog forwards.
    pub lost: Vec<(u64, u64)>,
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
            data_vls: 0,
            taken: vec![0; usize::from(vls)],
            drains: config.drain_rate.is_some(),
            receiving: None,
            holds: (0, Time::ZERO),
            lost: Vec::new(),
            pauses: None,
            stalled: 0,
            busy_until: Time::ZERO,
            last_began: Time::ZERO,
            last_size: 0,
            fetched_at: Time::ZERO,
            message_at: Time::ZERO,
            prepared_at: Time::MAX,
            drained_at: Time::ZERO,
            draining: VecDeque::new(),
            wake_at: Time::MAX,
            answers: AnswerQueue::default(),
            cnps: VecDeque::new(),
            data_next: 0,
            ready: Ready::new(config.injection),
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

    /// Position of the next message in posting order.
    pub fn next_order(&mut self) -> u64 {
        self.posted += 1;
        self.posted - 1
    }

    /// The last packet's transmission.
    pub fn last_sent(&self) -> Transmission {
        let tail = if self.holds.0 > 0 { self.holds.1 } else { self.busy_until };
        Transmission { begin: self.last_began, tail, size: self.last_size }
    }

    pub fn port(&self) -> PortId {
        PortId { node: self.node, port: 0 }
    }

    /// Re-evaluates whether a flow may send, after an event that may have changed this.
    pub fn update_eligibility<R: Response>(&mut self, id: FlowId, now: Time, flows: &mut Flows<R>) {
        flows.list(id);
        self.update_pacer(flows.senders[id.index()].pacer, now, flows);
    }

    /// Re-evaluates whether a pacer may send, after an event that may have changed this.
    pub fn update_pacer<R: Response>(&mut self, id: u32, now: Time, flows: &mut Flows<R>) {
        let pacer = &flows.pacers[id as usize];
        if pacer.state() == PacerState::Ready {
            return;
        }
        let (own, window) = (pacer.flows(), pacer.pace().window);
        let Some(flow) = flows.next_flow(own, window) else {
            flows.pacers[id as usize].set_state(PacerState::Idle);
            return;
        };
        let pacer = &mut flows.pacers[id as usize];
        let due = pacer.due();
        let early = due > now;
        if !early || (self.lists_early && due <= self.busy_until && pacer.state() == PacerState::Idle) {
            pacer.set_state(PacerState::Ready);
            self.early = if early { due } else { Time::MAX };
            // A greedy message has no position in posting order. It counts as posted now.
            let sender = &flows.senders[flow.index()];
            self.ready.push(id, sender.vl, sender.first_order().unwrap_or(self.posted));
            self.blocked &= !self.ready.is_sorted();
        } else if pacer.state() != PacerState::Paced(due) {
            pacer.set_state(PacerState::Paced(due));
            self.paced.push((due, mix(flows.seed, u64::from(id)), id));
        }
    }

    /// Removes the pacer listed early from the list, because its pace has changed.
    #[inline]
    pub fn unlist<R>(&mut self, id: u32, flows: &mut Flows<R>) {
        if self.early < Time::MAX {
            self.early = Time::MAX;
            self.ready.first_outside(0).into_iter().for_each(|listed| self.ready.remove(listed));
            flows.pacers[id as usize].set_state(PacerState::Idle);
        }
    }

    /// Sends a packet if the link is free and a packet can be sent. Schedules the next attempt.
    // Compiled as one function with its only caller, the path of every packet at a host.
    #[inline(always)]
    pub fn try_transmit<O: Observer, R: Response>(&mut self, flows: &mut Flows<R>, cx: &mut Context<'_, O>) {
        if self.is_awaited(cx.now) {
            return;
        }
        self.collect_due(cx.now, flows);
        if self.blocked && !self.may_overtake(cx) {
            return;
        }
        if cx.now >= self.busy_until {
            self.send_next(flows, cx);
        }
        let Some(next) = self.next_chance(cx.now) else { return };
        if next < self.wake_at {
            self.wake_at = next;
            cx.schedule(next, self.node, 0, 0, Signal::Wake);
        }
    }

    /// Whether an answer may be sent even though data wait for credit on the only lane.
    fn may_overtake<O>(&self, cx: &Context<'_, O>) -> bool {
        let first = self.config.answers == Answers::First;
        first && !self.answers.is_empty() && !cx.shared.config.buffer.is_in_slots()
    }

    /// Queues an answer, or merges it with a waiting one. Returns whether the number of packets has
    /// increased.
    #[inline(always)]
    pub fn queue_answer(&mut self, answer: Packet) -> bool {
        let merged = self.config.coalesces && self.answers.absorb(&answer);
        if !merged {
            self.answers.push(answer);
        }
        !merged
    }

    /// As [`Adapter::queue_answer`], for answers that few packets receive.
    #[inline(never)]
    pub fn queue_rare(&mut self, answer: Packet) -> bool {
        self.queue_answer(answer)
    }

    /// Whether the link is busy, an attempt is scheduled by the time it is free, and no pacer is due now.
    #[inline]
    fn is_awaited(&self, now: Time) -> bool {
        now < self.busy_until && self.wake_at <= self.busy_until && self.paced.next() > now
    }

    /// Time of the next attempt to send, unless it depends on credit, whose arrival is an event.
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
        // If all ready packets wait for credit on the only lane of data, packets that become due will wait too. Lanes
        // without data must not count: an attempt decides when a due pacer joins the queue.
        if self.ready.is_empty() || !self.data_vls.is_power_of_two() || prepares {
            consider(self.busy_until.max(self.paced.next()));
        }
        (next < Time::MAX).then_some(next)
    }

    /// Allows an attempt at the next event: credit has arrived, or a pace or the end of traffic may hold back
    /// the first pacer.
    pub fn unblock(&mut self) {
        self.blocked = false;
    }

    /// Handles a wake-up.
    pub fn on_wake(&mut self, now: Time) {
        if self.wake_at == now {
            self.wake_at = Time::MAX;
        }
    }

    /// Moves due pacers to the list of those that may send, and drops invalid entries.
    #[inline(always)]
    fn collect_due<R: Response>(&mut self, now: Time, flows: &mut Flows<R>) {
        if self.early <= now {
            self.early = Time::MAX;
        }
        while let Some((due, _, id)) = self.paced.first() {
            let void = flows.pacers[id as usize].state() != PacerState::Paced(due);
            if due > now && !void {
                return;
            }
            self.paced.pop();
            if !void {
                flows.pacers[id as usize].set_state(PacerState::Idle);
                self.update_pacer(id, now, flows);
            }
        }
    }
}
