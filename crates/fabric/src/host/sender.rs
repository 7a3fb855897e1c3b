//! The sending end of a flow: messages that wait, and how they are cut into packets.

mod rare;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use becalm_engine::{Stream, Time};

use crate::config::PacketConfig;
use crate::distribution::Distribution;
use rare::Rare;

/// A request to send: messages of the same size, posted together.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SendRequest {
    pub at: Time,
    /// Number in the order of posting at the host.
    pub order: u64,
    pub bytes: u32,
    pub count: u32,
}

/// A segment of a message: the payload of one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub posted: Time,
    pub payload: u32,
    pub last: bool,
}

/// The message that has been sent in part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Partial {
    /// No message.
    #[default]
    None,
    /// The first of those that were posted.
    Posted,
    /// One of a greedy flow, which always has a message.
    Greedy,
}

/// The sending end of a flow.
// The order of the fields is that of memory: what every packet needs fills the first cache line. With all-to-all traffic
// a flow is not in any cache when its turn comes, and each line costs a wait for memory.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct Sender {
    /// The first request; its count is 0 if there is none.
    first: SendRequest,
    pub bytes: u64,
    /// Bytes that are left of the message that has been sent in part.
    rest: u32,
    pub pacer: u32,
    pub destination: u32,
    /// Bytes of a packet in addition to its payload.
    pub header: u32,
    pub packets: u32,
    pub in_flight: u32,
    partial: Partial,
    pub vl: u8,
    /// Whether switches record the path of its packets.
    pub is_recorded: bool,
    /// Whether every message is a flow of its own for the response.
    pub restart: bool,
    /// Whether it is on the list of a pacer with several flows.
    pub listed: bool,
    is_greedy: bool,
    /// Whether requests wait behind the first.
    has_more: bool,
    /// Bytes on the wire of the messages that were posted, those that were dropped included.
    pub posted_bytes: u64,
    /// Messages that were posted.
    pub posted_messages: u64,
    pub acks: u64,
    pub acks_marked: u64,
    /// The first packet of the flow that the response knows: that of the message, where each is a flow of its own.
    pub known_from: u32,
    /// Requests behind the first.
    #[expect(clippy::box_collection, reason = "most flows have none, and there is one for every flow")]
    more: Option<Box<VecDeque<SendRequest>>>,
    rare: Option<Box<Rare>>,
}

const _: () = assert!(size_of::<Sender>() == 128 && std::mem::offset_of!(Sender, posted_bytes) == 64);

/// Bytes on the wire of this many messages of this size.
fn wire_bytes(bytes: u32, count: u32, packets: &PacketConfig, header: u32) -> u64 {
    u64::from(count) * (u64::from(bytes) + u64::from(packets.packets_of(bytes)) * u64::from(header))
}

impl Sender {
    pub fn new(pacer: u32, destination: u32, vl: u8) -> Sender {
        Sender { pacer, destination, vl, ..Sender::default() }
    }

    /// Messages that were dropped because the send queue was full.
    pub fn dropped(&self) -> u64 {
        self.rare.as_ref().map_or(0, |rare| rare.dropped)
    }

    /// Time in which it was greedy, up to the last time that this changed.
    pub fn greedy_time(&self) -> Time {
        self.rare.as_ref().map_or(Time::ZERO, |rare| rare.greedy_time())
    }

    /// The time since which it has been greedy, if it is.
    pub fn greedy_since(&self) -> Option<Time> {
        self.rare.as_ref().and_then(|rare| rare.greedy_since())
    }

    /// Posts messages, to be cut into packets of these sizes.
    #[inline]
    pub fn post(&mut self, posted: SendRequest, packets: &PacketConfig) {
        self.posted_bytes += wire_bytes(posted.bytes, posted.count, packets, self.header);
        self.posted_messages += u64::from(posted.count);
        if self.first.count == 0 {
            self.first = posted;
        } else {
            self.has_more = true;
            self.more.get_or_insert_default().push_back(posted);
        }
    }

    /// Makes the flow greedy with messages of this mean size, or no longer greedy.
    pub fn set_greedy(&mut self, greedy: Option<u32>, now: Time) {
        self.rare.get_or_insert_default().set_greedy(greedy, now);
        self.is_greedy = greedy.is_some();
    }

    /// Sets the distribution of the sizes of a greedy flow's messages.
    pub fn vary(&mut self, sizes: &Distribution, random: &Stream) {
        if *sizes != Distribution::Fixed {
            self.rare.get_or_insert_default().vary(sizes, random);
        }
    }

    /// Number of the first message in the order of posting at the host, if there is one.
    #[inline]
    pub fn first_order(&self) -> Option<u64> {
        (self.first.count > 0).then_some(self.first.order)
    }

    /// Whether there is a packet to send and the window is open.
    pub fn may_send(&self, window: u32) -> bool {
        self.has_packet() && self.in_flight < window
    }

    /// Whether there is a packet to send.
    pub fn has_packet(&self) -> bool {
        self.is_greedy || self.first.count > 0
    }

    /// Whether the message that comes next is a new flow and waits for the one before.
    pub fn restarts(&self) -> bool {
        self.restart && self.has_packet()
    }

    /// Begins a new flow with the next packet: packets of the one before no longer count as under way.
    pub fn begin_flow(&mut self) {
        (self.known_from, self.in_flight) = (self.packets, 0);
    }

    /// Whether the response knows the flow of this packet.
    pub fn knows(&self, sequence: u32) -> bool {
        sequence >= self.known_from
    }

    /// Time at which the message was posted that the next packet begins, if it begins one; zero for a greedy flow.
    pub fn next_begins(&self) -> Option<Time> {
        let posted = if self.first.count > 0 { self.first.at } else { Time::ZERO };
        (self.partial == Partial::None).then_some(posted)
    }

    /// Takes the next segment of the message that is being sent, or else of the first one; posted messages go before
    /// greedy ones, which count as posted when they are begun.
    #[inline]
    pub fn next_segment(&mut self, now: Time, mtu: u32) -> Segment {
        if self.partial == Partial::None {
            (self.partial, self.rest) = match self.first.count {
                0 => (Partial::Greedy, self.rare.get_or_insert_default().begin_message(now, mtu)),
                _ => (Partial::Posted, self.first.bytes),
            };
        }
        let posted = match (self.partial, &self.rare) {
            (Partial::Greedy, Some(rare)) => rare.message_began(),
            _ => self.first.at,
        };
        let segment = Segment { posted, payload: self.rest.min(mtu), last: self.rest <= mtu };
        self.rest -= segment.payload;
        if segment.last {
            let ended = std::mem::take(&mut self.partial);
            if ended == Partial::Posted {
                self.message_done();
            }
        }
        segment
    }

    #[inline]
    fn message_done(&mut self) {
        self.first.count -= 1;
        if self.first.count == 0 && self.has_more {
            self.next_request();
        }
    }

    #[inline(never)]
    fn next_request(&mut self) {
        let Some(more) = &mut self.more else { return };
        self.first = more.pop_front().unwrap_or_default();
        self.has_more = !more.is_empty();
    }

    /// Whether the next packet is one of a posted message.
    pub fn sends_posted(&self) -> bool {
        match self.partial {
            Partial::None => self.first.count > 0,
            partial => partial == Partial::Posted,
        }
    }

    /// Counts messages that found no room in the send queue.
    pub fn drop_messages(&mut self, bytes: u32, count: u32, packets: &PacketConfig) {
        self.rare.get_or_insert_default().dropped += u64::from(count);
        self.posted_bytes += wire_bytes(bytes, count, packets, self.header);
    }

    /// Counts a packet that goes out.
    pub fn sent(&mut self, size: u32) {
        self.in_flight += 1;
        self.packets += 1;
        self.bytes += u64::from(size);
    }

    /// Counts an acknowledgement that covers this many packets, this one included; others of them may belong to the flow
    /// before.
    pub fn acknowledged(&mut self, sequence: u32, covers: u32, marked: bool) {
        if self.knows(sequence) {
            self.in_flight = self.in_flight.saturating_sub(covers.min(sequence + 1 - self.known_from));
        }
        self.acks += 1;
        if marked {
            self.acks_marked += 1;
        }
    }
}
