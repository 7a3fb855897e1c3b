//! The backlog of a host: posted packets that have not been sent, held in a send queue of limited size.

use std::collections::VecDeque;

use crate::config::{AdapterConfig, WhenFull};
use crate::ids::SourceId;

/// The occupancy of a host's send queue, and the sources blocked by a full queue.
#[derive(Debug)]
pub(crate) struct Backlog {
    /// Capacity in packets; [`AdapterConfig::UNLIMITED`] for no limit.
    limit: u32,
    full: WhenFull,
    packets: u64,
    /// Sources whose message did not fit, in order of arrival.
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

    /// Whether messages that do not fit are dropped.
    pub fn drops(&self) -> bool {
        self.full == WhenFull::Drop
    }

    /// Number of messages, out of `count` with this many packets each, that fit. An empty queue accepts a
    /// message of any size. A `late` message has to wait behind blocked sources.
    pub fn fits(&self, packets: u64, count: u32, late: bool) -> u32 {
        if !self.is_limited() {
            return count;
        }
        if late && !self.blocked.is_empty() {
            return 0;
        }
        let room = u64::from(self.limit).saturating_sub(self.packets) / packets;
        let least = u64::from(self.packets == 0);
        room.max(least).min(u64::from(count)) as u32
    }

    /// Records that this many packets were posted.
    pub fn posted(&mut self, packets: u64) {
        self.packets += packets;
    }

    /// Records that a packet of a posted message is sent.
    pub fn sent(&mut self) {
        self.packets -= 1;
    }

    /// Blocks a source behind all others, or in front of them if it was called but still does not fit.
    pub fn block(&mut self, source: SourceId, again: bool) {
        if again {
            self.blocked.push_front(source);
        } else {
            self.blocked.push_back(source);
        }
    }

    /// Returns the source to call, if one is blocked and the queue has space; the source is no longer
    /// blocked.
    pub fn call(&mut self) -> Option<SourceId> {
        if self.packets < u64::from(self.limit) { self.blocked.pop_front() } else { None }
    }
}
