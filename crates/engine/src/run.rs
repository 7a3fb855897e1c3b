//! The run loop.
//!
//! A model may be cut into groups of entities that tell each other nothing but what happens at least a look-ahead later.
//! Then each group handles its events of the next look-ahead in one go before the next group has its turn: what one
//! group needs stays in the cache. Every entity sees the same events at the same times in the same order as it would
//! without groups.

use crate::key::{Entry, Key};
use crate::queue::Queue;
use crate::time::Time;

/// A system that changes only by events.
pub trait Model {
    /// What can happen; small, since it is copied through the queue.
    type Event: Copy;

    /// Handles one event at its time, and schedules what follows from it.
    fn handle(&mut self, now: Time, key: Key, event: Self::Event, agenda: &mut Agenda<Self::Event>);
}

/// Where a model schedules its events: the queue behind a guard on time.
#[derive(Debug)]
pub struct Agenda<E: Copy> {
    /// One for each group.
    queues: Vec<Queue<E>>,
    /// The group of every target; empty where there is one group.
    group_of: Vec<u16>,
    lookahead: Time,
    /// The group that has its turn.
    turn: usize,
    /// All groups may handle what happens up to this time.
    horizon: Time,
    now: Time,
}

impl<E: Copy> Default for Agenda<E> {
    fn default() -> Self {
        Agenda {
            queues: vec![Queue::default()],
            group_of: Vec::new(),
            lookahead: Time::MAX,
            turn: 0,
            horizon: Time::MAX,
            now: Time::ZERO,
        }
    }
}

impl<E: Copy> Agenda<E> {
    /// Schedules an event, now or later.
    #[inline]
    pub fn at(&mut self, time: Time, key: Key, event: E) {
        debug_assert!(time >= self.now, "an event at {time} was scheduled at {}", self.now);
        let group = if self.group_of.is_empty() { 0 } else { usize::from(self.group_of[key.target() as usize]) };
        debug_assert!(group == self.turn || time > self.horizon || self.is_at_an_end(), "too soon for a group");
        self.queues[group].push(time, key, event);
    }

    /// Cuts the model into groups: `group_of` names that of every target, and events for another group happen at least
    /// `lookahead` after those that cause them. To be called before anything is scheduled.
    ///
    /// # Panics
    /// If there is no look-ahead, or something is scheduled.
    pub fn split(&mut self, group_of: Vec<u16>, lookahead: Time) {
        let groups = group_of.iter().max().map_or(1, |&last| usize::from(last) + 1);
        assert!(lookahead > Time::ZERO && self.is_empty());
        if groups > 1 {
            self.queues = (0..groups).map(|_| Queue::default()).collect();
            (self.group_of, self.lookahead, self.horizon) = (group_of, lookahead, Time::ZERO);
        }
    }

    /// Takes the next event if it happens at `until` or before: the earliest of the group that has its turn.
    #[inline]
    fn pop_until(&mut self, until: Time) -> Option<Entry<E>> {
        loop {
            let entry = self.queues[self.turn].pop_until(self.horizon.min(until));
            if entry.is_some() || !self.next_turn(until) {
                return entry;
            }
        }
    }

    /// Gives the next group its turn, if any group has something to handle by `until`.
    fn next_turn(&mut self, until: Time) -> bool {
        if self.group_of.is_empty() {
            return false;
        }
        self.turn += 1;
        if self.turn < self.queues.len() {
            return true;
        }
        let next = self.next_time().filter(|&next| next <= until);
        self.turn = 0;
        self.horizon = match next {
            Some(next) => Time(next.saturating_add(self.lookahead).0 - 1),
            // What comes next may come from outside, at any time after this.
            None => until,
        };
        next.is_some()
    }

    /// Nothing has happened yet, or there is one group, which may handle everything.
    fn is_at_an_end(&self) -> bool {
        self.horizon == Time::ZERO || self.horizon == Time::MAX
    }

    fn is_empty(&self) -> bool {
        self.queues.iter().all(Queue::is_empty)
    }

    /// The time of the next event.
    pub fn next_time(&mut self) -> Option<Time> {
        self.queues.iter_mut().filter_map(Queue::next_time).min()
    }

    /// All pending events, in no particular order.
    pub fn pending(&self) -> impl Iterator<Item = &Entry<E>> {
        self.queues.iter().flat_map(Queue::iter)
    }
}

/// Why a run came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The time that was asked for; all events up to and including it have happened.
    Time,
    /// Nothing is pending any more.
    Idle,
    /// The number of events that was asked for.
    Events,
}

/// A model, its agenda and its clock.
#[derive(Debug)]
pub struct Simulator<M: Model> {
    /// The model.
    pub model: M,
    /// What is pending.
    pub agenda: Agenda<M::Event>,
    events: u64,
}

impl<M: Model> Simulator<M> {
    /// A simulator at time zero with nothing pending.
    pub fn new(model: M) -> Self {
        Simulator { model, agenda: Agenda::default(), events: 0 }
    }

    /// The current time.
    pub fn now(&self) -> Time {
        self.agenda.now
    }

    /// Events handled so far.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Adds events that another simulator, now part of this one, has handled.
    pub fn count_events(&mut self, events: u64) {
        self.events += events;
    }

    /// Handles events up to and including `until`, at most `max_events` of them.
    ///
    /// On [`Stop::Time`] and [`Stop::Idle`] the clock stands at `until`, except that an idle run without a bound
    /// (`until` is [`Time::MAX`]) keeps the time of its last event. An interruptible run is a loop over short ones.
    pub fn run(&mut self, until: Time, max_events: u64) -> Stop {
        for _ in 0..max_events {
            let Some(entry) = self.agenda.pop_until(until) else {
                let idle = self.agenda.is_empty();
                if until != Time::MAX {
                    self.agenda.now = self.agenda.now.max(until);
                }
                return if idle { Stop::Idle } else { Stop::Time };
            };
            self.agenda.now = entry.time;
            self.events += 1;
            self.model.handle(entry.time, entry.key, entry.event, &mut self.agenda);
        }
        Stop::Events
    }

    /// Handles all events up to and including `until`.
    pub fn run_until(&mut self, until: Time) -> Stop {
        self.run(until, u64::MAX)
    }

    /// Handles events until nothing is pending.
    pub fn run_until_idle(&mut self) -> Stop {
        self.run(Time::MAX, u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ticks every microsecond until a number of ticks is reached.
    struct Clock {
        ticks: u32,
        last: u32,
    }

    impl Model for Clock {
        type Event = ();
        fn handle(&mut self, now: Time, key: Key, (): (), agenda: &mut Agenda<()>) {
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
