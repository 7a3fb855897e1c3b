//! The receiving end of a flow.

use crate::packet::Packet;
use crate::policy::{Delivery, Unanswered};

/// The receiving end of a flow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Receiver {
    /// Packets that have arrived; also the sequence number expected next.
    pub packets: u32,
    pub bytes: u64,
    pub payload: u64,
    pub marked: u64,
    pub messages: u64,
    /// Payload of the message that is arriving.
    message: u64,
    /// Packets that arrived out of order: always zero unless the model is broken.
    pub disordered: u32,
    pub unanswered: Unanswered,
}

impl Receiver {
    /// Counts a data packet that has arrived, with so many bytes of payload.
    #[inline]
    pub fn count(&mut self, packet: &Packet, payload: u32) {
        self.disordered += u32::from(packet.sequence != self.packets);
        self.packets += 1;
        self.bytes += u64::from(packet.size);
        self.payload += u64::from(payload);
        self.marked += u64::from(packet.marked);
        self.unanswered.packets += 1;
        self.unanswered.marked += u32::from(packet.marked);
        self.message += u64::from(payload);
    }

    /// The message whose last packet this is, which has been counted.
    pub fn complete(&mut self, packet: &Packet) -> Delivery {
        let bytes = std::mem::take(&mut self.message);
        self.messages += 1;
        Delivery { flow: packet.flow, number: self.messages - 1, posted: packet.posted, bytes }
    }
}
