//! Programs: a graph of operations per rank.

use std::ops::Range;

use becalm_engine::order;

use crate::error::{LongCollective, ProgramError};
use crate::operation::{Action, Channel, Op, OpId, When};
use crate::regular::Regular;

/// An acyclic graph of operations for every rank.
///
/// Operations are numbered consecutively across all ranks, rank by rank.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    form: Form,
}

/// The form in which operations are kept.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Form {
    Listed(Listed),
    Regular(Regular),
}

/// A list of operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listed {
    pub ops: Vec<Op>,
    /// The first operation of each rank, and the number of operations.
    pub first: Vec<u32>,
    /// Number of events that each operation waits for.
    pub needs: Vec<u32>,
    /// The index of each operation's first edge, and the number of edges.
    pub first_edge: Vec<u32>,
    /// Waiting operations, with [`START`] if they wait for the start.
    pub edges: Vec<u32>,
    pub lanes: u16,
}

/// Messages of the same size from one rank to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Messages {
    /// The receiving rank.
    pub to: u32,
    /// The port of both ranks.
    pub port: u8,
    /// Payload of each message.
    pub bytes: u64,
    /// Number of messages.
    pub count: u64,
}

/// A program that was read from files.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The program.
    pub program: Program,
    /// Warnings about contents of the files that may be unintended.
    pub warnings: Vec<String>,
}

/// The bit of an edge to an operation that waits for the start of another operation.
pub(crate) const START: u32 = 1 << 31;

impl Listed {
    fn of_rank(&self, rank: u32) -> Range<u32> {
        self.first[rank as usize]..self.first[rank as usize + 1]
    }

    fn waiting(&self, number: u32) -> &[u32] {
        &self.edges[self.first_edge[number as usize] as usize..self.first_edge[number as usize + 1] as usize]
    }
}

impl From<Form> for Program {
    fn from(form: Form) -> Program {
        Program { form }
    }
}

impl Program {
    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        match &self.form {
            Form::Listed(listed) => listed.first.len() as u32 - 1,
            Form::Regular(regular) => regular.ranks(),
        }
    }

    /// Number of operations of all ranks.
    pub fn len(&self) -> usize {
        match &self.form {
            Form::Listed(listed) => listed.ops.len(),
            Form::Regular(regular) => regular.len(),
        }
    }

    /// Whether no rank has an operation.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether operations are made when they are needed. Such a program always ends.
    pub fn is_regular(&self) -> bool {
        matches!(self.form, Form::Regular(_))
    }

    /// Checks that the program is short enough for a list of its operations.
    pub(crate) fn check_listed(&self) -> Result<(), ProgramError> {
        let (operations, most) = (self.len(), LongCollective::MOST);
        let fits = !self.is_regular() || operations as u64 <= most;
        if fits { Ok(()) } else { Err(ProgramError::TooManyToList { operations, most }) }
    }

    /// Number of lanes of each rank.
    pub fn lanes(&self) -> u16 {
        match &self.form {
            Form::Listed(listed) => listed.lanes,
            Form::Regular(_) => 1,
        }
    }

    /// The numbers of a rank's operations.
    pub fn of_rank(&self, rank: u32) -> Range<u32> {
        match &self.form {
            Form::Listed(listed) => listed.of_rank(rank),
            Form::Regular(regular) => regular.of_rank(rank),
        }
    }

    /// The operation with this number.
    #[inline]
    pub fn op(&self, number: u32) -> Op {
        match &self.form {
            Form::Listed(listed) => listed.ops[number as usize],
            Form::Regular(regular) => regular.op(number),
        }
    }

    /// The rank of an operation, and its index among the operations of the rank.
    pub fn id(&self, number: u32) -> OpId {
        let rank = match &self.form {
            Form::Listed(listed) => listed.first.partition_point(|&first| first <= number) as u32 - 1,
            Form::Regular(regular) => regular.rank(number),
        };
        OpId { rank, op: number - self.of_rank(rank).start }
    }

    /// Number of ends and starts that an operation waits for.
    pub(crate) fn needs(&self, number: u32) -> u32 {
        match &self.form {
            Form::Listed(listed) => listed.needs[number as usize],
            Form::Regular(regular) => regular.needs(number),
        }
    }

    /// The operations of a rank that wait for nothing.
    pub(crate) fn free(&self, rank: u32) -> impl Iterator<Item = u32> + '_ {
        let within = match &self.form {
            Form::Listed(listed) => listed.of_rank(rank),
            Form::Regular(regular) => regular.free(rank),
        };
        within.filter(|&number| self.needs(number) == 0)
    }

    /// The operations that wait for this operation, and the event that they wait for.
    pub fn waiting(&self, number: u32) -> impl Iterator<Item = (u32, When)> + '_ {
        let (edges, range) = match &self.form {
            Form::Listed(listed) => (listed.waiting(number), 0..0),
            Form::Regular(regular) => (&[][..], regular.waiting(number)),
        };
        let when = |edge: u32| if edge & START == 0 { When::Done } else { When::Start };
        let listed = edges.iter().map(move |&edge| (edge & !START, when(edge)));
        listed.chain(range.map(|number| (number, When::Done)))
    }

    /// The messages that a rank sends.
    pub fn sent(&self, rank: u32) -> Vec<Messages> {
        match &self.form {
            Form::Listed(listed) => {
                let ops = &listed.ops[listed.first[rank as usize] as usize..listed.first[rank as usize + 1] as usize];
                let message = |op: &Op| match op.action {
                    Action::Send { to, bytes, .. } => Some(Messages { to, port: op.port, bytes, count: 1 }),
                    Action::Calc { .. } | Action::Recv { .. } => None,
                };
                ops.iter().filter_map(message).collect()
            }
            Form::Regular(regular) => {
                let sent = regular.sent(rank).into_iter();
                sent.map(|(to, bytes, count)| Messages { to, port: 0, bytes, count }).collect()
            }
        }
    }

    /// All channels of messages, each once, in order.
    pub fn channels(&self) -> Vec<Channel> {
        (0..self.ranks()).flat_map(|rank| self.channels_of(rank)).collect()
    }

    /// The channels of the messages that a rank sends, each once, in order.
    pub fn channels_of(&self, rank: u32) -> Vec<Channel> {
        let mut own: Vec<Channel> = self.sent(rank).iter().map(|sent| (rank, sent.to, sent.port)).collect();
        order::sort_and_dedup(&mut own, Ord::cmp);
        own
    }

    /// Bytes of payload that one rank sends to another.
    pub fn bytes(&self, from: u32, to: u32) -> u64 {
        self.sent(from).iter().filter(|sent| sent.to == to).map(|sent| sent.bytes * sent.count).sum()
    }

    /// Bytes of the largest message.
    pub(crate) fn largest(&self) -> u64 {
        match &self.form {
            Form::Listed(listed) => listed.ops.iter().map(|op| op.action.bytes()).max().unwrap_or(0),
            Form::Regular(regular) => regular.largest(),
        }
    }

    /// Memory of the program, in bytes.
    pub fn size(&self) -> usize {
        let Form::Listed(listed) = &self.form else { return size_of::<Program>() };
        let words = listed.first.len() + listed.needs.len() + listed.first_edge.len() + listed.edges.len();
        listed.ops.len() * size_of::<Op>() + words * size_of::<u32>()
    }
}
