//! The event queue: a wheel of short buckets for the near future, and a heap for the rest.
//!
//! Events leave in the order (time, [`Key`]), whatever their order of insertion. The wheel covers [`BUCKETS`] spans of
//! time, starting with the current bucket. The current bucket is kept sorted; later ones are unsorted lists. If very
//! many events fall into the current bucket, only the earliest are sorted, and a heap holds the rest. A bucket
//! initially spans 4 ns. The span shrinks if buckets hold many events and grows if they hold few. Nearly all events of
//! a fabric fall into the wheel, since packets last microseconds at most.

use std::collections::BinaryHeap;

use crate::key::{Entry, Key};
use crate::ticket::{Compact, Store, Ticket};
use crate::time::Time;

/// log2 of a bucket's initial length in picoseconds (4.096 ns).
const FIRST_BITS: u32 = 12;
/// log2 of the shortest (512 ps) and the longest (262 ns) bucket in picoseconds.
const BITS: std::ops::RangeInclusive<u32> = 9..=18;
/// Number of buckets in the wheel.
pub const BUCKETS: usize = 1024;
/// Range of twice the mean number of events in a bucket. Above it buckets are shortened, because their events must be
/// sorted; below it they are lengthened, because each nonempty bucket must be found.
const TWICE_EVENTS: std::ops::RangeInclusive<u64> = 3..=8;
/// Number of buckets between two checks of their mean number of events.
const LOOK_EVERY: u64 = 1024;
const WORDS: usize = BUCKETS / 64;
/// Largest number of sorted events into which another is inserted; moving more would be slower than a heap.
const MOST_SORTED: usize = 256;

/// A pending event in the list of its bucket.
#[derive(Debug)]
struct Node {
    ticket: Ticket,
    /// The next node in the list; [`NONE`] at its end.
    next: u32,
}

/// No node.
const NONE: u32 = u32::MAX;

/// Pending events, earliest first.
#[derive(Debug)]
pub struct Queue<E> {
    /// The current bucket and anything earlier, sorted with the earliest last.
    near: Vec<Ticket>,
    /// Events in the current bucket later than all of `near`.
    crowd: BinaryHeap<Ticket>,
    /// The first node of each following bucket; absolute bucket `b` is at `b mod BUCKETS`.
    wheel: Box<[u32; BUCKETS]>,
    /// One bit per nonempty bucket.
    occupied: [u64; WORDS],
    /// The events in the wheel, and free nodes; the most recently freed are reused first, while they are in the cache.
    nodes: Vec<Node>,
    /// The first free node.
    free: u32,
    /// Absolute number of the current bucket.
    current: u64,
    /// log2 of a bucket's length in picoseconds.
    bits: u32,
    /// Number of buckets used up since the last check, and of events in them.
    seen: (u64, u64),
    /// Number of events in the wheel.
    in_wheel: usize,
    /// Events beyond the wheel.
    far: BinaryHeap<Ticket>,
    pub(crate) store: Store<E>,
}

impl<E: Compact> Default for Queue<E> {
    fn default() -> Self {
        Queue {
            near: Vec::new(),
            crowd: BinaryHeap::new(),
            wheel: Box::new([NONE; BUCKETS]),
            occupied: [0; WORDS],
            nodes: Vec::new(),
            free: NONE,
            current: 0,
            bits: FIRST_BITS,
            seen: (0, 0),
            in_wheel: 0,
            far: BinaryHeap::new(),
            store: Store::default(),
        }
    }
}

impl<E: Compact> Queue<E> {
    /// Number of pending events.
    pub fn len(&self) -> usize {
        self.near.len() + self.crowd.len() + self.in_wheel + self.far.len()
    }

    /// Whether no events are pending.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds an event.
    #[inline(never)]
    pub fn push(&mut self, time: Time, key: Key, event: &E) {
        let ticket = self.store.ticket(time, key, event);
        self.add(ticket);
    }

    /// Adds a ticket.
    #[inline(always)]
    pub(crate) fn add(&mut self, ticket: Ticket) {
        let bucket = ticket.time.0 >> self.bits;
        let ahead = bucket.wrapping_sub(self.current);
        if (1..BUCKETS as u64).contains(&ahead) && self.free != NONE {
            let node = self.free;
            self.free = self.nodes[node as usize].next;
            self.link(bucket, node, ticket);
        } else {
            self.push_elsewhere(bucket, ticket);
        }
    }

    /// Adds an event to the current bucket, beyond the wheel, or to the wheel if there is no free node.
    #[cold]
    #[inline(never)]
    fn push_elsewhere(&mut self, bucket: u64, ticket: Ticket) {
        if bucket <= self.current {
            self.push_near(ticket);
        } else if bucket - self.current >= BUCKETS as u64 {
            self.far.push(ticket);
        } else {
            let node = self.nodes.len() as u32;
            self.nodes.push(Node { ticket, next: NONE });
            self.link(bucket, node, ticket);
        }
    }

    /// Adds an event to the current bucket.
    fn push_near(&mut self, ticket: Ticket) {
        if self.crowd.peek().is_some_and(|first| ticket < *first) {
            return self.crowd.push(ticket);
        }
        let at = self.near.partition_point(|other| *other < ticket);
        self.near.insert(at, ticket);
        if self.near.len() > MOST_SORTED {
            self.crowd.extend(self.near.drain(..self.near.len() - MOST_SORTED / 2));
        }
    }

    /// The time of the earliest event.
    #[inline]
    pub fn next_time(&mut self) -> Option<Time> {
        self.refill();
        self.near.last().map(|e| e.time)
    }

    /// Removes the earliest event if it happens no later than `until`.
    #[inline]
    pub fn pop_until(&mut self, until: Time) -> Option<Entry<E>> {
        let ticket = self.pop_ticket(until)?;
        Some(self.store.redeem(&ticket))
    }

    /// Removes the ticket of the earliest event if it happens no later than `until`.
    #[inline(always)]
    pub(crate) fn pop_ticket(&mut self, until: Time) -> Option<Ticket> {
        self.refill();
        if self.near.last()?.time > until {
            return None;
        }
        self.near.pop()
    }

    /// Removes the earliest event.
    pub fn pop(&mut self) -> Option<Entry<E>> {
        self.pop_until(Time::MAX)
    }

    /// All pending events, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = Entry<E>> {
        let in_wheel = self.wheel.iter().flat_map(|&first| self.list(first));
        let tickets = self.near.iter().chain(&self.crowd).chain(in_wheel).chain(&self.far);
        tickets.map(|ticket| self.store.look_at(ticket))
    }

    /// The events of a list.
    fn list(&self, first: u32) -> impl Iterator<Item = &Ticket> {
        let node = |at: u32| (at != NONE).then(|| &self.nodes[at as usize]);
        std::iter::successors(node(first), move |last| node(last.next)).map(|node| &node.ticket)
    }

    /// Makes a node the first in a bucket's list.
    #[inline]
    fn link(&mut self, bucket: u64, node: u32, ticket: Ticket) {
        let slot = bucket as usize % BUCKETS;
        self.nodes[node as usize] = Node { ticket, next: self.wheel[slot] };
        self.wheel[slot] = node;
        self.occupied[slot / 64] |= 1 << (slot % 64);
        self.in_wheel += 1;
    }

    /// Empties a bucket into the list of the current one.
    #[inline]
    fn take_bucket(&mut self, slot: usize) {
        let first = std::mem::replace(&mut self.wheel[slot], NONE);
        self.occupied[slot / 64] &= !(1 << (slot % 64));
        let mut at = first;
        while let Some(node) = self.nodes.get_mut(at as usize) {
            self.near.push(node.ticket);
            at = node.next;
            if at == NONE {
                node.next = std::mem::replace(&mut self.free, first);
            }
        }
    }

    /// Advances to the next bucket with events when the current one is used up.
    #[inline]
    fn refill(&mut self) {
        if self.near.is_empty() {
            self.advance();
        }
    }

    #[cold]
    #[inline(never)]
    fn advance_empty_wheel(&mut self) -> bool {
        match self.far.peek() {
            Some(first) => {
                self.current = first.time.0 >> self.bits;
                true
            }
            None => false,
        }
    }

    fn advance(&mut self) {
        if !self.crowd.is_empty() {
            return self.take_from_crowd();
        }
        if self.seen.0 >= LOOK_EVERY {
            self.look_at_length();
            if !self.near.is_empty() {
                return;
            }
        }
        if self.in_wheel == 0 {
            if !self.advance_empty_wheel() {
                return;
            }
        } else {
            self.current = self.next_occupied();
        }
        self.take_bucket(self.current as usize % BUCKETS);
        self.in_wheel -= self.near.len();
        self.take_from_far();
        self.seen = (self.seen.0 + 1, self.seen.1 + self.near.len() as u64);
        if self.near.len() > 1 {
            self.near.sort_unstable();
        }
    }

    /// Sorts the next events of a crowded bucket.
    #[cold]
    fn take_from_crowd(&mut self) {
        self.near.extend((0..MOST_SORTED / 2).map_while(|_| self.crowd.pop()));
        self.near.reverse();
    }

    /// Shortens or lengthens buckets that hold too many or too few events; the current one is used up.
    #[cold]
    fn look_at_length(&mut self) {
        let (buckets, events) = std::mem::take(&mut self.seen);
        let bits = match 2 * events / buckets {
            twice if twice > *TWICE_EVENTS.end() => self.bits - 1,
            twice if twice < *TWICE_EVENTS.start() => self.bits + 1,
            _ => return,
        };
        if !BITS.contains(&bits) {
            return;
        }
        let start = self.current << self.bits;
        let tickets: Vec<_> = self.wheel.iter().flat_map(|&first| self.list(first)).copied().collect();
        (self.occupied, self.in_wheel, self.free) = ([0; WORDS], 0, NONE);
        self.wheel.fill(NONE);
        self.nodes.clear();
        (self.bits, self.current) = (bits, start >> bits);
        tickets.into_iter().for_each(|ticket| self.add(ticket));
    }

    /// Absolute number of the first nonempty bucket after the current one; the wheel is not empty.
    fn next_occupied(&self) -> u64 {
        let start = (self.current as usize + 1) % BUCKETS;
        let first = self.occupied[start / 64] >> (start % 64);
        if first != 0 {
            return self.current + 1 + u64::from(first.trailing_zeros());
        }
        let mut distance = 64 - start % 64;
        for step in 1..=WORDS {
            let word = self.occupied[(start / 64 + step) % WORDS];
            if word != 0 {
                return self.current + 1 + distance as u64 + u64::from(word.trailing_zeros());
            }
            distance += 64;
        }
        unreachable!("the wheel holds {} events outside its buckets", self.in_wheel)
    }

    /// Moves events that the wheel now covers from the heap to the wheel.
    fn take_from_far(&mut self) {
        while let Some(ticket) = self.far.peek() {
            let bucket = ticket.time.0 >> self.bits;
            if bucket >= self.current + BUCKETS as u64 {
                break;
            }
            let ticket = self.far.pop().expect("peeked");
            if bucket <= self.current {
                self.near.push(ticket);
            } else {
                self.add(ticket);
            }
        }
    }
}

#[cfg(test)]
mod tests;
