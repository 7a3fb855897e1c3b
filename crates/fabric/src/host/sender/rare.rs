//! State that few flows need, stored separately to save cache space for the others.

use std::collections::VecDeque;

use becalm_engine::{Stream, Time};

use crate::distribution::Distribution;
use crate::host::entropy::Entropy;

/// The size of a message that is too long for 32 bits. Such a message is sent in parts.
pub(super) const LONG: u32 = u32::MAX;

/// Largest size of a part of a long message, except for rounding to full packets.
const PART: u32 = 1 << 30;

/// State of greedy traffic, sizes of long messages, dropped messages, and entropy values.
#[derive(Debug, Default)]
pub(super) struct Rare {
    /// Mean message size in bytes while the flow is greedy.
    greedy: Option<u64>,
    /// Time at which the flow became greedy.
    since: Time,
    /// Total time of earlier greedy periods.
    before: Time,
    /// Distribution of message sizes, if they vary.
    sizes: Option<(Distribution, Stream)>,
    /// Time at which the last message began.
    message_began: Time,
    /// Size of the messages of each posted request with long messages, in order.
    pub long: VecDeque<u64>,
    /// Bytes of the current message after its current part.
    left: u64,
    /// Number of messages dropped because the send queue was full.
    pub dropped: u64,
    /// The last packet that requested an ACK, if any did.
    pub requested: u32,
    /// Entropy values of packets, if they have any.
    pub entropy: Option<Entropy>,
}

impl Rare {
    /// See [`Sender::set_greedy`](super::Sender::set_greedy).
    pub fn set_greedy(&mut self, greedy: Option<u64>, now: Time) {
        if self.greedy.is_some() {
            self.before += now.since(self.since);
        }
        (self.greedy, self.since) = (greedy, now);
    }

    /// See [`Sender::vary`](super::Sender::vary).
    pub fn vary(&mut self, sizes: &Distribution, random: &Stream) {
        self.sizes = Some((sizes.clone(), random.clone()));
    }

    /// Begins a message of a greedy flow; returns its size, or [`LONG`].
    pub fn begin_message(&mut self, now: Time, mtu: u32) -> u32 {
        self.message_began = now;
        let mean = self.greedy.unwrap_or(mtu.into());
        self.left = self.sizes.as_mut().map_or(mean, |(sizes, random)| sizes.size(mean, random));
        self.left.min(u64::from(LONG)) as u32
    }

    /// Begins a posted long message. It may be the last one of its request.
    pub fn begin_long(&mut self, is_last: bool) {
        self.left = *self.long.front().expect("every request with long messages has their size");
        if is_last {
            self.long.pop_front();
        }
    }

    /// The bytes of the next part of a long message, and whether another part follows. All parts except the last
    /// consist of full packets.
    pub fn next_part(&mut self, mtu: u32) -> (u32, bool) {
        let part = self.left.min(u64::from(PART / mtu * mtu));
        self.left -= part;
        (part as u32, self.left > 0)
    }

    /// Ends a long message with its current part. Returns the bytes of the other parts.
    pub fn drop_rest(&mut self) -> u64 {
        std::mem::take(&mut self.left)
    }

    /// Mean message size in bytes while the flow is greedy, otherwise 0.
    pub fn mean_message(&self) -> u64 {
        self.greedy.unwrap_or(0)
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
