//! Oldest-first arbitration with bounded overtaking.

use std::collections::VecDeque;

use crate::ids::PacketId;

/// With oldest-first arbitration: which packet is the oldest, and how often it has been overtaken.
#[derive(Debug, Default)]
pub(crate) struct Seniority {
    /// The packets since the oldest waiting one, in order of arrival; `NONE` for those that have left.
    pub waiting: VecDeque<PacketId>,
    /// Order of arrival of the first.
    pub first: u64,
    pub overtaken: u32,
}

impl Seniority {
    pub fn arrived(&mut self, id: PacketId, order: u64) {
        if self.waiting.is_empty() {
            self.first = order;
        }
        self.waiting.push_back(id);
    }

    /// Notes a departure; says whether the packet was the oldest.
    pub fn departed(&mut self, order: u64) -> bool {
        self.waiting[(order - self.first) as usize] = PacketId::NONE;
        if order != self.first {
            self.overtaken += 1;
            return false;
        }
        while self.waiting.front() == Some(&PacketId::NONE) {
            self.waiting.pop_front();
            self.first += 1;
        }
        self.overtaken = 0;
        true
    }
}
