//! The sending end of a flow: messages that wait, and how they are cut into packets.

use std::collections::VecDeque;

use becalm_engine::{Stream, Time};

use crate::config::PacketConfig;
use crate::distribution::Distribution;

/// A request to send: messages of the same size, posted together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SendRequest {
    pub at: Time,
    /// Number in the order of posting at the host.
    pub order: u64,
    pub bytes: u32,
    pub count: u32,
}

/// A message that has been sent in part.
#[derive(Clone, Copy, Debug)]
struct PartialMessage {
    posted: Time,
    /// Bytes that are left to send.
    rest: u32,
    /// Whether it belongs to a greedy flow, which always has a message.
    greedy: bool,
}

/// A segment of a message: the payload of one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub posted: Time,
    pub payload: u32,
    pub last: bool,
}

/// The sending end of a flow.
#[derive(Debug, Default)]
pub(crate) struct Sender {
    pub pacer: u32,
    pub destination: u32,
    pub vl: u8,
    /// Bytes of a packet besides its payload.
    pub header: u32,
    /// By kind: the common part of its packets' hashes.
    pub ties: [u64; 3],
    /// Whether switches record the way of its packets.
    pub is_recorded: bool,
    /// For a greedy flow, which always has a message: the mean size in bytes.
    pub greedy: Option<u32>,
    /// Time at which it became greedy.
    pub greedy_since: Time,
    /// Time in which it was greedy before that.
    pub greedy_time: Time,
    /// Bytes on the wire of the messages that were posted, those that were dropped included.
    pub posted_bytes: u64,
    /// Messages that were posted.
    pub posted_messages: u64,
    /// Messages that were dropped because the send queue was full.
    pub dropped: u64,
    /// Whether every message is a flow of its own for the response.
    pub restart: bool,
    /// The first packet of the flow that the response knows: that of the message, where each is a flow of its own.
    pub first: u32,
    /// Whether it is on the list of a pacer with several flows.
    pub listed: bool,
    pub in_flight: u32,
    pub packets: u32,
    pub bytes: u64,
    pub acks: u64,
    pub acks_marked: u64,
    /// Distribution of the sizes of a greedy flow's messages, if they vary.
    sizes: Option<Box<(Distribution, Stream)>>,
    posted: VecDeque<SendRequest>,
    partial: Option<PartialMessage>,
}

/// Bytes on the wire of so many messages of this size.
fn wire_bytes(bytes: u32, count: u32, packets: &PacketConfig, header: u32) -> u64 {
    u64::from(count) * (u64::from(bytes) + u64::from(packets.packets_of(bytes)) * u64::from(header))
}

impl Sender {
    pub fn new(pacer: u32, destination: u32, vl: u8) -> Sender {
        Sender { pacer, destination, vl, ..Sender::default() }
    }

    /// Posts messages, to be cut into packets of these sizes.
    pub fn post(&mut self, posted: SendRequest, packets: &PacketConfig) {
        self.posted_bytes += wire_bytes(posted.bytes, posted.count, packets, self.header);
        self.posted_messages += u64::from(posted.count);
        self.posted.push_back(posted);
    }

    /// Makes the flow greedy with messages of this mean size, or no longer greedy.
    pub fn set_greedy(&mut self, greedy: Option<u32>, now: Time) {
        if self.greedy.is_some() {
            self.greedy_time += now.since(self.greedy_since);
        }
        (self.greedy, self.greedy_since) = (greedy, now);
    }

    /// Sets the distribution of the sizes of a greedy flow's messages.
    pub fn vary(&mut self, sizes: &Distribution, random: &Stream) {
        if *sizes != Distribution::Fixed {
            self.sizes = Some(Box::new((sizes.clone(), random.clone())));
        }
    }

    /// Size of the next message of a greedy flow.
    fn greedy_size(&mut self, mtu: u32) -> u32 {
        let mean = self.greedy.unwrap_or(mtu);
        self.sizes.as_mut().map_or(mean, |sizes| sizes.0.size(mean, &mut sizes.1))
    }

    /// Number of the first message in the order of posting at the host, if there is one.
    pub fn first_order(&self) -> Option<u64> {
        self.posted.front().map(|first| first.order)
    }

    /// Whether there is a packet to send and the window is open.
    pub fn may_send(&self, window: u32) -> bool {
        self.has_packet() && self.in_flight < window
    }

    /// Whether there is a packet to send.
    pub fn has_packet(&self) -> bool {
        self.greedy.is_some() || !self.posted.is_empty()
    }

    /// Whether the message that comes next is a new flow and waits for the one before.
    pub fn restarts(&self) -> bool {
        self.restart && self.has_packet()
    }

    /// Begins a new flow with the next packet: packets of the one before no longer count as under way.
    pub fn begin_flow(&mut self) {
        (self.first, self.in_flight) = (self.packets, 0);
    }

    /// Whether the response knows the flow of this packet.
    pub fn knows(&self, sequence: u32) -> bool {
        sequence >= self.first
    }

    /// Time at which the message was posted that the next packet begins, if it begins one; zero for a greedy flow.
    pub fn next_begins(&self) -> Option<Time> {
        self.partial.is_none().then(|| self.posted.front().map_or(Time::ZERO, |first| first.at))
    }

    /// Takes the next segment of the message that is being sent, or else of the first one; posted messages go before
    /// greedy ones, which count as posted when they are begun.
    #[inline]
    pub fn next_segment(&mut self, now: Time, mtu: u32) -> Segment {
        let first =
            self.posted.front().map(|first| PartialMessage { posted: first.at, rest: first.bytes, greedy: false });
        let next = self.partial.or(first).unwrap_or_else(|| PartialMessage {
            posted: now,
            rest: self.greedy_size(mtu),
            greedy: true,
        });
        let segment = Segment { posted: next.posted, payload: next.rest.min(mtu), last: next.rest <= mtu };
        self.partial = (!segment.last).then(|| PartialMessage { rest: next.rest - mtu, ..next });
        if segment.last && !next.greedy {
            self.message_done();
        }
        segment
    }

    fn message_done(&mut self) {
        let Some(first) = self.posted.front_mut() else { return };
        first.count -= 1;
        if first.count == 0 {
            self.posted.pop_front();
        }
    }

    /// Whether the next packet is one of a posted message.
    pub fn sends_posted(&self) -> bool {
        self.partial.map_or(!self.posted.is_empty(), |partial| !partial.greedy)
    }

    /// Counts messages that found no room in the send queue.
    pub fn drop_messages(&mut self, bytes: u32, count: u32, packets: &PacketConfig) {
        self.dropped += u64::from(count);
        self.posted_bytes += wire_bytes(bytes, count, packets, self.header);
    }

    /// Counts a packet that goes out.
    pub fn sent(&mut self, size: u32) {
        self.in_flight += 1;
        self.packets += 1;
        self.bytes += u64::from(size);
    }

    /// Counts an acknowledgement that covers so many packets, this one included; others of them may belong to the flow
    /// before.
    pub fn acknowledged(&mut self, sequence: u32, covers: u32, marked: bool) {
        if self.knows(sequence) {
            self.in_flight = self.in_flight.saturating_sub(covers.min(sequence + 1 - self.first));
        }
        self.acks += 1;
        if marked {
            self.acks_marked += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKETS: PacketConfig = PacketConfig { mtu: 2048, header: 20, ack: 20, cnp: 20, answers_vl: None };

    #[test]
    fn cuts_messages_into_packets() {
        let mut sender = Sender { header: 20, ..Sender::default() };
        sender.post(SendRequest { at: Time(7), order: 0, bytes: 5000, count: 2 }, &PACKETS);
        let segments: Vec<_> = (0..6).map(|_| sender.next_segment(Time(9), 2048)).collect();
        let sizes: Vec<_> = segments.iter().map(|p| (p.payload, p.last)).collect();
        assert_eq!(sizes[..3], [(2048, false), (2048, false), (904, true)]);
        assert_eq!(sizes[3..], sizes[..3]);
        assert!(!sender.may_send(1));
        assert_eq!(sender.posted_bytes, 2 * (5000 + 3 * 20));
    }

    #[test]
    fn an_empty_message_takes_one_packet() {
        let mut sender = Sender::default();
        sender.post(SendRequest { at: Time(0), order: 0, bytes: 0, count: 1 }, &PACKETS);
        assert_eq!(sender.next_segment(Time(0), 2048), Segment { posted: Time(0), payload: 0, last: true });
    }

    #[test]
    fn a_greedy_flow_sends_message_after_message() {
        let mut sender = Sender { greedy: Some(5000), ..Sender::default() };
        assert_eq!(sender.next_begins(), Some(Time::ZERO));
        let segments: Vec<_> = (0..4).map(|i| sender.next_segment(Time(i), 2048)).collect();
        let expected = [(0, 2048, false), (0, 2048, false), (0, 904, true), (3, 2048, false)];
        let expected = expected.map(|(at, payload, last)| Segment { posted: Time(at), payload, last });
        assert_eq!(segments, expected);
        assert_eq!(sender.next_begins(), None);
        sender.post(SendRequest { at: Time(7), order: 0, bytes: 100, count: 1 }, &PACKETS);
        let segments: Vec<_> =
            (4..8).map(|i| sender.next_segment(Time(i), 2048)).map(|p| (p.posted, p.payload)).collect();
        assert_eq!(segments, [(Time(3), 2048), (Time(3), 904), (Time(7), 100), (Time(7), 2048)]);
    }

    #[test]
    fn packets_of_an_earlier_flow_are_not_under_way() {
        let mut sender = Sender::default();
        (0..3).for_each(|_| sender.sent(2068));
        sender.begin_flow();
        (0..2).for_each(|_| sender.sent(2068));
        sender.acknowledged(1, 1, false);
        assert_eq!((sender.in_flight, sender.acks, sender.knows(2), sender.knows(3)), (2, 1, false, true));
        sender.acknowledged(3, 2, false);
        assert_eq!(sender.in_flight, 1);
    }

    #[test]
    fn an_ack_stands_for_the_packets_that_it_covers() {
        let mut sender = Sender::default();
        (0..5).for_each(|_| sender.sent(2068));
        sender.acknowledged(2, 3, true);
        assert_eq!((sender.in_flight, sender.acks, sender.acks_marked), (2, 1, 1));
        sender.acknowledged(4, 2, false);
        assert_eq!((sender.in_flight, sender.acks, sender.acks_marked), (0, 2, 1));
    }
}
