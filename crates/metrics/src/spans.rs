//! Time that outputs spend in a state, such as waiting for credit without sending.

use becalm_engine::Time;
use becalm_fabric::policy::Joint;
use becalm_fabric::{NodeId, PortId};

use crate::ports::Ports;

#[derive(Clone, Copy, Debug, Default)]
struct Span {
    /// One bit per VL that is in the state.
    vls: u16,
    /// The time up to which `total` counts; in the future while the clock is held.
    since: Time,
    total: Time,
}

impl Span {
    fn until(&self, now: Time) -> Time {
        if self.vls == 0 { self.total } else { self.total + now.since(self.since) }
    }
}

/// Time in the measured window in which an output was in a state on at least one of its virtual lanes, without the
/// times for which its clock was held.
#[derive(Clone, Debug)]
pub struct Spans {
    from: Time,
    ports: Ports,
    spans: Vec<Span>,
}

impl Spans {
    /// Starts measuring at `from`.
    pub fn new(from: Time, ports: Ports) -> Spans {
        Spans { from, spans: vec![Span::default(); ports.len()], ports }
    }

    /// The measured ports.
    pub fn ports(&self) -> &Ports {
        &self.ports
    }

    /// Records that a virtual lane enters (`true`) or leaves (`false`) the state.
    #[inline]
    pub fn set(&mut self, now: Time, output: PortId, vl: u8, on: bool) {
        let now = now.max(self.from);
        let span = &mut self.spans[self.ports.index(output)];
        span.total = span.until(now);
        span.since = now.max(span.since);
        let bit = 1 << vl;
        span.vls = if on { span.vls | bit } else { span.vls & !bit };
    }

    /// Holds the clock of an output from now until a later time, if any virtual lane is in the state.
    #[inline]
    pub fn hold(&mut self, now: Time, output: PortId, until: Time) {
        let span = &mut self.spans[self.ports.index(output)];
        if span.vls != 0 {
            span.total = span.until(now.max(self.from));
            span.since = until.max(self.from);
        }
    }

    /// The time from the start of the window until `end`.
    pub fn time(&self, output: PortId, end: Time) -> Time {
        self.spans[self.ports.index(output)].until(end)
    }
}

impl Joint for Spans {
    fn join(&mut self, other: Self, theirs: &dyn Fn(NodeId) -> bool) {
        self.ports.take_over(&mut self.spans, &other.spans, theirs);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_fabric::{NodeId, Rate, Topology};

    const OUTPUT: PortId = PortId { node: NodeId(1), port: 0 };

    fn spans(from: u64) -> Spans {
        let mut topology = Topology::default();
        let (switch, host) = (topology.add_switch("S"), topology.add_host("H"));
        topology.connect(switch, host, Rate::from_bits_per_second(8e9), Time::ZERO);
        Spans::new(Time::from_us(from), Ports::new(&topology))
    }

    fn time(from: u64, changes: &[(u64, u8, bool)]) -> Time {
        let mut spans = spans(from);
        for &(us, vl, on) in changes {
            spans.set(Time::from_us(us), OUTPUT, vl, on);
        }
        spans.time(OUTPUT, Time::from_us(10))
    }

    #[test]
    fn sums_the_spans_and_the_one_that_lasts() {
        assert_eq!(time(0, &[(1, 0, true), (3, 0, false), (8, 0, true)]), Time::from_us(4));
    }

    #[test]
    fn spans_of_several_lanes_count_once() {
        assert_eq!(time(0, &[(1, 0, true), (2, 1, true), (3, 0, false), (5, 1, false)]), Time::from_us(4));
    }

    #[test]
    fn a_held_clock_goes_on_afterwards_in_the_same_state() {
        let mut spans = spans(5);
        let us = Time::from_us;
        spans.hold(us(1), OUTPUT, us(4));
        spans.set(us(2), OUTPUT, 0, true);
        for (now, until, waited) in [(2, 6, 0), (6, 7, 0), (8, 10, 1)] {
            assert_eq!(spans.time(OUTPUT, us(now)), us(waited));
            spans.hold(us(now), OUTPUT, us(until));
        }
        assert_eq!([9, 10, 12].map(|end| spans.time(OUTPUT, us(end))), [1, 1, 3].map(us));
        spans.set(us(12), OUTPUT, 0, false);
        assert_eq!(spans.time(OUTPUT, us(20)), us(3));
    }

    #[test]
    fn the_warm_up_does_not_count() {
        assert_eq!(time(6, &[(1, 0, true), (3, 0, false), (4, 0, true), (7, 0, false)]), Time::from_us(1));
    }
}
