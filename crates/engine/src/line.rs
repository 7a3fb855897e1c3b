//! A short line of pending events in their order.

use std::collections::BinaryHeap;

use crate::key::Entry;
use crate::time::Time;

/// Most places that an event goes forward in the line; one that would have to go further is kept in a heap.
const STEPS: usize = 8;

/// Pending events, earliest first, for events that come nearly in their order: most go to the end of the line.
#[derive(Debug)]
pub(crate) struct Line<E> {
    /// Sorted from `at` on.
    line: Vec<Entry<E>>,
    /// The first that has not been taken.
    at: usize,
    heap: BinaryHeap<Entry<E>>,
}

impl<E> Default for Line<E> {
    fn default() -> Self {
        Line { line: Vec::new(), at: 0, heap: BinaryHeap::new() }
    }
}

impl<E: Copy> Line<E> {
    /// Adds an event.
    #[inline]
    pub fn push(&mut self, entry: Entry<E>) {
        let (mut place, first) = (self.line.len(), self.at.max(self.line.len().saturating_sub(STEPS)));
        // The earlier of two entries is the greater one.
        while place > first && self.line[place - 1] < entry {
            place -= 1;
        }
        if place == first && place > self.at && self.line[place - 1] < entry {
            self.heap.push(entry);
        } else if place == self.line.len() {
            self.line.push(entry);
        } else {
            self.line.insert(place, entry);
        }
    }

    /// The earliest event.
    #[inline]
    pub fn first(&self) -> Option<&Entry<E>> {
        let (line, heap) = (self.line.get(self.at), self.heap.peek());
        match (line, heap) {
            (Some(line), Some(heap)) if heap > line => Some(heap),
            (None, heap) => heap,
            (line, _) => line,
        }
    }

    /// Takes the earliest event, if it happens at `until` or before.
    #[inline]
    pub fn pop_until(&mut self, until: Time) -> Option<Entry<E>> {
        let first = *self.first()?;
        if first.time > until {
            return None;
        }
        if self.line.get(self.at).is_none_or(|line| *line != first) {
            return self.heap.pop();
        }
        self.at += 1;
        if self.at == self.line.len() {
            self.line.clear();
            self.at = 0;
        }
        Some(first)
    }

    /// All events, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = &Entry<E>> {
        self.line[self.at..].iter().chain(&self.heap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Key;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn entries_leave_in_their_order(steps in prop::collection::vec((0u64..40, 0u32..3), 1..200)) {
            let (mut line, mut reference, mut now) = (Line::default(), BinaryHeap::new(), 0);
            for (i, (ahead, pops)) in steps.into_iter().enumerate() {
                let entry = Entry { time: Time(now + ahead), key: Key::new(0, 0, i as u64, 0), event: i };
                line.push(entry);
                reference.push(entry);
                prop_assert_eq!(line.iter().count(), reference.len());
                for _ in 0..pops {
                    let Some(expected) = reference.pop() else { break };
                    prop_assert!(line.first().is_some_and(|first| first.event == expected.event));
                    prop_assert!(expected.time.0.checked_sub(1).is_none_or(|before| line.pop_until(Time(before)).is_none()));
                    prop_assert_eq!(line.pop_until(expected.time).unwrap().event, expected.event);
                    now = expected.time.0;
                }
            }
            while let Some(expected) = reference.pop() {
                prop_assert_eq!(line.pop_until(Time::MAX).unwrap().event, expected.event);
            }
            prop_assert!(line.first().is_none());
        }
    }
}
