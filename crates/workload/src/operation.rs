//! Operations of ranks.

use std::fmt;

use becalm_engine::Time;

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

impl Action {
    /// Payload of its message; 0 for a computation.
    pub fn bytes(&self) -> u64 {
        match *self {
            Action::Calc { .. } => 0,
            Action::Send { bytes, .. } | Action::Recv { bytes, .. } => bytes,
        }
    }
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

/// The size of part `i` of a vector with `parts` parts, which differ by at most a byte.
pub(crate) fn share(bytes: u64, i: u32, parts: u32) -> u64 {
    let end = |i: u64| match bytes.checked_mul(i) {
        Some(product) => product / u64::from(parts),
        None => (u128::from(bytes) * u128::from(i) / u128::from(parts)) as u64,
    };
    end(u64::from(i) + 1) - end(u64::from(i))
}
