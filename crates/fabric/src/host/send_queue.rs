//! The order in which pacers and flows send.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::config::Injection;

/// The position of the next message in the host's posting order, and the number of a pacer or a flow.
type Item = (u64, u32);

/// Pacers of an adapter, or flows of a pacer, in sending order. Most hosts have one pacer, so the first is
/// stored separately.
#[derive(Debug)]
pub(crate) struct SendQueue {
    first: Option<Item>,
    others: Others,
}

/// The items after the first.
#[derive(Debug)]
enum Others {
    Turns(VecDeque<Item>),
    Posted(BinaryHeap<Reverse<Item>>),
}

impl Others {
    #[inline]
    fn pop(&mut self) -> Option<Item> {
        match self {
            Others::Turns(list) => list.pop_front(),
            Others::Posted(list) if list.is_empty() => None,
            Others::Posted(list) => list.pop().map(|Reverse(item)| item),
        }
    }
}

impl SendQueue {
    pub fn new(injection: Injection) -> SendQueue {
        let others = match injection {
            Injection::RoundRobin => Others::Turns(VecDeque::new()),
            Injection::Posted => Others::Posted(BinaryHeap::new()),
        };
        SendQueue { first: None, others }
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// Number of pacers or flows.
    pub fn len(&self) -> usize {
        let others = match &self.others {
            Others::Turns(list) => list.len(),
            Others::Posted(list) => list.len(),
        };
        usize::from(self.first.is_some()) + others
    }

    /// Adds a pacer or a flow whose next message has position `order` in the host's posting order.
    #[inline]
    pub fn push(&mut self, id: u32, order: u64) {
        match self.first {
            None => self.first = Some((order, id)),
            Some(first) => self.push_behind(first, (order, id)),
        }
    }

    /// Adds an item behind an existing first one.
    #[inline(never)]
    fn push_behind(&mut self, first: Item, item: Item) {
        match &mut self.others {
            Others::Turns(list) => list.push_back(item),
            Others::Posted(list) => {
                self.first = Some(first.min(item));
                list.push(Reverse(first.max(item)));
            }
        }
    }

    /// Puts back the result of [`SendQueue::pop`].
    pub fn push_front(&mut self, id: u32, order: u64) {
        match (self.first, &mut self.others) {
            (Some(first), Others::Turns(list)) => {
                list.push_front(first);
                self.first = Some((order, id));
            }
            _ => self.push(id, order),
        }
    }

    #[inline]
    pub fn pop(&mut self) -> Option<(u32, u64)> {
        let first = self.first();
        if first.is_some() {
            self.first = self.others.pop();
        }
        first
    }

    #[inline]
    pub fn first(&self) -> Option<(u32, u64)> {
        self.first.map(|(order, id)| (id, order))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The items that leave a queue. Three are added, the first is popped and put back, and then a fourth is
    /// added.
    fn leave(injection: Injection) -> Vec<u32> {
        let mut queue = SendQueue::new(injection);
        for (id, order) in [(7, 30), (8, 10), (9, 20)] {
            queue.push(id, order);
        }
        let (id, order) = queue.pop().expect("three are there");
        queue.push_front(id, order);
        queue.push(6, 15);
        std::iter::from_fn(|| queue.pop()).map(|(id, _)| id).collect()
    }

    #[test]
    fn they_leave_in_turns_or_in_the_order_of_posting() {
        assert_eq!(leave(Injection::RoundRobin), [7, 8, 9, 6]);
        assert_eq!(leave(Injection::Posted), [8, 6, 9, 7]);
        assert!(SendQueue::new(Injection::Posted).is_empty());
    }
}
