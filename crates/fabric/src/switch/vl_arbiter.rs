//! Arbitration between the virtual lanes of a link: round-robin, or IBTA's two weighted tables.

use crate::config::VlArbitration;

/// Bytes per unit of weight. A packet's size is rounded up to whole units.
const WEIGHT_BYTES: u32 = 64;
/// Bytes per unit of the high-priority limit.
const LIMIT_BYTES: i64 = 4096;
/// The limit value that means no limit.
const NO_LIMIT: u8 = 255;

/// A table of lanes with weights, served in weighted round-robin order.
#[derive(Clone, Debug)]
struct Wheel {
    entries: Vec<(u8, u8)>,
    at: usize,
    /// Remaining weight units of the current entry.
    left: i64,
}

impl Wheel {
    fn new(entries: &[(u8, u8)], vls: u8) -> Wheel {
        let counts = |&(vl, weight): &(u8, u8)| vl < vls && weight > 0;
        let entries: Vec<_> = entries.iter().copied().filter(counts).collect();
        let left = entries.first().map_or(0, |entry| i64::from(entry.1));
        Wheel { entries, at: 0, left }
    }

    /// The next lane in round-robin order that can send. An entry continues while it has weight left.
    fn choose(&mut self, can_send: &mut impl FnMut(u8) -> bool) -> Option<u8> {
        for step in 0..=self.entries.len() {
            if step > 0 || self.left <= 0 {
                self.advance();
            }
            let (vl, _) = *self.entries.get(self.at)?;
            if can_send(vl) {
                return Some(vl);
            }
        }
        None
    }

    fn advance(&mut self) {
        if !self.entries.is_empty() {
            self.at = (self.at + 1) % self.entries.len();
            self.left = i64::from(self.entries[self.at].1);
        }
    }
}

/// The arbiter of an output link.
#[derive(Clone, Debug)]
pub(crate) enum VlArbiter {
    Turns { vls: u8, last: u8 },
    Tables(Box<Tables>),
}

/// The first lane that can send, in turns after the lane that sent last.
#[inline(always)]
pub(crate) fn next_in_turn(last: u8, vls: u8, mut can_send: impl FnMut(u8) -> bool) -> Option<u8> {
    let mut vl = last;
    for _ in 0..vls {
        vl = if vl + 1 < vls { vl + 1 } else { 0 };
        if can_send(vl) {
            return Some(vl);
        }
    }
    None
}

/// The tables of IBTA. The high-priority table is served until its limit is used up. Then one packet of the
/// low-priority table is sent.
#[derive(Clone, Debug)]
pub(crate) struct Tables {
    high: Wheel,
    low: Wheel,
    limit: u8,
    /// Bytes of high priority that may still be sent before a packet of low priority.
    high_left: i64,
    /// Whether the last choice was from the high-priority table.
    chose_high: bool,
}

impl VlArbiter {
    /// A placeholder while the actual arbiter is borrowed.
    pub const IDLE: VlArbiter = VlArbiter::Turns { vls: 1, last: 0 };

    pub fn new(vls: u8, arbitration: &VlArbitration) -> VlArbiter {
        match arbitration {
            VlArbitration::RoundRobin => VlArbiter::Turns { vls, last: vls - 1 },
            VlArbitration::Tables { high, low, limit } => VlArbiter::Tables(Box::new(Tables {
                high: Wheel::new(high, vls),
                low: Wheel::new(low, vls),
                limit: *limit,
                high_left: i64::from(*limit) * LIMIT_BYTES,
                chose_high: false,
            })),
        }
    }

    /// The lane that sent last, if lanes take turns.
    #[inline]
    pub fn turn(&self) -> u8 {
        if let VlArbiter::Turns { last, .. } = self { *last } else { 0 }
    }

    /// Chooses the next lane to send, among those that can.
    #[inline]
    pub fn choose(&mut self, mut can_send: impl FnMut(u8) -> bool) -> Option<u8> {
        match self {
            &mut VlArbiter::Turns { vls, last } => next_in_turn(last, vls, can_send),
            VlArbiter::Tables(tables) => tables.choose(&mut can_send),
        }
    }

    /// Charges a packet of this size to the chosen lane.
    #[inline]
    pub fn sent(&mut self, vl: u8, bytes: u32) {
        match self {
            VlArbiter::Turns { last, .. } => *last = vl,
            VlArbiter::Tables(tables) => tables.sent(bytes),
        }
    }
}

impl Tables {
    fn choose(&mut self, can_send: &mut impl FnMut(u8) -> bool) -> Option<u8> {
        let high_first = self.limit == NO_LIMIT || self.high_left >= 0;
        let (first, second) =
            if high_first { (&mut self.high, &mut self.low) } else { (&mut self.low, &mut self.high) };
        let choice = first.choose(can_send);
        self.chose_high = choice.is_some() == high_first;
        choice.or_else(|| second.choose(can_send))
    }

    fn sent(&mut self, bytes: u32) {
        let units = i64::from(bytes.div_ceil(WEIGHT_BYTES));
        if self.chose_high {
            self.high.left -= units;
            self.high_left -= i64::from(bytes);
        } else {
            self.low.left -= units;
            self.high_left = i64::from(self.limit) * LIMIT_BYTES;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes sent by each of four lanes in 10,000 packets of 1 KiB, when the lanes in `busy` can always send.
    fn served(arbitration: &VlArbitration, busy: &[u8]) -> [u64; 4] {
        let mut arbiter = VlArbiter::new(4, arbitration);
        let mut bytes = [0; 4];
        for _ in 0..10_000 {
            let vl = arbiter.choose(|vl| busy.contains(&vl)).expect("a lane is busy");
            arbiter.sent(vl, 1024);
            bytes[usize::from(vl)] += 1024;
        }
        bytes
    }

    #[test]
    fn lanes_take_turns() {
        let bytes = served(&VlArbitration::RoundRobin, &[0, 1, 3]);
        assert!(bytes[2] == 0 && bytes[0].abs_diff(bytes[3]) <= 1024 && bytes[0].abs_diff(bytes[1]) <= 1024);
    }

    #[test]
    fn weights_share_the_link() {
        let tables = VlArbitration::Tables { high: vec![], low: vec![(0, 32), (1, 96)], limit: 0 };
        let bytes = served(&tables, &[0, 1]);
        assert!((bytes[1] as f64 / bytes[0] as f64 - 3.0).abs() < 0.01, "{bytes:?}");
        assert_eq!(served(&tables, &[0])[0], 10_000 * 1024, "an idle lane's weight is not reserved");
    }

    #[test]
    fn the_last_unit_of_a_packet_counts_whole() {
        // A packet of 2,068 B takes 33 units.
        for (weight, packets) in [(33, 1.0), (99, 3.0f64), (231, 7.0)] {
            let tables = VlArbitration::Tables { high: vec![], low: vec![(0, 33), (1, weight)], limit: 0 };
            let mut arbiter = VlArbiter::new(2, &tables);
            let mut sent = [0.0f64; 2];
            for _ in 0..8_000 {
                let vl = arbiter.choose(|_| true).expect("both are busy");
                arbiter.sent(vl, 2068);
                sent[usize::from(vl)] += 1.0;
            }
            assert!((sent[1] / sent[0] - packets).abs() < 0.01, "{weight}: {sent:?}");
        }
    }

    #[test]
    fn high_priority_goes_first_up_to_its_limit() {
        let tables = |limit| VlArbitration::Tables { high: vec![(1, 16)], low: vec![(0, 16)], limit };
        assert_eq!(served(&tables(255), &[0, 1])[0], 0);
        let bytes = served(&tables(4), &[0, 1]);
        let ratio = bytes[1] as f64 / bytes[0] as f64;
        assert!((ratio - 17.0).abs() < 0.1, "{ratio}: high priority sends until 16 KiB are exceeded");
    }

    #[test]
    fn a_lane_in_no_table_never_sends() {
        let tables = VlArbitration::Tables { high: vec![], low: vec![(0, 1)], limit: 0 };
        assert_eq!(VlArbiter::new(2, &tables).choose(|vl| vl == 1), None);
    }
}
