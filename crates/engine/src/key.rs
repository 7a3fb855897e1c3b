//! Pending events, and their rank among events of the same time.

use std::cmp::Ordering;

use crate::time::Time;

/// The rank of an event among events of the same time: target entity, kind, tie-breaker, source.
///
/// The tie-breaker is a hash chosen by the model, so that no node is favoured at equal times. The source (such as a
/// port of the target) makes the order total if hashes collide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(u64);

impl Key {
    /// Number of entities that can be distinguished.
    pub const TARGETS: u32 = 1 << 20;

    /// A key; `target` must be below [`Key::TARGETS`] and `kind` below 16; only the low 24 bits of `tie` count.
    pub const fn new(target: u32, kind: u8, tie: u64, source: u16) -> Key {
        debug_assert!(target < Key::TARGETS && kind < 16);
        Key((target as u64) << 44 | (kind as u64) << 40 | (tie & 0xFF_FFFF) << 16 | source as u64)
    }

    /// The same key with a tie-breaker instead of 0.
    #[inline]
    pub const fn with_tie(self, tie: u32) -> Key {
        Key(self.0 | (tie as u64 & 0xFF_FFFF) << 16)
    }

    /// The entity to which the event belongs.
    pub const fn target(self) -> u32 {
        (self.0 >> 44) as u32
    }

    /// The source passed to `new`, by convention a port of the target.
    pub const fn source(self) -> u16 {
        self.0 as u16
    }
}

/// A pending event.
#[derive(Clone, Copy, Debug)]
pub struct Entry<E> {
    /// Time of the event.
    pub time: Time,
    /// Rank among events of the same time.
    pub key: Key,
    /// The event itself.
    pub event: E,
}

/// Time and key as one number, which can be compared in two instructions.
#[inline(always)]
pub(crate) fn rank(time: Time, key: Key) -> u128 {
    u128::from(time.0) << 64 | u128::from(key.0)
}

impl<E> Entry<E> {
    #[inline]
    fn rank(&self) -> u128 {
        rank(self.time, self.key)
    }
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.rank() == other.rank()
    }
}
impl<E> Eq for Entry<E> {}
impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<E> Ord for Entry<E> {
    /// Reversed, so that the earliest is the greatest: the top of a `BinaryHeap`, the end of a sorted list.
    fn cmp(&self, other: &Self) -> Ordering {
        other.rank().cmp(&self.rank())
    }
}
