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
}

impl Gate {
    /// An open gate.
    pub fn new() -> Gate {
        Gate { open: true, changes: VecDeque::new(), call: NO_CALL }
    }

    /// Whether the sender may begin a packet now.
    #[inline]
    pub fn is_open(&self, now: Time) -> bool {
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
        let call = open && self.call == WANTED;
        if call {
            self.call = time;
        }
        call
    }

    /// Records that the sender has been called. Returns whether this is the call that it waits for.
    pub fn called(&mut self, now: Time) -> bool {
        let due = self.call == now;
        if due {
            self.call = NO_CALL;
        }
        due
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
