//! Messages between the parts of a fabric that runs on several threads.

use becalm_engine::{Key, Time};

use crate::ids::PortId;
use crate::packet::Packet;

/// What one part tells another.
#[derive(Clone, Copy, Debug)]
pub enum Message {
    /// A packet comes over a link.
    Packet {
        /// When it is there, and its rank among what happens then.
        at: (Time, Key),
        /// The packet.
        packet: Packet,
    },
    /// Room has come free in the buffer behind a link.
    Credit {
        /// When the sender will know.
        time: Time,
        /// The port that sends.
        sender: PortId,
        /// Its line of credit, and the lane.
        line: (u32, u8),
        /// How much.
        units: u32,
    },
}
