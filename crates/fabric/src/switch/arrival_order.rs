//! Oldest-first arbitration with bounded overtaking.

use std::collections::VecDeque;

use crate::switch::pool::Slot;

/// The order in which waiting packets arrived, and the number of times that the oldest one has been
/// overtaken. Used by oldest-first arbitration.
#[derive(Debug, Default)]
pub(crate) struct ArrivalOrder {
    /// Packets from the oldest waiting one onwards, in order of arrival; `NONE` for those that have left.
    pub waiting: VecDeque<Slot>,
    /// Position of the first packet in the order of arrival.
    pub first: u64,
    pub overtaken: u32,
}

impl ArrivalOrder {
    pub fn arrived(&mut self, id: Slot, order: u64) {
        if self.waiting.is_empty() {
            self.first = order;
        }
        self.waiting.push_back(id);
    }

    /// Records a packet that arrives behind others but leaves at once.
    pub fn overtaken_by_newest(&mut self) {
        self.waiting.push_back(Slot::NONE);
        self.overtaken += 1;
    }

    /// Records a packet that is not subject to the bound: it may overtake and be overtaken freely.
    pub fn ignored(&mut self) {
        if !self.waiting.is_empty() {
            self.waiting.push_back(Slot::NONE);
        }
    }

    /// Records a departure. Returns whether the packet was the oldest.
    pub fn departed(&mut self, order: u64) -> bool {
        self.waiting[(order - self.first) as usize] = Slot::NONE;
        if order != self.first {
            self.overtaken += 1;
            return false;
        }
        while self.waiting.front() == Some(&Slot::NONE) {
            self.waiting.pop_front();
            self.first += 1;
        }
        self.overtaken = 0;
        true
    }
}
