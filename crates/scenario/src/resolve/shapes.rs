//! Switches as their markers see them.

use becalm_fabric::policy::SwitchShape;
use becalm_fabric::{NodeId, NodeKind, PortId, Topology};

/// The shapes of all switches, with this number of virtual lanes and this capacity of input buffers.
pub(super) fn switch_shapes(topology: &Topology, vls: u8, capacity_bytes: u32) -> Vec<SwitchShape> {
    let peers = topology.peers();
    let is_host = |(peer, _): &(PortId, usize)| topology.node(peer.node).kind == NodeKind::Host;
    let shape = |switch: NodeId| SwitchShape {
        name: topology.node(switch).name.clone(),
        ports: topology.node(switch).degree,
        vls,
        capacity_bytes,
        host_ports: peers[switch.index()].iter().map(is_host).collect(),
    };
    topology.switches().map(shape).collect()
}
