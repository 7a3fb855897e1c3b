use becalm_engine::Time;

use crate::packet::Packet;

/// A destination adapter's answer to a data packet, which is an ACK, a CNP, both or neither.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The number of marked packets that the ACK reports, if an ACK is sent. The ACK acknowledges this packet and all
    /// that arrived before it, and opens the source's window.
    pub ack: Option<u32>,
    /// Whether a congestion notification packet is sent. It does not open the window, and is sent before the
    /// ACK.
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

/// Counts of a flow's data packets that are not yet covered by an ACK, including the current one. The fabric
/// maintains them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unanswered {
    /// Packets since the last ACK.
    pub packets: u32,
    /// The marked ones among these packets.
    pub marked: u32,
    /// Time of the flow's last CNP, if any.
    pub notified: Option<Time>,
    /// Rank of the source among the hosts of the topology.
    pub source: u32,
}

/// A destination's policy for answering data packets. Each host has its own.
pub trait Echo {
    /// Returns the answer to a data packet whose last byte has just arrived.
    fn answer(&mut self, now: Time, packet: &Packet, unanswered: &Unanswered) -> Answer;

    /// Whether the echo reads [`Packet::requests_ack`]. If so, each packet that fills its flow's window requests an ACK.
    /// It never changes.
    fn hears_requests(&self) -> bool {
        false
    }

    /// Time from a decision to send a congestion notification packet until it is ready to be sent. It never changes.
    fn cnp_delay(&self) -> Time {
        Time::ZERO
    }
}
