//! Delivery of trains, and the answers to them.

use becalm_engine::Time;

use crate::context::Context;
use crate::host::hosts::Hosts;
use crate::packet::{Kind, Packet};
use crate::policy::{Echo, Observer, Response};
use crate::train::{self, Train};

impl<R: Response, E: Echo> Hosts<R, E> {
    /// Handles a train that a host has received.
    #[inline(never)]
    pub(super) fn deliver_train<O: Observer>(&mut self, host: u32, train: &Packet, cx: &mut Context<'_, O>) {
        if train.kind == Kind::Data {
            return self.deliver_data_train(host, train, cx);
        }
        for answer in train::answers(train, self.last_sent_after(host, train)) {
            self.deliver_answer(&answer, cx);
        }
    }

    /// Answers each packet of a train as if it had come alone. The answers leave as trains.
    fn deliver_data_train<O: Observer>(&mut self, host: u32, train: &Packet, cx: &mut Context<'_, O>) {
        let full = self.flows.packets.mtu + self.receivers[train.flow.index()].header();
        let (mut acks, mut covers, mut marks, mut acknowledged) = (0, 0, 0, *train);
        let (mut cnps, mut notified) = (0, *train);
        for packet in train::data(train, full) {
            cx.observer.delivered(cx.now, &packet);
            let (answer, unanswered) = self.count_data(host, &packet, cx);
            if answer.cnp {
                (cnps, notified) = (cnps + 1, packet);
            }
            if let Some(marked) = answer.ack {
                (acks, covers, marks) = (acks + 1, covers + unanswered.packets, marks + marked);
                acknowledged = packet;
            }
        }
        if cnps > 0 {
            self.queue_cnp(host, &notified, cnps, cx);
        }
        if acks > 0 {
            let ack = self.answer(&acknowledged, (Kind::Ack, covers, marks), cx);
            self.queue(host, train::of_answers(ack, acks), cx);
        }
    }

    /// Time from the start of the first data packet that a train of answers covers to the start of the last.
    fn last_sent_after(&self, host: u32, answers: &Packet) -> Time {
        let full = self.flows.packets.mtu + self.flows.senders[answers.flow.index()].header;
        let before = u32::from(answers.covers).clamp(1, Train::MOST) - 1;
        self.adapters[host as usize].link.rate.time_of(before * full)
    }
}
