//! The packets that wait in a switch, and their queues.

use crate::packet::Packet;

/// An index into a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot(u32);

impl Slot {
    /// No slot.
    pub const NONE: Slot = Slot(u32::MAX);

    #[inline]
    pub const fn is_some(self) -> bool {
        self.0 != Slot::NONE.0
    }

    /// The slot's number.
    pub const fn number(self) -> u32 {
        self.0
    }
}

impl From<u32> for Slot {
    fn from(number: u32) -> Slot {
        Slot(number)
    }
}

/// A waiting packet. It fills one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Waiting {
    pub packet: Packet,
    /// Position in the switch's order of arrival.
    pub order: u64,
    /// Port at which the packet arrived.
    pub input: u16,
    /// Port by which the packet leaves.
    pub output: u16,
    /// The next packet in the queue; for a free slot, the next free slot.
    next: Slot,
}

const _: () = assert!(size_of::<Waiting>() == 64);

/// A queue of packets in a pool.
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
    /// A queue with one packet, which may be the head of another queue.
    pub fn of_one(head: Slot) -> Fifo {
        Fifo { head, tail: head }
    }
}

/// The packets of one switch. Freed slots are reused.
#[derive(Debug)]
pub(crate) struct Pool {
    places: Vec<Waiting>,
    free: Slot,
    /// By slot: the lane on which the packet arrived, if packets change lanes.
    lanes: Vec<u8>,
}

impl Default for Pool {
    fn default() -> Self {
        Pool { places: Vec::new(), free: Slot::NONE, lanes: Vec::new() }
    }
}

impl Pool {
    /// Stores a packet with its ports and its position in order of arrival.
    pub fn insert(&mut self, packet: &Packet, (input, output): (u16, u16), order: u64) -> Slot {
        let waiting = Waiting { packet: *packet, order, input, output, next: Slot::NONE };
        let slot = self.free;
        match self.places.get_mut(slot.0 as usize) {
            Some(place) => {
                self.free = place.next;
                *place = waiting;
                slot
            }
            None => {
                self.places.push(waiting);
                Slot(self.places.len() as u32 - 1)
            }
        }
    }

    /// Frees a slot and returns its contents.
    pub fn remove(&mut self, slot: Slot) -> &Waiting {
        let place = &mut self.places[slot.0 as usize];
        place.next = std::mem::replace(&mut self.free, slot);
        place
    }

    /// Frees the slot of a queue's head. Returns the new head.
    #[inline]
    pub fn remove_head(&mut self, head: Slot) -> Slot {
        std::mem::replace(&mut self.places[head.0 as usize].next, std::mem::replace(&mut self.free, head))
    }

    /// Records the lane on which a packet arrived.
    pub fn came_on(&mut self, slot: Slot, vl: u8) {
        self.lanes.resize(self.places.len(), 0);
        self.lanes[slot.0 as usize] = vl;
    }

    /// The recorded lane on which a packet arrived.
    pub fn lane_of(&self, slot: Slot) -> u8 {
        self.lanes[slot.0 as usize]
    }

    /// Increases the trail indices of all packets by `places`.
    pub fn move_trails(&mut self, places: u32) {
        self.places.iter_mut().for_each(|waiting| waiting.packet.move_trail(places));
    }

    #[inline]
    pub fn get(&self, slot: Slot) -> &Waiting {
        &self.places[slot.0 as usize]
    }

    /// The slots of a queue, from its head, which may be none.
    pub fn from(&self, head: Slot) -> impl Iterator<Item = Slot> {
        let some = |slot: Slot| slot.is_some().then_some(slot);
        std::iter::successors(some(head), move |&slot| some(self.get(slot).next))
    }

    /// Appends a packet to a queue.
    #[inline]
    pub fn push(&mut self, queue: &mut Fifo, slot: Slot) {
        if queue.head.is_some() {
            self.places[queue.tail.0 as usize].next = slot;
        } else {
            queue.head = slot;
        }
        queue.tail = slot;
    }
}
