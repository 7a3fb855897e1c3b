use becalm_engine::Time;

use crate::packet::Packet;

/// The answer of a destination adapter to a data packet: an ACK, a CNP, both, or neither.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// An acknowledgement of this packet and all that arrived before it, which opens the source's window: the number of marked
    /// packets that it reports.
    pub ack: Option<u32>,
    /// Whether a congestion notification packet goes out; it opens no window. It goes before the ACK.
    pub cnp: bool,
}

impl Answer {
    /// No answer.
    pub const SILENT: Answer = Answer { ack: None, cnp: false };
    /// Only a congestion notification packet.
    pub const CNP: Answer = Answer { ack: None, cnp: true };

    /// An ACK that reports this number of marked packets.
    pub const fn ack(marked: u32) -> Answer {
        Answer { ack: Some(marked), cnp: false }
    }
}

/// The data packets of a flow that no ACK covers yet, the present one included. The fabric counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unanswered {
    /// Packets since the last ACK.
    pub packets: u32,
    /// Of these, the packets that carry a mark.
    pub marked: u32,
    /// Time of the flow's last CNP, if there was one.
    pub notified: Option<Time>,
}

/// A destination's policy of answering the data packets of the flows that end there.
pub trait Echo {
    /// The answer to a data packet whose last byte has just arrived.
    fn answer(&mut self, now: Time, packet: &Packet, unanswered: &Unanswered) -> Answer;
}
