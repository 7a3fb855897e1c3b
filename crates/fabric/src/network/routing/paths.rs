//! Paths of packets from host to host.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::FabricError;
use crate::ids::{NodeId, PortId};
use crate::network::routing::routes::Routes;
use crate::network::topology::{NodeKind, Topology};

/// The paths of packets through a topology with routes.
#[derive(Clone, Debug)]
pub struct Paths<'a> {
    topology: &'a Topology,
    routes: &'a Routes,
    peers: Vec<Vec<(PortId, usize)>>,
}

impl<'a> Paths<'a> {
    /// The paths by these routes, which belong to this topology.
    pub fn new(topology: &'a Topology, routes: &'a Routes) -> Paths<'a> {
        Paths { topology, routes, peers: topology.peers() }
    }

    /// The topology's [`peers`](Topology::peers).
    pub fn peers(&self) -> &[Vec<(PortId, usize)>] {
        &self.peers
    }

    /// The ports by which a packet leaves on its way from one host to another, the source's own first.
    ///
    /// # Errors
    /// [`FabricError::Unreachable`] when a forwarding table has no entry, [`FabricError::RoutingLoop`] when the
    /// tables lead in a circle.
    pub fn path(&self, source: NodeId, destination: NodeId) -> Result<Vec<PortId>, FabricError> {
        let name = |node: NodeId| self.topology.node(node).name.clone();
        let unreachable = || FabricError::Unreachable { source_host: name(source), destination: name(destination) };
        let mut path = vec![PortId { node: source, port: 0 }];
        let (mut at, _) = *self.peers[source.index()].first().ok_or_else(unreachable)?;
        while at.node != destination {
            if path.len() > self.topology.switch_count() as usize {
                return Err(FabricError::RoutingLoop {
                    source_host: name(source),
                    destination: name(destination),
                    switch: name(at.node),
                });
            }
            let node = self.topology.node(at.node);
            if node.kind == NodeKind::Host {
                return Err(unreachable());
            }
            let port = self.routes.port(node.rank, self.topology.node(destination).rank).ok_or_else(unreachable)?;
            path.push(PortId { node: at.node, port });
            at = self.peers[at.node.index()][port as usize].0;
        }
        Ok(path)
    }

    /// Checks that every pair of hosts reaches each other, there and back.
    ///
    /// # Errors
    /// Those of [`Paths::path`], for the first pair that fails.
    pub fn check(&self, pairs: impl Iterator<Item = (NodeId, NodeId)>) -> Result<(), FabricError> {
        for (source, destination) in pairs {
            self.path(source, destination)?;
            self.path(destination, source)?;
        }
        Ok(())
    }

    /// A circle of links of which each may wait for the next, if the paths of these pairs and of their answers have one.
    ///
    /// A packet that holds a buffer behind one link waits for room behind the next link of its path. Without a circle of
    /// such dependencies no deadlock is possible (Dally and Seitz 1987). Pairs without a path are skipped.
    pub fn dependency_cycle(&self, pairs: impl Iterator<Item = (NodeId, NodeId)>) -> Option<Vec<String>> {
        let mut next: BTreeMap<PortId, BTreeSet<PortId>> = BTreeMap::new();
        for (a, b) in pairs.flat_map(|(a, b)| [(a, b), (b, a)]) {
            let Ok(path) = self.path(a, b) else { continue };
            for hop in path.windows(2) {
                next.entry(hop[0]).or_default().insert(hop[1]);
            }
        }
        // A link that no other depends on, or that depends on no other, is on no circle.
        loop {
            let before = next.len();
            let waiting: BTreeSet<PortId> = next.keys().copied().collect();
            for waits_for in next.values_mut() {
                waits_for.retain(|port| waiting.contains(port));
            }
            next.retain(|_, waits_for| !waits_for.is_empty());
            if next.len() == before {
                break;
            }
        }
        let mut path = vec![*next.keys().next()?];
        let cycle = loop {
            let port = *next[path.last()?].first()?;
            if let Some(at) = path.iter().position(|&other| other == port) {
                break path.split_off(at);
            }
            path.push(port);
        };
        let name = |node: NodeId| &self.topology.node(node).name;
        let link = |port: &PortId| {
            let (peer, _) = self.peers[port.node.index()][usize::from(port.port)];
            format!("{}->{}", name(port.node), name(peer.node))
        };
        Some(cycle.iter().map(link).collect())
    }
}
