//! How long outputs wait for credit.

use becalm_engine::Time;
use becalm_fabric::PortId;
use becalm_fabric::seam::Observer;

use crate::ports::Ports;

#[derive(Clone, Copy, Debug, Default)]
struct Wait {
    /// One bit per VL that waits.
    vls: u16,
    since: Time,
    total: Time,
}

impl Wait {
    fn until(&self, now: Time) -> Time {
        if self.vls == 0 { self.total } else { self.total + now.since(self.since) }
    }
}

/// Share of the measured window in which an output was free, had a packet to send on some VL, and no credit for it.
#[derive(Clone, Debug)]
pub struct Stalls {
    from: Time,
    ports: Ports,
    waits: Vec<Wait>,
}

impl Stalls {
    /// Measures from `from` on.
    pub fn new(from: Time, ports: Ports) -> Stalls {
        Stalls { from, waits: vec![Wait::default(); ports.len()], ports }
    }

    /// The share from the start of the window until `end`, 0 to 1; NaN for an empty window.
    pub fn share(&self, output: PortId, end: Time) -> f64 {
        let waited = self.waits[self.ports.index(output)].until(end);
        waited.as_ps() as f64 / end.since(self.from).as_ps() as f64
    }
}

impl Observer for Stalls {
    #[inline]
    fn stalled(&mut self, now: Time, output: PortId, vl: u8, stalled: bool) {
        let now = now.max(self.from);
        let wait = &mut self.waits[self.ports.index(output)];
        wait.total = wait.until(now);
        wait.since = now;
        let bit = 1 << vl;
        wait.vls = if stalled { wait.vls | bit } else { wait.vls & !bit };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_fabric::{NodeId, Rate, Topology};

    fn share(from: u64, changes: &[(u64, u8, bool)]) -> f64 {
        let mut topology = Topology::default();
        let (switch, host) = (topology.add_switch("S"), topology.add_host("H"));
        topology.connect(switch, host, Rate::from_bits_per_second(8e9), Time::ZERO);
        let output = PortId { node: NodeId(1), port: 0 };
        let mut stalls = Stalls::new(Time::from_us(from), Ports::new(&topology));
        for &(us, vl, stalled) in changes {
            stalls.stalled(Time::from_us(us), output, vl, stalled);
        }
        stalls.share(output, Time::from_us(10))
    }

    #[test]
    fn sums_the_waits_and_the_one_that_lasts() {
        assert_eq!(share(0, &[(1, 0, true), (3, 0, false), (8, 0, true)]), 0.4);
    }

    #[test]
    fn waits_of_several_lanes_count_once() {
        assert_eq!(share(0, &[(1, 0, true), (2, 1, true), (3, 0, false), (5, 1, false)]), 0.4);
    }

    #[test]
    fn the_warm_up_does_not_count() {
        assert_eq!(share(6, &[(1, 0, true), (3, 0, false), (4, 0, true), (7, 0, false)]), 0.25);
    }
}
