//! The choice of the answer or data packet that an adapter sends next.

use becalm_engine::Time;

use super::Adapter;
use crate::config::Answers;
use crate::context::Context;
use crate::event::Signal;
use crate::host::flows::Flows;
use crate::host::pacer::PacerState;
use crate::host::ready::Listed;
use crate::host::sender::{RECORDED, REQUESTS, SPREAD, Sender};
use crate::host::train_length::Turns;
use crate::ids::FlowId;
use crate::packet::{Kind, Packet, common_tie, tie};
use crate::policy::{Observer, Response, Sent};
use crate::train::Train;

impl Adapter {
    /// Sends an answer or a data packet. If answers and data alternate, an answer waits on a lane where data
    /// are due, unless no data packet can be sent there. Data wait where an answer that is due lacks credit.
    pub(super) fn send_next<O: Observer, R: Response>(&mut self, flows: &mut Flows<R>, cx: &mut Context<'_, O>) {
        let data_may_go = cx.now >= self.fetched_at;
        let reserved = if data_may_go && !self.ready.is_empty() { self.data_next } else { 0 };
        let Some(waiting) = self.send_answer(reserved, cx) else { return };
        if !data_may_go {
            return;
        }
        let held = if self.config.answers == Answers::First { 0 } else { waiting };
        let Some(dry) = self.send_next_data(held, flows, cx) else { return };
        let later = if reserved == 0 { Some(0) } else { self.send_answer(self.data_next, cx) };
        if let Some(later) = later
            && self.stalled & !(waiting | dry | later) != 0
        {
            self.stop_waiting(waiting | dry | later, cx);
        }
    }

    /// Ends the waits of all lanes but some: their packet is gone, as the traffic has ended or the response holds it.
    #[cold]
    pub(in crate::host) fn stop_waiting<O: Observer>(&mut self, still: u16, cx: &mut Context<'_, O>) {
        for vl in (0..self.vls).filter(|vl| still & 1 << vl == 0) {
            self.note_wait(vl, false, cx);
        }
    }

    /// Sends a packet of the next pacer that may send and has credit on a lane outside `held`. If there is none,
    /// returns `held` and the lanes on which data lack credit. Records the lanes on which data packets are due next.
    #[inline(always)]
    fn send_next_data<O: Observer, R: Response>(
        &mut self,
        held: u16,
        flows: &mut Flows<R>,
        cx: &mut Context<'_, O>,
    ) -> Option<u16> {
        self.prepared_at = Time::MAX;
        let (mut dry, mut closed, mut sent) = (held, 0, None);
        while let Some(first) = self.ready.first_outside(closed) {
            let Some(flow) = self.recheck(first, cx.now, flows) else { continue };
            let sender = &flows.senders[flow.index()];
            let packets = match flows.packets.train {
                1 => 1,
                _ => {
                    let pace = flows.pacers[sender.pacer as usize].pace();
                    let packet = self.link.rate.time_of(flows.packets.mtu + sender.header);
                    sender.next_train(&flows.packets, pace, Turns { ready: self.ready.len(), packet })
                }
            };
            let units = packets * cx.shared.largest;
            let prepared = self.prepared(sender);
            if prepared > cx.now {
                self.prepared_at = self.prepared_at.min(prepared);
                self.ready.remove(first);
                self.passed_over.push(first);
            } else if held & 1 << sender.vl == 0 && self.has_credit(sender.vl, units, cx) {
                sent = Some(sender.vl);
                self.ready.remove(first);
                self.send_data(flow, packets, flows, cx);
                break;
            } else {
                dry |= 1 << sender.vl;
                closed |= 1 << first.vl;
                self.blocked = self.vls == 1 && self.passed_over.is_empty();
            }
        }
        while let Some(listed) = self.passed_over.pop() {
            self.ready.put_back(listed);
        }
        // Data that lack credit remain due.
        self.data_next = if self.config.answers == Answers::Turns { dry & !held } else { 0 };
        if sent.is_some() { None } else { Some(dry) }
    }

    /// One bit per lane.
    fn all_vls(&self) -> u16 {
        (1 << self.vls) - 1
    }

    /// Sends the first answer that has credit on a lane outside `reserved`. If there is none, returns the
    /// lanes on which answers lack credit.
    #[inline(always)]
    fn send_answer<O: Observer>(&mut self, reserved: u16, cx: &mut Context<'_, O>) -> Option<u16> {
        if self.vls > 1 {
            return self.send_answer_of_several(reserved, cx);
        }
        let Some(first) = self.answers.first() else { return Some(0) };
        if reserved != 0 {
            return Some(0);
        }
        let (vl, units) = (first.vl, cx.shared.unit.of_packet(first));
        if !self.has_credit(vl, units, cx) {
            return Some(1);
        }
        // Data that it overtakes go on waiting when it has left.
        self.blocked = false;
        let answer = self.answers.remove(vl);
        self.transmit_answer(answer, cx);
        None
    }

    /// As [`Adapter::send_answer`], with several lanes.
    #[inline(never)]
    fn send_answer_of_several<O: Observer>(&mut self, reserved: u16, cx: &mut Context<'_, O>) -> Option<u16> {
        let mut dry = 0;
        while reserved | dry != self.all_vls()
            && let Some(first) = self.answers.first_outside(reserved | dry)
        {
            let (vl, units) = (first.vl, cx.shared.unit.of_packet(first));
            if self.has_credit(vl, units, cx) {
                let answer = self.answers.remove(vl);
                self.transmit_answer(answer, cx);
                return None;
            }
            dry |= 1 << vl;
        }
        Some(dry)
    }

    #[inline(always)]
    fn transmit_answer<O: Observer>(&mut self, answer: Option<Packet>, cx: &mut Context<'_, O>) {
        let mut answer = answer.expect("there is one");
        if self.config.answers == Answers::Turns {
            self.data_next |= 1 << answer.vl;
        }
        cx.shared.trails.hold(cx.now.since(answer.posted), &mut answer);
        self.transmit(&answer, cx);
    }

    /// Time at which the next packet of a flow can be fetched.
    fn prepared(&self, sender: &Sender) -> Time {
        match sender.next_begins() {
            Some(posted) => self.message_at.max(posted + self.config.message_overhead),
            None => Time::ZERO,
        }
    }

    /// The flow for which the first pacer sends, if it still may send. Its pace or its windows may have
    /// changed since it was listed. Otherwise, the pacer is removed from the list.
    fn recheck<R: Response>(&mut self, listed: Listed, now: Time, flows: &mut Flows<R>) -> Option<FlowId> {
        let id = listed.pacer;
        let pacer = &flows.pacers[id as usize];
        let (own, window) = (pacer.flows(), pacer.pace().window);
        if pacer.due() <= now
            && let Some(flow) = flows.next_flow(own, window)
        {
            return Some(flow);
        }
        self.ready.remove(listed);
        flows.pacers[id as usize].set_state(PacerState::Idle);
        self.update_pacer(id, now, flows);
        None
    }

    /// Sends a flow's next packet, or a train of up to `packets`.
    fn send_data<O: Observer, R: Response>(
        &mut self,
        id: FlowId,
        packets: u32,
        flows: &mut Flows<R>,
        cx: &mut Context<'_, O>,
    ) {
        let sender = &mut flows.senders[id.index()];
        if sender.next_begins().is_some() {
            self.message_at = cx.now + self.config.message_overhead;
        }
        let from_backlog = self.backlog.is_limited() && sender.sends_posted();
        let segment = sender.next_segment(cx.now, flows.packets.mtu, packets);
        // The last train of a message may be shorter.
        let packets = if packets == 1 { 1 } else { segment.payload.div_ceil(flows.packets.mtu) };
        let size = segment.payload + packets * sender.header;
        let mut packet = Packet {
            posted: segment.posted,
            injected: cx.now,
            flow: id,
            destination: sender.destination,
            sequence: sender.packets,
            size,
            tie: tie(common_tie(flows.seed, id, Kind::Data), sender.packets),
            kind: Kind::Data,
            vl: sender.vl,
            train: Train::new(packets, segment.last),
            marked: false,
            held: 0,
            covers: 0,
            marks: 0,
        };
        if sender.extras != 0 {
            let window = flows.pacers[sender.pacer as usize].pace().window;
            dress(&mut packet, sender, window, cx);
        }
        sender.sent(size, packets);
        let pacer = sender.pacer;
        let sent = Sent { now: cx.now, bytes: size, in_flight: sender.in_flight };
        flows.sent(pacer, &sent, self.link.rate.time_of(size), packets - 1);
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
            cx.schedule(self.busy_until, self.node, 0, u64::from(id.0), Signal::Left(id));
        }
        match flows.packets.train {
            1 => self.update_pacer(pacer, cx.now, flows),
            _ => self.update_after_train((pacer, segment.last), packets, cx.now, flows),
        }
        if from_backlog {
            self.backlog.sent(packets);
            if let Some(source) = self.backlog.call() {
                cx.post(cx.now, self.node, source, flows.seed);
            }
        }
    }

    /// Re-evaluates whether a pacer may send after its train of this many packets, which may be the last of a message.
    #[cold]
    fn update_after_train<R: Response>(
        &mut self,
        (pacer, is_last): (u32, bool),
        packets: u32,
        now: Time,
        flows: &mut Flows<R>,
    ) {
        self.ready.sends(pacer, packets);
        self.update_pacer(pacer, now, flows);
        if is_last && flows.pacers[pacer as usize].state() == PacerState::Idle {
            self.ready.forget(pacer);
        }
    }

    /// Whether the next buffer has space. Reports the start and end of a wait.
    #[inline(always)]
    fn has_credit<O: Observer>(&mut self, vl: u8, units: u32, cx: &mut Context<'_, O>) -> bool {
        let has_credit = cx.has_credit(&self.link, vl, units);
        if !has_credit || self.stalled & 1 << vl != 0 {
            self.note_wait(vl, !has_credit, cx);
        }
        has_credit
    }

    /// Records whether the first packet of a lane waits for credit.
    fn note_wait<O: Observer>(&mut self, vl: u8, waits: bool, cx: &mut Context<'_, O>) {
        if (self.stalled & 1 << vl != 0) != waits {
            self.stalled ^= 1 << vl;
            cx.observer.stalled(cx.now, self.port(), vl, waits);
        }
        if waits {
            cx.wait_for_credit(self.port(), &self.link, vl);
        }
    }

    #[inline(always)]
    fn transmit<O: Observer>(&mut self, packet: &Packet, cx: &mut Context<'_, O>) {
        let &Packet { vl, size, .. } = packet;
        if self.link.credited() {
            cx.shared.credit[self.link.credit_index(vl)].take(cx.shared.unit.of_packet(packet));
        }
        self.packets += 1;
        if !packet.train.is_single() {
            self.count_others(packet, cx);
        }
        self.busy_until = cx.launch(self.port(), &self.link, packet, self.link.rate.time_of(size));
        (self.last_began, self.last_size) = (cx.now, size);
        self.bytes += u64::from(size);
    }

    /// Counts the packets of a train but one.
    #[cold]
    fn count_others<O>(&mut self, train: &Packet, cx: &mut Context<'_, O>) {
        let others = u64::from(train.train.packets() - 1);
        self.packets += others;
        cx.shared.together += others;
    }
}

/// Adds to a packet what only some flows need: a trail, a request for an ACK, and an entropy value.
#[inline(never)]
fn dress<O: Observer>(packet: &mut Packet, sender: &mut Sender, window: u32, cx: &mut Context<'_, O>) {
    if sender.extras & RECORDED != 0 {
        cx.shared.trails.begin(packet);
    }
    if sender.extras & REQUESTS != 0 && sender.requests_ack(window) {
        packet.request_ack();
    }
    if sender.extras & SPREAD != 0 {
        let in_flight = sender.in_flight;
        if let Some(entropy) = sender.entropy() {
            packet.set_entropy(entropy.next(packet.sequence, in_flight));
        }
    }
}
