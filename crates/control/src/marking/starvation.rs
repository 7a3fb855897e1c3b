//! Credit starvation, which returns credit late to slow down sources that do not answer marks.

use becalm_engine::Time;
use becalm_fabric::policy::{Departure, SwitchView};

use super::congestion::left_behind;
use crate::cct::CctEntry;

/// Latest time of a credit return, months after the end of any run but early enough to prevent overflow of sums.
const END: Time = Time(u64::MAX / 2);

/// A port's rule for starving packets that enter through it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    /// A packet is starved if more bytes than this remain in its output queue; `u64::MAX` for never.
    pub threshold: u64,
    /// Delay of its credit, in multiples of the packet's time on its incoming link.
    pub delay: CctEntry,
}

impl Rule {
    /// Whether this rule can starve a packet.
    pub(super) fn starves(&self) -> bool {
        self.threshold < u64::MAX && self.delay.multiplier() > 0
    }
}

/// The credit that a switch holds back.
#[derive(Clone, Debug)]
pub(super) struct Starvation {
    /// Per input.
    rules: Vec<Rule>,
    vls: usize,
    /// Per output, the delay of the credit of the packet in transmission.
    delays: Vec<Time>,
    /// Per input and virtual lane, the time of the latest credit return.
    latest: Vec<Time>,
}

impl Starvation {
    /// The state of a switch with `vls` virtual lanes and one rule for each port; `None` if no port starves.
    pub(super) fn new(rules: Vec<Rule>, vls: u8) -> Option<Box<Starvation>> {
        if !rules.iter().any(Rule::starves) {
            return None;
        }
        let (ports, vls) = (rules.len(), usize::from(vls));
        let (delays, latest) = (vec![Time::ZERO; ports], vec![Time::ZERO; ports * vls]);
        Some(Box::new(Starvation { rules, vls, delays, latest }))
    }

    /// Updates the state as a packet begins to leave.
    pub(super) fn departing<V: SwitchView>(&mut self, departure: &Departure, switch: &V) {
        let rule = self.rules[usize::from(departure.input)];
        let starved = left_behind(departure, switch) > rule.threshold;
        let delay = || rule.delay.delay(switch.packet_time(departure.input, departure.size));
        self.delays[usize::from(departure.output)] = if starved { delay() } else { Time::ZERO };
    }

    /// Updates the state after the last byte of a packet has left through an output; returns the time at which its
    /// credit is returned.
    pub(super) fn left(&mut self, now: Time, input: u16, output: u16, vl: u8) -> Time {
        let latest = &mut self.latest[usize::from(input) * self.vls + usize::from(vl)];
        *latest = (now.max(*latest) + self.delays[usize::from(output)]).min(END);
        *latest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marking::trigger::fake::{SIZE, Switch};
    use becalm_fabric::Kind;
    use becalm_fabric::policy::{Arrival, Marker};

    /// Passes a switch's departures to its credit starvation.
    struct Starving(Box<Starvation>);

    impl Marker for Starving {
        fn arrived<V: SwitchView>(&mut self, _: &Arrival, _: &V) {}
        fn departing<V: SwitchView>(&mut self, departure: &Departure, switch: &V) -> bool {
            self.0.departing(departure, switch);
            false
        }
    }

    /// Four ports. The first two starve while more than two packets wait, by 10 packet times.
    fn starving() -> Starving {
        let rule = |threshold| Rule { threshold, delay: CctEntry::new(1, 20).unwrap() };
        let rules = vec![rule(2 * u64::from(SIZE)), rule(2 * u64::from(SIZE)), rule(u64::MAX), rule(u64::MAX)];
        Starving(Starvation::new(rules, 2).unwrap())
    }

    /// Ten packet times, at a nanosecond per byte.
    const DELAY: Time = Time::from_ns(10 * SIZE as u64);

    fn us(us: u64) -> Time {
        Time::from_us(us)
    }

    #[test]
    fn starved_packets_give_credit_back_one_by_one() {
        let (mut switch, mut marker) = (Switch::new(100), starving());
        let orders: Vec<u64> = (0..6).map(|_| switch.arrive(&mut marker, 0, 2, 0)).collect();
        let mut left = |now: u64, order: u64| {
            switch.depart(&mut marker, order);
            marker.0.left(us(now), 0, 2, 0)
        };
        assert_eq!(left(1, orders[0]), us(1) + DELAY, "five are left behind");
        assert_eq!(left(3, orders[1]), us(1) + DELAY * 2, "after the one before");
        assert_eq!(left(90, orders[2]), us(90) + DELAY, "after its last byte");
        assert_eq!(left(91, orders[3]), us(90) + DELAY, "two are left behind: not starved, but never overtakes");
        assert_eq!(left(200, orders[4]), us(200));
    }

    #[test]
    fn inputs_lanes_and_outputs_are_apart() {
        let (mut switch, mut marker) = (Switch::new(100), starving());
        let crowd = (0..9).map(|i| switch.arrive(&mut marker, i % 3, 3, 0)).collect::<Vec<_>>();
        let other_lane = switch.arrive(&mut marker, 0, 3, 1);
        let other_output = switch.arrive(&mut marker, 0, 2, 0);
        let mut left = |order, input, output, vl| {
            switch.depart(&mut marker, order);
            marker.0.left(us(1), input, output, vl)
        };
        assert_eq!(left(crowd[2], 2, 3, 0), us(1), "not in the mask");
        assert_eq!(left(crowd[0], 0, 3, 0), us(1) + DELAY);
        assert_eq!(left(crowd[1], 1, 3, 0), us(1) + DELAY);
        assert_eq!(left(other_lane, 0, 3, 1), us(1));
        assert_eq!(left(other_output, 0, 2, 0), us(1) + DELAY, "the same buffer, in order");
    }

    #[test]
    fn the_verdict_is_that_of_the_beginning_and_the_delay_that_of_the_packet() {
        let (mut switch, mut marker) = (Switch::new(100), starving());
        for order in 0..5 {
            switch.arrive(&mut marker, 0, 2, 0);
            assert!(order > 0 || !switch.depart(&mut marker, 0), "none is left behind");
        }
        assert_eq!(marker.0.left(us(1), 0, 2, 0), us(1), "whatever has arrived since");
        let now = us(2);
        let ack = Departure { now, order: 9, input: 0, output: 2, vl: 0, size: 20, kind: Kind::Ack, tie: 0, switch: 0 };
        marker.departing(&ack, &switch);
        assert_eq!(marker.0.left(now, 0, 2, 0), now + Time::from_ns(200));
    }

    #[test]
    fn without_a_port_that_starves_there_is_no_state() {
        let rule = |threshold, multiplier| Rule { threshold, delay: CctEntry::new(0, multiplier).unwrap() };
        assert!(Starvation::new(vec![rule(u64::MAX, 9), rule(0, 0)], 1).is_none());
        assert!(Starvation::new(vec![rule(u64::MAX, 9), rule(0, 1)], 1).is_some());
    }
}
