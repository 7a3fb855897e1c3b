//! Pending events of a model in groups, with an inbox for each group and window of time.
//!
//! Time is divided into [windows](crate::windows) no longer than the look-ahead, so an event of one group causes events
//! of another group only in later windows. An event of a later window is appended to its group's inbox for that window.
//! A group sorts its inbox for the current window only when the group is processed. Events that it then schedules for
//! itself in the same window go to a [`Line`]. Events beyond the next few windows wait in a [`Queue`].

use crate::key::{Entry, Key};
use crate::line::Line;
use crate::queue::Queue;
use crate::sorting::{Scratch, sort};
use crate::ticket::{Compact, Next, Ticket};
use crate::time::Time;
use crate::windows::Windows;

/// Minimum and maximum number of windows with inboxes, including the current one; both are powers of two.
const SLOTS: (usize, usize) = (8, 64);
/// Initial capacity of an inbox.
const FIRST_ROOM: usize = 16;
/// Value of `turn` while no group is being processed.
const NO_GROUP: usize = usize::MAX;

/// Pending events, earliest first in each group.
#[derive(Debug)]
pub(crate) struct Inboxes<E> {
    /// Group of every target.
    group_of: Vec<u16>,
    groups: usize,
    windows: Windows,
    /// The current window, and its first and last time.
    window: u64,
    span: (Time, Time),
    /// Number of windows with inboxes, minus one: a mask that maps a window's number to its slot.
    last_slot: usize,
    /// Indexed by (slot, group).
    lists: Vec<Vec<Entry<E>>>,
    /// For each slot, a bit for every group whose inbox is not empty.
    filled: Vec<Vec<u64>>,
    /// For each slot, the time of the earliest event, or [`Time::MAX`] without events. For the current window, this
    /// covers only events added or put back since it was opened.
    first: Vec<Time>,
    /// Empty lists for reuse, so that recently read memory is written next.
    spare: Vec<Vec<Entry<E>>>,
    /// The group being processed, or [`NO_GROUP`].
    turn: usize,
    /// The next group to check; the number of groups once the window is done.
    next: usize,
    /// The inbox of the group being processed.
    inbox: Vec<Entry<E>>,
    /// Sorted order of the inbox: each word's low half is an index into it.
    order: Vec<u64>,
    scratch: Scratch,
    /// The first unhandled position in the order.
    at: usize,
    /// The event at that position: its index in the inbox, and its time, which is [`Time::MAX`] at the end.
    first_listed: usize,
    listed: Time,
    /// Events in the current window that the group being processed schedules for itself.
    local: Line<E>,
    /// Events in windows later than those with inboxes.
    far: Queue<E>,
}

impl<E: Compact> Inboxes<E> {
    /// The last time of the current window, which no event has passed.
    pub fn last_time(&self) -> Time {
        self.span.1
    }

    /// Creates empty inboxes with windows no longer than `lookahead`. Most events happen within `reach` after their
    /// causes; the inboxes cover that span unless this needs too many of them.
    pub fn new(group_of: Vec<u16>, groups: usize, lookahead: Time, reach: Time) -> Inboxes<E> {
        let ahead = reach.0.div_ceil(lookahead.0).saturating_add(1).min(SLOTS.1 as u64) as usize;
        let slots = ahead.next_power_of_two().clamp(SLOTS.0, SLOTS.1);
        Inboxes {
            group_of,
            groups,
            windows: Windows::new(lookahead),
            window: 0,
            span: (Time::ZERO, Time::ZERO),
            last_slot: slots - 1,
            lists: (0..groups * slots).map(|_| Vec::new()).collect(),
            filled: vec![vec![0; groups.div_ceil(64)]; slots],
            first: vec![Time::MAX; slots],
            spare: Vec::new(),
            turn: NO_GROUP,
            next: groups,
            inbox: Vec::new(),
            order: Vec::new(),
            scratch: Scratch::default(),
            at: 0,
            first_listed: 0,
            listed: Time::MAX,
            local: Line::default(),
            far: Queue::default(),
        }
    }

    /// Adds an event, which is constructed in place.
    #[inline(always)]
    pub fn push(&mut self, time: Time, key: Key, event: impl FnOnce() -> E) {
        let group = usize::from(self.group_of[key.target() as usize]);
        let window = self.windows.of(time);
        let ahead = window.wrapping_sub(self.window);
        if ahead == 0 && group == self.turn {
            self.push_local(time, key, &event());
        } else if ahead <= self.last_slot as u64 {
            debug_assert!(ahead > 0 || self.turn == NO_GROUP, "an event in the current window for another group");
            self.append(group, self.slot_of(window), time, || Entry { time, key, event: event() });
        } else {
            debug_assert!(window > self.window, "an event in a past window");
            self.push_far(Entry { time, key, event: event() });
        }
    }

    /// Adds a signal, usually for the group being processed and in the current window.
    #[inline(always)]
    pub fn signal(&mut self, time: Time, key: Key, signal: u64) {
        let group = usize::from(self.group_of[key.target() as usize]);
        if group == self.turn && self.windows.of(time) == self.window {
            self.local.add(Ticket::of(time, key, signal));
        } else {
            self.push_signal(time, key, signal);
        }
    }

    #[inline(never)]
    fn push_signal(&mut self, time: Time, key: Key, signal: u64) {
        self.push(time, key, || E::of(signal));
    }

    /// Adds an event in the current window for the group being processed.
    #[inline(never)]
    fn push_local(&mut self, time: Time, key: Key, event: &E) {
        self.local.push(time, key, event);
    }

    /// Adds an event in a window later than those with inboxes.
    #[inline(never)]
    fn push_far(&mut self, entry: Entry<E>) {
        self.far.push(entry.time, entry.key, &entry.event);
    }

    /// Appends an event at `time` to an inbox.
    #[inline(always)]
    fn append(&mut self, group: usize, slot: usize, time: Time, entry: impl FnOnce() -> Entry<E>) {
        self.first[slot] = self.first[slot].min(time);
        let list = &mut self.lists[slot * self.groups + group];
        // An inbox in use usually has spare capacity; an empty inbox has none.
        if list.len() == list.capacity() {
            return self.append_to_full(group, slot, &entry());
        }
        list.push(entry());
    }

    /// Appends an event to a full inbox, or to an empty one, which first gets a spare list.
    #[cold]
    #[inline(never)]
    fn append_to_full(&mut self, group: usize, slot: usize, entry: &Entry<E>) {
        let list = &mut self.lists[slot * self.groups + group];
        match list.len() {
            0 => *list = self.spare.pop().unwrap_or_else(|| Vec::with_capacity(FIRST_ROOM)),
            len => list.reserve(len),
        }
        self.filled[slot][group / 64] |= 1 << (group % 64);
        list.push(*entry);
    }

    /// Returns the next event if it happens no later than `until`: the earliest of the group being processed. If the
    /// group scheduled a large event for itself, the event is appended to `inbox`, the list from [`Inboxes::lend`].
    #[inline(always)]
    pub fn next(&mut self, until: Time, inbox: &mut Vec<Entry<E>>) -> Next {
        loop {
            if self.listed < self.local.next || self.goes_first(inbox) {
                if self.listed <= until {
                    return Next::Listed(self.next_listed(inbox));
                }
            } else if self.local.next <= until
                && let Some(ticket) = self.local.pop()
            {
                return match ticket.signal() {
                    Some(signal) => Next::Signal(ticket.time, ticket.key, signal),
                    None => Next::Listed(self.show_local(&ticket, inbox)),
                };
            }
            std::mem::swap(&mut self.inbox, inbox);
            let has_turn = self.next_turn(until);
            std::mem::swap(&mut self.inbox, inbox);
            if !has_turn {
                return Next::None;
            }
        }
    }

    /// Appends a large local event to the inbox; returns its index there.
    #[inline(never)]
    fn show_local(&mut self, ticket: &Ticket, inbox: &mut Vec<Entry<E>>) -> usize {
        inbox.truncate(self.order.len());
        inbox.push(self.local.store.redeem(ticket));
        self.order.len()
    }

    /// Lends the inbox of the group being processed, so that its events need not be copied.
    pub fn lend(&mut self) -> Vec<Entry<E>> {
        std::mem::take(&mut self.inbox)
    }

    /// Takes the inbox back.
    pub fn take_back(&mut self, inbox: Vec<Entry<E>>) {
        self.inbox = inbox;
    }

    /// Whether the next event of the inbox precedes the local event of the same time, if both exist.
    #[inline]
    fn goes_first(&self, inbox: &[Entry<E>]) -> bool {
        if self.listed != self.local.next {
            return false;
        }
        let listed = inbox.get(self.first_listed).filter(|_| self.at < self.order.len());
        let rank = |entry: &Entry<E>| (entry.time, entry.key);
        listed.map(rank).zip(self.local.first()).is_some_and(|(listed, local)| listed < local)
    }

    /// Advances in the inbox, which holds another event; returns that event's index.
    #[inline(always)]
    fn next_listed(&mut self, inbox: &[Entry<E>]) -> usize {
        let place = self.first_listed;
        self.at += 1;
        self.look_at_next(inbox);
        place
    }

    /// Stores the time of the inbox's next event. Reading it now brings it into the cache before it is handled.
    #[inline]
    fn look_at_next(&mut self, inbox: &[Entry<E>]) {
        self.listed = Time::MAX;
        if let Some(&word) = self.order.get(self.at) {
            self.first_listed = word as u32 as usize;
            self.listed = inbox[self.first_listed].time;
        }
    }

    /// Starts processing the next group, if any group has an event no later than `until`.
    #[inline(never)]
    fn next_turn(&mut self, until: Time) -> bool {
        self.end_turn();
        loop {
            if let Some(group) = self.next_filled() {
                self.begin_turn(group);
                return true;
            }
            self.next = self.groups;
            if self.next_time().is_none_or(|next| next > until) {
                return false;
            }
            self.open_window();
        }
    }

    /// The next group in this window with a nonempty inbox.
    fn next_filled(&self) -> Option<usize> {
        if self.next >= self.groups {
            return None;
        }
        let filled = &self.filled[self.slot()];
        let (word, bit) = (self.next / 64, self.next % 64);
        let rest = filled[word] >> bit << bit;
        let found = |word: usize, bits: u64| word * 64 + bits.trailing_zeros() as usize;
        if rest != 0 {
            return Some(found(word, rest));
        }
        let word = (word + 1..filled.len()).find(|&word| filled[word] != 0)?;
        Some(found(word, filled[word]))
    }

    #[inline]
    fn slot_of(&self, window: u64) -> usize {
        window as usize & self.last_slot
    }

    /// The slot of the current window.
    #[inline]
    fn slot(&self) -> usize {
        self.slot_of(self.window)
    }

    fn begin_turn(&mut self, group: usize) {
        let slot = self.slot();
        (self.turn, self.next, self.at) = (group, group + 1, 0);
        self.filled[slot][group / 64] &= !(1 << (group % 64));
        let inbox = std::mem::take(&mut self.lists[slot * self.groups + group]);
        sort(&inbox, self.span, &mut self.order, &mut self.scratch);
        self.look_at_next(&inbox);
        self.inbox = inbox;
    }

    /// Puts back the events that the group being processed may not handle yet.
    fn end_turn(&mut self) {
        if self.turn == NO_GROUP {
            return;
        }
        let (group, slot) = (std::mem::replace(&mut self.turn, NO_GROUP), self.slot());
        for at in std::mem::take(&mut self.at)..self.order.len() {
            let entry = self.inbox[self.order[at] as u32 as usize];
            self.append(group, slot, entry.time, || entry);
        }
        while let Some(ticket) = self.local.pop() {
            let entry = self.local.store.redeem(&ticket);
            self.append(group, slot, entry.time, || entry);
        }
        self.listed = Time::MAX;
        self.order.clear();
        self.inbox.clear();
        self.spare.push(std::mem::take(&mut self.inbox));
    }

    /// Opens the window of the next event, which may be the same window again. No group is being processed then.
    fn open_window(&mut self) {
        let last = self.window + self.last_slot as u64;
        let next = (self.window..=last).find(|&window| self.first[self.slot_of(window)] < Time::MAX);
        self.window = match next {
            Some(window) => window,
            None => self.far.next_time().map_or(self.window, |time| self.windows.of(time)),
        };
        self.span = (self.windows.start(self.window), self.windows.end(self.window));
        let reach = self.windows.end(self.window + self.last_slot as u64);
        while let Some(Entry { time, key, event }) = self.far.pop_until(reach) {
            self.push(time, key, || event);
        }
        let slot = self.slot();
        (self.next, self.first[slot]) = (0, Time::MAX);
    }

    /// Whether no group is being processed in the current window.
    fn between_turns(&self) -> bool {
        self.turn == NO_GROUP && self.next >= self.groups
    }

    /// The time of the earliest event.
    pub fn next_time(&mut self) -> Option<Time> {
        if !self.between_turns() {
            return self.iter().map(|entry| entry.time).min();
        }
        let near = self.first.iter().min().copied().filter(|&time| time < Time::MAX);
        near.or_else(|| self.far.next_time())
    }

    /// The end of the last window that ends before `time`, if any.
    pub fn last_end_before(&self, time: Time) -> Option<Time> {
        self.windows.of(time).checked_sub(1).map(|window| self.windows.end(window))
    }

    /// Whether no events are pending.
    pub fn is_empty(&self) -> bool {
        match self.between_turns() {
            true => self.first.iter().all(|&time| time == Time::MAX) && self.far.is_empty(),
            false => self.iter().next().is_none(),
        }
    }

    /// All pending events, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = Entry<E>> {
        let listed = self.order[self.at..].iter().map(|&place| &self.inbox[place as u32 as usize]);
        listed.chain(self.lists.iter().flatten()).copied().chain(self.far.iter()).chain(self.local.iter())
    }
}
