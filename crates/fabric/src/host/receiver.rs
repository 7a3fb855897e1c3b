//! The receiving end of a flow.

use std::collections::BTreeMap;

use becalm_engine::Time;

use crate::ids::FlowId;
use crate::packet::Packet;
use crate::policy::{Delivery, Unanswered};

/// The receiving end of a flow.
///
/// Packets may arrive out of order. Messages complete in the order in which they were sent, as on a queue
/// pair.
// One cache line. It stores the sender's rank, so that an answer does not need the sending end.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct Receiver {
    /// Sequence number of the first packet that has not arrived.
    next: u32,
    /// Bytes per packet in addition to the payload.
    header: u32,
    pub payload: u64,
    pub marked: u32,
    pub messages: u32,
    /// Payload received so far of the current message.
    message: u32,
    /// The rank of the sending host.
    pub source: u32,
    began: Time,
    /// Packets received since the last ACK, and the marked ones among them.
    unanswered: u32,
    unanswered_marked: u32,
    /// Time of the last CNP; [`Time::MAX`] if none was sent.
    notified: Time,
    /// Present once a packet has arrived out of order, or a message is longer than `message` can count.
    early: Option<Box<Early>>,
}

const _: () = assert!(size_of::<Receiver>() == 64);

/// Packets that arrived before earlier ones, and the rest of a long message.
#[derive(Clone, Debug, Default)]
struct Early {
    /// Payload received so far of the current message, in addition to `message`.
    more: u64,
    /// Packets waiting for an earlier one, by sequence number.
    pieces: BTreeMap<u32, Piece>,
    /// Total number of packets that arrived early.
    disordered: u32,
    /// Whether a packet that arrives before an earlier one means that the earlier one is lost.
    is_lossy: bool,
    /// Packets that arrived after a lost one.
    after_loss: u32,
}

/// Contribution of a packet to its message.
#[derive(Clone, Copy, Debug)]
struct Piece {
    payload: u32,
    last: bool,
    posted: Time,
    injected: Time,
}

impl Receiver {
    /// The receiving end of a flow from the host of rank `source`, with `header` bytes per packet in addition
    /// to the payload.
    pub fn new(header: u32, source: u32) -> Receiver {
        Receiver {
            next: 0,
            header,
            payload: 0,
            marked: 0,
            messages: 0,
            message: 0,
            source,
            began: Time::ZERO,
            unanswered: 0,
            unanswered_marked: 0,
            notified: Time::MAX,
            early: None,
        }
    }

    /// The same end where packets may be lost, but arrive in order. No host sends a packet again: after a loss, packets are
    /// counted, but no message is complete.
    pub fn lossy(mut self) -> Receiver {
        self.early.get_or_insert_default().is_lossy = true;
        self
    }

    /// Bytes per packet in addition to the payload.
    pub fn header(&self) -> u32 {
        self.header
    }

    /// Packets that have arrived.
    pub fn packets(&self) -> u32 {
        self.next + self.early.as_ref().map_or(0, |early| early.pieces.len() as u32 + early.after_loss)
    }

    /// Bytes of the packets that have arrived.
    pub fn bytes(&self) -> u64 {
        self.payload + u64::from(self.header) * u64::from(self.packets())
    }

    /// Packets that arrived before an earlier one.
    pub fn disordered(&self) -> u32 {
        self.early.as_ref().map_or(0, |early| early.disordered)
    }

    /// Counts since the last answers.
    #[inline(always)]
    pub fn unanswered(&self) -> Unanswered {
        let notified = (self.notified != Time::MAX).then_some(self.notified);
        Unanswered { packets: self.unanswered, marked: self.unanswered_marked, notified, source: self.source }
    }

    /// Records that an ACK is sent.
    #[inline(always)]
    pub fn acknowledge(&mut self) {
        (self.unanswered, self.unanswered_marked) = (0, 0);
    }

    /// Records that a CNP is sent.
    #[inline(always)]
    pub fn notify(&mut self, now: Time) {
        self.notified = now;
    }

    /// Counts a data packet that has arrived. Returns whether a message may be complete.
    #[inline]
    pub fn count(&mut self, packet: &Packet) -> bool {
        let payload = packet.size - self.header;
        self.payload += u64::from(payload);
        self.marked += u32::from(packet.marked);
        self.unanswered += 1;
        self.unanswered_marked += u32::from(packet.marked);
        if packet.sequence != self.next {
            self.keep(packet, payload);
            return false;
        }
        self.add(packet.injected, payload);
        packet.train.is_last() || self.early.is_some()
    }

    /// Keeps a packet that arrived before an earlier one.
    #[cold]
    fn keep(&mut self, packet: &Packet, payload: u32) {
        let &Packet { train, posted, injected, .. } = packet;
        let piece = Piece { payload, last: train.is_last(), posted, injected };
        let early = self.early.get_or_insert_default();
        if early.is_lossy {
            early.after_loss += 1;
            return;
        }
        early.disordered += 1;
        early.pieces.insert(packet.sequence, piece);
    }

    /// Adds the next packet in order to the current message.
    #[inline]
    fn add(&mut self, injected: Time, payload: u32) {
        self.next += 1;
        if self.message == 0 && self.more() == 0 {
            self.began = injected;
        }
        match self.message.checked_add(payload) {
            Some(sum) => self.message = sum,
            None => self.carry(payload),
        }
    }

    /// Adds a payload that `message` cannot count.
    #[cold]
    fn carry(&mut self, payload: u32) {
        self.early.get_or_insert_default().more += u64::from(self.message) + u64::from(payload);
        self.message = 0;
    }

    /// Payload received so far of the current message, in addition to `message`.
    fn more(&self) -> u64 {
        self.early.as_ref().map_or(0, |early| early.more)
    }

    /// Completes the current message, whose last packet has been added and was posted at `posted`.
    pub fn complete(&mut self, flow: FlowId, posted: Time) -> Delivery {
        let more = self.early.as_mut().map_or(0, |early| std::mem::take(&mut early.more));
        let bytes = more + u64::from(std::mem::take(&mut self.message));
        self.messages += 1;
        let (number, last, began) = (u64::from(self.messages - 1), self.next - 1, self.began);
        Delivery { flow, number, last, posted, began, bytes }
    }

    /// Adds early packets that are now in order, and returns the next message that they complete.
    pub fn complete_early(&mut self, flow: FlowId) -> Option<Delivery> {
        loop {
            let piece = self.early.as_mut()?.pieces.remove(&self.next)?;
            self.add(piece.injected, piece.payload);
            if piece.last {
                return Some(self.complete(flow, piece.posted));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Kind;
    use crate::train::Train;

    /// A packet injected at as many microseconds as its sequence number. The third and fourth packets end
    /// messages.
    fn packet(sequence: u32) -> Packet {
        Packet {
            posted: Time::from_us(u64::from(sequence) / 3),
            injected: Time::from_us(u64::from(sequence)),
            flow: FlowId(7),
            destination: 0,
            sequence,
            size: 120,
            held: 0,
            tie: 0,
            kind: Kind::Data,
            vl: 0,
            train: Train::new(1, sequence == 2 || sequence == 3),
            marked: false,
            covers: 0,
            marks: 0,
        }
    }

    fn arrive(receiver: &mut Receiver, sequence: u32) -> Vec<Delivery> {
        let packet = packet(sequence);
        if !receiver.count(&packet) {
            return Vec::new();
        }
        let mut found: Vec<_> =
            packet.train.is_last().then(|| receiver.complete(FlowId(7), packet.posted)).into_iter().collect();
        found.extend(std::iter::from_fn(|| receiver.complete_early(FlowId(7))));
        found
    }

    #[test]
    fn packets_in_order_complete_their_message_with_the_last() {
        let mut receiver = Receiver::new(20, 5);
        assert_eq!([0, 1].map(|i| arrive(&mut receiver, i).len()), [0, 0]);
        let done = arrive(&mut receiver, 2);
        assert_eq!((done[0].number, done[0].last, done[0].bytes, done[0].began), (0, 2, 300, Time::ZERO));
        assert_eq!((receiver.disordered(), receiver.packets()), (0, 3));
    }

    #[test]
    fn after_a_loss_packets_count_but_complete_no_message() {
        let mut receiver = Receiver::new(20, 5).lossy();
        assert!(arrive(&mut receiver, 0).is_empty());
        assert_eq!([2, 3].map(|i| arrive(&mut receiver, i).len()), [0, 0]);
        assert_eq!((receiver.packets(), receiver.payload, receiver.disordered(), receiver.messages), (3, 300, 0, 0));
    }

    #[test]
    fn a_message_may_be_longer_than_32_bits() {
        let mut receiver = Receiver::new(20, 5);
        let part = |sequence| Packet { size: (1 << 31) + 20, train: Train::new(1, sequence == 4), ..packet(sequence) };
        let ends: Vec<bool> = (0..5).map(|i| receiver.count(&part(i)) && part(i).train.is_last()).collect();
        assert_eq!(ends, [false, false, false, false, true]);
        let done = receiver.complete(FlowId(7), Time::ZERO);
        assert_eq!((done.bytes, done.began), (5 << 31, Time::ZERO));
        arrive(&mut receiver, 5);
        assert_eq!(receiver.complete(FlowId(7), Time::ZERO).bytes, 100, "the next message starts from 0");
    }

    #[test]
    fn messages_are_complete_when_their_bytes_are_in_and_in_order() {
        let mut receiver = Receiver::new(20, 5);
        assert!([3, 1, 2].iter().all(|&i| arrive(&mut receiver, i).is_empty()));
        let done: Vec<_> = arrive(&mut receiver, 0).iter().map(|m| (m.number, m.last, m.bytes, m.began)).collect();
        assert_eq!(done, [(0, 2, 300, Time::ZERO), (1, 3, 100, Time::from_us(3))]);
        assert_eq!((receiver.disordered(), receiver.packets(), receiver.messages), (3, 4, 2));
    }
}
