//! State that few flows need, stored separately to save cache space for the others.

use becalm_engine::{Stream, Time};

use crate::distribution::Distribution;

/// State of greedy traffic, and dropped messages.
#[derive(Debug, Default)]
pub(super) struct Rare {
    /// Mean message size in bytes while the flow is greedy.
    greedy: Option<u32>,
    /// Time at which the flow became greedy.
    since: Time,
    /// Total time of earlier greedy periods.
    before: Time,
    /// Distribution of message sizes, if they vary.
    sizes: Option<(Distribution, Stream)>,
    /// Time at which the last message began.
    message_began: Time,
    /// Number of messages dropped because the send queue was full.
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
