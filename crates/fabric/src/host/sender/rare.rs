//! State that few flows need, stored apart so that it takes no room in the cache lines of the others.

use becalm_engine::{Stream, Time};

use crate::distribution::Distribution;

/// Greedy traffic, and messages that were dropped.
#[derive(Debug, Default)]
pub(super) struct Rare {
    /// While the flow is greedy: the mean size of its messages in bytes.
    greedy: Option<u32>,
    /// Time at which it became greedy.
    since: Time,
    /// Time in which it was greedy before that.
    before: Time,
    /// Distribution of the sizes of its messages, if they vary.
    sizes: Option<(Distribution, Stream)>,
    /// When the last message was begun.
    message_began: Time,
    /// Messages that were dropped because the send queue was full.
    pub dropped: u64,
}

impl Rare {
    /// See [`Sender::set_greedy`](super::Sender::set_greedy).
    pub fn set_greedy(&mut self, greedy: Option<u32>, now: Time) {
        if self.greedy.is_some() {
            self.before += now.since(self.since);
        }
        (self.greedy, self.since) = (greedy, now);
    }

    /// See [`Sender::vary`](super::Sender::vary).
    pub fn vary(&mut self, sizes: &Distribution, random: &Stream) {
        self.sizes = Some((sizes.clone(), random.clone()));
    }

    /// Begins a message of a greedy flow; returns its size.
    pub fn begin_message(&mut self, now: Time, mtu: u32) -> u32 {
        self.message_began = now;
        let mean = self.greedy.unwrap_or(mtu);
        self.sizes.as_mut().map_or(mean, |(sizes, random)| sizes.size(mean, random))
    }

    pub fn message_began(&self) -> Time {
        self.message_began
    }

    pub fn greedy_time(&self) -> Time {
        self.before
    }

    pub fn greedy_since(&self) -> Option<Time> {
        self.greedy.map(|_| self.since)
    }
}
