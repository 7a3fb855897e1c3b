//! Tickets for pending events: a ticket contains a signal, or refers to a larger event in a store.

use std::cmp::Ordering;

use crate::key::{Entry, Key, rank};
use crate::time::Time;

/// An event that may consist only of a signal, one word, which is cheap to copy and move while events are sorted.
pub trait Compact: Copy {
    /// The signal, if the event consists only of one; its highest bit is 0.
    fn signal(&self) -> Option<u64>;

    /// The event that consists only of this signal.
    fn of(signal: u64) -> Self;
}

impl Compact for () {
    fn signal(&self) -> Option<u64> {
        Some(0)
    }

    fn of(_: u64) {}
}

/// The next event, as returned to the run loop.
pub(crate) enum Next {
    /// The event at this index in the lent list.
    Listed(usize),
    /// A signal, with its time and rank.
    Signal(Time, Key, u64),
    /// No event is due.
    None,
}

/// Bit that marks a word as the index of an event in the store.
const STORED: u64 = 1 << 63;

/// A sortable reference to a pending event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticket {
    pub time: Time,
    pub key: Key,
    /// A signal, or an index into the store.
    pub word: u64,
}

impl Ticket {
    /// The ticket of a signal.
    #[inline(always)]
    pub fn of(time: Time, key: Key, signal: u64) -> Ticket {
        Ticket { time, key, word: signal }
    }

    #[inline(always)]
    pub fn rank(&self) -> u128 {
        rank(self.time, self.key)
    }

    /// The signal, if the ticket contains one.
    #[inline(always)]
    pub fn signal(&self) -> Option<u64> {
        (self.word & STORED == 0).then_some(self.word)
    }
}

impl PartialEq for Ticket {
    fn eq(&self, other: &Self) -> bool {
        self.rank() == other.rank()
    }
}
impl Eq for Ticket {}
impl PartialOrd for Ticket {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Ticket {
    /// Reversed, like the order of an [`Entry`].
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        other.rank().cmp(&self.rank())
    }
}

/// The events of tickets without a signal. The most recently freed entries are reused first, while they are in the
/// cache.
#[derive(Debug)]
pub(crate) struct Store<E> {
    places: Vec<E>,
    free: Vec<u32>,
}

impl<E> Default for Store<E> {
    fn default() -> Self {
        Store { places: Vec::new(), free: Vec::new() }
    }
}

impl<E: Compact> Store<E> {
    /// Creates a ticket for an event.
    #[inline(always)]
    pub fn ticket(&mut self, time: Time, key: Key, event: &E) -> Ticket {
        let word = match event.signal() {
            Some(signal) => signal,
            None => STORED | u64::from(self.put(event)),
        };
        Ticket { time, key, word }
    }

    #[inline]
    fn put(&mut self, event: &E) -> u32 {
        match self.free.pop() {
            Some(place) => {
                self.places[place as usize] = *event;
                place
            }
            None => {
                self.places.push(*event);
                self.places.len() as u32 - 1
            }
        }
    }

    /// Returns the entry of a ticket and frees its slot.
    #[inline(always)]
    pub fn redeem(&mut self, ticket: &Ticket) -> Entry<E> {
        if ticket.signal().is_none() {
            self.free.push(ticket.word as u32);
        }
        self.look_at(ticket)
    }

    /// Returns the entry of a ticket without freeing its slot.
    #[inline(always)]
    pub fn look_at(&self, ticket: &Ticket) -> Entry<E> {
        let event = match ticket.signal() {
            Some(signal) => E::of(signal),
            None => self.places[ticket.word as u32 as usize],
        };
        Entry { time: ticket.time, key: ticket.key, event }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_that_are_no_signals_use_places_again() {
        let mut store = Store::default();
        let mut ticket = |event: u64| store.ticket(Time(event), Key::new(0, 0, 0, 0), &event);
        let tickets = [1, 2, 3].map(&mut ticket);
        assert_eq!(tickets.map(|ticket| ticket.signal()), [None, Some(1), None]);
        assert_eq!(tickets.map(|ticket| store.redeem(&ticket).event), [1, 2, 3]);
        let again = [5, 7].map(|event| store.ticket(Time(event), Key::new(0, 0, 0, 0), &event));
        assert_eq!((store.places.len(), again.map(|ticket| store.look_at(&ticket).event)), (2, [5, 7]));
    }

    /// Even numbers are signals; odd ones are stored.
    macro_rules! numbers {
        ($($number:ty),*) => {
            $(impl Compact for $number {
                fn signal(&self) -> Option<u64> {
                    self.is_multiple_of(2).then_some(*self as u64 / 2)
                }
                fn of(signal: u64) -> $number {
                    signal as $number * 2
                }
            })*
        };
    }
    numbers!(u64, usize);
}
