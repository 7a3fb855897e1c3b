//! The run loop.
//!
//! A model may be divided into groups of entities that affect each other no sooner than a look-ahead later. Each group
//! then handles its events of the next look-ahead in one pass before the next group does, so that its data stays in the
//! cache. Every entity sees the same events at the same times in the same order as without groups.

use crate::inboxes::Inboxes;
use crate::key::{Entry, Key};
use crate::queue::Queue;
use crate::ticket::{Compact, Next, Ticket};
use crate::time::Time;

/// A system whose state changes only through events.
pub trait Model {
    /// Type of the events.
    type Event: Compact;

    /// Handles one event at its time, and schedules the resulting events.
    fn handle(&mut self, now: Time, key: Key, event: &Self::Event, agenda: &mut Agenda<Self::Event>);
}

/// The interface through which a model schedules events: the queue, with a check of times.
#[derive(Debug)]
pub struct Agenda<E> {
    pending: Pending<E>,
    now: Time,
    /// The list in which the next event of an ungrouped model is shown.
    shown: Vec<Entry<E>>,
    /// Number of events that are not counted.
    discounted: u64,
    /// The events are handled until they are this many; 0 after a call of [`Agenda::halt`].
    quota: u64,
}

/// The pending events of an ungrouped model, or of one in groups.
// An explicit tag, since reading one from the niche of a field takes longer.
#[derive(Debug)]
#[repr(u8)]
#[expect(clippy::large_enum_variant, reason = "there is one per thread, and a box would add a load per event")]
enum Pending<E> {
    Whole(Queue<E>),
    Groups(Box<Inboxes<E>>),
}

impl<E: Compact> Default for Agenda<E> {
    fn default() -> Self {
        let pending = Pending::Whole(Queue::default());
        Agenda { pending, now: Time::ZERO, shown: Vec::new(), discounted: 0, quota: 0 }
    }
}

impl<E: Compact> Agenda<E> {
    /// Schedules an event at the current time or later.
    #[inline(always)]
    pub fn at(&mut self, time: Time, key: Key, event: E) {
        self.at_with(time, key, || event);
    }

    /// Schedules an event that is constructed in place, so that a large one is not copied.
    #[inline(always)]
    pub fn at_with(&mut self, time: Time, key: Key, event: impl FnOnce() -> E) {
        debug_assert!(time >= self.now, "an event at {time} was scheduled at {}", self.now);
        match &mut self.pending {
            Pending::Whole(queue) => queue.push(time, key, &event()),
            Pending::Groups(inboxes) => inboxes.push(time, key, event),
        }
    }

    /// Schedules an event that consists only of a signal.
    #[inline(always)]
    pub fn signal(&mut self, time: Time, key: Key, signal: u64) {
        debug_assert!(time >= self.now, "an event at {time} was scheduled at {}", self.now);
        match &mut self.pending {
            Pending::Whole(queue) => queue.add(Ticket::of(time, key, signal)),
            Pending::Groups(inboxes) => inboxes.signal(time, key, signal),
        }
    }

    /// Excludes the current event from the count, since it was cancelled.
    pub fn discount(&mut self) {
        self.discounted += 1;
    }

    /// Ends [`Simulator::run_to_halt`] after the current event.
    pub fn halt(&mut self) {
        self.quota = 0;
    }

    /// Makes one group of all groups, so that events are handled in the order of their times.
    pub fn unite(&mut self) {
        if let Pending::Groups(inboxes) = &self.pending {
            let mut queue = Queue::default();
            inboxes.iter().for_each(|Entry { time, key, event }| queue.push(time, key, &event));
            self.pending = Pending::Whole(queue);
        }
    }

    /// Divides the model into groups: `group_of` is the group of every target. Events for another group must happen at
    /// least `lookahead` after their causes. Most events happen within `reach` after their causes; `reach` affects only
    /// the speed of a run. Must be called before anything is scheduled.
    ///
    /// # Panics
    /// If the look-ahead is zero, or something is scheduled.
    pub fn split(&mut self, group_of: Vec<u16>, lookahead: Time, reach: Time) {
        let groups = group_of.iter().max().map_or(1, |&last| usize::from(last) + 1);
        assert!(lookahead > Time::ZERO && self.is_empty());
        if groups > 1 {
            self.pending = Pending::Groups(Box::new(Inboxes::new(group_of, groups, lookahead, reach)));
        }
    }

    /// Returns the next event if it happens no later than `until`: the earliest, or the next one of the group being
    /// processed. A large event is shown in the list from [`Agenda::lend`].
    #[inline(always)]
    fn next(&mut self, until: Time, shown: &mut Vec<Entry<E>>) -> Next {
        let queue = match &mut self.pending {
            Pending::Whole(queue) => queue,
            Pending::Groups(inboxes) => return inboxes.next(until, shown),
        };
        let Some(ticket) = queue.pop_ticket(until) else { return Next::None };
        if let Some(signal) = ticket.signal() {
            return Next::Signal(ticket.time, ticket.key, signal);
        }
        shown.clear();
        shown.push(queue.store.redeem(&ticket));
        Next::Listed(0)
    }

    /// Lends the list in which events are shown, so that a model can schedule others while it reads one.
    fn lend(&mut self) -> Vec<Entry<E>> {
        match &mut self.pending {
            Pending::Whole(_) => std::mem::take(&mut self.shown),
            Pending::Groups(inboxes) => inboxes.lend(),
        }
    }

    fn take_back(&mut self, shown: Vec<Entry<E>>) {
        match &mut self.pending {
            Pending::Whole(_) => self.shown = shown,
            Pending::Groups(inboxes) => inboxes.take_back(shown),
        }
    }

    fn is_empty(&self) -> bool {
        match &self.pending {
            Pending::Whole(queue) => queue.is_empty(),
            Pending::Groups(inboxes) => inboxes.is_empty(),
        }
    }

    /// The time of the next event.
    pub fn next_time(&mut self) -> Option<Time> {
        match &mut self.pending {
            Pending::Whole(queue) => queue.next_time(),
            Pending::Groups(inboxes) => inboxes.next_time(),
        }
    }

    /// The latest time in `from..before` at which a window ends, so that no group is in the middle of it; the last time
    /// if there is none.
    pub(crate) fn stop_before(&self, before: Time, from: Time) -> Time {
        let end = match &self.pending {
            Pending::Whole(_) => None,
            Pending::Groups(inboxes) => inboxes.last_end_before(before),
        };
        end.filter(|&end| end >= from).unwrap_or(Time(before.0 - 1))
    }

    /// A time that no event has passed so far.
    pub(crate) fn reached(&self) -> Time {
        match &self.pending {
            Pending::Whole(_) => self.now,
            Pending::Groups(inboxes) => self.now.max(inboxes.last_time()),
        }
    }

    /// All pending events, in no particular order.
    pub fn pending(&self) -> impl Iterator<Item = Entry<E>> {
        let (queue, inboxes) = match &self.pending {
            Pending::Whole(queue) => (Some(queue), None),
            Pending::Groups(inboxes) => (None, Some(inboxes)),
        };
        let whole = queue.into_iter().flat_map(Queue::iter);
        whole.chain(inboxes.into_iter().flat_map(|inboxes| inboxes.iter()))
    }
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The run reached the requested time; all events up to and including that time have happened.
    Time,
    /// No events are pending.
    Idle,
    /// The requested number of events has been handled.
    Events,
    /// The model called [`Agenda::halt`], or the parts have all closed; see [`crate::Parts::halt_at_close`].
    Halt,
}

/// A model, its agenda and its clock.
#[derive(Debug)]
pub struct Simulator<M: Model> {
    /// The model.
    pub model: M,
    /// The pending events.
    pub agenda: Agenda<M::Event>,
    events: u64,
}

impl<M: Model> Simulator<M> {
    /// A simulator at time zero without pending events.
    pub fn new(model: M) -> Self {
        Simulator { model, agenda: Agenda::default(), events: 0 }
    }

    /// The current time.
    pub fn now(&self) -> Time {
        self.agenda.now
    }

    /// Number of events handled so far, without cancelled ones.
    pub fn events(&self) -> u64 {
        self.events - self.agenda.discounted
    }

    /// Adds to the count the events of another simulator that is now part of this one.
    pub fn count_events(&mut self, events: u64) {
        self.events += events;
    }

    /// Handles events up to and including `until`, at most `max_events` of them.
    ///
    /// On [`Stop::Time`] and [`Stop::Idle`] the clock is set to `until`, except that an idle run without a bound
    /// (`until` is [`Time::MAX`]) keeps the time of its last event. For an interruptible run, call this in a loop with
    /// small limits.
    pub fn run(&mut self, until: Time, max_events: u64) -> Stop {
        let end = self.events.saturating_add(max_events);
        loop {
            match self.run_to_halt(until, end - self.events) {
                Stop::Halt => {}
                stop => return stop,
            }
        }
    }

    /// As [`Simulator::run`], but ends with [`Stop::Halt`] after an event that calls [`Agenda::halt`].
    pub fn run_to_halt(&mut self, until: Time, max_events: u64) -> Stop {
        let mut shown = self.agenda.lend();
        self.agenda.quota = self.events.saturating_add(max_events);
        let done = self.handle_next(until, &mut shown);
        self.agenda.take_back(shown);
        if done {
            return if self.agenda.quota == 0 && max_events > 0 { Stop::Halt } else { Stop::Events };
        }
        let idle = self.agenda.is_empty();
        if until != Time::MAX {
            self.agenda.now = self.agenda.now.max(until);
        }
        if idle { Stop::Idle } else { Stop::Time }
    }

    /// Handles events up to the agenda's quota; returns whether there were that many up to and including `until`.
    fn handle_next(&mut self, until: Time, shown: &mut Vec<Entry<M::Event>>) -> bool {
        while self.events < self.agenda.quota {
            match self.agenda.next(until, shown) {
                Next::Listed(place) => {
                    let &Entry { time, key, ref event } = &shown[place];
                    self.agenda.now = time;
                    self.events += 1;
                    self.model.handle(time, key, event, &mut self.agenda);
                }
                Next::Signal(time, key, signal) => {
                    self.agenda.now = time;
                    self.events += 1;
                    self.model.handle(time, key, &M::Event::of(signal), &mut self.agenda);
                }
                Next::None => return false,
            }
        }
        true
    }

    /// Handles all events up to and including `until`.
    pub fn run_until(&mut self, until: Time) -> Stop {
        self.run(until, u64::MAX)
    }

    /// Handles events until none is pending.
    pub fn run_until_idle(&mut self) -> Stop {
        self.run(Time::MAX, u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ticks every microsecond up to a number of ticks.
    struct Clock {
        ticks: u32,
        last: u32,
    }

    impl Model for Clock {
        type Event = ();
        fn handle(&mut self, now: Time, key: Key, (): &(), agenda: &mut Agenda<()>) {
            self.ticks += 1;
            if self.ticks < self.last {
                agenda.at(now + Time::from_us(1), key, ());
            }
        }
    }

    fn clock(last: u32) -> Simulator<Clock> {
        let mut simulator = Simulator::new(Clock { ticks: 0, last });
        simulator.agenda.at(Time::from_us(1), Key::new(0, 0, 0, 0), ());
        simulator
    }

    #[test]
    fn stops_at_a_time_inclusive() {
        let mut simulator = clock(10);
        assert_eq!(simulator.run_until(Time::from_us(3)), Stop::Time);
        assert_eq!((simulator.model.ticks, simulator.now()), (3, Time::from_us(3)));
    }

    #[test]
    fn stops_when_idle_and_after_a_number_of_events() {
        let mut simulator = clock(10);
        assert_eq!(simulator.run(Time::MAX, 4), Stop::Events);
        assert_eq!((simulator.model.ticks, simulator.events()), (4, 4));
        assert_eq!(simulator.run_until_idle(), Stop::Idle);
        assert_eq!((simulator.model.ticks, simulator.now()), (10, Time::from_us(10)));
        assert_eq!(simulator.run_until(Time::from_us(50)), Stop::Idle);
        assert_eq!(simulator.now(), Time::from_us(50));
    }
}
