//! Messages between the parts of a fabric that runs on several threads.

use becalm_engine::{Key, Time};

use crate::ids::{FlowId, PortId};
use crate::packet::Packet;
use crate::trail::Trail;

/// A packet with a trail that goes over a link.
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
    /// A packet that goes over a link.
    Packet {
        /// The time and rank of its arrival.
        at: (Time, Key),
        /// The packet.
        packet: Packet,
    },
    /// A packet with a trail that goes over a link.
    Recorded(Box<Recorded>),
    /// The next message of a job's flow.
    Announce {
        /// The flow.
        flow: FlowId,
        /// The number of its send in the program.
        send: u32,
    },
    /// Room that has come free in the buffer behind a link.
    Credit {
        /// The time at which the sender learns of it.
        time: Time,
        /// The port of the sender.
        sender: PortId,
        /// The place of its credit, and the lane.
        credit: (u32, u8),
        /// Units of credit.
        units: u32,
    },
    /// A pause of a sender, or its end.
    Gate {
        /// The time at which the sender obeys.
        time: Time,
        /// The port of the sender.
        sender: PortId,
        /// The place of its gate, and the lane.
        gate: (u32, u8),
        /// Whether the sender may go on.
        open: bool,
    },
}
