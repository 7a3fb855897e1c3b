//! The state of a switch's ports.
//!
//! The parts of a port that a packet uses are stored together: the input buffer, the output and the output's
//! lane.

use becalm_engine::{Stream, Time, mix};

use crate::distribution::Distribution;
use crate::flow_control::credit::CreditReturn;
use crate::ids::NodeId;
use crate::network::link::EgressLink;
use crate::packet::Packet;
use crate::switch::pool::Fifo;
use crate::switch::rules::Rules;

/// Domain of the random stream for an output's transmission times.
const SERVICE_STREAM: u64 = 2;

/// Maximum number of packets in an input buffer whose tails have no event.
const SILENT: usize = 2;

/// One VL of a port. Each VL has an input buffer and a lane. VL 0 also has the output, which all VLs share.
#[derive(Clone, Debug)]
pub(crate) struct Port {
    pub input: Input,
    pub output: Output,
    pub lane: Lane,
}

impl Port {
    /// An idle port. `place` is its input's place in the round-robin order. `last` is the place of the input
    /// that the output considers served last.
    pub fn new((link, credit_return): (EgressLink, CreditReturn), place: u16, last: u16) -> Port {
        let lane = Lane { last_place: last, ..Lane::default() };
        Port { input: Input::new(credit_return, place), output: Output::new(link), lane }
    }
}

/// An input buffer of one port and VL. It has its own cache line.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct Input {
    pub credit_return: CreditReturn,
    /// Occupied units, including those of `silent` packets.
    pub taken: u32,
    /// Packets in the buffer, including those in transmission.
    pub packets: u32,
    /// Packets in transmission whose tails have an event.
    pub leaving: u16,
    /// Packets in transmission whose tails have no event, and whose credit has been returned in advance.
    silent: u8,
    /// Tails of `silent` packets, earliest first, and their units.
    tails: [Time; SILENT],
    units: [u16; SILENT],
    /// The numbers of packets that they stand for, all 1 unless packets may be trains.
    counts: [u8; SILENT],
    /// The input's place in the round-robin order.
    pub place: u16,
}

/// The packets of one VL from one input to one output.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Voq {
    /// Packets that the arbiter may choose, in order of arrival.
    pub offered: Fifo,
    /// Number of waiting packets, whether offered or not.
    pub waiting: u32,
}

/// An output port. It fills one cache line.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct Output {
    pub link: EgressLink,
    /// Input and VL of the last packet sent.
    pub input: u16,
    pub vl: u8,
    /// Whether an event marks the end of its transmission.
    pub awaited: bool,
    pub marked: u32,
    /// End of its transmission.
    pub busy_until: Time,
    pub packets: u64,
    pub bytes: u64,
}

const _: () = assert!(size_of::<Output>() == 64 && size_of::<Input>() == 64 && size_of::<Lane>() <= 64);

impl Input {
    fn new(credit_return: CreditReturn, place: u16) -> Input {
        let (tails, units, counts) = ([Time::ZERO; SILENT], [0; SILENT], [1; SILENT]);
        Input { credit_return, taken: 0, packets: 0, leaving: 0, silent: 0, tails, units, counts, place }
    }

    /// Records the tail of a packet with these units, if it needs no event; returns whether it was recorded.
    ///
    /// The event is needed if credit returns without delay, because the order of simultaneous events then
    /// matters.
    #[inline]
    pub fn leave_silently<M: Rules>(&mut self, tail: Time, units: u32, packet: &Packet) -> bool {
        let Ok(units) = u16::try_from(units) else { return false };
        let mut at = usize::from(self.silent);
        if at == SILENT || self.credit_return.delay == Time::ZERO {
            return false;
        }
        while at > 0 && self.tails[at - 1] > tail {
            (self.tails[at], self.units[at]) = (self.tails[at - 1], self.units[at - 1]);
            if M::TRAINS {
                self.counts[at] = self.counts[at - 1];
            }
            at -= 1;
        }
        (self.tails[at], self.units[at]) = (tail, units);
        if M::TRAINS {
            self.counts[at] = M::packets(packet) as u8;
        }
        self.silent += 1;
        true
    }

    /// Frees the space of the next packet that has left without an event by now; returns its departure time.
    #[inline]
    pub fn next_left<M: Rules>(&mut self, now: Time) -> Option<Time> {
        if self.silent == 0 || self.tails[0] > now {
            return None;
        }
        let tail = self.tails[0];
        self.taken -= u32::from(self.units[0]);
        self.packets -= if M::TRAINS { u32::from(self.counts[0]) } else { 1 };
        self.silent -= 1;
        for at in 1..SILENT {
            (self.tails[at - 1], self.units[at - 1]) = (self.tails[at], self.units[at]);
            if M::TRAINS {
                self.counts[at - 1] = self.counts[at];
            }
        }
        Some(tail)
    }

    /// Tails and units of packets whose tails have no event.
    fn silent(&self) -> impl Iterator<Item = (Time, u32)> {
        self.tails.into_iter().zip(self.units.map(u32::from)).take(usize::from(self.silent))
    }

    /// Units occupied at this time.
    pub fn taken_at(&self, now: Time) -> u32 {
        self.taken - self.silent().filter(|&(tail, _)| tail <= now).map(|(_, units)| units).sum::<u32>()
    }

    /// Occupied units whose credit has not been returned.
    pub fn uncredited(&self) -> u32 {
        self.taken - self.silent().map(|(_, units)| units).sum::<u32>()
    }

    /// Whether a packet is in transmission.
    pub fn is_sending(&self, now: Time) -> bool {
        self.leaving > 0 || self.silent().any(|(tail, _)| tail > now)
    }
}

impl Output {
    fn new(link: EgressLink) -> Output {
        Output { link, input: 0, vl: 0, awaited: false, marked: 0, busy_until: Time::ZERO, packets: 0, bytes: 0 }
    }

    /// Whether a packet is in transmission.
    #[inline]
    pub fn is_sending(&self, now: Time) -> bool {
        self.awaited || now < self.busy_until
    }

    /// Input and VL of the packet in transmission.
    pub fn sending(&self, now: Time) -> Option<(u16, u8)> {
        self.is_sending(now).then_some((self.input, self.vl))
    }
}

/// The distribution of an output's transmission times, and its random stream, which is independent of other
/// outputs.
pub(crate) fn service(distribution: Distribution, seed: u64, node: NodeId, port: u16) -> (Distribution, Stream) {
    (distribution, Stream::new(seed, mix(u64::from(node.0), u64::from(port)), SERVICE_STREAM))
}

/// One VL of an output port.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lane {
    pub waiting: u32,
    pub waiting_bytes: u64,
    /// Nonzero if any input has an offered packet. If all inputs fit in 64 bits, this is the set itself.
    pub offering: u64,
    /// The place of the input served last, and the hash of its packet.
    pub last_place: u16,
    pub last_tie: u32,
    /// Bytes of the packet sent last, the start of its transmission, and the number of packets that it stands for.
    pub last_size: u32,
    pub last_began: Time,
    pub last_packets: u8,
    pub stalled: bool,
    /// The last time at which credit arrived for a waiting packet.
    pub blocked_until: Option<Time>,
    pub congested: bool,
}
