//! All observers of a run at once.

use becalm_engine::Time;
use becalm_fabric::seam::Observer;
use becalm_fabric::{Packet, PortId, Topology};

use crate::fingerprint::Fingerprint;
use crate::latency::Latency;
use crate::occupancy::Occupancy;
use crate::ports::Ports;
use crate::stalls::Stalls;

/// Everything that is observed packet by packet.
#[derive(Clone, Debug)]
pub struct Watch {
    /// What happened, as one number; over the whole run.
    pub fingerprint: Fingerprint,
    /// Latencies of flows and groups.
    pub latency: Latency,
    /// Contents of the switches' input buffers.
    pub occupancy: Occupancy,
    /// Outputs that wait for credit.
    pub stalls: Stalls,
}

impl Watch {
    /// Measures from `from` on. `group_of` names the group of each flow, below `groups`.
    pub fn new(topology: &Topology, vls: u8, from: Time, group_of: Vec<u32>, groups: usize) -> Watch {
        let ports = Ports::new(topology);
        Watch {
            fingerprint: Fingerprint::default(),
            latency: Latency::new(from, group_of, groups),
            occupancy: Occupancy::new(from, ports.clone(), vls),
            stalls: Stalls::new(from, ports),
        }
    }
}

impl Observer for Watch {
    #[inline]
    fn hop(&mut self, now: Time, from: PortId, packet: &Packet) {
        self.fingerprint.hop(now, from, packet);
    }

    #[inline]
    fn delivered(&mut self, now: Time, packet: &Packet) {
        self.fingerprint.delivered(now, packet);
        self.latency.delivered(now, packet);
    }

    #[inline]
    fn buffer(&mut self, now: Time, input: PortId, vl: u8, packets: u32) {
        self.occupancy.buffer(now, input, vl, packets);
    }

    #[inline]
    fn stalled(&mut self, now: Time, output: PortId, vl: u8, stalled: bool) {
        self.stalls.stalled(now, output, vl, stalled);
    }
}
