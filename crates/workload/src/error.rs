//! Errors of programs.

use thiserror::Error;

/// An error of a program. Ranks and operations count from 0; operations are those of the rank.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ProgramError {
    /// There are no ranks.
    #[error("a program needs at least one rank")]
    NoRanks,
    /// There are more operations than can be counted.
    #[error("a program may have at most {} operations", u32::MAX / 2)]
    TooLong,
    /// An operation names a rank that does not exist.
    #[error("rank {rank}, operation {op} ({what}): there is no rank {other}; the ranks are 0 to {last}")]
    NoSuchRank {
        /// Its rank.
        rank: u32,
        /// Its place among those of the rank.
        op: u32,
        /// What it does.
        what: String,
        /// The rank that it names.
        other: u32,
        /// The last rank.
        last: u32,
    },
    /// Operations wait for each other.
    #[error("rank {rank}, operation {op} ({what}) waits for itself: its requirements form a cycle")]
    Cycle {
        /// Its rank.
        rank: u32,
        /// Its place among those of the rank.
        op: u32,
        /// What it does.
        what: String,
    },
    /// A receive from any source by rendezvous.
    #[error(
        "rank {rank}, operation {op} ({what}): a receive by rendezvous must name its source and its tag; raise the \
         limit of eager messages to {bytes} B, or name them"
    )]
    AnySource {
        /// Its rank.
        rank: u32,
        /// Its place among those of the rank.
        op: u32,
        /// What it does.
        what: String,
        /// Bytes of the message.
        bytes: u64,
    },
    /// The program cannot end.
    #[error("the program cannot end: {0}")]
    Stuck(Stuck),
}

/// An operation that never ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// Its rank.
    pub rank: u32,
    /// Its place among those of the rank.
    pub op: u32,
    /// What it does.
    pub what: String,
    /// Why it does not end.
    pub why: &'static str,
}

impl std::fmt::Display for Stuck {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Stuck { rank, op, what, why } = self;
        write!(f, "rank {rank}, operation {op} ({what}) {why}")
    }
}
