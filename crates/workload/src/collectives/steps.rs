//! Sends and receives of all ranks, step by step.

use becalm_engine::Time;

use crate::builder::Builder;
use crate::program::OpId;

/// A program under construction, in which every rank executes its steps in sequence.
pub(super) struct Steps {
    builder: Builder,
    reduction_per_byte: f64,
    /// By rank, the operations of the last step.
    last: Vec<Vec<OpId>>,
    tag: u32,
}

/// A message of a step: the other rank and the number of bytes.
pub(super) type Other = (u32, u64);

impl Steps {
    pub fn new(builder: Builder, reduction_per_byte: f64) -> Steps {
        let last = vec![Vec::new(); builder.ranks() as usize];
        Steps { builder, reduction_per_byte, last, tag: 0 }
    }

    pub fn ranks(&self) -> u32 {
        self.builder.ranks()
    }

    pub fn into_builder(self) -> Builder {
        self.builder
    }

    /// Bytes of `count` parts of a vector, starting with part `first` and wrapping around. The vector has one
    /// part for each rank.
    pub fn parts(&self, bytes: u64, first: u32, count: u32) -> u64 {
        let p = self.ranks();
        let end = |part: u64| (u128::from(bytes) * u128::from(part) / u128::from(p)) as u64;
        (0..count).map(|i| u64::from((first + i) % p)).map(|part| end(part + 1) - end(part)).sum()
    }

    /// An unused tag.
    pub fn next_tag(&mut self) -> u32 {
        self.tag += 1;
        self.tag
    }

    /// Adds a computation to every rank.
    pub fn compute(&mut self, time: Time) {
        if time == Time::ZERO {
            return;
        }
        for rank in 0..self.ranks() {
            let op = self.builder.calc(rank, time);
            let last = std::mem::replace(&mut self.last[rank as usize], vec![op]);
            self.builder.after_all(op, last);
        }
    }

    /// Adds a step in which a rank sends a message and receives one at the same time. If it `reduces`, the rank adds
    /// the received data to its own.
    pub fn step(&mut self, rank: u32, tag: u32, send: Option<Other>, recv: Option<Other>, reduces: bool) {
        let last = std::mem::take(&mut self.last[rank as usize]);
        let mut done = Vec::with_capacity(2);
        if let Some((to, bytes)) = send {
            let op = self.builder.send(rank, to, bytes, tag);
            self.builder.after_all(op, last.iter().copied());
            done.push(op);
        }
        if let Some((from, bytes)) = recv {
            done.push(self.receive(rank, tag, (from, bytes), &last, reduces));
        }
        self.last[rank as usize] = if done.is_empty() { last } else { done };
    }

    /// Adds a receive after other operations, and the addition of the received data if the rank `reduces`.
    /// Returns the last operation.
    pub fn receive(&mut self, rank: u32, tag: u32, (from, bytes): Other, after: &[OpId], reduces: bool) -> OpId {
        let received = self.builder.recv(rank, from, bytes, tag);
        self.builder.after_all(received, after.iter().copied());
        let time = Time((bytes as f64 * self.reduction_per_byte).round() as u64);
        if !reduces || time == Time::ZERO {
            return received;
        }
        let added = self.builder.calc(rank, time);
        self.builder.after_all(added, [received]);
        added
    }

    /// Adds a send after other operations.
    pub fn send(&mut self, rank: u32, tag: u32, (to, bytes): Other, after: &[OpId]) -> OpId {
        let sent = self.builder.send(rank, to, bytes, tag);
        self.builder.after_all(sent, after.iter().copied());
        sent
    }

    /// The operations of a rank's last step.
    pub fn last(&self, rank: u32) -> Vec<OpId> {
        self.last[rank as usize].clone()
    }

    /// Sets the operations of a rank's last step. An empty list changes nothing.
    pub fn set_last(&mut self, rank: u32, last: Vec<OpId>) {
        if !last.is_empty() {
            self.last[rank as usize] = last;
        }
    }
}
