//! Entropy: a value that a source sets in each packet, and that selects the packet's path together with its flow.

use std::collections::VecDeque;

use becalm_engine::mix;

use crate::config::Balancer;

/// Largest penalty of a value.
const MOST_PENALTY: u8 = 15;
/// Number of values that REPS stores for reuse.
const RING: usize = 8;
/// Fewest packets whose values are known, and how many times those in flight are known.
const LEAST_KNOWN: usize = 64;
const TIMES_IN_FLIGHT: usize = 4;
/// Domain of random draws.
const DRAWS: u64 = 0x656e_7472;

/// The values of one flow's packets.
#[derive(Debug)]
pub(crate) struct Entropy {
    balancer: Balancer,
    /// The number of values, a power of two, minus 1.
    mask: u16,
    /// The next index of the current cycle through all values, and the mask that turns it into a value.
    index: u16,
    turn: u16,
    seed: u64,
    draws: u64,
    /// By value; empty before the first packet, and for balancers without penalties.
    penalties: Vec<u8>,
    /// Values that returned without a mark, to be used once more.
    good: VecDeque<u16>,
    /// The values of the last packets, by sequence number modulo the length.
    sent: Vec<u16>,
}

impl Entropy {
    /// The values of a flow; `values` is a power of two of at most 32,768.
    pub fn new(balancer: Balancer, values: u32, seed: u64) -> Entropy {
        let mask = (values - 1) as u16;
        let (penalties, good, sent) = (Vec::new(), VecDeque::new(), Vec::new());
        let mut entropy =
            Entropy { balancer, mask, index: 0, turn: 0, seed: mix(seed, DRAWS), draws: 0, penalties, good, sent };
        entropy.turn = entropy.draw();
        entropy
    }

    /// The value of the next packet, which is the flow's packet number `sequence`, when `in_flight` packets are
    /// unacknowledged.
    pub fn next(&mut self, sequence: u32, in_flight: u32) -> u16 {
        let value = match self.balancer {
            Balancer::Oblivious => self.step(),
            Balancer::Bitmap => self.least_marked(),
            Balancer::Reps => self.good.pop_front().unwrap_or_else(|| self.draw()),
            Balancer::Mixed => self.good.pop_front().unwrap_or_else(|| self.least_marked()),
        };
        if self.balancer != Balancer::Oblivious {
            self.keep(sequence, in_flight as usize, value);
        }
        value
    }

    /// Handles the ACK of a packet, with or without a mark. `next` is the number of the next packet to be sent.
    pub fn acked(&mut self, sequence: u32, next: u32, marked: bool) {
        if self.sent.len() < (next - sequence) as usize {
            return;
        }
        let value = self.sent[self.place(sequence)];
        if marked {
            if let Some(penalty) = self.penalties.get_mut(usize::from(value)) {
                *penalty = (*penalty + 1).min(MOST_PENALTY);
            }
        } else if matches!(self.balancer, Balancer::Reps | Balancer::Mixed) {
            self.good.push_back(value);
            if self.balancer == Balancer::Reps && self.good.len() > RING {
                self.good.pop_front();
            }
        }
    }

    fn draw(&mut self) -> u16 {
        self.draws += 1;
        mix(self.seed, self.draws) as u16 & self.mask
    }

    fn value(&self) -> u16 {
        self.index ^ self.turn
    }

    /// Advances the cycle. A new cycle has a new random order.
    fn advance(&mut self) {
        self.index = (self.index + 1) & self.mask;
        if self.index == 0 {
            self.turn = self.draw();
        }
    }

    fn step(&mut self) -> u16 {
        let value = self.value();
        self.advance();
        value
    }

    /// The next value without a penalty. Reduces the penalty of the first value that is skipped by 1.
    fn least_marked(&mut self) -> u16 {
        let values = usize::from(self.mask) + 1;
        self.penalties.resize(values, 0);
        for skipped in 0..values {
            let penalty = &mut self.penalties[usize::from(self.index ^ self.turn)];
            if *penalty == 0 {
                break;
            }
            *penalty -= u8::from(skipped == 0);
            self.advance();
        }
        self.step()
    }

    fn place(&self, sequence: u32) -> usize {
        sequence as usize & (self.sent.len() - 1)
    }

    /// Stores the value of a packet.
    fn keep(&mut self, sequence: u32, in_flight: usize, value: u16) {
        let wanted = (TIMES_IN_FLIGHT * in_flight).next_power_of_two().max(LEAST_KNOWN);
        if self.sent.len() < wanted {
            let mut sent = vec![0; wanted];
            for earlier in sequence.saturating_sub(self.sent.len() as u32)..sequence {
                sent[earlier as usize & (wanted - 1)] = self.sent[self.place(earlier)];
            }
            self.sent = sent;
        }
        let place = self.place(sequence);
        self.sent[place] = value;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn of(balancer: Balancer, values: u32) -> Entropy {
        Entropy::new(balancer, values, 7)
    }

    /// The values of packets `from..to`, each sent with nothing in flight.
    fn values(entropy: &mut Entropy, from: u32, to: u32) -> Vec<u16> {
        (from..to).map(|sequence| entropy.next(sequence, 0)).collect()
    }

    #[test]
    fn a_cycle_contains_every_value_once_and_the_next_has_another_order() {
        for balancer in [Balancer::Oblivious, Balancer::Bitmap, Balancer::Mixed] {
            let mut entropy = of(balancer, 16);
            let cycles: Vec<_> = (0..8).map(|cycle| values(&mut entropy, 16 * cycle, 16 * cycle + 16)).collect();
            for cycle in &cycles {
                assert_eq!(cycle.iter().collect::<BTreeSet<_>>().len(), 16, "{balancer:?}");
            }
            assert!(cycles.iter().collect::<BTreeSet<_>>().len() > 4, "{balancer:?}");
        }
        assert_eq!(values(&mut of(Balancer::Mixed, 1), 0, 3), [0; 3]);
    }

    #[test]
    fn a_marked_value_is_skipped_as_often_as_it_was_marked() {
        let mut entropy = of(Balancer::Bitmap, 4);
        let first = values(&mut entropy, 0, 4);
        let bad = first[2];
        entropy.acked(2, 4, true);
        entropy.acked(2, 4, true);
        // With penalty 2, the value is met twice, and skipped both times. Its cycles have three values.
        let next = values(&mut entropy, 4, 10);
        assert!(!next.contains(&bad));
        assert!(values(&mut entropy, 10, 14).contains(&bad));
    }

    #[test]
    fn only_the_first_value_that_a_packet_skips_loses_penalty() {
        let mut entropy = of(Balancer::Bitmap, 4);
        values(&mut entropy, 0, 4);
        (0..4).for_each(|sequence| entropy.acked(sequence, 4, true));
        entropy.penalties.fill(3);
        let first = entropy.value();
        entropy.next(4, 0);
        let expected: Vec<u8> = (0..4).map(|value| if value == first { 2 } else { 3 }).collect();
        assert_eq!(entropy.penalties, expected, "all have a penalty, and one full turn is the most");
    }

    #[test]
    fn a_penalty_has_a_limit() {
        let mut entropy = of(Balancer::Bitmap, 2);
        let value = values(&mut entropy, 0, 1)[0];
        (0..40).for_each(|_| entropy.acked(0, 1, true));
        assert_eq!(entropy.penalties[usize::from(value)], 15);
    }

    #[test]
    fn reps_uses_a_good_value_once_and_stores_the_last_eight() {
        let mut entropy = of(Balancer::Reps, 1024);
        let sent = values(&mut entropy, 0, 20);
        assert!(sent.iter().collect::<BTreeSet<_>>().len() > 15, "random");
        (0..10).for_each(|sequence| entropy.acked(sequence, 20, false));
        entropy.acked(10, 20, true);
        assert_eq!(values(&mut entropy, 20, 28), sent[2..10]);
        assert!(entropy.good.is_empty());
        assert_ne!(values(&mut entropy, 28, 36), sent[2..10], "random again");
    }

    #[test]
    fn mixed_uses_all_good_values_and_otherwise_skips_marked_ones() {
        let mut entropy = of(Balancer::Mixed, 16);
        let sent = values(&mut entropy, 0, 16);
        (0..10).for_each(|sequence| entropy.acked(sequence, 16, false));
        (10..16).for_each(|sequence| entropy.acked(sequence, 16, true));
        assert_eq!(values(&mut entropy, 16, 26), sent[..10]);
        let next = values(&mut entropy, 26, 36);
        assert!(sent[10..].iter().all(|bad| !next.contains(bad)), "{sent:?} {next:?}");
    }

    #[test]
    fn the_values_of_packets_in_flight_are_known_however_many_there_are() {
        let mut entropy = of(Balancer::Reps, 1 << 15);
        let sent: Vec<u16> = (0..1000).map(|sequence| entropy.next(sequence, sequence)).collect();
        for sequence in [0, 63, 64, 500, 999] {
            entropy.acked(sequence, 1000, false);
            assert_eq!(entropy.next(1000 + sequence, 1000), sent[sequence as usize]);
        }
        // Of much older packets, they are not.
        let mut entropy = of(Balancer::Reps, 16);
        values(&mut entropy, 0, 65);
        entropy.acked(0, 65, false);
        assert!(entropy.good.is_empty());
        entropy.acked(1, 65, false);
        assert_eq!(entropy.good.len(), 1);
    }
}
