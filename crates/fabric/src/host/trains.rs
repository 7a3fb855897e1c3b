//! Delivery of trains, and the answers to them.

use becalm_engine::Time;

use crate::context::Context;
use crate::host::hosts::Hosts;
use crate::packet::{Kind, Packet};
use crate::policy::{Echo, Observer, Response};
use crate::train::Train;

impl<R: Response, E: Echo> Hosts<R, E> {
    /// Handles a train that a host has received.
    // Cold, so that single packets are expected.
    #[cold]
    #[inline(never)]
    pub(super) fn deliver_train<O: Observer>(&mut self, host: u32, train: &Packet, cx: &mut Context<'_, O>) {
        if train.kind == Kind::Data {
            return self.deliver_data_train(host, train, cx);
        }
        for answer in answers(train, self.last_sent_after(host, train)) {
            self.deliver_answer(&answer, cx);
        }
    }

    /// Answers each packet of a train as if it had come alone. The answers leave as trains.
    fn deliver_data_train<O: Observer>(&mut self, host: u32, train: &Packet, cx: &mut Context<'_, O>) {
        let full = self.flows.packets.mtu + self.receivers[train.flow.index()].header();
        let (mut acks, mut covers, mut marks, mut acknowledged) = (0, 0, 0, *train);
        let (mut cnps, mut notified) = (0, *train);
        for packet in data(train, full) {
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
            self.queue(host, of_answers(ack, acks), cx);
        }
    }

    /// Time from the start of the first data packet that a train of answers covers to the start of the last.
    fn last_sent_after(&self, host: u32, answers: &Packet) -> Time {
        let full = self.flows.packets.mtu + self.flows.senders[answers.flow.index()].header;
        let before = u32::from(answers.covers).clamp(1, Train::MOST) - 1;
        self.adapters[host as usize].link.rate.time_of(before * full)
    }
}

/// The data packets of a train, each as if it had been sent alone, where full packets have `full` bytes.
fn data(train: &Packet, full: u32) -> impl Iterator<Item = Packet> + use<> {
    let (train, count) = (*train, train.train.packets());
    (0..count).map(move |i| {
        let last = i + 1 == count;
        let size = if last { train.size - i * full } else { full };
        let marked = train.covers >> i & 1 != 0;
        let alone = Train::new(1, last && train.train.is_last());
        Packet { size, sequence: train.sequence + i, train: alone, marked, covers: 0, ..train }
    })
}

/// A train of this many copies of an answer, which contains what all of them report.
pub(super) fn of_answers(answer: Packet, count: u32) -> Packet {
    Packet { size: answer.size * count, train: Train::new(count, answer.train.is_last()), ..answer }
}

/// The ACKs or congestion notification packets of a train. `early` is the time by which the first packet that they answer
/// was sent before the last one.
fn answers(train: &Packet, early: Time) -> impl Iterator<Item = Packet> + use<> {
    let (train, count) = (*train, train.train.packets());
    // The share of each, of which the first ones take what is left over.
    let share = move |all: u16, i: u32| (u32::from(all) / count + u32::from(i < u32::from(all) % count)) as u16;
    let mut covered = 0;
    (0..count).map(move |i| {
        let (covers, marks) = (share(train.covers, i), share(train.marks, i));
        covered += covers;
        Packet {
            size: train.size / count,
            covers,
            marks,
            sequence: train.sequence - u32::from(train.covers - covered),
            injected: train.injected + early,
            train: Train::new(1, i + 1 == count && train.train.is_last()),
            ..train
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_train_falls_into_the_packets_that_it_stands_for() {
        let of = Packet { sequence: 40, marked: true, covers: 0b101, ..Packet::default() };
        let train = Packet { size: 2 * 1010 + 310, train: Train::new(3, true), ..of };
        let parts: Vec<_> = data(&train, 1010).map(|part| (part.sequence, part.size, part.train)).collect();
        let middle = Train::default();
        assert_eq!(parts, [(40, 1010, middle), (41, 1010, middle), (42, 310, Train::LAST)]);
        let marks: Vec<_> = data(&train, 1010).map(|part| (part.marked, part.covers)).collect();
        assert_eq!(marks, [(true, 0), (false, 0), (true, 0)], "each as a switch decided");
    }

    #[test]
    fn answers_share_what_they_cover_and_report() {
        let one = Packet { kind: Kind::Ack, size: 20, covers: 7, marks: 4, sequence: 49, ..Packet::default() };
        let train = of_answers(Packet { train: Train::LAST, ..one }, 3);
        assert_eq!((train.size, train.train.packets()), (60, 3));
        let parts: Vec<_> = answers(&train, Time(5)).collect();
        let shares: Vec<_> = parts.iter().map(|part| (part.covers, part.marks, part.sequence, part.size)).collect();
        assert_eq!(shares, [(3, 2, 45, 20), (2, 1, 47, 20), (2, 1, 49, 20)]);
        assert_eq!(parts.iter().map(|part| part.train.is_last()).collect::<Vec<_>>(), [false, false, true]);
        assert!(parts.iter().all(|part| part.injected == Time(5)));
    }
}
