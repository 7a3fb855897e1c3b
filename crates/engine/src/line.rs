//! A short, sorted line of pending events.

use std::collections::BinaryHeap;

use crate::key::{Entry, Key};
use crate::ticket::{Compact, Store, Ticket};
use crate::time::Time;

/// Maximum number of positions that an event moves forward in a row; events that would move further go to a heap.
const STEPS: usize = 8;

/// Sorted tickets.
#[derive(Debug)]
struct Row {
    /// Sorted from `at` onwards.
    tickets: Vec<Ticket>,
    /// Index of the first ticket not yet taken.
    at: usize,
    /// Time of that ticket; [`Time::MAX`] without tickets.
    next: Time,
}

impl Default for Row {
    fn default() -> Self {
        Row { tickets: Vec::new(), at: 0, next: Time::MAX }
    }
}

impl Row {
    #[inline]
    fn first(&self) -> Option<Ticket> {
        self.tickets.get(self.at).copied()
    }

    /// Whether a ticket comes after all others.
    #[inline(always)]
    fn ends_before(&self, ticket: &Ticket) -> bool {
        self.tickets.last().is_none_or(|last| last.rank() <= ticket.rank())
    }

    /// Adds a ticket if it comes after all others and fits within the capacity.
    #[inline(always)]
    fn append(&mut self, ticket: Ticket) -> bool {
        let fits = self.tickets.len() < self.tickets.capacity() && self.ends_before(&ticket);
        if fits {
            self.push(ticket);
        }
        fits
    }

    /// Adds a ticket that comes after all others.
    #[inline(always)]
    fn push(&mut self, ticket: Ticket) {
        if self.tickets.is_empty() {
            self.next = ticket.time;
        }
        self.tickets.push(ticket);
    }

    /// Inserts a ticket if its position is at most [`STEPS`] places before the end.
    fn insert(&mut self, ticket: Ticket) -> bool {
        let mut place = self.tickets.len();
        let first = self.at.max(place.saturating_sub(STEPS));
        while place > first && self.tickets[place - 1].rank() > ticket.rank() {
            place -= 1;
        }
        if place == first && place > self.at && self.tickets[place - 1].rank() > ticket.rank() {
            return false;
        }
        self.tickets.insert(place, ticket);
        self.next = self.tickets[self.at].time;
        true
    }

    /// Advances to the next ticket.
    #[inline]
    fn advance(&mut self) {
        self.at += 1;
        self.next = match self.tickets.get(self.at) {
            Some(next) => next.time,
            None => {
                self.tickets.clear();
                self.at = 0;
                Time::MAX
            }
        };
    }
}

/// Pending events, earliest first, for events that are added almost in order. Most are appended to one of two rows, for
/// example if the ends of long and of short packets are events.
#[derive(Debug)]
pub(crate) struct Line<E> {
    rows: [Row; 2],
    /// Events that would have to move too far forward.
    heap: BinaryHeap<Ticket>,
    /// Time of the first event; [`Time::MAX`] without events.
    pub next: Time,
    pub store: Store<E>,
}

impl<E> Default for Line<E> {
    fn default() -> Self {
        let rows = [Row::default(), Row::default()];
        Line { rows, heap: BinaryHeap::new(), next: Time::MAX, store: Store::default() }
    }
}

impl<E: Compact> Line<E> {
    /// Adds an event.
    pub fn push(&mut self, time: Time, key: Key, event: &E) {
        let ticket = self.store.ticket(time, key, event);
        self.add(ticket);
    }

    /// Adds a ticket.
    #[inline(always)]
    pub fn add(&mut self, ticket: Ticket) {
        self.next = self.next.min(ticket.time);
        let [long, short] = &mut self.rows;
        if !long.append(ticket) && !short.append(ticket) {
            self.squeeze_in(ticket);
        }
    }

    /// Adds an event that precedes the last events of both rows, or for which neither row has capacity.
    #[inline(never)]
    fn squeeze_in(&mut self, ticket: Ticket) {
        if let Some(row) = self.rows.iter_mut().find(|row| row.ends_before(&ticket)) {
            row.push(ticket);
        } else if !self.rows[1].insert(ticket) {
            self.heap.push(ticket);
        }
    }

    /// The row with the earlier first ticket.
    #[inline]
    fn first_row(&self) -> usize {
        let [long, short] = &self.rows;
        let is_short = match short.next == long.next {
            true => short.first().is_some_and(|short| long.first().is_none_or(|long| short.rank() < long.rank())),
            false => short.next < long.next,
        };
        usize::from(is_short)
    }

    /// The rank of the earliest event.
    #[inline]
    pub fn first(&self) -> Option<(Time, Key)> {
        let row = self.rows[self.first_row()].first().map(|ticket| (ticket.time, ticket.key));
        match self.heap.peek() {
            Some(heap) => Some(row.map_or((heap.time, heap.key), |row| row.min((heap.time, heap.key)))),
            None => row,
        }
    }

    /// Removes the earliest event.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<Ticket> {
        if !self.heap.is_empty() {
            self.take_from_heap();
        }
        let row = &mut self.rows[self.first_row()];
        let &Ticket { time, key, word } = row.tickets.get(row.at)?;
        row.advance();
        self.next = self.rows[0].next.min(self.rows[1].next);
        if !self.heap.is_empty() {
            self.next = self.first().map_or(Time::MAX, |(time, _)| time);
        }
        Some(Ticket { time, key, word })
    }

    /// Moves the first ticket of the heap to the front of a row, if it is the earliest of all.
    #[cold]
    #[inline(never)]
    fn take_from_heap(&mut self) {
        let row = &mut self.rows[self.first_row()];
        let comes_first = |first: Ticket| self.heap.peek().is_some_and(|heap| heap.rank() < first.rank());
        if row.first().is_none_or(comes_first)
            && let Some(ticket) = self.heap.pop()
        {
            row.tickets.insert(row.at, ticket);
            row.next = ticket.time;
        }
    }

    /// All events, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = Entry<E>> {
        let tickets = self.rows.iter().flat_map(|row| &row.tickets[row.at..]);
        tickets.chain(&self.heap).map(|ticket| self.store.look_at(ticket))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pop(line: &mut Line<usize>) -> Option<usize> {
        let ticket = line.pop()?;
        Some(line.store.redeem(&ticket).event)
    }

    proptest! {
        #[test]
        fn entries_leave_in_their_order(steps in prop::collection::vec((0u64..40, 0u32..3), 1..200)) {
            let (mut line, mut reference, mut now) = (Line::default(), BinaryHeap::new(), 0);
            for (i, (ahead, pops)) in steps.into_iter().enumerate() {
                let entry = Entry { time: Time(now + ahead), key: Key::new(0, 0, i as u64, 0), event: i };
                line.push(entry.time, entry.key, &entry.event);
                reference.push(entry);
                prop_assert_eq!(line.iter().count(), reference.len());
                for _ in 0..pops {
                    let Some(expected) = reference.pop() else { break };
                    prop_assert_eq!(line.first(), Some((expected.time, expected.key)));
                    prop_assert_eq!(line.next, expected.time);
                    prop_assert_eq!(pop(&mut line), Some(expected.event));
                    now = expected.time.0;
                }
            }
            while let Some(expected) = reference.pop() {
                prop_assert_eq!(pop(&mut line), Some(expected.event));
            }
            prop_assert!(line.first().is_none() && line.next == Time::MAX);
        }
    }
}
