//! The backlog of a host: posted packets that have not been sent, held in a send queue of limited size.
//!
//! A host posts messages one after another. While a message waits for space, the host posts no other: sources that are
//! due get in line behind it, and random traffic stops (`suspended`) and goes on afterwards. Therefore, the shares of
//! the host's sources do not depend on how its traffic is divided into sources.

use std::collections::VecDeque;

use crate::config::{AdapterConfig, WhenFull};
use crate::ids::SourceId;

/// The occupancy of a host's send queue, and the sources that wait for a full queue.
#[derive(Debug)]
pub(crate) struct Backlog {
    /// Capacity in packets; [`AdapterConfig::UNLIMITED`] for no limit.
    limit: u32,
    full: WhenFull,
    packets: u64,
    /// Sources with messages to post, in order of arrival. The first one's message did not fit.
    waiting: VecDeque<SourceId>,
    /// Whether the first of them has been called to post.
    called: bool,
    /// Sources of random traffic that stopped when they were due.
    suspended: Vec<SourceId>,
}

impl Backlog {
    pub fn new(config: &AdapterConfig) -> Backlog {
        let (waiting, suspended) = (VecDeque::new(), Vec::new());
        Backlog { limit: config.queue, full: config.when_full, packets: 0, waiting, called: false, suspended }
    }

    #[inline]
    pub fn is_limited(&self) -> bool {
        self.limit != AdapterConfig::UNLIMITED
    }

    /// Whether messages that do not fit are dropped.
    pub fn drops(&self) -> bool {
        self.full == WhenFull::Drop
    }

    /// Whether a message waits for space.
    pub fn is_blocked(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Number of messages, out of `count` with this many packets each, that fit. An empty queue accepts a
    /// message of any size. A `late` message has to wait behind others.
    pub fn fits(&self, packets: u64, count: u32, late: bool) -> u32 {
        if !self.is_limited() {
            return count;
        }
        if late && self.is_blocked() {
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

    /// Records that packets of a posted message are sent.
    pub fn sent(&mut self, packets: u32) {
        self.packets -= u64::from(packets);
    }

    /// Lets a source with messages wait behind all others.
    pub fn wait(&mut self, source: SourceId) {
        self.waiting.push_back(source);
    }

    /// Records that the messages of the source that was called still do not fit.
    pub fn wait_on(&mut self) {
        self.called = false;
    }

    /// Records that the messages of the source that was called have been posted.
    pub fn posted_held(&mut self) {
        self.waiting.pop_front();
        self.called = false;
    }

    /// Stops a source of random traffic until no message waits.
    pub fn suspend(&mut self, source: SourceId) {
        self.suspended.push(source);
    }

    /// The sources that may go on because no message waits.
    pub fn resume(&mut self) -> Vec<SourceId> {
        if self.is_blocked() { Vec::new() } else { std::mem::take(&mut self.suspended) }
    }

    /// Returns the first source that waits, if the queue has space and the source has not been called.
    pub fn call(&mut self) -> Option<SourceId> {
        if self.called || self.packets >= u64::from(self.limit) {
            return None;
        }
        let first = self.waiting.front().copied();
        self.called = first.is_some();
        first
    }
}
