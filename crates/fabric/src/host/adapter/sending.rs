//! The choice of the answer or data packet that an adapter sends next.

use becalm_engine::Time;

use super::Adapter;
use crate::config::Answers;
use crate::context::Context;
use crate::event::Signal;
use crate::host::flows::Flows;
use crate::host::pacer::PacerState;
use crate::host::sender::Sender;
use crate::ids::FlowId;
use crate::packet::{Kind, Packet, common_tie, tie};
use crate::policy::{Observer, Response, Sent};

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
        let (mut dry, mut sent) = (held, None);
        while let Some((id, order)) = self.ready.first() {
            let Some(flow) = self.recheck(id, cx.now, flows) else { continue };
            let sender = &flows.senders[flow.index()];
            let prepared = self.prepared(sender);
            if prepared > cx.now {
                self.prepared_at = self.prepared_at.min(prepared);
            } else if held & 1 << sender.vl == 0 && self.has_credit(sender.vl, flows.packets.largest(), cx) {
                sent = Some(sender.vl);
                self.ready.pop();
                self.send_data(flow, flows, cx);
                break;
            } else {
                dry |= 1 << sender.vl;
                self.blocked = self.vls == 1 && self.passed_over.is_empty();
                if self.data_vls & !dry == 0 {
                    break;
                }
            }
            self.ready.pop();
            self.passed_over.push((id, order));
        }
        while let Some((id, order)) = self.passed_over.pop() {
            self.ready.push_front(id, order);
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
        let Some(&Packet { vl, size, .. }) = self.answers.front() else { return Some(0) };
        let mut dry = 0;
        if reserved & 1 << vl == 0 {
            if self.has_credit(vl, size, cx) {
                let answer = self.answers.pop_front();
                self.transmit_answer(answer.expect("there is one"), cx);
                return None;
            }
            dry = 1 << vl;
        }
        if self.vls > 1 { self.send_later_answer(reserved, dry, cx) } else { Some(dry) }
    }

    /// Sends the first answer after the head of the queue whose lane is neither reserved nor without credit.
    #[inline(never)]
    fn send_later_answer<O: Observer>(&mut self, reserved: u16, mut dry: u16, cx: &mut Context<'_, O>) -> Option<u16> {
        for i in 1..self.answers.len() {
            if reserved | dry == self.all_vls() {
                break;
            }
            let &Packet { vl, size, .. } = &self.answers[i];
            if (reserved | dry) & 1 << vl != 0 {
                continue;
            }
            if self.has_credit(vl, size, cx) {
                let answer = self.answers.remove(i);
                self.transmit_answer(answer.expect("there is one"), cx);
                return None;
            }
            dry |= 1 << vl;
        }
        Some(dry)
    }

    #[inline(always)]
    fn transmit_answer<O: Observer>(&mut self, mut answer: Packet, cx: &mut Context<'_, O>) {
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
    fn recheck<R: Response>(&mut self, id: u32, now: Time, flows: &mut Flows<R>) -> Option<FlowId> {
        if flows.pacers[id as usize].due() <= now
            && let Some(flow) = flows.next_flow(id)
        {
            return Some(flow);
        }
        self.ready.pop();
        flows.pacers[id as usize].set_state(PacerState::Idle);
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
            tie: tie(common_tie(flows.seed, id, Kind::Data), sender.packets),
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
        flows.sent(pacer, &sent, self.link.rate.time_of(size));
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
        self.update_pacer(pacer, cx.now, flows);
        if from_backlog {
            self.backlog.sent();
            if let Some(source) = self.backlog.call() {
                cx.post(cx.now, self.node, source, flows.seed);
            }
        }
    }

    /// Whether the next buffer has space. Reports the start and end of a wait.
    #[inline(always)]
    fn has_credit<O: Observer>(&mut self, vl: u8, size: u32, cx: &mut Context<'_, O>) -> bool {
        let has_credit = cx.has_credit(&self.link, vl, cx.shared.config.buffer.need(size));
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
            cx.shared.credit[self.link.credit_index(vl)].take(cx.shared.config.buffer.need(size));
        }
        self.packets += 1;
        self.busy_until = cx.launch(self.port(), &self.link, packet, self.link.rate.time_of(size));
        (self.last_began, self.last_size) = (cx.now, size);
        self.bytes += u64::from(size);
    }
}
