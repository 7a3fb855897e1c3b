//! The order in which pacers and flows send.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::config::Injection;

/// Pacers of an adapter, or flows of a pacer, in the order in which they will send.
#[derive(Debug)]
pub(crate) enum SendQueue {
    Turns(VecDeque<u32>),
    Posted(BinaryHeap<Reverse<(u64, u32)>>),
}

impl SendQueue {
    pub fn new(injection: Injection) -> SendQueue {
        match injection {
            Injection::RoundRobin => SendQueue::Turns(VecDeque::new()),
            Injection::Posted => SendQueue::Posted(BinaryHeap::new()),
        }
    }

    pub fn is_empty(&self) -> bool {
        match self {
            SendQueue::Turns(list) => list.is_empty(),
            SendQueue::Posted(list) => list.is_empty(),
        }
    }

    /// Adds a pacer or a flow whose next message is the `order`-th posted at the host.
    pub fn push(&mut self, id: u32, order: u64) {
        match self {
            SendQueue::Turns(list) => list.push_back(id),
            SendQueue::Posted(list) => list.push(Reverse((order, id))),
        }
    }

    /// Puts back the result of [`SendQueue::pop`].
    pub fn push_front(&mut self, id: u32, order: u64) {
        match self {
            SendQueue::Turns(list) => list.push_front(id),
            SendQueue::Posted(list) => list.push(Reverse((order, id))),
        }
    }

    pub fn pop(&mut self) -> Option<(u32, u64)> {
        match self {
            SendQueue::Turns(list) => list.pop_front().map(|id| (id, 0)),
            SendQueue::Posted(list) => list.pop().map(|Reverse((order, id))| (id, order)),
        }
    }

    pub fn first(&self) -> Option<(u32, u64)> {
        match self {
            SendQueue::Turns(list) => list.front().map(|&id| (id, 0)),
            SendQueue::Posted(list) => list.peek().map(|&Reverse((order, id))| (id, order)),
        }
    }
}
