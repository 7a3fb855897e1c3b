//! Credit, which is the sender's count of free space in the buffer at the other end of its link.
//!
//! Returned credit needs an event only if a sender waits for it. A buffer records the time at which returned
//! credit reaches the sender. The sender checks when it wants to send, and an event calls it only if it lacks
//! credit.

use std::collections::VecDeque;

use becalm_engine::Time;

use crate::ids::PortId;

/// Indicates that the sender does not wait for a call.
const NO_CALL: Time = Time::ZERO;
/// Indicates that the sender waits while no credit is on its way. The next return calls it.
const WANTED: Time = Time::MAX;

/// Number of returns that the ring can hold.
const RING: usize = 32;
/// Number of returns in the ring at which a sender's check collects those that have arrived.
const MANY: u8 = 24;
/// Offset of the first return in an empty ring, in picoseconds. It leaves space for earlier and later
/// returns.
const REACH: u64 = 1 << 31;

/// A sender's credit for one virtual lane of the next buffer. A sender with credit reads only its first cache
/// line. The rest is a ring of returns on their way.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct LinkCredit {
    /// Units available to the sender, as of its last check.
    known: u32,
    /// Index of the first return in the ring, and the number of returns.
    head: u8,
    len: u8,
    /// Units of each return.
    units: [u8; RING],
    /// Time at which an event calls the sender, [`NO_CALL`] or [`WANTED`].
    call: Time,
    /// Reference time of the ring's offsets.
    base: Time,
    /// Returns on their way that do not fit in the ring, in order of arrival.
    #[expect(clippy::box_collection, reason = "rarely used, and a box saves 24 bytes of the cache line")]
    others: Option<Box<VecDeque<(Time, u32)>>>,
    /// Arrival times of the returns at the sender, in picoseconds from `base`; ascending from the head of the
    /// ring.
    offsets: [u32; RING],
}

const _: () = assert!(size_of::<LinkCredit>() == 192);

/// The array index of a ring position.
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

    /// Returns in the ring with their arrival times at the sender, in order of arrival.
    fn ring(&self) -> impl Iterator<Item = (Time, u32)> {
        let place = |step: u8| index(self.head.wrapping_add(step));
        let time = |place: usize| Time(self.base.0 + u64::from(self.offsets[place]));
        (0..self.len).map(place).map(move |place| (time(place), u32::from(self.units[place])))
    }

    /// Returns outside the ring, in the same form.
    fn others(&self) -> impl Iterator<Item = (Time, u32)> {
        self.others.iter().flat_map(|others| others.iter().copied())
    }

    /// All returns on their way: those in the ring, then the others.
    fn returning(&self) -> impl Iterator<Item = (Time, u32)> {
        self.ring().chain(self.others())
    }

    /// Units that the sender may use now.
    pub fn level(&self, now: Time) -> u32 {
        let arrived = self.returning().filter(|&(time, _)| time <= now);
        self.known + arrived.map(|(_, units)| units).sum::<u32>()
    }

    /// Whether the sender has this many units now.
    #[inline]
    pub fn has(&mut self, units: u32, now: Time) -> bool {
        if self.known < units || self.len >= MANY {
            self.collect(now);
        }
        self.known >= units
    }

    /// Consumes units whose availability [`LinkCredit::has`] has confirmed.
    #[inline]
    pub fn take(&mut self, units: u32) {
        self.known -= units;
    }

    /// Makes the units that arrived by `time` available.
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

    /// Records that the sender lacks credit. Returns when to call it, if credit is already on its way.
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

    /// The next arrival time of a return outside the ring.
    #[cold]
    fn next_other(&self, now: Time) -> Option<Time> {
        self.others().map(|(time, _)| time).find(|&time| time > now)
    }

    /// Returns units, which reach the sender at `time`. Its clock has passed `past`. Returns whether to call
    /// the sender at `time`.
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

    /// Adds a return to the ring, if it fits.
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

    /// Moves the last return to its position in order of arrival.
    #[cold]
    #[inline(never)]
    fn move_forward(&mut self, mut at: u8) {
        while at != self.head && self.offsets[index(at.wrapping_sub(1))] > self.offsets[index(at)] {
            self.offsets.swap(index(at), index(at.wrapping_sub(1)));
            self.units.swap(index(at), index(at.wrapping_sub(1)));
            at = at.wrapping_sub(1);
        }
    }

    /// Collects past returns, then adds a return to the ring or, if it does not fit, to the others.
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

    /// Records that the sender has been called. Returns whether this is the call that it waits for; a call is
    /// invalid if an earlier one has replaced it.
    pub fn called(&mut self, now: Time) -> bool {
        let due = self.call == now;
        if due {
            self.call = NO_CALL;
        }
        due
    }

    /// Units that the sender has, plus those on their way.
    pub fn total(&self) -> u32 {
        self.known + self.returning().map(|(_, units)| units).sum::<u32>()
    }
}

/// The path of credit or pauses from a buffer to the sender at the other end of the cable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CreditReturn {
    pub sender: PortId,
    /// Delay of the cable. With PFC, includes the time until the sender obeys.
    pub delay: Time,
    /// Index of the sender's credit or gate for VL 0. The indices for the other VLs follow.
    pub first_credit: u32,
    /// The part of the sender, or [`LOCAL`](crate::network::link::LOCAL).
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
        assert!(credit.others.is_none(), "past returns are collected before the ring overflows");
    }

    proptest! {
        /// Returns at any time and in any order, more than the ring can hold and further apart than it can
        /// represent.
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
        assert_eq!(credit.wait(Time(5)), Some(Time(6)), "too little credit arrived: called again for the rest");
        assert_eq!(credit.wait(Time(5)), None);
    }

    #[test]
    fn credit_that_comes_earlier_than_expected_calls_earlier() {
        let mut credit = LinkCredit::new(0);
        assert!(!credit.give_back(1, Time(9), Time(0)));
        assert_eq!(credit.wait(Time(0)), Some(Time(9)));
        assert!(credit.give_back(2, Time(4), Time(0)));
        assert_eq!((credit.level(Time(4)), credit.level(Time(9))), (2, 3));
        assert!(credit.called(Time(4)) && !credit.called(Time(9)), "the later call is invalid");
    }
}
