use crate::packet::Packet;

/// What a destination adapter sends back for a data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// An acknowledgement that opens the source's window; `echo` carries the mark.
    Ack {
        /// Whether the ACK tells the source of congestion.
        echo: bool,
    },
    /// A congestion notification packet; it opens no window.
    Cnp,
    /// Nothing.
    Silent,
}

/// How a destination answers the data packets of the flows that end there.
pub trait Echo {
    /// The answer to a data packet whose last byte has just arrived.
    fn answer(&mut self, packet: &Packet) -> Answer;
}
