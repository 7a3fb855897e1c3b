//! Programs of which every rank executes the same stages, so that operations follow from their numbers.
//!
//! Such a program takes no memory for its operations: each is made when it is needed.

use std::ops::Range;

use becalm_engine::Time;

use crate::operation::{Action, Op, Part, share};

/// The messages of a stage of one rank, with `p` ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pattern {
    /// No messages, but a computation of this duration.
    Compute(Time),
    /// `p - 1` stages. In stage `k`, rank `r` sends part `r + own - k` to the next rank.
    Ring {
        /// Offset of a rank's initial part from its number.
        own: u32,
    },
    /// `p - 1` stages. In stage `k`, counted from 1, rank `r` sends to rank `r + k`.
    Pairwise,
    /// A single stage, in which every rank sends to all others, in order of distance.
    Linear,
}

/// Consecutive stages with the same pattern.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Phase {
    pattern: Pattern,
    /// Bytes of the vector, which has one part for each rank.
    bytes: u64,
    /// Time that a rank needs to add a received byte to its own data, in picoseconds; 0 if it does not add.
    reduction_per_byte: f64,
    /// Number of stages.
    stages: u32,
    /// Number of operations of a rank in a stage.
    width: u32,
    /// The first operation of a rank in a repetition, and the tags used before in the repetition.
    first: u32,
    tags: u32,
}

impl Phase {
    /// Stages without additions.
    pub fn new(pattern: Pattern, bytes: u64, ranks: u32) -> Phase {
        let (stages, width) = match pattern {
            Pattern::Compute(_) => (1, 1),
            Pattern::Ring { .. } | Pattern::Pairwise => (ranks - 1, 2),
            Pattern::Linear => (1, 2 * (ranks - 1)),
        };
        Phase { pattern, bytes, reduction_per_byte: 0.0, stages, width, first: 0, tags: 0 }
    }

    /// The same stages around a ring, in which ranks add what they receive. `None` if only some of the additions take
    /// time.
    pub fn adding(mut self, reduction_per_byte: f64, ranks: u32) -> Option<Phase> {
        self.reduction_per_byte = reduction_per_byte;
        let parts = u64::from(ranks);
        let (least, most) = (self.addition(self.bytes / parts), self.addition(self.bytes.div_ceil(parts)));
        if most == Time::ZERO {
            self.reduction_per_byte = 0.0;
        } else {
            self.width = 3;
        }
        (most == Time::ZERO || least > Time::ZERO).then_some(self)
    }

    fn addition(&self, bytes: u64) -> Time {
        Time((bytes as f64 * self.reduction_per_byte).round() as u64)
    }

    /// Number of operations of a rank in all stages.
    fn len(&self) -> u64 {
        u64::from(self.stages) * u64::from(self.width)
    }

    /// Number of a stage's operations that wait for the stage before.
    fn starters(&self) -> u32 {
        if self.width == 3 { 2 } else { self.width }
    }

    /// Number of a stage's operations for which the next stage waits.
    fn ends(&self) -> u32 {
        self.starters()
    }
}

/// A program of which every rank executes the same phases in sequence, repeatedly.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Regular {
    ranks: u32,
    times: u32,
    phases: Vec<Phase>,
    /// Number of operations of a rank in one repetition, and in all of them.
    block: u32,
    of_rank: u32,
    /// Number of tags in one repetition.
    tags: u32,
}

/// The place of an operation.
struct Place {
    rank: u32,
    repetition: u32,
    phase: usize,
    stage: u32,
    /// Index among the operations of the stage.
    index: u32,
}

impl Regular {
    /// The largest number of operations of all ranks.
    pub const MOST: u64 = (1 << 31) - 1;

    /// A program of at most [`Regular::MOST`] operations; `None` if it has more.
    pub fn new(ranks: u32, times: u32, mut phases: Vec<Phase>) -> Option<Regular> {
        let (mut block, mut tags) = (0, 0);
        for phase in &mut phases {
            (phase.first, phase.tags) = (u32::try_from(block).ok()?, tags);
            block += phase.len();
            tags += if matches!(phase.pattern, Pattern::Compute(_)) { 0 } else { phase.stages };
        }
        let of_rank = block * u64::from(times);
        let all = of_rank.checked_mul(ranks.into())?;
        let (block, of_rank) = (block as u32, of_rank as u32);
        (all <= Regular::MOST && tags.checked_mul(times).is_some()).then_some(Regular {
            ranks,
            times,
            phases,
            block,
            of_rank,
            tags,
        })
    }

    pub fn ranks(&self) -> u32 {
        self.ranks
    }

    /// Number of operations of all ranks.
    pub fn len(&self) -> usize {
        self.ranks as usize * self.of_rank as usize
    }

    /// The numbers of a rank's operations.
    pub fn of_rank(&self, rank: u32) -> Range<u32> {
        rank * self.of_rank..(rank + 1) * self.of_rank
    }

    /// The operations of a rank that wait for nothing.
    pub fn free(&self, rank: u32) -> Range<u32> {
        let first = rank * self.of_rank;
        first..first + self.phases.first().map_or(0, Phase::starters)
    }

    pub fn rank(&self, number: u32) -> u32 {
        number / self.of_rank
    }

    fn place(&self, number: u32) -> Place {
        let (rank, own) = (number / self.of_rank, number % self.of_rank);
        let (repetition, own) = (own / self.block, own % self.block);
        let phase = self.phases.iter().rposition(|phase| phase.first <= own).expect("the first phase starts at 0");
        let Phase { first, width, .. } = self.phases[phase];
        Place { rank, repetition, phase, stage: (own - first) / width, index: (own - first) % width }
    }

    pub fn op(&self, number: u32) -> Op {
        let Place { rank, repetition, phase, stage, index } = self.place(number);
        let (phase, p) = (&self.phases[phase], self.ranks);
        let tag = 1 + repetition * self.tags + phase.tags + stage;
        let part = |part: u32| share(phase.bytes, part, p);
        let send = |to: u32, bytes: u64| Action::Send { to, bytes, tag };
        let recv = |from: u32, bytes: u64| Action::Recv { from: Some(from), bytes, tag: Some(tag) };
        let action = match (phase.pattern, index) {
            (Pattern::Compute(time), _) => Action::Calc { time },
            (Pattern::Ring { own }, 0) => send(next(rank, 1, p), part(ring_part(rank, own, stage, p))),
            (Pattern::Ring { own }, _) => {
                let bytes = part(before(ring_part(rank, own, stage, p), 1, p));
                if index == 1 { recv(before(rank, 1, p), bytes) } else { Action::Calc { time: phase.addition(bytes) } }
            }
            (Pattern::Pairwise, 0) => send(next(rank, stage + 1, p), part(next(rank, stage + 1, p))),
            (Pattern::Pairwise, _) => recv(before(rank, stage + 1, p), part(rank)),
            (Pattern::Linear, _) => {
                let distance = index / 2 + 1;
                let to = next(rank, distance, p);
                if index % 2 == 0 { recv(before(rank, distance, p), part(rank)) } else { send(to, part(to)) }
            }
        };
        Op { action, lane: 0, part: Part::Eager, port: 0 }
    }

    /// Number of ends that an operation waits for.
    pub fn needs(&self, number: u32) -> u32 {
        let Place { repetition, phase, stage, index, .. } = self.place(number);
        let own = &self.phases[phase];
        if index >= own.starters() {
            return 1;
        }
        match (stage, phase, repetition) {
            (0, 0, 0) => 0,
            (0, 0, _) => self.phases[self.phases.len() - 1].ends(),
            (0, ..) => self.phases[phase - 1].ends(),
            _ => own.ends(),
        }
    }

    /// The operations that wait for the end of an operation.
    pub fn waiting(&self, number: u32) -> Range<u32> {
        let Place { repetition, phase, stage, index, .. } = self.place(number);
        let own = &self.phases[phase];
        if own.width == 3 && index == 1 {
            return number + 1..number + 2;
        }
        let next = number - index + own.width;
        let follows = match (stage + 1 < own.stages, self.phases.get(phase + 1)) {
            (true, _) => Some(own),
            (false, Some(phase)) => Some(phase),
            (false, None) => self.phases.first().filter(|_| repetition + 1 < self.times),
        };
        next..next + follows.map_or(0, Phase::starters)
    }

    /// The messages that a rank sends, as receiver, bytes of one message, and number of messages.
    pub fn sent(&self, rank: u32) -> Vec<(u32, u64, u64)> {
        let (p, times) = (self.ranks, u64::from(self.times));
        let mut sent = Vec::new();
        for phase in &self.phases {
            match phase.pattern {
                Pattern::Compute(_) => {}
                Pattern::Ring { own } => {
                    // All parts but one, and parts of two sizes.
                    let (small, larger) = (phase.bytes / u64::from(p), phase.bytes % u64::from(p));
                    let kept = share(phase.bytes, next(rank, own + 1, p), p);
                    let larger = larger - u64::from(kept > small);
                    let smaller = u64::from(p) - 1 - larger;
                    let groups = [(small, smaller), (small + 1, larger)].into_iter().filter(|(_, count)| *count > 0);
                    sent.extend(groups.map(|(bytes, count)| (next(rank, 1, p), bytes, count * times)));
                }
                Pattern::Pairwise | Pattern::Linear => {
                    let others = (0..p).filter(|&to| to != rank);
                    sent.extend(others.map(|to| (to, share(phase.bytes, to, p), times)));
                }
            }
        }
        sent
    }

    /// Bytes of the largest message.
    pub fn largest(&self) -> u64 {
        self.phases.iter().map(|phase| phase.bytes.div_ceil(self.ranks.into())).max().unwrap_or(0)
    }
}

/// The rank or part at this distance after another.
fn next(number: u32, distance: u32, p: u32) -> u32 {
    (number + distance) % p
}

/// The rank or part at this distance before another.
fn before(number: u32, distance: u32, p: u32) -> u32 {
    (number + p - distance) % p
}

/// The part that a rank of a ring sends in a stage.
fn ring_part(rank: u32, own: u32, stage: u32, p: u32) -> u32 {
    (rank + own + p - stage) % p
}
