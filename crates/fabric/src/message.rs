//! Messages between the parts of a fabric that runs on several threads.

use becalm_engine::{Key, Time};

use crate::ids::{FlowId, PortId};
use crate::packet::Packet;
use crate::trail::Trail;

/// A packet with a trail that crosses a link.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The time and rank of its arrival.
    pub at: (Time, Key),
    pub(crate) packet: Packet,
    pub(crate) trail: Trail,
}

/// A message from one part to another.
#[derive(Clone, Debug)]
pub enum Message {
    /// A packet that crosses a link.
    Packet {
        /// The time and rank of its arrival.
        at: (Time, Key),
        /// The packet.
        packet: Packet,
    },
    /// A packet with a trail that crosses a link.
    Recorded(Box<Recorded>),
    /// The next message of a job's flow.
    Announce {
        /// The flow.
        flow: FlowId,
        /// Index of its send operation in the program.
        send: u32,
    },
    /// Credit for space that was freed in the buffer at the other end of a link.
    Credit {
        /// Time at which the credit reaches the sender.
        time: Time,
        /// Port of the sender.
        sender: PortId,
        /// Index of the sender's credit, and the lane.
        credit: (u32, u8),
        /// Units of credit.
        units: u32,
    },
    /// The start or end of a pause.
    Gate {
        /// Time at which the sender obeys.
        time: Time,
        /// Port of the sender.
        sender: PortId,
        /// Index of the sender's gate, and the lane.
        gate: (u32, u8),
        /// Whether the sender may resume.
        open: bool,
    },
}
