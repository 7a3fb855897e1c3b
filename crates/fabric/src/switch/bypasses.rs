//! Number of times that waiting packets have been overtaken at their output, for oldest-first arbitration.

use std::collections::VecDeque;

/// The packets that wait for one virtual lane of an output, in order of arrival.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bypasses {
    /// Position in the switch's order of arrival, and the number of younger packets that have since left by
    /// this lane.
    waiting: VecDeque<(u64, u32)>,
}

impl Bypasses {
    /// Records a packet that starts to wait.
    pub fn waits(&mut self, order: u64) {
        let place = self.waiting.partition_point(|&(other, _)| other < order);
        self.waiting.insert(place, (order, 0));
    }

    /// Records a departure.
    pub fn departed(&mut self, order: u64) {
        let place = self.waiting.partition_point(|&(other, _)| other < order);
        self.waiting.range_mut(..place).for_each(|(_, overtaken)| *overtaken += 1);
        self.waiting.remove(place);
    }

    /// Whether an older packet has been overtaken `max_bypass` times.
    #[inline]
    pub fn hold(&self, order: u64, max_bypass: u32) -> bool {
        let older = self.waiting.iter().take_while(|&&(other, _)| other < order);
        older.into_iter().any(|&(_, overtaken)| overtaken >= max_bypass)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_packet_counts_the_younger_ones_that_left() {
        let mut lane = Bypasses::default();
        [3, 5, 8, 9].into_iter().for_each(|order| lane.waits(order));
        lane.departed(5);
        assert!(lane.hold(8, 1) && !lane.hold(8, 2), "3 has been overtaken once");
        lane.departed(9);
        assert!(lane.hold(8, 2), "3 has been overtaken twice");
        lane.departed(3);
        assert!(!lane.hold(8, 0), "8 is the oldest now");
        lane.waits(10);
        assert!(lane.hold(10, 1) && !lane.hold(10, 2), "8 has been overtaken once");
    }

    #[test]
    fn a_packet_that_is_offered_late_keeps_its_place() {
        let mut lane = Bypasses::default();
        lane.waits(7);
        lane.waits(4);
        lane.departed(7);
        assert!(lane.hold(9, 1));
        lane.departed(4);
        assert!(!lane.hold(9, 0));
    }
}
