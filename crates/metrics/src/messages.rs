//! Messages, from posting to acknowledgement.

use becalm_engine::Time;
use becalm_fabric::policy::{Delivery, Joint, Observer};
use becalm_fabric::{Kind, NodeId, Packet};

/// A message that was delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageRecord {
    /// Its flow.
    pub flow: u32,
    /// The number of its last packet within the flow.
    last: u32,
    /// Its payload in bytes.
    pub bytes: u64,
    /// Time at which it was posted.
    pub posted: Time,
    /// Time at which its first byte left the source.
    pub first_byte: Time,
    /// Time at which its last byte arrived.
    pub delivered: Time,
    /// Time at which the ACK of its last packet came back; [`Time::MAX`] if none did before the end.
    pub acknowledged: Time,
}

/// All messages that are delivered in the measured window.
#[derive(Clone, Debug)]
pub struct Messages {
    from: Time,
    /// By flow: when the first byte of the message that is arriving left the source; [`Time::MAX`] between messages.
    began: Vec<Time>,
    /// The number of the data packet that arrived last.
    last: u32,
    records: Vec<MessageRecord>,
    /// ACKs of last packets: flow, number of the packet, time.
    acks: Vec<(u32, u32, Time)>,
}

impl Messages {
    /// Records those of so many flows that are delivered from `from` on.
    pub fn new(from: Time, flows: usize) -> Messages {
        Messages { from, began: vec![Time::MAX; flows], last: 0, records: Vec::new(), acks: Vec::new() }
    }

    /// The messages, in the order in which they were delivered.
    pub fn records(&self) -> Vec<MessageRecord> {
        let mut records = self.records.clone();
        let mut acks = self.acks.clone();
        records.sort_unstable_by_key(|record| (record.flow, record.last));
        acks.sort_unstable();
        let mut acks = acks.into_iter().peekable();
        for record in &mut records {
            let key = (record.flow, record.last);
            while acks.next_if(|&(flow, last, _)| (flow, last) < key).is_some() {}
            if let Some((_, _, time)) = acks.next_if(|&(flow, last, _)| (flow, last) == key) {
                record.acknowledged = time;
            }
        }
        records.sort_by_key(|record| record.delivered);
        records
    }
}

impl Joint for Messages {
    fn join(&mut self, other: Self, _: &dyn Fn(NodeId) -> bool) {
        self.records.extend(other.records);
        self.acks.extend(other.acks);
        // A message arrives at one host, which one of the two has seen.
        self.began.iter_mut().zip(other.began).for_each(|(own, its)| *own = (*own).min(its));
    }
}

impl Observer for Messages {
    fn delivered(&mut self, now: Time, packet: &Packet) {
        match packet.kind {
            Kind::Data => {
                self.last = packet.sequence;
                let began = &mut self.began[packet.flow.index()];
                *began = (*began).min(packet.injected);
            }
            // The ACK of a last packet is marked as one, as the packet was.
            Kind::Ack if packet.last && now >= self.from => self.acks.push((packet.flow.0, packet.sequence, now)),
            Kind::Ack | Kind::Cnp => {}
        }
    }

    fn message(&mut self, now: Time, delivery: &Delivery) {
        let first_byte = std::mem::replace(&mut self.began[delivery.flow.index()], Time::MAX);
        if now < self.from {
            return;
        }
        let &Delivery { flow, posted, bytes, .. } = delivery;
        let (flow, last) = (flow.0, self.last);
        let acknowledged = Time::MAX;
        self.records.push(MessageRecord { flow, last, bytes, posted, first_byte, delivered: now, acknowledged });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fingerprint::tests::packet;
    use becalm_fabric::FlowId;

    fn us(n: u64) -> Time {
        Time::from_us(n)
    }

    /// Two packets of a message that is posted at 1 us, with their ACKs.
    fn message(messages: &mut Messages, flow: u32, at: u64) {
        let first = Packet { injected: us(at), last: false, ..packet(flow, 0, us(1)) };
        let last = Packet { injected: us(at + 2), last: true, ..packet(flow, 1, us(1)) };
        messages.delivered(us(at + 3), &first);
        messages.delivered(us(at + 4), &Packet { kind: Kind::Ack, ..first });
        messages.delivered(us(at + 5), &last);
        messages.message(us(at + 5), &Delivery { flow: FlowId(flow), number: 0, posted: us(1), bytes: 4096 });
    }

    #[test]
    fn a_message_has_its_times() {
        let mut messages = Messages::new(us(10), 2);
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
        let (mut target, mut source) = (Messages::new(us(0), 2), Messages::new(us(0), 2));
        message(&mut target, 1, 10);
        message(&mut target, 0, 9);
        source.delivered(us(21), &Packet { kind: Kind::Ack, ..packet(1, 1, us(1)) });
        source.join(target, &|_| true);
        let found: Vec<_> = source.records().iter().map(|record| (record.flow, record.acknowledged)).collect();
        assert_eq!(found, [(0, Time::MAX), (1, us(21))]);
    }
}
