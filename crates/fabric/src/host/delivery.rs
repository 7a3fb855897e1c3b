//! Delivery of packets, and the answers from destinations.

use becalm_engine::Time;

use crate::context::Context;
use crate::event::Signal;
use crate::host::hosts::Hosts;
use crate::host::sender::{REQUESTS, SPREAD, Sender};
use crate::host::trains::of_answers;
use crate::packet::{Kind, Packet, common_tie, tie};
use crate::policy::{Ack, Answer, Echo, Hop, Notice, Observer, Response, Unanswered};

impl<R: Response, E: Echo> Hosts<R, E> {
    /// Handles a packet that a host has received.
    #[inline(always)]
    pub fn deliver<O: Observer>(&mut self, host: u32, packet: &Packet, cx: &mut Context<'_, O>) {
        cx.shared.packets -= 1;
        if !packet.train.is_single() {
            return self.deliver_train(host, packet, cx);
        }
        cx.observer.delivered(cx.now, packet);
        match packet.kind {
            Kind::Data => self.deliver_data(host, packet, cx),
            Kind::Ack => self.deliver_ack(packet, cx),
            Kind::Cnp => self.deliver_cnp(packet, cx),
        }
    }

    /// Handles an ACK or a CNP of a train.
    pub(super) fn deliver_answer<O: Observer>(&mut self, packet: &Packet, cx: &mut Context<'_, O>) {
        cx.observer.delivered(cx.now, packet);
        match packet.kind {
            Kind::Cnp => self.deliver_cnp(packet, cx),
            _ => self.acknowledge(packet, Time::from_ns(u64::from(packet.held)), &[], cx),
        }
    }

    #[inline(always)]
    fn deliver_cnp<O: Observer>(&mut self, packet: &Packet, cx: &mut Context<'_, O>) {
        let sender = &self.flows.senders[packet.flow.index()];
        if sender.knows(packet.sequence) {
            self.notify(sender.pacer, &Notice::Becn, cx);
        }
    }

    /// Handles a packet that a host has drained.
    #[inline(never)]
    pub fn deliver_drained<O: Observer>(&mut self, host: u32, packet: &Packet, cx: &mut Context<'_, O>) {
        self.deliver(host, packet, cx);
    }

    /// Counts a data packet, and queues the answers to it.
    #[inline(always)]
    fn deliver_data<O: Observer>(&mut self, host: u32, packet: &Packet, cx: &mut Context<'_, O>) {
        let (answer, unanswered) = self.count_data(host, packet, cx);
        if answer.cnp {
            self.queue_cnp(host, packet, 1, cx);
        }
        if let Some(marked) = answer.ack {
            self.queue_answer(host, packet, (Kind::Ack, unanswered.packets, marked), cx);
        } else {
            cx.shared.trails.end(packet);
        }
    }

    /// Counts a data packet, and reports the messages that it completes. Returns the answer, and what it covers.
    #[inline(always)]
    pub(super) fn count_data<O: Observer>(
        &mut self,
        host: u32,
        packet: &Packet,
        cx: &mut Context<'_, O>,
    ) -> (Answer, Unanswered) {
        let receiver = &mut self.receivers[packet.flow.index()];
        let may_complete = receiver.count(packet);
        let unanswered = receiver.unanswered();
        let answer = self.echoes[host as usize].answer(cx.now, packet, &unanswered);
        if answer.cnp {
            receiver.notify(cx.now);
        }
        if answer.ack.is_some() {
            receiver.acknowledge();
        }
        if may_complete {
            self.complete_messages(packet, cx);
        }
        (answer, unanswered)
    }

    /// Reports the messages that a packet completes: its own, and later ones whose packets arrived early.
    #[cold]
    fn complete_messages<O: Observer>(&mut self, packet: &Packet, cx: &mut Context<'_, O>) {
        let receiver = &mut self.receivers[packet.flow.index()];
        let mut next = match packet.train.is_last() {
            true => Some(receiver.complete(packet.flow, packet.posted)),
            false => receiver.complete_early(packet.flow),
        };
        while let Some(delivery) = next {
            cx.observer.message(cx.now, &delivery);
            if packet.flow.0 >= self.flows.first_of_jobs {
                self.job_message(packet.flow, cx);
            }
            next = self.receivers[packet.flow.index()].complete_early(packet.flow);
        }
    }

    /// Queues a congestion notification packet, or a train of them, or schedules the time at which it is ready.
    #[inline(never)]
    pub(super) fn queue_cnp<O: Observer>(&mut self, host: u32, packet: &Packet, cnps: u32, cx: &mut Context<'_, O>) {
        let delay = self.echoes[host as usize].cnp_delay();
        let cnp = of_answers(self.answer(packet, (Kind::Cnp, 0, cnps), cx), cnps);
        if delay == Time::ZERO {
            return self.queue(host, cnp, cx);
        }
        let posted = cx.now.saturating_add(delay);
        let cnp = Packet { posted, ..cnp };
        cx.shared.packets += 1;
        let adapter = &mut self.adapters[host as usize];
        adapter.cnps.push_back(cnp);
        cx.schedule(posted, adapter.node, 0, u64::from(cnp.tie), Signal::Notify(cnp.tie));
    }

    /// Queues the congestion notification packet with this hash, which is now ready to be sent.
    #[inline(never)]
    pub fn on_cnp_ready(&mut self, host: u32, tie: u32) {
        let adapter = &mut self.adapters[host as usize];
        let at = adapter.cnps.iter().position(|cnp| cnp.tie == tie).expect("each is ready once");
        let cnp = adapter.cnps.remove(at).expect("found");
        adapter.queue_rare(cnp);
    }

    /// Queues an answer to a data packet.
    #[inline(always)]
    fn queue_answer<O: Observer>(
        &mut self,
        host: u32,
        packet: &Packet,
        contents: (Kind, u32, u32),
        cx: &mut Context<'_, O>,
    ) {
        let answer = self.answer(packet, contents, cx);
        cx.shared.packets += i64::from(self.adapters[host as usize].queue_answer(answer));
    }

    /// Queues an answer that few packets receive.
    pub(super) fn queue<O: Observer>(&mut self, host: u32, answer: Packet, cx: &mut Context<'_, O>) {
        cx.shared.packets += i64::from(self.adapters[host as usize].queue_rare(answer));
    }

    /// An answer to a data packet, with its kind, the number of packets acknowledged and the number of marks
    /// reported.
    #[inline(always)]
    pub(super) fn answer<O>(
        &self,
        packet: &Packet,
        (kind, covers, marks): (Kind, u32, u32),
        cx: &Context<'_, O>,
    ) -> Packet {
        let sizes = &self.flows.packets;
        let lane = if kind == Kind::Ack { None } else { sizes.cnp_vl };
        let own_vl = || self.flows.answers_vls.get(packet.flow.index()).map_or(packet.vl, |&vl| vl);
        Packet {
            posted: cx.now,
            destination: self.receivers[packet.flow.index()].source,
            kind,
            vl: lane.or(sizes.answers_vl).unwrap_or_else(own_vl),
            size: if kind == Kind::Ack { sizes.ack } else { sizes.cnp },
            covers: covers.min(u32::from(u16::MAX)) as u16,
            marks: marks.min(u32::from(u16::MAX)) as u16,
            marked: false,
            // The ACK inherits the trail.
            held: if kind == Kind::Ack { packet.held } else { 0 },
            tie: tie(common_tie(self.flows.seed, packet.flow, kind), packet.sequence),
            ..*packet
        }
    }

    /// Handles an ACK. ACKs with a trail are handled separately, to keep the common path fast.
    #[inline(always)]
    fn deliver_ack<O: Observer>(&mut self, packet: &Packet, cx: &mut Context<'_, O>) {
        match packet.trail() {
            None => self.acknowledge(packet, Time::from_ns(u64::from(packet.held)), &[], cx),
            Some(_) => self.deliver_trail(packet, cx),
        }
    }

    #[inline(never)]
    fn deliver_trail<O: Observer>(&mut self, packet: &Packet, cx: &mut Context<'_, O>) {
        let Some(trail) = cx.shared.trails.end(packet) else { return };
        self.acknowledge(packet, trail.held(), trail.hops(), cx);
        cx.shared.trails.reuse(trail);
    }

    /// Opens the acknowledged flow's window. Notifies its response of the ACK, with the time for which the
    /// receiver held the packet and the switches' records.
    #[inline(always)]
    fn acknowledge<O: Observer>(&mut self, packet: &Packet, held: Time, trail: &[Hop], cx: &mut Context<'_, O>) {
        let sender = &mut self.flows.senders[packet.flow.index()];
        let covers = match self.flows.common.is_lossy {
            false => u32::from(packet.covers),
            true => sender.unacknowledged_to(packet.sequence),
        };
        sender.acknowledged(packet.sequence, covers, packet.becn());
        if sender.extras & (SPREAD | REQUESTS) != 0 {
            learn(sender, packet);
        }
        if sender.knows(packet.sequence) {
            let pacer = sender.pacer;
            let ack = Ack {
                marked: u32::from(packet.marks),
                covers: u32::from(packet.covers),
                sequence: packet.sequence - sender.known_from,
                next: sender.packets - sender.known_from,
                in_flight: sender.in_flight,
                rtt: cx.now.since(packet.injected),
                held,
                trail,
            };
            if let Some(rtt) = self.rtts.get_mut(packet.flow.index()) {
                *rtt = ack.rtt;
            }
            self.notify(pacer, &Notice::Ack(ack), cx);
            if self.flows.is_alone(pacer) {
                return;
            }
        }
        self.update_eligibility(packet.flow, cx);
    }
}

/// Informs a flow's requests and entropy values of an ACK.
#[inline(never)]
fn learn(sender: &mut Sender, packet: &Packet) {
    let next = sender.packets;
    if sender.extras & REQUESTS != 0 {
        sender.request_acknowledged(packet.sequence);
    }
    if let Some(entropy) = sender.entropy() {
        entropy.acked(packet.sequence, next, packet.becn());
    }
}
