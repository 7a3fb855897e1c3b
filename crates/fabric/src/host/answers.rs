//! ACKs and CNPs that wait at an adapter.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::packet::{Kind, Packet};

/// Number of answers of a lane up to which a waiting ACK is searched for without an index.
const FEW: usize = 8;

/// ACKs and CNPs to send, by lane. Every answer has a number, by which lanes keep a common order.
#[derive(Debug, Default)]
pub(crate) struct AnswerQueue {
    /// One bit per lane with answers.
    waiting: u16,
    /// Number of the next answer.
    next: u64,
    /// Lane 0, which is the only one in many fabrics.
    first: Lane,
    /// Indexed by lane, less 1.
    others: Vec<Lane>,
}

/// The answers of a lane.
#[derive(Debug, Default)]
struct Lane {
    list: VecDeque<(u64, Packet)>,
    /// Present once the list has been long.
    index: Option<Box<Index>>,
}

/// The number of each flow's last ACK. It may contain ACKs that have left.
#[derive(Debug, Default)]
struct Index {
    acks: FxHashMap<u32, u64>,
    /// It has answers before the one with this number.
    end: u64,
}

impl Index {
    /// Adds the answers of a list since the last call.
    fn complete(&mut self, list: &VecDeque<(u64, Packet)>) {
        if self.acks.len() > 4 * list.len() {
            self.acks.clear();
            self.end = 0;
        }
        let new = list.iter().rev().take_while(|&&(number, _)| number >= self.end).count();
        for (number, answer) in list.range(list.len() - new..) {
            if answer.kind == Kind::Ack {
                self.acks.insert(answer.flow.0, *number);
            }
            self.end = number + 1;
        }
    }
}

impl Lane {
    /// Merges an ACK with a waiting one of its flow; returns whether there is one.
    fn absorb(&mut self, answer: &Packet) -> bool {
        if self.list.len() <= FEW {
            return self.list.iter_mut().any(|(_, waiting)| waiting.absorb(answer));
        }
        let index = self.index.get_or_insert_default();
        index.complete(&self.list);
        let Some(&number) = index.acks.get(&answer.flow.0) else { return false };
        let at = self.list.partition_point(|&(other, _)| other < number);
        let found = self.list.get_mut(at).filter(|(other, _)| *other == number);
        found.is_some_and(|(_, waiting)| waiting.absorb(answer))
    }
}

impl AnswerQueue {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    pub fn len(&self) -> usize {
        self.lanes().map(|lane| lane.list.len()).sum()
    }

    fn lanes(&self) -> impl Iterator<Item = &Lane> {
        std::iter::once(&self.first).chain(&self.others)
    }

    /// All answers.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Packet> {
        let lanes = std::iter::once(&mut self.first).chain(&mut self.others);
        lanes.flat_map(|lane| lane.list.iter_mut().map(|(_, answer)| answer))
    }

    #[inline(always)]
    fn lane(&mut self, vl: u8) -> &mut Lane {
        if vl == 0 { &mut self.first } else { self.other(vl) }
    }

    #[inline(never)]
    fn other(&mut self, vl: u8) -> &mut Lane {
        let at = usize::from(vl) - 1;
        if self.others.len() <= at {
            self.others.resize_with(at + 1, Lane::default);
        }
        &mut self.others[at]
    }

    /// Adds an answer at the end.
    #[inline(always)]
    pub fn push(&mut self, answer: Packet) {
        let number = self.next;
        self.next += 1;
        self.waiting |= 1 << answer.vl;
        self.lane(answer.vl).list.push_back((number, answer));
    }

    /// Merges an ACK with a waiting one of its flow; returns whether there is one.
    #[inline(always)]
    pub fn absorb(&mut self, answer: &Packet) -> bool {
        self.waiting & 1 << answer.vl != 0 && self.absorb_on_lane(answer)
    }

    #[inline(never)]
    fn absorb_on_lane(&mut self, answer: &Packet) -> bool {
        self.lane(answer.vl).absorb(answer)
    }

    /// The first answer of lane 0.
    #[inline(always)]
    pub fn first(&self) -> Option<&Packet> {
        self.first.list.front().map(|(_, first)| first)
    }

    /// The first answer whose lane is not among these, which have one bit each.
    pub fn first_outside(&self, lanes: u16) -> Option<&Packet> {
        let open = self.lanes().filter_map(|lane| lane.list.front()).filter(|(_, first)| lanes & 1 << first.vl == 0);
        open.min_by_key(|(number, _)| *number).map(|(_, first)| first)
    }

    /// Removes the first answer of a lane.
    #[inline(always)]
    pub fn remove(&mut self, vl: u8) -> Option<Packet> {
        let lane = self.lane(vl);
        let (_, answer) = lane.list.pop_front()?;
        if lane.list.is_empty() {
            self.waiting &= !(1 << vl);
        }
        Some(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::FlowId;

    fn push(answers: &mut AnswerQueue, numbered: &[(u32, u8)]) {
        for &(sequence, vl) in numbered {
            answers.push(Packet { sequence, vl, ..Packet::default() });
        }
    }

    /// Numbers of answers in the order in which they leave, if these lanes cannot send.
    fn leave(answers: &mut AnswerQueue, lanes: u16) -> Vec<u32> {
        let next = || answers.first_outside(lanes).map(|first| first.vl).and_then(|vl| answers.remove(vl));
        std::iter::from_fn(next).map(|answer| answer.sequence).collect()
    }

    #[test]
    fn answers_leave_in_order_on_the_lanes_that_can_send() {
        let mut answers = AnswerQueue::default();
        push(&mut answers, &[(0, 0), (1, 2), (2, 0), (3, 1), (4, 2)]);
        assert_eq!(leave(&mut answers, 0b101), [3]);
        push(&mut answers, &[(5, 1), (6, 0), (7, 2)]);
        assert_eq!((answers.len(), answers.iter_mut().count()), (7, 7));
        assert_eq!(leave(&mut answers, 0b001), [1, 4, 5, 7]);
        push(&mut answers, &[(8, 1), (9, 0)]);
        assert_eq!(answers.first().map(|first| first.sequence), Some(0));
        assert_eq!(leave(&mut answers, 0), [0, 2, 6, 8, 9]);
        assert!(answers.is_empty());
    }

    /// The ACKs that wait, as (flow, packets acknowledged), after 400 ACKs of 40 flows, of which some leave meanwhile.
    fn merged(absorb: fn(&mut AnswerQueue, &Packet) -> bool) -> Vec<(u32, u16)> {
        let mut answers = AnswerQueue::default();
        for i in 0..400u32 {
            let answer = Packet {
                kind: Kind::Ack,
                flow: FlowId(i * 7 % 40),
                sequence: i,
                covers: 1,
                vl: 1,
                ..Packet::default()
            };
            if !absorb(&mut answers, &answer) {
                answers.push(answer);
            }
            // A CNP of the same flow is not an ACK to merge with.
            answers.push(Packet { kind: Kind::Cnp, vl: (i % 2) as u8, ..answer });
            // First more leave than join, then fewer.
            for _ in 0..[3, 0, 2, 1][i as usize / 100] {
                answers.first_outside(0).map(|first| first.vl).and_then(|vl| answers.remove(vl));
            }
        }
        answers.iter_mut().filter(|waiting| waiting.kind == Kind::Ack).map(|ack| (ack.flow.0, ack.covers)).collect()
    }

    #[test]
    fn long_lists_merge_the_same_acks_as_a_search() {
        let found = merged(|answers, answer| answers.absorb(answer));
        let searched = merged(|answers, answer| answers.iter_mut().any(|waiting| waiting.absorb(answer)));
        assert!(found.len() > 2 * FEW && found.iter().any(|&(_, covers)| covers > 1), "{found:?}");
        assert_eq!(found, searched);
    }
}
