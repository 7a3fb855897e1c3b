//! Errors of programs.

use thiserror::Error;

/// An error of a program. Ranks, and the operations of a rank, are numbered from 0.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ProgramError {
    /// There are no ranks.
    #[error("a program needs at least one rank")]
    NoRanks,
    /// There are too many operations.
    #[error("a program may have at most {} operations", u32::MAX / 2)]
    TooLong,
    /// An operation names a rank that does not exist.
    #[error("rank {rank}, operation {op} ({what}): there is no rank {other}; the ranks are 0 to {last}")]
    NoSuchRank {
        /// Its rank.
        rank: u32,
        /// Its index among the operations of the rank.
        op: u32,
        /// Its action, in words.
        what: String,
        /// The unknown rank that it names.
        other: u32,
        /// The last rank.
        last: u32,
    },
    /// An operation waits for itself.
    #[error("rank {rank}, operation {op} ({what}) waits for itself: its requirements form a cycle")]
    Cycle {
        /// Its rank.
        rank: u32,
        /// Its index among the operations of the rank.
        op: u32,
        /// Its action, in words.
        what: String,
    },
    /// A receive by rendezvous does not name its source and tag.
    #[error(
        "rank {rank}, operation {op} ({what}): a rendezvous receive must name its source and tag; otherwise, raise the \
         limit of eager messages to {bytes} B"
    )]
    AnySource {
        /// Its rank.
        rank: u32,
        /// Its index among the operations of the rank.
        op: u32,
        /// Its action, in words.
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
    /// Its index among the operations of the rank.
    pub op: u32,
    /// Its action, in words.
    pub what: String,
    /// The reason that it never ends.
    pub why: &'static str,
}

impl std::fmt::Display for Stuck {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Stuck { rank, op, what, why } = self;
        write!(f, "rank {rank}, operation {op} ({what}) {why}")
    }
}
