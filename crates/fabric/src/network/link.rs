//! Link rates, and the sending ends of links.

use std::fmt;

use becalm_engine::{Key, Time};

use crate::ids::{NodeId, PortId};

/// The data rate of a link, stored as femtoseconds per byte.
///
/// 1 GB/s, 10 Gb/s and 40 Gb/s are exact. Other rates are off by less than one part in 10^5, even at 1 Tb/s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rate {
    fs_per_byte: u64,
}

impl Rate {
    /// Creates a rate from bits per second, which must be positive and finite.
    pub fn from_bits_per_second(rate: f64) -> Rate {
        Rate { fs_per_byte: (8e15 / rate).round().max(1.0) as u64 }
    }

    /// Bits per second.
    pub fn bits_per_second(self) -> f64 {
        8e15 / self.fs_per_byte as f64
    }

    /// Bytes per second.
    pub fn bytes_per_second(self) -> f64 {
        1e15 / self.fs_per_byte as f64
    }

    /// Transmission time of `bytes`, to the nearest picosecond.
    #[inline]
    pub const fn time_of(self, bytes: u32) -> Time {
        Time((bytes as u64 * self.fs_per_byte + 500) / 1000)
    }

    /// Transmission time of a message of any size, to the nearest picosecond.
    pub const fn time_of_long(self, bytes: u64) -> Time {
        Time(((bytes as u128 * self.fs_per_byte as u128 + 500) / 1000) as u64)
    }

    /// The rate at which `bytes` take as long as `more` bytes at this rate, to the nearest femtosecond per byte.
    pub(crate) fn slowed(self, more: u32, bytes: u32) -> Rate {
        let (more, bytes) = (u128::from(more), u128::from(bytes));
        Rate { fs_per_byte: ((u128::from(self.fs_per_byte) * more + bytes / 2) / bytes) as u64 }
    }

    /// The first multiple of the transmission time of `bytes` at `time` or later, rounded up to a picosecond.
    pub(crate) fn next_multiple(self, bytes: u32, time: Time) -> Time {
        let each = u128::from(bytes) * u128::from(self.fs_per_byte);
        let next = (u128::from(time.0) * 1000).saturating_sub(999).next_multiple_of(each);
        Time(next.div_ceil(1000) as u64)
    }

    /// Maximum number of bytes that can be sent in less than `time`, in packets of at least `smallest` bytes.
    /// The transmission time of each packet is rounded as in [`Rate::time_of`].
    pub(crate) fn bytes_before(self, time: Time, smallest: u32) -> u64 {
        let rounding = if self.fs_per_byte.is_multiple_of(1000) { 0 } else { 500u64.div_ceil(u64::from(smallest)) };
        let least = self.fs_per_byte.saturating_sub(rounding).max(1);
        time.0.saturating_mul(1000).saturating_sub(1) / least
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} Gb/s", self.bits_per_second() / 1e9)
    }
}

/// The mechanism that keeps a sender from overflowing the buffer at the other end of its link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Control {
    /// None, since a host without a drain rate accepts every packet.
    Free,
    /// Credit.
    Credit,
    /// A gate that the buffer opens and closes (PFC).
    Gate,
}

/// The sending end of a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EgressLink {
    /// Rank of an arrival at the peer, except for the packet's hash.
    pub arrivals: Key,
    pub control: Control,
    pub rate: Rate,
    /// Whether a packet counts as arrived only after its last byte. If so, its delay begins when its tail has left,
    /// otherwise when its header has left.
    pub whole: bool,
    /// Delay until the arrival: the cable's and, if the peer is a switch, the forwarding delay.
    pub delay: Time,
    /// Index of the credit or gate for VL 0. The indices for the other VLs follow.
    pub first_credit: u32,
    /// The part of the peer, or [`LOCAL`].
    pub part: u16,
}

/// The node's own part: one thread handles both ends of the link.
pub(crate) const LOCAL: u16 = u16::MAX;

impl EgressLink {
    /// The port at the other end.
    pub fn peer(&self) -> PortId {
        PortId { node: NodeId(self.arrivals.target()), port: self.arrivals.source() }
    }

    /// Whether the sender needs credit.
    #[inline]
    pub fn credited(&self) -> bool {
        self.control == Control::Credit
    }

    /// Whether the buffer pauses the sender.
    #[inline]
    pub fn gated(&self) -> bool {
        self.control == Control::Gate
    }

    /// Index of the credit or gate for a VL.
    #[inline]
    pub fn credit_index(&self, vl: u8) -> usize {
        self.first_credit as usize + usize::from(vl)
    }
}

/// The transmission of a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transmission {
    pub begin: Time,
    /// Time at which the last byte leaves.
    pub tail: Time,
    /// Bytes of the packet.
    pub size: u32,
}

impl Transmission {
    /// Bytes that are still to be sent at this time.
    pub fn rest(self, now: Time) -> u64 {
        if now >= self.tail {
            return 0;
        }
        let (size, sent, whole) = (u64::from(self.size), now.since(self.begin).0, self.tail.since(self.begin).0);
        size - (u128::from(size) * u128::from(sent) / u128::from(whole)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_exact_for_the_usual_rates() {
        assert_eq!(Rate::from_bits_per_second(8e9).time_of(2068), Time(2_068_000));
        assert_eq!(Rate::from_bits_per_second(100e9).time_of(2112), Time(168_960));
    }

    #[test]
    fn the_rest_of_a_packet_shrinks_to_nothing() {
        let packet = Transmission { begin: Time(100), tail: Time(400), size: 60 };
        assert_eq!([100, 200, 399, 400, 500].map(|now| packet.rest(Time(now))), [60, 40, 1, 0, 0]);
    }

    #[test]
    fn other_rates_are_near() {
        let time = Rate::from_bits_per_second(13e9).time_of(13_000_000);
        assert!(time.since(Time::from_ms(8)).max(Time::from_ms(8).since(time)) < Time::from_ns(80));
    }
}
