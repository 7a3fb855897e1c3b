//! The sending end of a flow: waiting messages, and their segmentation into packets.

pub(in crate::host) mod cut;
mod rare;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use becalm_engine::{Stream, Time};

use crate::config::PacketConfig;
use crate::distribution::Distribution;
use crate::host::entropy::Entropy;
use crate::host::train_length::{Turns, length as train_length};
use crate::policy::Pace;
use rare::{LONG, Rare};

/// Switches record the paths of the flow's packets.
pub(crate) const RECORDED: u8 = 1;
/// Packets that fill the window request an ACK.
pub(crate) const REQUESTS: u8 = 2;
/// Packets have an [`Entropy`] value.
pub(crate) const SPREAD: u8 = 4;
/// Packets request ACKs, and no packet in flight has done so.
const UNREQUESTED: u8 = 8;

/// A request to send messages of the same size, posted together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SendRequest {
    pub at: Time,
    /// Position in the host's posting order.
    pub order: u64,
    pub bytes: u64,
    pub count: u32,
}

/// A request that waits at a flow. The size of a [`LONG`] message is stored in [`Rare`].
#[derive(Clone, Copy, Debug, Default)]
struct Waiting {
    at: Time,
    order: u64,
    bytes: u32,
    count: u32,
}

/// A segment of a message: the payload of one packet, or of a train.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub posted: Time,
    pub payload: u32,
    pub last: bool,
}

/// The message that has been partly sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Partial {
    /// No message.
    #[default]
    None,
    /// The first posted message.
    Posted,
    /// A message of a greedy flow, which always has one.
    Greedy,
}

/// The sending end of a flow.
// The order of fields is their order in memory: the fields that every packet needs fill the first cache line.
// With all-to-all traffic, a flow is not in any cache when it sends, and each line costs a memory access.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct Sender {
    /// The first request, with a count of 0 if there is none.
    first: Waiting,
    pub bytes: u64,
    /// Remaining bytes of the message that has been partly sent, or of its current part.
    rest: u32,
    pub pacer: u32,
    pub destination: u32,
    /// Bytes per packet in addition to the payload.
    pub header: u32,
    pub packets: u32,
    pub in_flight: u32,
    partial: Partial,
    pub vl: u8,
    /// What the flow's packets need in addition: [`RECORDED`], [`REQUESTS`], [`UNREQUESTED`] and [`SPREAD`].
    pub extras: u8,
    /// Whether the response treats every message as a separate flow.
    pub restart: bool,
    /// Whether the flow is on the list of a pacer with several flows.
    pub listed: bool,
    is_greedy: bool,
    /// Whether requests wait behind the first.
    has_more: bool,
    /// Whether another part of the message follows the current one.
    goes_on: bool,
    /// Bytes on the wire of posted messages, including dropped ones.
    pub posted_bytes: u64,
    /// Number of messages posted.
    pub posted_messages: u64,
    pub acks: u64,
    pub acks_marked: u64,
    /// Sequence number of the first packet of which the response is aware. If the response treats messages as separate
    /// flows, this is the current message's first packet.
    pub known_from: u32,
    /// Requests behind the first.
    #[expect(clippy::box_collection, reason = "few flows need it, but each has the field")]
    more: Option<Box<VecDeque<Waiting>>>,
    rare: Option<Box<Rare>>,
}

const _: () = assert!(size_of::<Sender>() == 128 && std::mem::offset_of!(Sender, posted_bytes) == 64);

/// Bytes on the wire of `count` messages of this size.
fn wire_bytes(bytes: u64, count: u32, packets: &PacketConfig, header: u32) -> u64 {
    u64::from(count) * (bytes + packets.packets_of(bytes) * u64::from(header))
}

impl Sender {
    pub fn new(pacer: u32, destination: u32, vl: u8) -> Sender {
        Sender { pacer, destination, vl, ..Sender::default() }
    }

    /// Gives the flow's packets entropy values.
    pub fn spread(&mut self, entropy: Entropy) {
        self.extras |= SPREAD;
        self.rare.get_or_insert_default().entropy = Some(entropy);
    }

    /// The entropy values of a flow with [`SPREAD`].
    pub fn entropy(&mut self) -> Option<&mut Entropy> {
        self.rare.as_mut()?.entropy.as_mut()
    }

    /// Number of messages dropped because the send queue was full.
    pub fn dropped(&self) -> u64 {
        self.rare.as_ref().map_or(0, |rare| rare.dropped)
    }

    /// Total time during which the flow was greedy, up to the last change.
    pub fn greedy_time(&self) -> Time {
        self.rare.as_ref().map_or(Time::ZERO, |rare| rare.greedy_time())
    }

    /// Time at which the current greedy period began, if the flow is greedy.
    pub fn greedy_since(&self) -> Option<Time> {
        self.rare.as_ref().and_then(|rare| rare.greedy_since())
    }

    /// Posts messages, which will be segmented according to `packets`.
    #[inline]
    pub fn post(&mut self, posted: SendRequest, packets: &PacketConfig) {
        self.posted_bytes += wire_bytes(posted.bytes, posted.count, packets, self.header);
        self.posted_messages += u64::from(posted.count);
        let SendRequest { at, order, bytes, count } = posted;
        if bytes >= u64::from(LONG) {
            self.rare.get_or_insert_default().long.push_back(bytes);
        }
        let waiting = Waiting { at, order, bytes: bytes.min(u64::from(LONG)) as u32, count };
        if self.first.count == 0 {
            self.first = waiting;
        } else {
            self.has_more = true;
            self.more.get_or_insert_default().push_back(waiting);
        }
    }

    /// Makes the flow greedy, with messages of this mean size, or ends greedy traffic.
    pub fn set_greedy(&mut self, greedy: Option<u64>, now: Time) {
        self.rare.get_or_insert_default().set_greedy(greedy, now);
        self.is_greedy = greedy.is_some();
    }

    /// Sets the size distribution of a greedy flow's messages.
    pub fn vary(&mut self, sizes: &Distribution, random: &Stream) {
        if *sizes != Distribution::Fixed {
            self.rare.get_or_insert_default().vary(sizes, random);
        }
    }

    /// Position of the first message in the host's posting order, if there is one.
    #[inline]
    pub fn first_order(&self) -> Option<u64> {
        (self.first.count > 0).then_some(self.first.order)
    }

    /// Whether there is a packet to send and the window is open. If the window has become so small that it is closed
    /// although no packet in flight has requested an ACK, another packet may be sent, which requests one.
    pub fn may_send(&self, window: u32) -> bool {
        self.has_packet() && (self.in_flight < window || self.extras & UNREQUESTED != 0)
    }

    /// Lets packets that fill the window request ACKs.
    pub fn request_acks(&mut self) {
        self.extras |= REQUESTS | UNREQUESTED;
    }

    /// Whether the next packet of a flow with [`REQUESTS`] requests an ACK. If so, it is recorded as sent.
    pub fn requests_ack(&mut self, window: u32) -> bool {
        let fills = self.in_flight + 1 >= window;
        if fills {
            self.extras &= !UNREQUESTED;
            self.rare.get_or_insert_default().requested = self.packets;
        }
        fills
    }

    /// Records the ACK of a packet for a flow with [`REQUESTS`].
    pub fn request_acknowledged(&mut self, sequence: u32) {
        if self.rare.as_ref().is_none_or(|rare| rare.requested <= sequence) {
            self.extras |= UNREQUESTED;
        }
    }

    /// Whether there is a packet to send.
    pub fn has_packet(&self) -> bool {
        self.is_greedy || self.first.count > 0
    }

    /// Whether the next message starts a new flow and waits for the previous one to end.
    pub fn restarts(&self) -> bool {
        self.restart && self.has_packet()
    }

    /// Starts a new flow with the next packet. Packets of the previous flow no longer count as in flight.
    pub fn begin_flow(&mut self) {
        (self.known_from, self.in_flight) = (self.packets, 0);
        if self.extras & REQUESTS != 0 {
            self.extras |= UNREQUESTED;
        }
    }

    /// Whether the packet belongs to the flow of which the response is aware.
    pub fn knows(&self, sequence: u32) -> bool {
        sequence >= self.known_from
    }

    /// Number of packets of the next train.
    #[cold]
    pub fn next_train(&self, packets: &PacketConfig, pace: Pace, turns: Turns) -> u32 {
        let greedy = || self.rare.as_ref().map_or(0, |rare| rare.mean_message());
        let bytes = match self.partial {
            Partial::None if self.first.count == 0 => greedy(),
            Partial::Greedy => greedy(),
            Partial::None | Partial::Posted => u64::from(self.first.bytes),
        };
        let rest = if self.partial == Partial::None { u32::MAX } else { self.rest };
        train_length(packets, (bytes, rest), pace, self.in_flight, turns)
    }

    /// Posting time of the message that the next packet begins, if it begins one; zero for a greedy flow.
    pub fn next_begins(&self) -> Option<Time> {
        let posted = if self.first.count > 0 { self.first.at } else { Time::ZERO };
        (self.partial == Partial::None).then_some(posted)
    }

    /// Bytes of the posted message that is being sent, or of its current part, which are still to be sent.
    pub fn rest_of_message(&self) -> Option<u32> {
        (self.partial == Partial::Posted).then_some(self.rest)
    }

    /// Leaves out bytes of the message that is being sent; fewer than [`Sender::rest_of_message`].
    pub fn leave_out(&mut self, bytes: u32) {
        debug_assert!(self.rest_of_message().is_some_and(|rest| bytes < rest));
        self.rest -= bytes;
    }

    /// Removes the next segment, of up to this many packets, from the current message or, if there is none, from the
    /// first. Posted messages precede greedy ones, which count as posted when they begin.
    #[inline]
    pub fn next_segment(&mut self, now: Time, mtu: u32, packets: u32) -> Segment {
        if self.partial == Partial::None {
            (self.partial, self.rest) = match self.first.count {
                0 => (Partial::Greedy, self.rare.get_or_insert_default().begin_message(now, mtu)),
                _ => (Partial::Posted, self.first.bytes),
            };
            if self.rest == LONG {
                self.begin_long(mtu);
            }
        }
        let posted = match (self.partial, &self.rare) {
            (Partial::Greedy, Some(rare)) => rare.message_began(),
            _ => self.first.at,
        };
        let most = packets * mtu;
        let mut segment = Segment { posted, payload: self.rest.min(most), last: self.rest <= most };
        self.rest -= segment.payload;
        if segment.last {
            if self.goes_on {
                segment.last = false;
                self.next_part(mtu);
                return segment;
            }
            let ended = std::mem::take(&mut self.partial);
            if ended == Partial::Posted {
                self.message_done();
            }
        }
        segment
    }

    /// Begins the first part of a long message.
    #[cold]
    fn begin_long(&mut self, mtu: u32) {
        if self.partial == Partial::Posted {
            self.rare.get_or_insert_default().begin_long(self.first.count == 1);
        }
        self.next_part(mtu);
    }

    #[cold]
    fn next_part(&mut self, mtu: u32) {
        (self.rest, self.goes_on) = self.rare.get_or_insert_default().next_part(mtu);
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

    /// Whether the next packet belongs to a posted message.
    pub fn sends_posted(&self) -> bool {
        match self.partial {
            Partial::None => self.first.count > 0,
            partial => partial == Partial::Posted,
        }
    }

    /// Counts messages that did not fit in the send queue.
    pub fn drop_messages(&mut self, bytes: u64, count: u32, packets: &PacketConfig) {
        self.rare.get_or_insert_default().dropped += u64::from(count);
        self.posted_bytes += wire_bytes(bytes, count, packets, self.header);
    }

    /// Counts packets that are sent.
    pub fn sent(&mut self, size: u32, packets: u32) {
        self.in_flight += packets;
        self.packets += packets;
        self.bytes += u64::from(size);
    }

    /// Number of packets in flight up to one with this sequence number, whether acknowledged, lost or with a lost ACK.
    pub fn unacknowledged_to(&self, sequence: u32) -> u32 {
        self.in_flight.saturating_sub(self.packets - (sequence + 1))
    }

    /// Counts an acknowledgement that covers this many packets. Some of them may belong to the previous flow.
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
