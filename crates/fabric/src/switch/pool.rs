//! The packets that wait in a switch, and the queues that they form.

use crate::packet::Packet;

/// A place in a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot(u32);

impl Slot {
    /// No place.
    pub const NONE: Slot = Slot(u32::MAX);

    #[inline]
    pub const fn is_some(self) -> bool {
        self.0 != Slot::NONE.0
    }
}

/// The part of a packet that arbitration needs. Entries lie densely, apart from the packets themselves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueueEntry {
    /// Place in the switch's order of arrival.
    pub order: u64,
    /// Size on the wire in bytes.
    pub size: u32,
    /// The next packet of the queue; in a free place, the next free one.
    next: Slot,
}

/// A queue of packets of a pool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fifo {
    pub head: Slot,
    tail: Slot,
}

impl Default for Fifo {
    fn default() -> Self {
        Fifo { head: Slot::NONE, tail: Slot::NONE }
    }
}

impl Fifo {
    /// A queue of one packet, which may be the head of another queue.
    pub fn of_one(head: Slot) -> Fifo {
        Fifo { head, tail: head }
    }
}

/// The packets of one switch; freed places are used again.
#[derive(Debug)]
pub(crate) struct Pool {
    packets: Vec<Packet>,
    entries: Vec<QueueEntry>,
    free: Slot,
    len: usize,
}

impl Default for Pool {
    fn default() -> Self {
        Pool { packets: Vec::new(), entries: Vec::new(), free: Slot::NONE, len: 0 }
    }
}

impl Pool {
    /// Packets that wait.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Stores a packet with its place in the order of arrival.
    pub fn insert(&mut self, packet: Packet, order: u64) -> Slot {
        self.len += 1;
        let entry = QueueEntry { order, size: packet.size, next: Slot::NONE };
        let slot = self.free;
        if !slot.is_some() {
            self.packets.push(packet);
            self.entries.push(entry);
            return Slot(self.packets.len() as u32 - 1);
        }
        let at = slot.0 as usize;
        self.free = self.entries[at].next;
        (self.packets[at], self.entries[at]) = (packet, entry);
        slot
    }

    /// Frees a place and returns its packet.
    pub fn remove(&mut self, slot: Slot) -> &mut Packet {
        self.len -= 1;
        let at = slot.0 as usize;
        self.entries[at].next = self.free;
        self.free = slot;
        &mut self.packets[at]
    }

    #[inline]
    pub fn packet(&self, slot: Slot) -> &Packet {
        &self.packets[slot.0 as usize]
    }

    #[inline]
    pub fn entry(&self, slot: Slot) -> &QueueEntry {
        &self.entries[slot.0 as usize]
    }

    /// Appends a packet to a queue.
    #[inline]
    pub fn push(&mut self, queue: &mut Fifo, slot: Slot) {
        if queue.head.is_some() {
            self.entries[queue.tail.0 as usize].next = slot;
        } else {
            queue.head = slot;
        }
        queue.tail = slot;
    }

    /// Removes the head of a queue.
    #[inline]
    pub fn pop(&self, queue: &mut Fifo) {
        queue.head = self.entry(queue.head).next;
    }
}
