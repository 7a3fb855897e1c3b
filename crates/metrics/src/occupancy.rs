//! Contents of the switches' input buffers.

use becalm_engine::Time;
use becalm_fabric::policy::{Joint, Observer};
use becalm_fabric::{NodeId, PortId};

use crate::ports::Ports;

#[derive(Clone, Copy, Debug, Default)]
struct Level {
    packets: u32,
    max: u32,
    since: Time,
    packet_ps: u128,
}

/// Time-weighted mean and largest contents of every input buffer and VL, in the measured window.
#[derive(Clone, Debug)]
pub struct Occupancy {
    from: Time,
    vls: usize,
    ports: Ports,
    levels: Vec<Level>,
}

impl Occupancy {
    /// Starts measuring at `from`.
    pub fn new(from: Time, ports: Ports, vls: u8) -> Occupancy {
        let vls = vls as usize;
        Occupancy { from, vls, levels: vec![Level { since: from, ..Level::default() }; ports.len() * vls], ports }
    }

    fn level(&self, input: PortId, vl: u8) -> &Level {
        &self.levels[self.ports.index(input) * self.vls + vl as usize]
    }

    /// Mean number of packets from the start of the window until `end`; NaN for an empty window.
    pub fn mean(&self, input: PortId, vl: u8, end: Time) -> f64 {
        let level = self.level(input, vl);
        let area = level.packet_ps + level.packets as u128 * end.since(level.since).as_ps() as u128;
        area as f64 / end.since(self.from).as_ps() as f64
    }

    /// Largest number of packets in the window.
    pub fn max(&self, input: PortId, vl: u8) -> u32 {
        self.level(input, vl).max
    }
}

impl Joint for Occupancy {
    fn join(&mut self, other: Self, theirs: &dyn Fn(NodeId) -> bool) {
        self.ports.take_over(&mut self.levels, &other.levels, theirs);
    }
}

impl Level {
    /// Records a new number of packets. Before the window, `since` is the window's start, so only the number at its
    /// start counts.
    #[inline(always)]
    fn change(&mut self, now: Time, packets: u32) {
        match now.as_ps().checked_sub(self.since.as_ps()) {
            Some(span) => {
                self.packet_ps += u128::from(self.packets) * u128::from(span);
                self.since = now;
                self.max = self.max.max(packets);
            }
            None => self.max = packets,
        }
        self.packets = packets;
    }
}

impl Observer for Occupancy {
    #[inline]
    fn buffer(&mut self, now: Time, input: PortId, vl: u8, packets: u32) {
        self.buffers(input, vl, |tell| tell(now, packets));
    }

    #[inline(always)]
    fn buffers(&mut self, input: PortId, vl: u8, tell: impl FnOnce(&mut dyn FnMut(Time, u32))) {
        let level = &mut self.levels[self.ports.index(input) * self.vls + vl as usize];
        tell(&mut |now, packets| level.change(now, packets));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_fabric::{NodeId, Rate, Topology};

    fn watched(from: Time) -> (Occupancy, PortId) {
        let mut topology = Topology::default();
        let (switch, host) = (topology.add_switch("S"), topology.add_host("H"));
        topology.connect(switch, host, Rate::from_bits_per_second(8e9), Time::ZERO);
        let input = PortId { node: NodeId(0), port: 0 };
        let mut occupancy = Occupancy::new(from, Ports::new(&topology), 2);
        for (us, packets) in [(0, 1), (2, 5), (4, 2), (8, 3), (9, 0)] {
            occupancy.buffer(Time::from_us(us), input, 1, packets);
        }
        (occupancy, input)
    }

    #[test]
    fn means_weigh_by_time() {
        let (occupancy, input) = watched(Time::ZERO);
        // 1 x 2 + 5 x 2 + 2 x 4 + 3 x 1 + 0 x 1 over 10 us
        assert!((occupancy.mean(input, 1, Time::from_us(10)) - 2.3).abs() < 1e-12);
        assert_eq!(occupancy.max(input, 1), 5);
        assert_eq!((occupancy.mean(input, 0, Time::from_us(10)), occupancy.max(input, 0)), (0.0, 0));
    }

    #[test]
    fn the_warm_up_does_not_count_but_what_it_left_does() {
        let (occupancy, input) = watched(Time::from_us(6));
        // 2 x 2 + 3 x 1 + 0 x 1 over 4 us
        assert!((occupancy.mean(input, 1, Time::from_us(10)) - 1.75).abs() < 1e-12);
        assert_eq!(occupancy.max(input, 1), 3);
    }
}
