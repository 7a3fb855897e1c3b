//! Nodes and the cables between them.

use becalm_engine::Time;

use crate::ids::{NodeId, PortId};
use crate::network::link::Rate;

/// Whether a node sends and receives messages or forwards packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// A host with one adapter port.
    Host,
    /// A switch.
    Switch,
}

/// A node of a topology.
#[derive(Clone, Debug)]
pub struct Node {
    /// Name, unique in the topology.
    pub name: String,
    /// Host or switch.
    pub kind: NodeKind,
    /// Index among the nodes of the same kind.
    pub rank: u32,
    /// Number of ports.
    pub degree: u16,
}

/// A cable: a link in both directions.
#[derive(Clone, Copy, Debug)]
pub struct Cable {
    /// One end.
    pub a: PortId,
    /// The other end.
    pub b: PortId,
    /// Data rate in each direction.
    pub rate: Rate,
    /// Propagation delay in each direction.
    pub delay: Time,
}

/// The nodes and cables of a network.
///
/// The ports of a node are numbered in the order in which its cables are added.
#[derive(Clone, Debug, Default)]
pub struct Topology {
    nodes: Vec<Node>,
    cables: Vec<Cable>,
    hosts: u32,
    switches: u32,
}

impl Topology {
    /// Adds a host. The caller must ensure that names are unique.
    pub fn add_host(&mut self, name: impl Into<String>) -> NodeId {
        self.hosts += 1;
        self.add(Node { name: name.into(), kind: NodeKind::Host, rank: self.hosts - 1, degree: 0 })
    }

    /// Adds a switch. The caller must ensure that names are unique.
    pub fn add_switch(&mut self, name: impl Into<String>) -> NodeId {
        self.switches += 1;
        self.add(Node { name: name.into(), kind: NodeKind::Switch, rank: self.switches - 1, degree: 0 })
    }

    fn add(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        NodeId(self.nodes.len() as u32 - 1)
    }

    /// Connects two different nodes with a cable, on the next free port of each.
    pub fn connect(&mut self, a: NodeId, b: NodeId, rate: Rate, delay: Time) {
        let mut next_port = |node: NodeId| {
            let degree = &mut self.nodes[node.index()].degree;
            *degree += 1;
            PortId { node, port: *degree - 1 }
        };
        let cable = Cable { a: next_port(a), b: next_port(b), rate, delay };
        self.cables.push(cable);
    }

    /// All nodes; a node's index is its [`NodeId`].
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// All cables.
    pub fn cables(&self) -> &[Cable] {
        &self.cables
    }

    /// A node.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// Number of hosts.
    pub fn host_count(&self) -> u32 {
        self.hosts
    }

    /// Number of switches.
    pub fn switch_count(&self) -> u32 {
        self.switches
    }

    /// The hosts, in order.
    pub fn hosts(&self) -> impl Iterator<Item = NodeId> {
        self.of_kind(NodeKind::Host)
    }

    /// The switches, in order.
    pub fn switches(&self) -> impl Iterator<Item = NodeId> {
        self.of_kind(NodeKind::Switch)
    }

    fn of_kind(&self, kind: NodeKind) -> impl Iterator<Item = NodeId> {
        (0u32..).zip(&self.nodes).filter(move |(_, node)| node.kind == kind).map(|(id, _)| NodeId(id))
    }

    /// The node with this name.
    pub fn find(&self, name: &str) -> Option<NodeId> {
        self.nodes.iter().position(|node| node.name == name).map(|i| NodeId(i as u32))
    }

    /// The distance of each node from the nearest host: 0 for hosts, 1 for switches with hosts.
    pub fn levels(&self) -> Vec<u32> {
        let peers = self.peers();
        let mut levels = vec![u32::MAX; self.nodes.len()];
        let mut edge: Vec<NodeId> = self.hosts().collect();
        edge.iter().for_each(|host| levels[host.index()] = 0);
        while !edge.is_empty() {
            let mut next = Vec::new();
            for node in edge {
                for (peer, _) in &peers[node.index()] {
                    if levels[peer.node.index()] == u32::MAX {
                        levels[peer.node.index()] = levels[node.index()] + 1;
                        next.push(peer.node);
                    }
                }
            }
            edge = next;
        }
        // A switch without a path to a host is assigned level 1, as if it had hosts.
        levels.iter_mut().for_each(|level| *level = if *level == u32::MAX { 1 } else { *level });
        levels
    }

    /// The port at the other end of each port's cable, `peers()[node][port]`, and the cable's index.
    pub fn peers(&self) -> Vec<Vec<(PortId, usize)>> {
        let mut peers: Vec<Vec<(PortId, usize)>> = self.nodes.iter().map(|_| Vec::new()).collect();
        for (i, cable) in self.cables.iter().enumerate() {
            peers[cable.a.node.index()].push((cable.b, i));
            peers[cable.b.node.index()].push((cable.a, i));
        }
        peers
    }
}
