//! Links by name.

use std::collections::HashMap;

use becalm_engine::Time;
use becalm_fabric::{PortId, Rate, Topology};

/// One direction of a cable.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub from: PortId,
    pub to: PortId,
    pub rate: Rate,
    pub delay: Time,
    pub name: String,
}

/// All links, sorted by node and port.
///
/// A link is named `A->B` after its nodes. If several links join the same two nodes, each is named
/// `A[port]->B`.
pub(super) fn links(topology: &Topology) -> Vec<Link> {
    let mut parallel: HashMap<(u32, u32), u32> = HashMap::new();
    let peers = topology.peers();
    for (node, ports) in (0u32..).zip(&peers) {
        for (peer, _) in ports {
            *parallel.entry((node, peer.node.0)).or_default() += 1;
        }
    }
    let mut links = Vec::new();
    for (node, ports) in (0u32..).zip(&peers) {
        for (port, (to, cable)) in (0u16..).zip(ports) {
            let from = PortId { node: becalm_fabric::NodeId(node), port };
            let (a, b) = (&topology.node(from.node).name, &topology.node(to.node).name);
            let name = match parallel[&(node, to.node.0)] {
                1 => format!("{a}->{b}"),
                _ => format!("{a}[{port}]->{b}"),
            };
            let cable = &topology.cables()[*cable];
            links.push(Link { from, to: *to, rate: cable.rate, delay: cable.delay, name });
        }
    }
    links
}
