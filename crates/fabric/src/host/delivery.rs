//! Delivery of packets, and the answers of destinations.

use crate::context::Context;
use crate::host::hosts::Hosts;
use crate::ids::PacketId;
use crate::packet::{Kind, Packet, tie};
use crate::policy::{Answer, Echo, Notice, Observer, Response, Unanswered};

impl<R: Response, E: Echo> Hosts<R, E> {
    /// Handles a packet that a host has received.
    pub fn deliver<O: Observer>(&mut self, host: u32, id: PacketId, cx: &mut Context<'_, O>) {
        let packet = cx.shared.arena.remove(id);
        cx.observer.delivered(cx.now, &packet);
        match packet.kind {
            Kind::Data => self.deliver_data(host, &packet, cx),
            Kind::Ack => {
                let sender = &mut self.flows.senders[packet.flow.index()];
                sender.acknowledged(packet.sequence, packet.echo);
                let pacer = sender.pacer;
                self.notify(pacer, Notice::Ack { marked: packet.echo }, cx);
                self.update_eligibility(packet.flow, cx);
            }
            Kind::Cnp => {
                let pacer = self.flows.senders[packet.flow.index()].pacer;
                self.notify(pacer, Notice::Becn, cx);
            }
        }
    }

    /// Counts a data packet, and queues the answer to it.
    fn deliver_data<O: Observer>(&mut self, host: u32, packet: &Packet, cx: &mut Context<'_, O>) {
        let receiver = &mut self.receivers[packet.flow.index()];
        receiver.count(packet);
        let sizes = &self.flows.packets;
        let (kind, size, echo) = match self.echoes[host as usize].answer(packet, receiver.unanswered) {
            Answer::Ack { echo } => (Kind::Ack, sizes.ack, echo),
            Answer::Cnp => (Kind::Cnp, sizes.cnp, true),
            Answer::Silent => return,
        };
        receiver.unanswered = Unanswered::default();
        let answer = Packet {
            destination: self.flows.host_of(packet.flow),
            kind,
            size,
            payload: 0,
            echo,
            marked: false,
            tie: tie(self.flows.seed, packet.flow, kind, packet.sequence),
            ..*packet
        };
        let answer = cx.shared.arena.insert(answer);
        self.adapters[host as usize].answers.push_back(answer);
    }
}
