//! The shapes of flows, used by their responses.

use becalm_engine::Time;

use crate::config::{AdapterConfig, PacketConfig, SwitchConfig};
use crate::ids::{NodeId, PortId};
use crate::network::latency::Unloaded;
use crate::network::routing::Paths;
use crate::network::topology::Topology;
use crate::policy::FlowShape;

/// The data for computing the shapes of flows.
pub(super) struct Shapes<'a> {
    pub topology: &'a Topology,
    pub paths: &'a Paths<'a>,
    pub switch: &'a SwitchConfig,
    pub packets: &'a PacketConfig,
    pub adapters: &'a [AdapterConfig],
}

impl Shapes<'_> {
    /// The shape of a flow from one host to another, with `trail` bytes of telemetry in each packet.
    /// `longest_rtt` is set to the flow's own RTT.
    pub fn of(&self, source: NodeId, destination: NodeId, trail: u32) -> FlowShape {
        let unloaded = Unloaded::new(self.topology, self.paths, self.switch);
        let &PacketConfig { mtu, header, ack, .. } = self.packets;
        let header = header + trail;
        let (there_and_back, hops) = unloaded.round_trip(source, destination, mtu + header, ack);
        let drained = self.drain(destination, mtu + header) + self.drain(source, ack);
        let base_rtt = there_and_back + drained;
        let rate = unloaded.link(PortId { node: source, port: 0 }).0;
        FlowShape { rate, mtu, header, base_rtt, longest_rtt: base_rtt, hops: hops as u32 }
    }

    /// Time that a host needs to drain a packet of this size.
    fn drain(&self, host: NodeId, size: u32) -> Time {
        let adapter = &self.adapters[self.topology.node(host).rank as usize];
        adapter.drain_rate.map_or(Time::ZERO, |rate| rate.time_of(size))
    }
}
