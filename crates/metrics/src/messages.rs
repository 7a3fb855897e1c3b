//! Messages, from posting to acknowledgement.

use becalm_engine::{Time, order};
use becalm_fabric::policy::{Delivery, Joint, Observer};
use becalm_fabric::{Kind, NodeId, Packet};

/// A delivered message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageRecord {
    /// Flow of the message.
    pub flow: u32,
    /// Number of the message's last packet within the flow.
    last: u32,
    /// Payload in bytes.
    pub bytes: u64,
    /// Time at which the message was posted.
    pub posted: Time,
    /// Time at which the first byte left the source.
    pub first_byte: Time,
    /// Time at which the last byte arrived.
    pub delivered: Time,
    /// Time at which the ACK of the last packet returned; [`Time::MAX`] if it did not return before the end.
    pub acknowledged: Time,
}

/// All messages delivered in the measured window.
#[derive(Clone, Debug)]
pub struct Messages {
    from: Time,
    records: Vec<MessageRecord>,
    /// ACKs of last packets: flow, packet number, time.
    acks: Vec<(u32, u32, Time)>,
}

impl Messages {
    /// Records messages that are delivered at `from` or later.
    pub fn new(from: Time) -> Messages {
        Messages { from, records: Vec::new(), acks: Vec::new() }
    }

    /// The messages in order of delivery.
    pub fn records(&self) -> Vec<MessageRecord> {
        let mut records = self.records.clone();
        let mut acks = self.acks.clone();
        order::sort_by_key(&mut records, |record| (record.flow, record.last));
        order::sort_by(&mut acks, Ord::cmp);
        let mut rest = &acks[..];
        for record in &mut records {
            let key = (record.flow, record.last);
            rest = &rest[rest.partition_point(|&(flow, last, _)| (flow, last) < key)..];
            // A merged ACK has the number of the last packet that it covers, which may belong to a later message.
            let mut covering = rest.iter().take_while(|&&(flow, ..)| flow == record.flow);
            if let Some(&(_, _, time)) = covering.find(|&&(_, _, time)| time >= record.delivered) {
                record.acknowledged = time;
            }
        }
        order::sort_by_key(&mut records, |record| record.delivered);
        records
    }
}

impl Joint for Messages {
    fn join(&mut self, other: Self, _: &dyn Fn(NodeId) -> bool) {
        self.records.extend(other.records);
        self.acks.extend(other.acks);
    }
}

impl Observer for Messages {
    fn delivered(&mut self, now: Time, packet: &Packet) {
        // The ACK of a last packet is flagged as last, like the packet itself.
        if packet.kind == Kind::Ack && packet.train.is_last() && now > self.from {
            self.acks.push((packet.flow.0, packet.sequence, now));
        }
    }

    fn message(&mut self, now: Time, delivery: &Delivery) {
        if now <= self.from {
            return;
        }
        let &Delivery { flow, last, posted, began: first_byte, bytes, .. } = delivery;
        let (flow, acknowledged) = (flow.0, Time::MAX);
        self.records.push(MessageRecord { flow, last, bytes, posted, first_byte, delivered: now, acknowledged });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fingerprint::tests::packet;
    use becalm_fabric::{FlowId, Train};

    fn us(n: u64) -> Time {
        Time::from_us(n)
    }

    /// A message of two packets posted at 1 us, with the ACK of the first.
    fn message(messages: &mut Messages, flow: u32, at: u64) {
        let first = Packet { train: Train::default(), ..packet(flow, 0, us(1)) };
        messages.delivered(us(at + 4), &Packet { kind: Kind::Ack, ..first });
        let flow = FlowId(flow);
        let delivery = Delivery { flow, number: 0, last: 1, posted: us(1), began: us(at), bytes: 4096 };
        messages.message(us(at + 5), &delivery);
    }

    #[test]
    fn a_message_has_its_times() {
        let mut messages = Messages::new(us(10));
        message(&mut messages, 0, 4);
        message(&mut messages, 1, 10);
        messages.delivered(us(20), &Packet { kind: Kind::Ack, ..packet(1, 1, us(1)) });
        let records = messages.records();
        assert_eq!(records.len(), 1, "the first was delivered before the measured window");
        let MessageRecord { flow, bytes, posted, first_byte, delivered, acknowledged, .. } = records[0];
        assert_eq!((flow, bytes), (1, 4096));
        assert_eq!([posted, first_byte, delivered, acknowledged], [us(1), us(10), us(15), us(20)]);
    }

    #[test]
    fn joined_observers_know_what_each_has_seen() {
        let (mut target, mut source) = (Messages::new(us(0)), Messages::new(us(0)));
        message(&mut target, 1, 10);
        message(&mut target, 0, 9);
        source.delivered(us(21), &Packet { kind: Kind::Ack, ..packet(1, 1, us(1)) });
        source.join(target, &|_| true);
        let found: Vec<_> = source.records().iter().map(|record| (record.flow, record.acknowledged)).collect();
        assert_eq!(found, [(0, Time::MAX), (1, us(21))]);
    }

    #[test]
    fn an_ack_of_a_later_message_acknowledges_those_before() {
        let mut messages = Messages::new(us(0));
        message(&mut messages, 0, 10);
        messages.delivered(us(30), &Packet { kind: Kind::Ack, ..packet(0, 5, us(1)) });
        assert_eq!(messages.records()[0].acknowledged, us(30));
    }
}
