//! Routes that never go up again after they have gone down.

use std::cmp::Ordering;

use crate::ids::{NodeId, PortId};
use crate::network::routing::routes::Routes;
use crate::network::topology::{NodeKind, Topology};

/// Whether packets to these hosts, from any switch and by any equal port, first move away from the level of hosts and then
/// towards it. Their links then have an order in which each packet takes them. `peers` are those of the topology.
pub(super) fn never_climbs(
    topology: &Topology,
    routes: &Routes,
    peers: &[Vec<(PortId, usize)>],
    hosts: impl Iterator<Item = NodeId>,
) -> bool {
    let levels = topology.levels();
    // For each switch by rank, the peer of each port, and how the peer's level differs.
    let steps = |switch: NodeId| -> Vec<(NodeId, Ordering)> {
        let level = |node: NodeId| levels[node.index()];
        let step = |port: &(PortId, usize)| (port.0.node, level(port.0.node).cmp(&level(switch)));
        peers[switch.index()].iter().map(step).collect()
    };
    let steps: Vec<_> = topology.switches().map(steps).collect();
    let descends = |switch: u32, host: u32| {
        routes.ports(switch, host).iter().all(|port| steps[switch as usize][usize::from(port)].1.is_lt())
    };
    let goes_on = |&(peer, step): &(NodeId, Ordering), host: u32| match step {
        Ordering::Less => {
            let node = topology.node(peer);
            node.kind == NodeKind::Host || descends(node.rank, host)
        }
        Ordering::Equal => false,
        Ordering::Greater => true,
    };
    hosts.map(|host| topology.node(host).rank).all(|host| {
        (0u32..).zip(&steps).all(|(switch, steps)| {
            routes.ports(switch, host).iter().all(|port| goes_on(&steps[usize::from(port)], host))
        })
    })
}
