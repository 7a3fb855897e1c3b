//! Pacers that may send later.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use becalm_engine::Time;

/// The time from which a pacer may send, a hash that breaks ties, and the pacer's number.
type Due = (Time, u64, u32);

/// Sorts after all others.
const NONE: Due = (Time::MAX, u64::MAX, u32::MAX);

/// Pacers in the order of the times from which they may send. Most hosts have one pacer, so the first is
/// stored outside the heap.
#[derive(Debug)]
pub(crate) struct Paced {
    first: Due,
    rest: BinaryHeap<Reverse<Due>>,
}

impl Default for Paced {
    fn default() -> Self {
        Paced { first: NONE, rest: BinaryHeap::new() }
    }
}

impl Paced {
    /// Adds a pacer whose due time is before [`Time::MAX`].
    #[inline]
    pub fn push(&mut self, mut due: Due) {
        if due < self.first {
            std::mem::swap(&mut due, &mut self.first);
        }
        if due != NONE {
            self.rest.push(Reverse(due));
        }
    }

    /// The time from which the first pacer may send; [`Time::MAX`] if there is none.
    #[inline]
    pub fn next(&self) -> Time {
        self.first.0
    }

    /// The first entry, which is not removed.
    #[inline]
    pub fn first(&self) -> Option<Due> {
        (self.first != NONE).then_some(self.first)
    }

    /// Removes the first entry.
    #[inline]
    pub fn pop(&mut self) {
        self.first = if self.rest.is_empty() { NONE } else { self.rest.pop().map_or(NONE, |Reverse(due)| due) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pacers_leave_in_the_order_of_time_and_hash() {
        let mut paced = Paced::default();
        assert_eq!((paced.next(), paced.first()), (Time::MAX, None));
        let due = [(5, 1), (3, 9), (8, 0), (3, 2), (5, 0)].map(|(time, hash)| (Time(time), hash, 7));
        due.into_iter().for_each(|due| paced.push(due));
        let mut sorted = due;
        sorted.sort_unstable();
        for due in sorted {
            assert_eq!((paced.next(), paced.first()), (due.0, Some(due)));
            paced.pop();
        }
        assert_eq!(paced.first(), None);
    }
}
