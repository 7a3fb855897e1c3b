//! Link rates, and the sending end of a link.

use std::fmt;

use becalm_engine::{Key, Time};

use crate::ids::{NodeId, PortId};

/// The data rate of a link, stored as femtoseconds per byte.
///
/// 1 GB/s, 10 Gb/s and 40 Gb/s are exact; other rates are off by less than one part in 10^5 even at 1 Tb/s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rate {
    fs_per_byte: u64,
}

impl Rate {
    /// A rate in bits per second; it must be positive and finite.
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

    /// Time that `bytes` take on the link, to the nearest picosecond.
    #[inline]
    pub const fn time_of(self, bytes: u32) -> Time {
        Time((bytes as u64 * self.fs_per_byte + 500) / 1000)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} Gb/s", self.bits_per_second() / 1e9)
    }
}

/// The sending end of a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EgressLink {
    /// The rank of what arrives at the peer, but for the hash of the packet.
    pub arrivals: Key,
    /// Whether the buffer at the other end can fill up: that of a switch, or of a host with a drain rate.
    pub credited: bool,
    pub rate: Rate,
    /// Whether a packet arrives as a whole: its delay counts from when its tail has left, not its header.
    pub whole: bool,
    /// From then to the arrival: the cable's delay and, on the way to a switch, the forwarding delay.
    pub delay: Time,
    /// The place of this link's credit for VL 0; those of the other VLs follow.
    pub first_credit: u32,
    /// The part that the peer belongs to, or [`LOCAL`].
    pub part: u16,
}

/// The part of the node itself: one thread handles both ends of the link.
pub(crate) const LOCAL: u16 = u16::MAX;

impl EgressLink {
    /// The port at the other end.
    pub fn peer(&self) -> PortId {
        PortId { node: NodeId(self.arrivals.target()), port: self.arrivals.source() }
    }

    /// The place of the credit for a VL.
    #[inline]
    pub fn credit_index(&self, vl: u8) -> usize {
        self.first_credit as usize + usize::from(vl)
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
    fn other_rates_are_near() {
        let time = Rate::from_bits_per_second(13e9).time_of(13_000_000);
        assert!(time.since(Time::from_ms(8)).max(Time::from_ms(8).since(time)) < Time::from_ns(80));
    }
}
