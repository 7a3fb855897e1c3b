//! A queue of packets.

use crate::ids::PacketId;
use crate::packet::Slab;

/// A list of packets linked through [`Packet::next`](crate::Packet::next).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fifo {
    pub head: PacketId,
    pub tail: PacketId,
}

impl Default for Fifo {
    fn default() -> Self {
        Fifo { head: PacketId::NONE, tail: PacketId::NONE }
    }
}

impl Fifo {
    pub fn push(&mut self, id: PacketId, slab: &mut Slab) {
        slab[id].next = PacketId::NONE;
        if self.head.is_some() {
            slab[self.tail].next = id;
        } else {
            self.head = id;
        }
        self.tail = id;
    }

    pub fn pop(&mut self, slab: &Slab) {
        self.head = slab[self.head].next;
    }
}
