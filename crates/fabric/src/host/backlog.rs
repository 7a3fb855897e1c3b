//! The backlog of a host: packets of messages that were posted and have not been sent, in a send queue of some size.

use std::collections::VecDeque;

use crate::config::{AdapterConfig, WhenFull};
use crate::ids::SourceId;

/// How much of a host's send queue is taken, and who waits for room.
#[derive(Debug)]
pub(crate) struct Backlog {
    /// Packets that it holds; [`AdapterConfig::UNLIMITED`] for any number.
    limit: u32,
    full: WhenFull,
    packets: u64,
    /// Sources with a message that found no room, in the order in which they came.
    blocked: VecDeque<SourceId>,
}

impl Backlog {
    pub fn new(config: &AdapterConfig) -> Backlog {
        Backlog { limit: config.queue, full: config.when_full, packets: 0, blocked: VecDeque::new() }
    }

    #[inline]
    pub fn is_limited(&self) -> bool {
        self.limit != AdapterConfig::UNLIMITED
    }

    /// Whether messages that find no room are dropped.
    pub fn drops(&self) -> bool {
        self.full == WhenFull::Drop
    }

    /// How many of `count` messages of this many packets there is room for. An empty queue takes a message of any size.
    /// One that is `late` has to wait for those that wait already.
    pub fn fits(&self, packets: u32, count: u32, late: bool) -> u32 {
        if !self.is_limited() {
            return count;
        }
        if late && !self.blocked.is_empty() {
            return 0;
        }
        let room = u64::from(self.limit).saturating_sub(self.packets) / u64::from(packets);
        let least = u64::from(self.packets == 0);
        room.max(least).min(u64::from(count)) as u32
    }

    /// Notes that this many packets were posted.
    pub fn posted(&mut self, packets: u64) {
        self.packets += packets;
    }

    /// Notes that a packet of a posted message goes out.
    pub fn sent(&mut self) {
        self.packets -= 1;
    }

    /// Has a source wait, behind the others or, if it has been called in vain, before them.
    pub fn block(&mut self, source: SourceId, again: bool) {
        if again {
            self.blocked.push_front(source);
        } else {
            self.blocked.push_back(source);
        }
    }

    /// The source to call, if there is room and one waits for it; it no longer waits.
    pub fn call(&mut self) -> Option<SourceId> {
        if self.packets < u64::from(self.limit) { self.blocked.pop_front() } else { None }
    }
}
