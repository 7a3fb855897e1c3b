//! Credit: the sender's count of the room in the buffer at the other end of its link.
//!
//! Returned credit needs an event only if a sender waits for it. A buffer records the time at which returned credit
//! reaches the sender; the sender looks when it wants to send, and an event calls it only if it lacks credit.

use std::collections::VecDeque;

use becalm_engine::Time;

use crate::ids::PortId;

/// The sender does not wait for a call.
const NO_CALL: Time = Time::ZERO;
/// The sender waits, and no credit is on its way: the next return calls it.
const WANTED: Time = Time::MAX;

/// A sender's credit for one virtual lane of the buffer behind its link.
/// It has a cache line of its own.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct LinkCredit {
    /// Units that the sender knows of.
    known: u32,
    /// Units on their way back, in the order of their arrival at the sender.
    returning: VecDeque<(Time, u32)>,
    /// When an event calls the sender, [`NO_CALL`] or [`WANTED`].
    call: Time,
}

const _: () = assert!(size_of::<LinkCredit>() == 64);

impl LinkCredit {
    /// The credit for an empty buffer.
    pub fn new(capacity: u32) -> LinkCredit {
        LinkCredit { known: capacity, returning: VecDeque::new(), call: NO_CALL }
    }

    /// Units that the sender may use now.
    #[inline]
    pub fn level(&self, now: Time) -> u32 {
        let arrived = self.returning.iter().take_while(|(time, _)| *time <= now);
        self.known + arrived.map(|(_, units)| units).sum::<u32>()
    }

    /// Whether the sender may use so many units now.
    #[inline]
    pub fn has(&mut self, units: u32, now: Time) -> bool {
        if self.known < units {
            self.collect(now);
        }
        self.known >= units
    }

    /// Uses units that [`LinkCredit::has`] has found.
    #[inline]
    pub fn take(&mut self, units: u32) {
        self.known -= units;
    }

    /// Adds the units that have come back by `time` to the known ones.
    #[inline(never)]
    fn collect(&mut self, time: Time) {
        while let Some(&(arrival, units)) = self.returning.front()
            && arrival <= time
        {
            self.known += units;
            self.returning.pop_front();
        }
    }

    /// Records that the sender lacks credit; returns when to call it, if credit is on its way already.
    pub fn wait(&mut self, now: Time) -> Option<Time> {
        if self.call != NO_CALL {
            return None;
        }
        let next = self.returning.iter().map(|&(time, _)| time).find(|&time| time > now);
        self.call = next.unwrap_or(WANTED);
        next
    }

    /// Returns units, which reach the sender at `time`; its clock has passed `past`. Returns whether to call it then.
    #[inline(always)]
    pub fn give_back(&mut self, units: u32, time: Time, past: Time) -> bool {
        if self.returning.len() == self.returning.capacity() {
            self.collect(past);
        }
        match self.returning.back() {
            Some(&(latest, _)) if time < latest => {
                let at = self.returning.partition_point(|&(other, _)| other <= time);
                self.returning.insert(at, (time, units));
            }
            _ => self.returning.push_back((time, units)),
        }
        let call = time < self.call;
        if call {
            self.call = time;
        }
        call
    }

    /// Records that the sender has been called; returns whether this is the call that it waits for. A call is void if
    /// an earlier one has come in its place.
    pub fn called(&mut self, now: Time) -> bool {
        let due = self.call == now;
        if due {
            self.call = NO_CALL;
        }
        due
    }

    /// Units that the sender has or that are on their way.
    pub fn total(&self) -> u32 {
        self.known + self.returning.iter().map(|(_, units)| units).sum::<u32>()
    }
}

/// The way of credit from a buffer back to the sender at the other end of the cable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CreditReturn {
    pub sender: PortId,
    pub delay: Time,
    /// The place of the sender's credit for VL 0; those of the other VLs follow.
    pub first_credit: u32,
    /// The part that the sender belongs to, or [`LOCAL`](crate::network::link::LOCAL).
    pub part: u16,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credit_counts_from_its_time_on() {
        let mut credit = LinkCredit::new(3);
        credit.take(3);
        assert!(!credit.give_back(2, Time(10), Time(0)));
        assert_eq!((credit.level(Time(9)), credit.level(Time(10)), credit.total()), (0, 2, 2));
        assert!(!credit.has(1, Time(9)) && credit.has(1, Time(10)));
        credit.take(1);
        (2..40).for_each(|i| assert!(!credit.give_back(1, Time(10 * i), Time(10 * i - 10))));
        assert_eq!((credit.level(Time(389)), credit.level(Time(390)), credit.total()), (38, 39, 39));
        assert!(credit.returning.capacity() < 16, "what is past is collected before there is more room");
    }

    #[test]
    fn only_a_sender_that_waits_is_called_and_once() {
        let mut credit = LinkCredit::new(0);
        assert_eq!(credit.wait(Time(0)), None);
        assert!(credit.give_back(1, Time(5), Time(0)));
        assert!(!credit.give_back(1, Time(6), Time(0)));
        assert!(credit.called(Time(5)));
        assert_eq!(credit.wait(Time(5)), Some(Time(6)), "too little came: called again for the rest");
        assert_eq!(credit.wait(Time(5)), None);
    }

    #[test]
    fn credit_that_comes_earlier_than_expected_calls_earlier() {
        let mut credit = LinkCredit::new(0);
        assert!(!credit.give_back(1, Time(9), Time(0)));
        assert_eq!(credit.wait(Time(0)), Some(Time(9)));
        assert!(credit.give_back(2, Time(4), Time(0)));
        assert_eq!((credit.level(Time(4)), credit.level(Time(9))), (2, 3));
        assert!(credit.called(Time(4)) && !credit.called(Time(9)), "the later call is void");
    }
}
