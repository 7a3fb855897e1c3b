//! Programs: a graph of operations per rank.

use std::fmt;

use becalm_engine::{Time, order};

/// Size of the largest message, and of the largest vector of a collective operation, in bytes.
pub const LARGEST_MESSAGE: u64 = 1 << 40;

/// The action of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Computes.
    Calc {
        /// Duration.
        time: Time,
    },
    /// Sends a message.
    Send {
        /// The receiving rank.
        to: u32,
        /// Payload.
        bytes: u64,
        /// Tag that the receive must match.
        tag: u32,
    },
    /// Receives a message.
    Recv {
        /// The sending rank; any if `None`.
        from: Option<u32>,
        /// Payload.
        bytes: u64,
        /// Tag of the message; any if `None`.
        tag: Option<u32>,
    },
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Action::Calc { time } => write!(f, "calc {time}"),
            Action::Send { to, bytes, tag } => write!(f, "send {bytes} B to {to}, tag {tag}"),
            Action::Recv { from, bytes, tag } => {
                let from = from.map_or("any".to_string(), |rank| rank.to_string());
                let tag = tag.map_or("any".to_string(), |tag| tag.to_string());
                write!(f, "recv {bytes} B from {from}, tag {tag}")
            }
        }
    }
}

/// The part of a message exchange. Messages of one part never match receives of another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Part {
    /// A message that is sent eagerly.
    #[default]
    Eager,
    /// Rendezvous: the sender's request.
    Request,
    /// Rendezvous: the receiver's reply when its receive is posted.
    Clear,
    /// Rendezvous: the data.
    Bulk,
    /// A message that another rank forwards. Its tag names its sender, its receiver and its own tag.
    Relayed,
}

/// An operation of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op {
    /// Action of the operation.
    pub action: Action,
    /// Lane of the operation. Operations on the same lane of a rank do not overlap.
    pub lane: u16,
    /// Part of a message exchange.
    pub part: Part,
    /// Port of both ranks that a message takes. Messages of one port never match receives of another.
    pub port: u8,
}

/// A channel of messages: the sending rank, the receiving rank, and their port.
pub type Channel = (u32, u32, u8);

/// The event of an operation that another operation waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Its end.
    Done,
    /// Its start or, for a receive, its posting.
    Start,
}

/// An operation of a rank, given by its index among the operations of the rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OpId {
    /// The rank.
    pub rank: u32,
    /// The operation, numbered from 0.
    pub op: u32,
}

/// An acyclic graph of operations for every rank.
///
/// Operations are numbered consecutively across all ranks, rank by rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    pub(crate) ops: Vec<Op>,
    /// The first operation of each rank, and the number of operations.
    pub(crate) first: Vec<u32>,
    /// Number of events that each operation waits for.
    pub(crate) needs: Vec<u32>,
    /// The index of each operation's first edge, and the number of edges.
    pub(crate) first_edge: Vec<u32>,
    /// Waiting operations, with [`START`] if they wait for the start.
    pub(crate) edges: Vec<u32>,
    pub(crate) lanes: u16,
}

/// A program that was read from files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The program.
    pub program: Program,
    /// Warnings about contents of the files that may be unintended.
    pub warnings: Vec<String>,
}

/// The bit of an edge to an operation that waits for the start of another operation.
pub(crate) const START: u32 = 1 << 31;

impl Program {
    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        self.first.len() as u32 - 1
    }

    /// Number of operations of all ranks.
    pub fn len(&self) -> usize {
        self.ops.len()
    }

    /// Whether no rank has an operation.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// Number of lanes of each rank.
    pub fn lanes(&self) -> u16 {
        self.lanes
    }

    /// The numbers of a rank's operations.
    pub fn of_rank(&self, rank: u32) -> std::ops::Range<u32> {
        self.first[rank as usize]..self.first[rank as usize + 1]
    }

    /// The operation with this number.
    #[inline]
    pub fn op(&self, number: u32) -> &Op {
        &self.ops[number as usize]
    }

    /// The rank of an operation, and its index among the operations of the rank.
    pub fn id(&self, number: u32) -> OpId {
        let rank = self.first.partition_point(|&first| first <= number) as u32 - 1;
        OpId { rank, op: number - self.first[rank as usize] }
    }

    /// Number of ends and starts that an operation waits for.
    pub(crate) fn needs(&self, number: u32) -> u32 {
        self.needs[number as usize]
    }

    /// The operations that wait for this operation, and the event that they wait for.
    pub fn waiting(&self, number: u32) -> impl Iterator<Item = (u32, When)> + '_ {
        let edges = self.first_edge[number as usize] as usize..self.first_edge[number as usize + 1] as usize;
        self.edges[edges].iter().map(|&edge| (edge & !START, if edge & START == 0 { When::Done } else { When::Start }))
    }

    /// All channels of messages, each once, in order.
    pub fn channels(&self) -> Vec<Channel> {
        let mut channels = Vec::new();
        for rank in 0..self.ranks() {
            let ops = self.of_rank(rank).map(|number| self.op(number));
            let channel = |op: &Op| match op.action {
                Action::Send { to, .. } => Some((rank, to, op.port)),
                _ => None,
            };
            let mut own: Vec<Channel> = ops.filter_map(channel).collect();
            order::sort_and_dedup(&mut own, Ord::cmp);
            channels.extend(own);
        }
        channels
    }

    /// Bytes of payload that one rank sends to another.
    pub fn bytes(&self, from: u32, to: u32) -> u64 {
        let sent = self.of_rank(from).map(|number| match self.op(number).action {
            Action::Send { to: rank, bytes, .. } if rank == to => bytes,
            _ => 0,
        });
        sent.sum()
    }

    /// Memory of the program, in bytes.
    pub fn size(&self) -> usize {
        let words = self.first.len() + self.needs.len() + self.first_edge.len() + self.edges.len();
        self.ops.len() * size_of::<Op>() + words * size_of::<u32>()
    }
}
