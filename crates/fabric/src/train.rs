//! Trains: several packets of one message that are simulated as one packet.
//!
//! A train is made at the source, and takes the time and the space of its packets: it has as many headers, and needs as
//! much credit. It moves as they would if they followed each other without a gap, as a switch begins to forward a train
//! once its first header has arrived. Everything that counts packets counts those of a train. Its destination answers each
//! of them, and the answers travel as a train as well, which the source takes apart.
//!
//! A switch decides about the mark of each packet. What changes is that no other packet comes between those of a train, and
//! that they wait for credit together.

/// The packets that a packet stands for, and whether the last of them ends its message. An ACK is the last if it
/// acknowledges the end of a message.
// The lowest bit is the end. The others are the number of packets less 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Train(u8);

impl Train {
    /// A single packet that ends its message.
    pub const LAST: Train = Train(1);
    /// Largest number of packets.
    pub const MOST: u32 = 16;

    /// A train of 1 to [`Train::MOST`] packets.
    #[inline(always)]
    pub const fn new(packets: u32, is_last: bool) -> Train {
        Train((packets as u8 - 1) << 1 | is_last as u8)
    }

    /// Number of packets.
    #[inline(always)]
    pub const fn packets(self) -> u32 {
        (self.0 >> 1) as u32 + 1
    }

    /// Whether the last packet ends its message.
    #[inline(always)]
    pub const fn is_last(self) -> bool {
        self.0 & 1 != 0
    }

    /// Whether this is a single packet.
    #[inline(always)]
    pub const fn is_single(self) -> bool {
        self.0 < 2
    }

    /// The same packets, of which the last ends a message if that of either train does.
    pub(crate) fn ending_with(self, other: Train) -> Train {
        Train(self.0 | other.0 & 1)
    }
}
