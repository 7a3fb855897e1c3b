//! Pauses of priority-based flow control, by buffer and virtual lane.

use becalm_engine::Time;
use becalm_fabric::policy::Joint;
use becalm_fabric::{NodeId, PortId};

use crate::ports::Ports;

/// The pauses sent by one buffer in the measured window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Paused {
    /// Number of pauses that began in the window.
    pub pauses: u64,
    /// Total time from each pause until the sender could resume.
    pub time: Time,
}

/// One buffer.
#[derive(Clone, Copy, Debug, Default)]
struct Buffer {
    paused: Paused,
    /// Start of the current pause of the buffer's sender.
    since: Option<Time>,
}

/// The pauses of all buffers in the measured window.
#[derive(Clone, Debug)]
pub struct Pauses {
    from: Time,
    ports: Ports,
    vls: usize,
    /// By (port, VL).
    buffers: Vec<Buffer>,
}

impl Pauses {
    /// Starts counting at `from`.
    pub fn new(from: Time, ports: Ports, vls: u8) -> Pauses {
        let vls = usize::from(vls);
        Pauses { from, buffers: vec![Buffer::default(); ports.len() * vls], ports, vls }
    }

    fn at(&self, input: PortId, vl: u8) -> usize {
        self.ports.index(input) * self.vls + usize::from(vl)
    }

    /// Records that the buffer of an input pauses its sender (`paused`) or lets it resume.
    pub fn set(&mut self, now: Time, input: PortId, vl: u8, paused: bool) {
        let (at, from) = (self.at(input, vl), self.from);
        let buffer = &mut self.buffers[at];
        if paused {
            buffer.paused.pauses += u64::from(now >= from);
            buffer.since = Some(now);
        } else if let Some(since) = buffer.since.take() {
            buffer.paused.time += now.max(from).since(since.max(from));
        }
    }

    /// The pauses of a buffer up to `end`.
    pub fn until(&self, input: PortId, vl: u8, end: Time) -> Paused {
        let Buffer { paused, since } = self.buffers[self.at(input, vl)];
        let lasting = since.map_or(Time::ZERO, |since| end.since(since.max(self.from).min(end)));
        Paused { time: paused.time + lasting, ..paused }
    }
}

impl Joint for Pauses {
    fn join(&mut self, other: Self, theirs: &dyn Fn(NodeId) -> bool) {
        self.ports.take_over(&mut self.buffers, &other.buffers, theirs);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_fabric::{Rate, Topology};

    #[test]
    fn counts_pauses_and_their_time_in_the_window() {
        let mut topology = Topology::default();
        let (switch, host) = (topology.add_switch("S"), topology.add_host("H"));
        topology.connect(switch, host, Rate::from_bits_per_second(8e9), Time::ZERO);
        let mut pauses = Pauses::new(Time(100), Ports::new(&topology), 2);
        let input = PortId { node: NodeId(0), port: 0 };
        for (now, vl, paused) in [(40, 0, true), (60, 0, false), (90, 0, true), (130, 0, false), (150, 1, true)] {
            pauses.set(Time(now), input, vl, paused);
        }
        pauses.set(Time(160), input, 0, true);
        assert_eq!(pauses.until(input, 0, Time(200)), Paused { pauses: 1, time: Time(70) });
        assert_eq!(pauses.until(input, 1, Time(200)), Paused { pauses: 1, time: Time(50) });
    }
}
