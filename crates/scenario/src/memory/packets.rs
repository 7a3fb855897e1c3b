//! Estimates the packets that wait in the network when a run ends.

use std::collections::BTreeMap;

use becalm_control::ResponseParams;
use becalm_fabric::{NodeKind, Paths, PortId};

use crate::scenario::Scenario;

/// Largest number of flows whose paths are examined.
const MOST_FLOWS: usize = 100_000;
/// Number of packets below which paths are not examined.
const FEW: u64 = 10_000;

impl Scenario {
    /// Number of packets that wait in switches at the end, which is the excess of offered traffic at the bottleneck of
    /// each path, limited by the buffers. With a response to congestion, few packets wait.
    pub(super) fn waiting_packets(&self) -> u64 {
        let room = self.packets_in_switches();
        let responds = self
            .sections
            .groups()
            .any(|group| !matches!(group.response.unwrap_or(&self.sections.response), ResponseParams::Unlimited(_)));
        if room <= FEW || responds || self.plan.flows.len() > MOST_FLOWS {
            return room.min(FEW);
        }
        let paths = Paths::new(&self.network.topology, &self.network.routes);
        let seconds = self.sections.run.duration.as_secs();
        let carried: BTreeMap<PortId, f64> =
            self.network.links.iter().map(|link| (link.from, link.rate.bytes_per_second() * seconds)).collect();
        let ports = |flow: usize| self.ports_of_flow(&paths, flow as u32, *self.sections.run.seed);
        let flows: Vec<_> =
            self.leaving_bytes().into_iter().enumerate().map(|(flow, bytes)| (bytes, ports(flow))).collect();
        let mut offered: BTreeMap<PortId, f64> = BTreeMap::new();
        for (bytes, ports) in &flows {
            ports.iter().for_each(|(port, share)| *offered.entry(*port).or_default() += bytes * share);
        }
        let passes = |(port, _): &(PortId, f64)| (carried[port] / offered[port]).min(1.0);
        let waiting =
            |(bytes, ports): &(f64, Vec<(PortId, f64)>)| bytes * (1.0 - ports.iter().map(passes).fold(1.0, f64::min));
        let packet = f64::from(self.sections.packet.sizes().largest());
        let packets = flows.iter().map(waiting).sum::<f64>() / packet;
        (packets as u64).clamp(FEW.min(room), room)
    }

    /// Number of full packets that fit into the buffers of switches.
    fn packets_in_switches(&self) -> u64 {
        let buffers =
            self.network.links.iter().filter(|link| self.network.topology.node(link.to.node).kind == NodeKind::Switch);
        let each = u64::from(self.buffered_packets()) * u64::from(self.sections.vls());
        buffers.count() as u64 * each
    }
}
