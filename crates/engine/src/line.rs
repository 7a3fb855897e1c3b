//! A short line of pending events in their order.

use std::collections::BinaryHeap;

use crate::key::{Entry, Key};
use crate::time::Time;

/// Most places that an event goes forward in the line; one that would have to go further is kept in a heap.
const STEPS: usize = 8;

/// A place in the line.
#[derive(Clone, Copy, Debug)]
struct Ticket {
    time: Time,
    key: Key,
    /// The place of the event in the list of events.
    event: u32,
}

impl Ticket {
    #[inline]
    fn rank(self) -> (Time, Key) {
        (self.time, self.key)
    }
}

/// Pending events, earliest first, for events that come nearly in their order: most go to the end of the line or a few
/// places before it. Events are large, so the line holds tickets for them.
#[derive(Debug)]
pub(crate) struct Line<E> {
    /// Sorted from `at` on.
    line: Vec<Ticket>,
    /// The first that has not been taken.
    at: usize,
    /// The events of all tickets since the line was empty.
    events: Vec<E>,
    /// The time of the first event; [`Time::MAX`] where there is none.
    pub next: Time,
    heap: BinaryHeap<Entry<E>>,
}

impl<E> Default for Line<E> {
    fn default() -> Self {
        Line { line: Vec::new(), at: 0, events: Vec::new(), next: Time::MAX, heap: BinaryHeap::new() }
    }
}

impl<E: Copy> Line<E> {
    /// Adds an event.
    #[inline]
    pub fn push(&mut self, entry: Entry<E>) {
        let ticket = Ticket { time: entry.time, key: entry.key, event: self.events.len() as u32 };
        self.next = self.next.min(entry.time);
        let mut place = self.line.len();
        let first = self.at.max(place.saturating_sub(STEPS));
        self.line.push(ticket);
        while place > first && self.line[place - 1].rank() > ticket.rank() {
            self.line[place] = self.line[place - 1];
            place -= 1;
        }
        if place == first && place > self.at && self.line[place - 1].rank() > ticket.rank() {
            return self.push_far(place, entry);
        }
        self.line[place] = ticket;
        self.events.push(entry.event);
    }

    /// Adds an event to the heap and closes the gap that was made for it in the line.
    #[cold]
    fn push_far(&mut self, gap: usize, entry: Entry<E>) {
        self.line.remove(gap);
        self.heap.push(entry);
    }

    /// The rank of the earliest event.
    #[inline]
    pub fn first(&self) -> Option<(Time, Key)> {
        let line = self.line.get(self.at).map(|ticket| ticket.rank());
        match self.heap.peek() {
            Some(heap) => Some(line.map_or((heap.time, heap.key), |line| line.min((heap.time, heap.key)))),
            None => line,
        }
    }

    /// Takes the earliest event.
    #[inline]
    pub fn pop(&mut self) -> Option<Entry<E>> {
        let ticket = match self.line.get(self.at) {
            Some(&ticket) if self.heap.is_empty() => ticket,
            _ => return self.pop_either(),
        };
        Some(self.take(ticket))
    }

    /// Takes the earliest event of the line and the heap.
    #[cold]
    fn pop_either(&mut self) -> Option<Entry<E>> {
        let first = self.first()?;
        if let Some(&ticket) = self.line.get(self.at)
            && ticket.rank() == first
        {
            let entry = self.take(ticket);
            self.next = self.first().map_or(Time::MAX, |(time, _)| time);
            return Some(entry);
        }
        let entry = self.heap.pop();
        self.next = self.first().map_or(Time::MAX, |(time, _)| time);
        entry
    }

    /// Takes the first event of the line.
    #[inline]
    fn take(&mut self, Ticket { time, key, event }: Ticket) -> Entry<E> {
        let event = self.events[event as usize];
        self.at += 1;
        self.next = match self.line.get(self.at) {
            Some(next) => next.time,
            None => {
                self.line.clear();
                self.events.clear();
                self.at = 0;
                Time::MAX
            }
        };
        Entry { time, key, event }
    }

    /// All events, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = Entry<E>> {
        let entry = |&Ticket { time, key, event }: &Ticket| Entry { time, key, event: self.events[event as usize] };
        self.line[self.at..].iter().map(entry).chain(self.heap.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
                    prop_assert_eq!(line.first(), Some((expected.time, expected.key)));
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
