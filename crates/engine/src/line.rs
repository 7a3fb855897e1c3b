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
    /// The time of the first event; [`Time::MAX`] where there is none.
    pub next: Time,
    heap: BinaryHeap<Entry<E>>,
}

impl<E> Default for Line<E> {
    fn default() -> Self {
        Line { line: Vec::new(), at: 0, next: Time::MAX, heap: BinaryHeap::new() }
    }
}

impl<E: Copy> Line<E> {
    /// Adds an event.
    #[inline]
    pub fn push(&mut self, entry: Entry<E>) {
        match self.line.last() {
            Some(last) if entry.time <= last.time => self.push_between(entry),
            _ => self.line.push(entry),
        }
        self.next = self.next.min(entry.time);
    }

    /// Adds an event that may not be the last one of the line.
    #[inline(never)]
    fn push_between(&mut self, entry: Entry<E>) {
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

    /// Takes the earliest event.
    #[inline]
    pub fn pop(&mut self) -> Option<Entry<E>> {
        if !self.heap.is_empty() {
            return self.pop_either();
        }
        let first = *self.line.get(self.at)?;
        self.advance();
        self.next = self.line.get(self.at).map_or(Time::MAX, |entry| entry.time);
        Some(first)
    }

    /// Takes the earliest event of the line and the heap.
    #[cold]
    fn pop_either(&mut self) -> Option<Entry<E>> {
        let first = *self.first()?;
        if self.line.get(self.at) == Some(&first) {
            self.advance();
        } else {
            self.heap.pop();
        }
        self.next = self.first().map_or(Time::MAX, |entry| entry.time);
        Some(first)
    }

    /// Moves on in the line.
    #[inline]
    fn advance(&mut self) {
        self.at += 1;
        if self.at == self.line.len() {
            self.line.clear();
            self.at = 0;
        }
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
                    prop_assert_eq!(line.next, expected.time);
                    prop_assert_eq!(line.pop().unwrap().event, expected.event);
                    now = expected.time.0;
                }
            }
            while let Some(expected) = reference.pop() {
                prop_assert_eq!(line.pop().unwrap().event, expected.event);
            }
            prop_assert!(line.first().is_none() && line.next == Time::MAX);
        }
    }
}
