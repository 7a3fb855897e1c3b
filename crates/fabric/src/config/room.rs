//! The capacity of buffers, and the units in which it is counted.

use crate::packet::Packet;

/// The capacity of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// Slots; each packet occupies one, whatever its size.
    Slots(u32),
    /// Bytes, in credits of [`CREDIT_BYTES`]; a packet's size is rounded up.
    Bytes(u32),
    /// A number of larger or smaller credits.
    Units(u32, Unit),
}

/// Size of an InfiniBand flow-control credit.
pub const CREDIT_BYTES: u32 = 64;

/// A unit of credit. A packet occupies whole units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Bytes beyond whole units that need one more unit.
    rest: u32,
    /// Binary logarithm of the unit's bytes.
    log: u8,
}

impl Unit {
    /// A unit of `bytes`, a power of two, for packets that occupy `overhead` bytes in addition to their size.
    ///
    /// # Panics
    /// If `bytes` is not a power of two.
    pub const fn new(bytes: u32, overhead: u32) -> Unit {
        assert!(bytes.is_power_of_two(), "units are powers of two");
        Unit { rest: bytes - 1 + overhead, log: bytes.trailing_zeros() as u8 }
    }

    /// A unit that any packet fills, of less than 2 GiB.
    const SLOT: Unit = Unit { rest: 1 << 31, log: 31 };

    /// Bytes of the unit.
    pub const fn bytes(self) -> u32 {
        1 << self.log
    }

    /// Number of units that a packet of `size` bytes occupies.
    #[inline]
    pub const fn of(self, size: u32) -> u32 {
        (size + self.rest) >> self.log
    }

    /// Number of units that a packet occupies, or all packets of a train.
    #[inline(always)]
    pub(crate) fn of_packet(self, packet: &Packet) -> u32 {
        if packet.train.is_single() { self.of(packet.size) } else { self.of_train(packet) }
    }

    #[cold]
    fn of_train(self, train: &Packet) -> u32 {
        let packets = train.train.packets();
        packets * self.of(train.size.div_ceil(packets))
    }
}

impl Room {
    /// Capacity for any number of packets.
    pub const UNLIMITED: Room = Room::Slots(u32::MAX);

    /// Whether packets of all sizes occupy the same space.
    #[inline]
    pub const fn is_in_slots(self) -> bool {
        matches!(self, Room::Slots(_))
    }

    /// The unit of credit.
    #[inline]
    pub const fn unit(self) -> Unit {
        match self {
            Room::Slots(_) => Unit::SLOT,
            Room::Bytes(_) => Unit::new(CREDIT_BYTES, 0),
            Room::Units(_, unit) => unit,
        }
    }

    /// The buffer's size in units of credit.
    pub const fn capacity(self) -> u32 {
        match self {
            Room::Slots(n) | Room::Units(n, _) => n,
            Room::Bytes(n) => n / CREDIT_BYTES,
        }
    }

    /// The buffer's size in bytes. Slots are sized for packets of the largest size.
    pub const fn bytes(self, largest: u32) -> u32 {
        match self {
            Room::Slots(n) => n.saturating_mul(largest),
            Room::Bytes(n) => n,
            Room::Units(n, unit) => n.saturating_mul(unit.bytes()),
        }
    }

    /// Number of packets of `size` bytes that fit.
    pub const fn holds(self, size: u32) -> u32 {
        self.capacity() / self.need(size)
    }

    /// Units of credit that a packet of `size` bytes needs.
    #[inline]
    pub const fn need(self, size: u32) -> u32 {
        self.unit().of(size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_occupies_whole_units() {
        let room = Room::Units(16, Unit::new(128, 0));
        assert_eq!([1, 64, 128, 129, 256].map(|size| room.need(size)), [1, 1, 1, 2, 2]);
        assert_eq!([64, 127, 129].map(|size| Unit::new(128, 12).of(size)), [1, 2, 2]);
        assert_eq!((room.bytes(4160), room.holds(64), room.holds(4160 / 2)), (2048, 16, 0));
    }

    #[test]
    fn a_packet_of_any_size_occupies_one_slot() {
        assert!([1, 64, 4160, 1 << 30].iter().all(|&size| Room::Slots(3).need(size) == 1));
        assert_eq!([1, 64, 65, 4160].map(|size| Room::Bytes(9000).need(size)), [1, 1, 2, 65]);
    }
}
