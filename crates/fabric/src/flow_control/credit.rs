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

/// Returns that the ring holds.
const RING: usize = 32;
/// Number of returns from which a sender that looks takes in what has arrived.
const MANY: u8 = 24;
/// The times in the ring lie up to this many picoseconds around the first.
const REACH: u64 = 1 << 31;

/// A sender's credit for one virtual lane of the buffer behind its link: a cache line, which is all that a
/// sender with credit reads, and a ring of what is on its way back.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct LinkCredit {
    /// Units that the sender knows of.
    known: u32,
    /// The first place of the ring that is taken, and the number of those that are.
    head: u8,
    len: u8,
    /// The units of each place.
    units: [u8; RING],
    /// When an event calls the sender, [`NO_CALL`] or [`WANTED`].
    call: Time,
    /// The time that the offsets of the ring count from.
    base: Time,
    /// Units on their way back that have no place in the ring, in the order of their arrival.
    #[expect(clippy::box_collection, reason = "seldom used, and 24 bytes less of the cache line")]
    others: Option<Box<VecDeque<(Time, u32)>>>,
    /// Picoseconds from `base` to the arrival of each place's units at the sender, in this order from the head on.
    offsets: [u32; RING],
}

const _: () = assert!(size_of::<LinkCredit>() == 192);

/// The index of a place of the ring.
#[inline]
fn index(place: u8) -> usize {
    usize::from(place) % RING
}

impl LinkCredit {
    /// The credit for an empty buffer.
    pub fn new(capacity: u32) -> LinkCredit {
        LinkCredit {
            known: capacity,
            head: 0,
            len: 0,
            units: [0; RING],
            call: NO_CALL,
            base: Time::ZERO,
            others: None,
            offsets: [0; RING],
        }
    }

    /// Units of the ring, with the times of their arrival at the sender, in this order.
    fn ring(&self) -> impl Iterator<Item = (Time, u32)> {
        let place = |step: u8| index(self.head.wrapping_add(step));
        let time = |place: usize| Time(self.base.0 + u64::from(self.offsets[place]));
        (0..self.len).map(place).map(move |place| (time(place), u32::from(self.units[place])))
    }

    /// The same of units that have no place in the ring.
    fn others(&self) -> impl Iterator<Item = (Time, u32)> {
        self.others.iter().flat_map(|others| others.iter().copied())
    }

    /// Units on their way back: those of the ring, then the others.
    fn returning(&self) -> impl Iterator<Item = (Time, u32)> {
        self.ring().chain(self.others())
    }

    /// Units that the sender may use now.
    pub fn level(&self, now: Time) -> u32 {
        let arrived = self.returning().filter(|&(time, _)| time <= now);
        self.known + arrived.map(|(_, units)| units).sum::<u32>()
    }

    /// Whether the sender may use this many units now.
    #[inline]
    pub fn has(&mut self, units: u32, now: Time) -> bool {
        if self.known < units || self.len >= MANY {
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
        if let Some(passed) = time.0.checked_sub(self.base.0) {
            let (mut known, mut head, mut len) = (self.known, self.head, self.len);
            while len > 0 && u64::from(self.offsets[index(head)]) <= passed {
                known += u32::from(self.units[index(head)]);
                (head, len) = (head.wrapping_add(1), len - 1);
            }
            (self.known, self.head, self.len) = (known, head, len);
        }
        if self.others.is_some() {
            self.collect_others(time);
        }
    }

    #[cold]
    fn collect_others(&mut self, time: Time) {
        let Some(others) = &mut self.others else { return };
        while let Some(&(arrival, units)) = others.front()
            && arrival <= time
        {
            self.known += units;
            others.pop_front();
        }
        if others.is_empty() {
            self.others = None;
        }
    }

    /// Records that the sender lacks credit; returns when to call it, if credit is on its way already.
    pub fn wait(&mut self, now: Time) -> Option<Time> {
        if self.call != NO_CALL {
            return None;
        }
        let mut next = self.ring().map(|(time, _)| time).find(|&time| time > now);
        if self.others.is_some() {
            next = next.into_iter().chain(self.next_other(now)).min();
        }
        self.call = next.unwrap_or(WANTED);
        next
    }

    /// The next time at which units come that have no place in the ring.
    #[cold]
    fn next_other(&self, now: Time) -> Option<Time> {
        self.others().map(|(time, _)| time).find(|&time| time > now)
    }

    /// Returns units, which reach the sender at `time`; its clock has passed `past`. Returns whether to call it then.
    #[inline(always)]
    pub fn give_back(&mut self, units: u32, time: Time, past: Time) -> bool {
        if !self.put(units, time) {
            self.make_room(units, time, past);
        }
        let call = time < self.call;
        if call {
            self.call = time;
        }
        call
    }

    /// Puts units into the ring, if they fit.
    #[inline(always)]
    fn put(&mut self, units: u32, time: Time) -> bool {
        let (Ok(offset), Ok(units)) = (u32::try_from(time.0.wrapping_sub(self.base.0)), u8::try_from(units)) else {
            return false;
        };
        if usize::from(self.len) == RING {
            return false;
        }
        let end = self.head.wrapping_add(self.len);
        let is_latest = self.len == 0 || self.offsets[index(end.wrapping_sub(1))] <= offset;
        (self.offsets[index(end)], self.units[index(end)]) = (offset, units);
        self.len += 1;
        if !is_latest {
            self.move_forward(end);
        }
        true
    }

    /// Moves the last units forward to their place in the order of arrival.
    #[cold]
    #[inline(never)]
    fn move_forward(&mut self, mut at: u8) {
        while at != self.head && self.offsets[index(at.wrapping_sub(1))] > self.offsets[index(at)] {
            self.offsets.swap(index(at), index(at.wrapping_sub(1)));
            self.units.swap(index(at), index(at.wrapping_sub(1)));
            at = at.wrapping_sub(1);
        }
    }

    /// Puts units into the ring once what is past has left it, or else among the others.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self, units: u32, time: Time, past: Time) {
        self.collect(past);
        if self.len == 0 {
            self.base = Time(time.0.saturating_sub(REACH));
        }
        if !self.put(units, time) {
            let others = self.others.get_or_insert_default();
            let at = others.partition_point(|&(other, _)| other <= time);
            others.insert(at, (time, units));
        }
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
        self.known + self.returning().map(|(_, units)| units).sum::<u32>()
    }
}

/// The path of credit, or of pauses, from a buffer back to the sender at the other end of the cable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CreditReturn {
    pub sender: PortId,
    /// Delay of the cable; with PFC, including the time until the sender obeys.
    pub delay: Time,
    /// The place of the sender's credit, or gate, for VL 0; those of the other VLs follow.
    pub first_credit: u32,
    /// The part that the sender belongs to, or [`LOCAL`](crate::network::link::LOCAL).
    pub part: u16,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
        assert!(credit.others.is_none(), "what is past is collected before there is more room");
    }

    proptest! {
        /// Returns at any times and in any order, more than the ring holds and further apart than it reaches.
        #[test]
        fn credit_is_that_of_a_plain_list(
            steps in prop::collection::vec((0u64..40, any::<u32>(), 1u32..5, 0u32..90_000, any::<bool>()), 1..300),
        ) {
            let (mut credit, mut known, mut list) = (LinkCredit::new(7), 7, Vec::<(Time, u32)>::new());
            let mut now = Time(1);
            for (bits, ahead, small, large, looks) in steps {
                now += Time(u64::from(ahead) << bits >> 24);
                let units = if bits == 0 { large } else { small };
                let time = now + Time(u64::from(ahead.rotate_left(9)) >> (bits / 2));
                credit.give_back(units, time, now);
                list.push((time, units));
                if looks {
                    let due: u32 = list.iter().filter(|&&(time, _)| time <= now).map(|&(_, units)| units).sum();
                    prop_assert_eq!(credit.level(now), known + due);
                    prop_assert!(credit.has(known + due, now) && !credit.has(known + due + 1, now));
                    list.retain(|&(time, _)| time > now);
                    credit.take(known + due);
                    known = 0;
                    let next = list.iter().map(|&(time, _)| time).min();
                    prop_assert_eq!(credit.wait(now), next);
                    prop_assert!(next.is_none_or(|next| credit.called(next)));
                    credit.call = NO_CALL;
                }
                let total = known + list.iter().map(|&(_, units)| units).sum::<u32>();
                prop_assert_eq!(credit.total(), total);
            }
        }
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
