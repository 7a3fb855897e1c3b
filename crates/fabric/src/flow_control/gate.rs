//! The gate, which is the sender's end of priority-based flow control. It is open or closed for one virtual lane.
//!
//! As with credit, a change needs an event only if the sender waits for it.

use std::collections::VecDeque;

use becalm_engine::Time;

/// Indicates that the sender does not wait for a call.
const NO_CALL: Time = Time::ZERO;
/// Indicates that the sender waits while no opening is on its way. The next opening calls it.
const WANTED: Time = Time::MAX;

/// A sender's gate for one virtual lane of the link.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    open: bool,
    /// Changes on their way, in the order of arrival at the sender.
    changes: VecDeque<(Time, bool)>,
    /// Time at which an event calls the sender, [`NO_CALL`] or [`WANTED`].
    call: Time,
    /// Whether the sender ignores pauses.
    forced: bool,
    /// Changes since the last poll of a watchdog, if there is one.
    history: Option<Box<History>>,
}

/// The changes of a gate that a watchdog has not polled yet.
#[derive(Clone, Debug)]
struct History {
    /// Whether the gate was closed at the last poll.
    closed: bool,
    changes: VecDeque<(Time, bool)>,
}

/// What a watchdog finds at a gate between two polls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Polled {
    /// Time for which the gate was closed.
    pub paused: Time,
    /// Whether it was closed at the last poll, and is closed now.
    pub was_paused: bool,
    pub is_paused: bool,
    /// Whether it opened in between.
    pub resumed: bool,
    /// Whether a pause frame came: at a change, or because it was closed. Pauses are repeated as long as they last.
    pub seen: bool,
}

impl Gate {
    /// An open gate.
    pub fn new() -> Gate {
        Gate { open: true, changes: VecDeque::new(), call: NO_CALL, forced: false, history: None }
    }

    /// Whether the sender may begin a packet now.
    #[inline]
    pub fn is_open(&self, now: Time) -> bool {
        if self.forced {
            return true;
        }
        if self.changes.is_empty() {
            return self.open;
        }
        let arrived = self.changes.iter().take_while(|(time, _)| *time <= now);
        arrived.last().map_or(self.open, |&(_, open)| open)
    }

    /// Records that the sender finds the gate closed. Returns when to call it, if an opening is already on
    /// its way.
    pub fn wait(&mut self, now: Time) -> Option<Time> {
        if self.call != NO_CALL {
            return None;
        }
        let next = self.changes.iter().find(|&&(time, open)| open && time > now).map(|&(time, _)| time);
        self.call = next.unwrap_or(WANTED);
        next
    }

    /// Changes the gate at `time`, after all earlier changes. The sender's clock has passed `past`. Returns
    /// whether to call the sender at `time`.
    pub fn change(&mut self, open: bool, time: Time, past: Time) -> bool {
        while let Some(&(arrival, state)) = self.changes.front()
            && arrival <= past
        {
            self.open = state;
            self.changes.pop_front();
        }
        debug_assert!(self.changes.back().is_none_or(|&(last, _)| last <= time), "changes come in order");
        self.changes.push_back((time, open));
        if let Some(history) = &mut self.history {
            history.changes.push_back((time, open));
        }
        let call = open && self.call == WANTED;
        if call {
            self.call = time;
        }
        call
    }

    /// Lets a watchdog poll the gate from now on.
    pub fn watch(&mut self) {
        self.history = Some(Box::new(History { closed: !self.open, changes: VecDeque::new() }));
    }

    /// Begins or ends a time in which the sender ignores pauses.
    pub fn force(&mut self, forced: bool) {
        self.forced = forced;
    }

    /// What has happened since the last poll, at `last`.
    pub fn poll(&mut self, last: Time, now: Time) -> Polled {
        let Some(history) = &mut self.history else { return Polled::default() };
        let mut polled = Polled { was_paused: history.closed, seen: history.closed, ..Polled::default() };
        let mut from = last;
        while let Some(&(time, open)) = history.changes.front()
            && time <= now
        {
            history.changes.pop_front();
            if history.closed {
                polled.paused += time.since(from);
            }
            (polled.seen, polled.resumed) = (true, polled.resumed || (open && history.closed));
            (history.closed, from) = (!open, time);
        }
        if history.closed {
            polled.paused += now.since(from);
        }
        polled.is_paused = history.closed;
        polled
    }

    /// Records that the sender has been called. Returns whether this is the call that it waits for.
    pub fn called(&mut self, now: Time) -> bool {
        let due = self.call == now;
        if due {
            self.call = NO_CALL;
        }
        due
    }

    /// Whether the sender will find the gate closed after all changes on their way.
    pub fn stays_closed(&self) -> bool {
        !self.forced && !self.will_be_open()
    }

    /// Whether the gate will be open after all changes on their way.
    pub fn will_be_open(&self) -> bool {
        self.changes.back().map_or(self.open, |&(_, open)| open)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_count_from_their_time_on() {
        let mut gate = Gate::new();
        assert!(gate.is_open(Time(0)));
        assert!(!gate.change(false, Time(10), Time(0)));
        assert!(!gate.change(true, Time(20), Time(0)));
        assert!(gate.is_open(Time(9)) && !gate.is_open(Time(10)) && !gate.is_open(Time(19)) && gate.is_open(Time(20)));
        assert!(gate.will_be_open());
        gate.change(false, Time(30), Time(25));
        assert!(gate.is_open(Time(26)) && !gate.will_be_open(), "past changes are merged into the state");
        assert_eq!(gate.changes.len(), 1);
    }

    #[test]
    fn a_poll_sees_what_has_happened_since_the_last() {
        let mut gate = Gate::new();
        gate.watch();
        assert_eq!(gate.poll(Time(0), Time(10)), Polled::default());
        [(false, 15), (true, 18), (false, 19), (true, 45)].iter().for_each(|&(open, time)| {
            gate.change(open, Time(time), Time(12));
        });
        let first = gate.poll(Time(10), Time(20));
        let paused = Polled { paused: Time(4), is_paused: true, resumed: true, seen: true, was_paused: false };
        assert_eq!(first, paused);
        let paused = Polled { paused: Time(20), was_paused: true, is_paused: true, resumed: false, seen: true };
        assert_eq!(gate.poll(Time(20), Time(40)), paused);
        let last = gate.poll(Time(40), Time(60));
        assert_eq!((last.paused, last.resumed, last.is_paused), (Time(5), true, false));
        assert!(!gate.poll(Time(60), Time(80)).seen);
    }

    #[test]
    fn only_a_sender_that_waits_is_called_and_once() {
        let mut gate = Gate::new();
        gate.change(false, Time(5), Time(0));
        assert_eq!(gate.wait(Time(6)), None, "no opening is on its way");
        assert!(gate.change(true, Time(9), Time(0)));
        assert!(!gate.change(false, Time(11), Time(0)) && !gate.change(true, Time(14), Time(0)));
        assert!(gate.called(Time(9)) && !gate.called(Time(9)));
        assert_eq!((gate.wait(Time(11)), gate.wait(Time(11))), (Some(Time(14)), None));
    }
}
