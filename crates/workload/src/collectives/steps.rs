//! Sends and receives of all ranks, step by step.

use becalm_engine::Time;

use crate::builder::Builder;
use crate::operation::{Action, Op, OpId, Part, share};

/// A program under construction, in which every rank executes its steps in sequence.
pub(crate) struct Steps {
    builder: Builder,
    reduction_per_byte: f64,
    /// By rank, the operations of the last step.
    last: Ends,
    tag: u32,
    lane: u16,
}

/// The operations of every rank's last step.
pub(crate) type Ends = Vec<Vec<OpId>>;

/// A message of a step: the other rank and the number of bytes.
pub(crate) type Other = (u32, u64);

impl Steps {
    pub fn new(builder: Builder, reduction_per_byte: f64) -> Steps {
        let last = vec![Vec::new(); builder.ranks() as usize];
        Steps { builder, reduction_per_byte, last, tag: 0, lane: 0 }
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
        (0..count).map(|i| share(bytes, (first + i) % p, p)).sum()
    }

    /// Adds independent schedules, all of which start after the last steps. Each has lanes of its own.
    pub fn branches(&mut self, count: u32, mut add: impl FnMut(u32, &mut Steps)) {
        let begin = self.ends();
        let mut done: Ends = vec![Vec::new(); begin.len()];
        for branch in 0..count {
            self.lane = branch as u16;
            add(branch, self);
            let ends = std::mem::replace(&mut self.last, begin.clone());
            for ((done, ends), begin) in done.iter_mut().zip(ends).zip(&begin) {
                if ends != *begin {
                    done.extend(ends);
                }
            }
        }
        self.lane = 0;
        (0..).zip(done).for_each(|(rank, done)| self.set_last(rank, done));
    }

    /// The last steps of all ranks.
    pub fn ends(&self) -> Ends {
        self.last.clone()
    }

    /// Sets the last steps of all ranks.
    pub fn set_ends(&mut self, ends: Ends) {
        self.last = ends;
    }

    /// Makes the next steps wait for other steps too.
    pub fn also_after(&mut self, ends: Ends) {
        self.last.iter_mut().zip(ends).for_each(|(last, ends)| last.extend(ends));
    }

    fn add(&mut self, rank: u32, action: Action) -> OpId {
        self.builder.add(rank, Op { action, lane: self.lane, part: Part::Eager, port: 0 })
    }

    /// An unused tag.
    pub fn next_tag(&mut self) -> u32 {
        self.tag += 1;
        self.tag
    }

    /// The first of this number of unused tags.
    pub fn reserve_tags(&mut self, count: u32) -> u32 {
        self.tag += count;
        self.tag + 1 - count
    }

    /// Adds a computation to every rank.
    pub fn compute(&mut self, time: Time) {
        (0..self.ranks()).for_each(|rank| self.compute_on(rank, time));
    }

    /// Adds a computation to a rank.
    pub fn compute_on(&mut self, rank: u32, time: Time) {
        if time == Time::ZERO {
            return;
        }
        let op = self.add(rank, Action::Calc { time });
        let last = std::mem::replace(&mut self.last[rank as usize], vec![op]);
        self.builder.after_all(op, last);
    }

    /// Adds a step in which a rank sends a message and receives one at the same time. If it `reduces`, the rank adds
    /// the received data to its own.
    pub fn step(&mut self, rank: u32, tag: u32, send: Option<Other>, recv: Option<Other>, reduces: bool) {
        let last = std::mem::take(&mut self.last[rank as usize]);
        let mut done = Vec::with_capacity(2);
        if let Some((to, bytes)) = send {
            let op = self.add(rank, Action::Send { to, bytes, tag });
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
        let received = self.add(rank, Action::Recv { from: Some(from), bytes, tag: Some(tag) });
        self.builder.after_all(received, after.iter().copied());
        let time = Time((bytes as f64 * self.reduction_per_byte).round() as u64);
        if !reduces || time == Time::ZERO {
            return received;
        }
        let added = self.add(rank, Action::Calc { time });
        self.builder.after_all(added, [received]);
        added
    }

    /// Adds a send after other operations.
    pub fn send(&mut self, rank: u32, tag: u32, (to, bytes): Other, after: &[OpId]) -> OpId {
        let sent = self.add(rank, Action::Send { to, bytes, tag });
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
