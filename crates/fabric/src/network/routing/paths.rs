//! Paths of packets from host to host.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::error::FabricError;
use crate::ids::{FlowId, NodeId, PortId};
use crate::network::routing::dependencies;
use crate::network::routing::hash::{flow_hash, pick};
use crate::network::routing::port_set::PortSet;
use crate::network::routing::routes::Routes;
use crate::network::topology::{NodeKind, Topology};
use crate::packet::Kind;

/// By destination, switches from which packets are known to arrive.
type Good = HashMap<NodeId, HashSet<NodeId>>;

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

    /// The ports by which a packet leaves on its way from one host to another, the source's own first. Where there are
    /// several equal ports, those of the forwarding tables.
    ///
    /// # Errors
    /// [`FabricError::Unreachable`] when a forwarding table has no entry, [`FabricError::RoutingLoop`] when the
    /// tables lead in a circle.
    pub fn path(&self, source: NodeId, destination: NodeId) -> Result<Vec<PortId>, FabricError> {
        self.walk(source, destination, |switch, host| self.routes.port(switch, host))
    }

    /// The path of a flow's packets of one kind where a hash chooses among equal ports, as [`Paths::path`] gives it.
    /// `salted`: whether the hash differs from switch to switch.
    ///
    /// # Errors
    /// Those of [`Paths::path`].
    pub fn hashed(
        &self,
        (source, destination): (NodeId, NodeId),
        (flow, kind): (FlowId, Kind),
        seed: u64,
        salted: bool,
    ) -> Result<Vec<PortId>, FabricError> {
        self.walk(source, destination, |switch, host| {
            let set = self.routes.ports(switch, host);
            let hash = flow_hash(seed, flow, kind, salted.then_some(switch));
            (!set.is_empty()).then(|| set.get(pick(hash, set.len())))
        })
    }

    fn walk(
        &self,
        source: NodeId,
        destination: NodeId,
        port: impl Fn(u32, u32) -> Option<u16>,
    ) -> Result<Vec<PortId>, FabricError> {
        let unreachable = || self.unreachable(source, destination);
        let mut path = vec![PortId { node: source, port: 0 }];
        let (mut at, _) = *self.peers[source.index()].first().ok_or_else(unreachable)?;
        while at.node != destination {
            if path.len() > self.topology.switch_count() as usize {
                return Err(self.runs_in_a_circle(source, destination, at.node));
            }
            let node = self.topology.node(at.node);
            if node.kind == NodeKind::Host {
                return Err(unreachable());
            }
            let port = port(node.rank, self.topology.node(destination).rank).ok_or_else(unreachable)?;
            path.push(PortId { node: at.node, port });
            at = self.peers[at.node.index()][port as usize].0;
        }
        Ok(path)
    }

    /// All ports by which packets may leave on their way from one host to another, those nearer to the source first.
    ///
    /// # Errors
    /// [`FabricError::Unreachable`] and [`FabricError::RoutingLoop`], for any choice of equal ports.
    pub fn ports(&self, source: NodeId, destination: NodeId) -> Result<Vec<PortId>, FabricError> {
        self.check_choices(source, destination, &mut HashSet::new())?;
        let mut found = vec![PortId { node: source, port: 0 }];
        let mut known: HashSet<PortId> = found.iter().copied().collect();
        let mut queue = VecDeque::from([found[0]]);
        while let Some(from) = queue.pop_front() {
            for next in self.onward(from, destination).filter(|&next| known.insert(next)) {
                found.push(next);
                queue.push_back(next);
            }
        }
        Ok(found)
    }

    /// The ports by which a packet may leave the switch that it reaches by a port; none at a host.
    pub(super) fn onward(&self, from: PortId, destination: NodeId) -> impl Iterator<Item = PortId> + '_ {
        let (at, _) = self.peers[from.node.index()][usize::from(from.port)];
        let node = self.topology.node(at.node);
        let set = match node.kind {
            NodeKind::Host => PortSet::single(None),
            NodeKind::Switch => self.routes.ports(node.rank, self.topology.node(destination).rank),
        };
        set.iter().map(move |port| PortId { node: at.node, port })
    }

    /// Checks that a packet arrives whatever ports it takes. `good` are switches from which it is known to.
    fn check_choices(
        &self,
        source: NodeId,
        destination: NodeId,
        good: &mut HashSet<NodeId>,
    ) -> Result<(), FabricError> {
        let (first, _) = *self.peers[source.index()].first().ok_or_else(|| self.unreachable(source, destination))?;
        // The switches on the way, each with the ports that are left to follow.
        let mut way: Vec<(NodeId, Vec<PortId>)> = Vec::new();
        let mut at = first.node;
        loop {
            if way.iter().any(|(node, _)| *node == at) {
                return Err(self.runs_in_a_circle(source, destination, at));
            }
            if at != destination && !good.contains(&at) {
                if self.topology.node(at).kind == NodeKind::Host {
                    return Err(self.unreachable(source, destination));
                }
                let set = self.routes.ports(self.topology.node(at).rank, self.topology.node(destination).rank);
                if set.is_empty() {
                    return Err(self.unreachable(source, destination));
                }
                way.push((at, set.iter().map(|port| PortId { node: at, port }).collect()));
            }
            at = loop {
                let Some((node, ports)) = way.last_mut() else { return Ok(()) };
                if let Some(port) = ports.pop() {
                    break self.peers[port.node.index()][usize::from(port.port)].0.node;
                }
                good.insert(*node);
                way.pop();
            };
        }
    }

    fn unreachable(&self, source: NodeId, destination: NodeId) -> FabricError {
        FabricError::Unreachable { source_host: self.name(source), destination: self.name(destination) }
    }

    fn runs_in_a_circle(&self, source: NodeId, destination: NodeId, switch: NodeId) -> FabricError {
        FabricError::RoutingLoop {
            source_host: self.name(source),
            destination: self.name(destination),
            switch: self.name(switch),
        }
    }

    pub(super) fn name(&self, node: NodeId) -> String {
        self.topology.node(node).name.clone()
    }

    /// Checks that every pair of hosts reaches each other, there and back, whatever equal ports packets take.
    ///
    /// # Errors
    /// Those of [`Paths::path`], for the first pair that fails.
    pub fn check(&self, pairs: impl Iterator<Item = (NodeId, NodeId)>) -> Result<(), FabricError> {
        let mut good = Good::new();
        for (source, destination) in pairs {
            for (from, to) in [(source, destination), (destination, source)] {
                self.check_way(from, to, &mut good)?;
            }
        }
        Ok(())
    }

    fn check_way(&self, from: NodeId, to: NodeId, good: &mut Good) -> Result<(), FabricError> {
        match self.routes.chooses() {
            true => self.check_choices(from, to, good.entry(to).or_default()),
            false => self.path(from, to).map(drop),
        }
    }

    /// A circle of links of which each may wait for the next, if the paths of these pairs and of their answers have one,
    /// whatever equal ports packets take. Where packets change their virtual lane, each lane of a link counts by itself.
    ///
    /// A packet that holds a buffer behind one link waits for room behind the next link of its path. Without a circle of
    /// such dependencies no deadlock is possible (Dally and Seitz 1987). Pairs without a path are skipped.
    pub fn dependency_cycle(&self, pairs: impl Iterator<Item = (NodeId, NodeId)>) -> Option<Vec<String>> {
        let (lanes, mut next) = (self.routes.lanes(), dependencies::Graph::new());
        let mut seen: HashMap<NodeId, HashSet<dependencies::Link>> = HashMap::new();
        let mut good = Good::new();
        for (a, b) in pairs.flat_map(|(a, b)| [(a, b), (b, a)]) {
            if self.check_way(a, b, &mut good).is_err() {
                continue;
            }
            let seen = seen.entry(b).or_default();
            let mut stack = vec![(PortId { node: a, port: 0 }, 0)];
            while let Some((from, vl)) = stack.pop() {
                if !seen.insert((from, vl)) {
                    continue;
                }
                let (at, _) = self.peers[from.node.index()][usize::from(from.port)];
                for onward in self.onward(from, b) {
                    let rank = self.topology.node(at.node).rank;
                    let lane = lanes.map_or(0, |lanes| lanes.next(rank, at.port, onward.port, vl));
                    next.entry((from, vl)).or_default().insert((onward, lane));
                    stack.push((onward, lane));
                }
            }
        }
        let name = |&(port, vl): &dependencies::Link| {
            let (peer, _) = self.peers[port.node.index()][usize::from(port.port)];
            let lane = if lanes.is_some() { format!(" (VL {vl})") } else { String::new() };
            format!("{}->{}{lane}", self.name(port.node), self.name(peer.node))
        };
        Some(dependencies::cycle(next)?.iter().map(name).collect())
    }
}
