//! The receiving end of a flow.

use crate::packet::Packet;
use crate::policy::Unanswered;

/// The receiving end of a flow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Receiver {
    /// Packets that have arrived; also the sequence number expected next.
    pub packets: u32,
    pub bytes: u64,
    pub payload: u64,
    pub marked: u64,
    pub messages: u64,
    /// Packets that arrived out of order: always zero unless the model is broken.
    pub disordered: u32,
    pub unanswered: Unanswered,
}

impl Receiver {
    /// Counts a data packet that has arrived.
    pub fn count(&mut self, packet: &Packet) {
        self.disordered += u32::from(packet.sequence != self.packets);
        self.packets += 1;
        self.bytes += u64::from(packet.size);
        self.payload += u64::from(packet.payload);
        self.marked += u64::from(packet.marked);
        self.messages += u64::from(packet.last);
        self.unanswered.packets += 1;
        self.unanswered.marked |= packet.marked;
    }
}
