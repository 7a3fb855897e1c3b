//! The pacers of an adapter that may send.

use std::collections::HashMap;

use crate::config::Injection;
use crate::host::send_queue::SendQueue;

/// A pacer that is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Listed {
    pub pacer: u32,
    /// Its position in sending order.
    order: u64,
    /// The virtual lane of its packets.
    pub vl: u8,
}

const NONE: u8 = u8::MAX;

/// The turns of pacers that may send trains. They send as many packets as others, whatever the lengths of their trains.
#[derive(Debug, Default)]
struct TrainTurns {
    /// Virtual time in packets: the start of the last train.
    began: u64,
    /// Virtual time at which the turn of a pacer ends that has sent a train and is not listed yet.
    ends: HashMap<u32, u64>,
}

/// Bits of an order that tell apart pacers whose trains start at the same virtual time. The other ones count more packets
/// than a host sends in a day.
const TIE_BITS: u32 = 24;

impl TrainTurns {
    /// The order of a pacer that is listed now, as the `listed`th. One that has rested less than its turn takes waits for
    /// the others to send as many packets; after a longer rest, they send one packet each, as without trains.
    fn order(&mut self, pacer: u32, listed: u64) -> u64 {
        let start = self.ends.remove(&pacer).unwrap_or(0).max(self.began + 1);
        start << TIE_BITS | listed & ((1 << TIE_BITS) - 1)
    }
}

/// Pacers that may send, in sending order, listed by the virtual lane of their packets. While a lane cannot send,
/// none of its pacers is looked at. Hosts whose data use one lane have one list.
#[derive(Debug)]
pub(crate) struct Ready {
    injection: Injection,
    /// The lane of `first`: the first on which a pacer was listed; [`NONE`] before.
    first_vl: u8,
    first: SendQueue,
    /// Lists of the other lanes.
    others: Vec<(u8, SendQueue)>,
    /// Pacers listed so far, if they take turns.
    listed: u64,
    /// Present if pacers take turns and may send trains.
    trains: Option<Box<TrainTurns>>,
}

impl Ready {
    pub fn new(injection: Injection) -> Ready {
        Ready {
            injection,
            first_vl: NONE,
            first: SendQueue::new(injection),
            others: Vec::new(),
            listed: 0,
            trains: None,
        }
    }

    /// Lets pacers send trains.
    pub fn take_trains(&mut self) {
        if self.injection == Injection::RoundRobin {
            self.trains = Some(Box::default());
            // From now on, lists are sorted by the turns.
            (self.injection, self.first) = (Injection::Posted, SendQueue::new(Injection::Posted));
        }
    }

    /// Whether a pacer may be listed before others.
    #[inline]
    pub fn is_sorted(&self) -> bool {
        self.injection == Injection::Posted
    }

    /// Records that a pacer sends a train of this many packets, before it is listed again.
    pub fn sends(&mut self, pacer: u32, packets: u32) {
        self.trains.iter_mut().for_each(|turns| {
            turns.ends.insert(pacer, turns.began + u64::from(packets));
        });
    }

    /// Forgets the last train of a pacer that has nothing to send.
    pub fn forget(&mut self, pacer: u32) {
        self.trains.iter_mut().for_each(|turns| {
            turns.ends.remove(&pacer);
        });
    }

    /// Number of pacers listed.
    pub fn len(&self) -> usize {
        self.first.len() + self.others.iter().map(|(_, list)| list.len()).sum::<usize>()
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.first.is_empty() && self.others.iter().all(|(_, list)| list.is_empty())
    }

    /// Lists a pacer whose next packet uses this lane and whose next message has position `posted` in the host's
    /// posting order.
    #[inline]
    pub fn push(&mut self, pacer: u32, vl: u8, posted: u64) {
        let order = match (self.injection, &mut self.trains) {
            (Injection::RoundRobin, _) => self.listed,
            (Injection::Posted, None) => posted,
            (Injection::Posted, Some(turns)) => turns.order(pacer, self.listed),
        };
        self.listed += 1;
        self.list(vl).push(pacer, order);
    }

    /// The list of a lane.
    #[inline]
    fn list(&mut self, vl: u8) -> &mut SendQueue {
        if vl == self.first_vl { &mut self.first } else { self.other(vl) }
    }

    #[inline(never)]
    fn other(&mut self, vl: u8) -> &mut SendQueue {
        if self.first_vl == NONE {
            self.first_vl = vl;
            return &mut self.first;
        }
        let at = self.others.iter().position(|&(other, _)| other == vl).unwrap_or_else(|| {
            self.others.push((vl, SendQueue::new(self.injection)));
            self.others.len() - 1
        });
        &mut self.others[at].1
    }

    /// The first pacer whose lane is not among these, which have one bit each.
    #[inline(always)]
    pub fn first_outside(&self, lanes: u16) -> Option<Listed> {
        if !self.others.is_empty() {
            return self.first_of_several(lanes);
        }
        let (pacer, order) = self.first.first()?;
        (lanes & 1 << self.first_vl == 0).then_some(Listed { pacer, order, vl: self.first_vl })
    }

    #[inline(never)]
    fn first_of_several(&self, lanes: u16) -> Option<Listed> {
        let others = self.others.iter().map(|(vl, list)| (*vl, list));
        let open = std::iter::once((self.first_vl, &self.first)).chain(others).filter(|(vl, _)| lanes & 1 << vl == 0);
        let firsts = open.filter_map(|(vl, list)| list.first().map(|(pacer, order)| Listed { pacer, order, vl }));
        firsts.min_by_key(|listed| (listed.order, listed.pacer))
    }

    /// Removes a pacer that is the first of its lane.
    #[inline]
    pub fn remove(&mut self, listed: Listed) {
        self.trains.iter_mut().for_each(|turns| turns.began = listed.order >> TIE_BITS);
        self.list(listed.vl).pop();
    }

    /// Puts back a removed pacer. The last one removed is put back first.
    pub fn put_back(&mut self, listed: Listed) {
        self.list(listed.vl).push_front(listed.pacer, listed.order);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pacers in the order in which they leave, if these lanes cannot send.
    fn leave(ready: &mut Ready, lanes: u16) -> Vec<u32> {
        let next = || ready.first_outside(lanes).inspect(|&first| ready.remove(first)).map(|first| first.pacer);
        std::iter::from_fn(next).collect()
    }

    /// Six pacers on three lanes, numbered as they are listed. Their messages were posted in reverse.
    fn six(injection: Injection) -> Ready {
        let mut ready = Ready::new(injection);
        for (pacer, vl) in [(0, 3), (1, 3), (2, 0), (3, 15), (4, 3), (5, 0)] {
            ready.push(pacer, vl, u64::from(9 - pacer));
        }
        ready
    }

    #[test]
    fn lanes_keep_the_common_order() {
        assert_eq!(leave(&mut six(Injection::RoundRobin), 0), [0, 1, 2, 3, 4, 5]);
        assert_eq!(leave(&mut six(Injection::Posted), 0), [5, 4, 3, 2, 1, 0]);
    }

    #[test]
    fn pacers_of_lanes_that_cannot_send_stay_in_place() {
        let mut ready = six(Injection::RoundRobin);
        assert_eq!(leave(&mut ready, 1 << 3), [2, 3, 5]);
        ready.push(6, 0, 0);
        assert_eq!(ready.first_outside(1 | 1 << 3), None);
        assert_eq!(leave(&mut ready, 0), [0, 1, 4, 6]);
        assert!(ready.is_empty());
    }

    #[test]
    fn pacers_put_back_come_first_again() {
        for injection in [Injection::RoundRobin, Injection::Posted] {
            let (mut ready, mut removed) = (six(injection), Vec::new());
            for _ in 0..4 {
                removed.push(ready.first_outside(0).expect("six are listed"));
                ready.remove(removed[removed.len() - 1]);
            }
            while let Some(last) = removed.pop() {
                ready.put_back(last);
            }
            assert_eq!(leave(&mut ready, 0), leave(&mut six(injection), 0));
        }
    }

    /// Packets that each of 30 pacers sends in this many trains: the first three send single packets, the others trains of
    /// three. The first two rest during the train after their own.
    fn sent_in_trains(trains: u32) -> Vec<u32> {
        let (mut ready, mut sent, mut resting) = (Ready::new(Injection::RoundRobin), vec![0; 30], None);
        ready.take_trains();
        (0..30).for_each(|pacer| ready.push(pacer, 0, 0));
        for _ in 0..trains {
            let next = ready.first_outside(0).expect("most are listed");
            ready.remove(next);
            let packets = if next.pacer < 3 { 1 } else { 3 };
            sent[next.pacer as usize] += packets;
            resting.take().into_iter().for_each(|pacer| ready.push(pacer, 0, 0));
            ready.sends(next.pacer, packets);
            match next.pacer {
                0 | 1 => resting = Some(next.pacer),
                pacer => ready.push(pacer, 0, 0),
            }
        }
        sent
    }

    #[test]
    fn pacers_send_as_many_packets_whatever_their_trains() {
        let sent = sent_in_trains(10_000);
        let mean = f64::from(sent.iter().sum::<u32>()) / 30.0;
        let shares: Vec<f64> = sent.iter().map(|&one| f64::from(one) / mean).collect();
        assert!(shares[2..].iter().all(|share| (0.95..1.1).contains(share)), "{shares:?}");
        assert!(shares[..2].iter().all(|share| (0.3..1.0).contains(share)), "{shares:?}");
    }

    #[test]
    fn a_pacer_that_rests_for_a_moment_does_not_overtake() {
        let mut ready = Ready::new(Injection::RoundRobin);
        ready.take_trains();
        (0..3).for_each(|pacer| ready.push(pacer, 0, 0));
        let mut order = Vec::new();
        for _ in 0..6 {
            let next = ready.first_outside(0).expect("all are listed");
            ready.remove(next);
            order.push(next.pacer);
            ready.sends(next.pacer, 4);
            ready.push(next.pacer, 0, 0);
        }
        assert_eq!(order, [0, 1, 2, 0, 1, 2]);
        assert!(ready.trains.is_some_and(|turns| turns.ends.is_empty()));
    }

    #[test]
    fn virtual_time_goes_on_after_four_billion_packets() {
        let mut ready = Ready::new(Injection::RoundRobin);
        ready.take_trains();
        ready.trains.iter_mut().for_each(|turns| turns.began = u64::from(u32::MAX) - 1);
        (0..3).for_each(|pacer| ready.push(pacer, 0, 0));
        let mut order = Vec::new();
        for _ in 0..9 {
            let next = ready.first_outside(0).expect("all are listed");
            ready.remove(next);
            order.push(next.pacer);
            ready.sends(next.pacer, 16);
            ready.push(next.pacer, 0, 0);
        }
        assert_eq!(order, [0, 1, 2].repeat(3));
    }
}
