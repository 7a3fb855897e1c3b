//! Errors of programs.

use thiserror::Error;

/// An error of a program. Ranks, and the operations of a rank, are numbered from 0.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ProgramError {
    /// There are no ranks.
    #[error("a program needs at least one rank")]
    NoRanks,
    /// There are too many operations or dependencies.
    #[error("has {operations} operations and {dependencies} dependencies; valid: at most {most} of each")]
    TooLong {
        /// Number of operations of all ranks.
        operations: usize,
        /// Number of events that operations wait for.
        dependencies: usize,
        /// Largest number of each.
        most: u32,
    },
    /// A collective needs too many operations.
    #[error("{0}")]
    LongCollective(LongCollective),
    /// A program that is longer than a list of operations can be.
    #[error(
        "needs {operations} operations, but at most {most} are possible with a rendezvous, and with messages on other \
         ways than one port"
    )]
    TooManyToList {
        /// Number of operations of all ranks, before messages are divided.
        operations: usize,
        /// Largest number.
        most: u64,
    },
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
    /// A receive without a source or tag, of a message that may take several ways.
    #[error("rank {rank}, operation {op} ({what}): a receive on a node with several ways must name its source and tag")]
    AnyWay {
        /// Its rank.
        rank: u32,
        /// Its index among the operations of the rank.
        op: u32,
        /// Its action, in words.
        what: String,
    },
    /// The program cannot end.
    #[error("the program cannot end: {0}")]
    Stuck(Stuck),
}

/// A collective that needs too many operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LongCollective {
    /// Number of its ranks.
    pub ranks: u32,
    /// Number of operations that it needs.
    pub operations: u64,
    /// Largest number of operations.
    pub most: u64,
    /// Largest number of ranks with which the same repetitions of the same algorithm are possible; 0 if there is none.
    pub most_ranks: u32,
    /// Largest number of repetitions that is possible with its ranks; 0 if there is none.
    pub most_times: u64,
}

impl LongCollective {
    /// Largest number of operations of a program that is made, not read, and whose operations are listed.
    pub const MOST: u64 = 20_000_000;

    /// Whether the same algorithm is possible with fewer ranks or fewer repetitions.
    pub fn is_possible(&self) -> bool {
        self.most_ranks > 0 || self.most_times > 0
    }
}

impl std::fmt::Display for LongCollective {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let LongCollective { ranks, operations, most, most_ranks, most_times } = self;
        write!(f, "needs {operations} operations with {ranks} ranks, but at most {most} are possible")?;
        let of_ranks = (*most_ranks > 0).then(|| format!("at most {most_ranks} ranks"));
        let of_times = (*most_times > 0).then(|| format!("at most {most_times} repetitions"));
        let valid: Vec<String> = of_ranks.into_iter().chain(of_times).collect();
        if valid.is_empty() { Ok(()) } else { write!(f, "; valid: {}", valid.join(" or ")) }
    }
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
