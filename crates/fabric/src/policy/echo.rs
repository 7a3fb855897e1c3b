use crate::packet::Packet;

/// The answer of a destination adapter to a data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// An acknowledgement of this packet and all before it, which opens the source's window; `echo` carries the mark.
    Ack {
        /// Whether the ACK tells the source of congestion.
        echo: bool,
    },
    /// A congestion notification packet; it opens no window.
    Cnp,
    /// Nothing.
    Silent,
}

/// The data packets of a flow that have arrived since its last answer, the present one included. The fabric counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unanswered {
    /// How many.
    pub packets: u32,
    /// Whether one of them carries a mark.
    pub marked: bool,
}

/// A destination's policy of answering the data packets of the flows that end there.
pub trait Echo {
    /// The answer to a data packet whose last byte has just arrived.
    fn answer(&mut self, packet: &Packet, unanswered: Unanswered) -> Answer;
}
