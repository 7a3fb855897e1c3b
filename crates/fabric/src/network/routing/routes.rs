//! Routes: forwarding tables that are stored, or computed by the rule of a topology.

use std::collections::VecDeque;

use crate::ids::{NodeId, PortId};
use crate::network::generators::FatTreeSpec;
use crate::network::routing::d_mod_k::TreeRoutes;
use crate::network::topology::{NodeKind, Topology};

const NO_PORT: u16 = u16::MAX;

/// For every switch and destination host, the port to leave by; by the nodes' ranks.
#[derive(Clone, Debug)]
pub struct Routes(Entries);

#[derive(Clone, Debug)]
enum Entries {
    Table(Table),
    Tree(TreeRoutes),
}

/// Entries as one flat array of shape (switches, hosts).
#[derive(Clone, Debug, Default)]
struct Table {
    hosts: usize,
    ports: Vec<u16>,
}

impl Default for Routes {
    fn default() -> Routes {
        Routes(Entries::Table(Table::default()))
    }
}

impl Routes {
    /// Routes of a fat tree by destination (d-mod-k), computed on demand.
    pub fn d_mod_k(spec: &FatTreeSpec) -> Routes {
        Routes(Entries::Tree(TreeRoutes::new(spec)))
    }

    /// Tables without entries.
    pub fn empty(topology: &Topology) -> Routes {
        let hosts = topology.host_count() as usize;
        let ports = vec![NO_PORT; hosts * topology.switch_count() as usize];
        Routes(Entries::Table(Table { hosts, ports }))
    }

    /// Shortest paths in hops. Where a switch has several ports on one, destination number `d` takes the `d` mod
    /// `n`-th of its `n` ports.
    pub fn shortest(topology: &Topology) -> Routes {
        let mut routes = Routes::empty(topology);
        let peers = topology.peers();
        let mut distance = vec![u32::MAX; topology.nodes().len()];
        // The hosts of a switch are all as far away: one search does for them.
        for last in topology.switches() {
            let is_host = |(_, (peer, _)): &(u16, &(PortId, usize))| topology.node(peer.node).kind == NodeKind::Host;
            let hosts: Vec<_> = (0u16..).zip(&peers[last.index()]).filter(is_host).collect();
            if hosts.is_empty() {
                continue;
            }
            distances_to(last, topology, &peers, &mut distance);
            for switch in topology.switches().filter(|&switch| switch != last) {
                let here = distance[switch.index()];
                let nearer = |(_, (peer, _)): &(u16, &(PortId, usize))| {
                    topology.node(peer.node).kind == NodeKind::Switch && distance[peer.node.index()] < here
                };
                let ports: Vec<u16> =
                    (0u16..).zip(&peers[switch.index()]).filter(nearer).map(|(port, _)| port).collect();
                if ports.is_empty() {
                    continue;
                }
                for (_, (host, _)) in &hosts {
                    let rank = topology.node(host.node).rank;
                    routes.set(topology.node(switch).rank, rank, ports[rank as usize % ports.len()]);
                }
            }
            for (port, (host, _)) in hosts {
                routes.set(topology.node(last).rank, topology.node(host.node).rank, port);
            }
        }
        routes
    }

    /// The port by which the switch with rank `switch` sends to the host with rank `host`.
    #[inline(always)]
    pub fn port(&self, switch: u32, host: u32) -> Option<u16> {
        let port = match &self.0 {
            Entries::Tree(tree) => return Some(tree.port(switch, host)),
            Entries::Table(table) => table.ports[switch as usize * table.hosts + host as usize],
        };
        (port != NO_PORT).then_some(port)
    }

    /// Sets an entry. Computed routes become a stored table, of two bytes per entry.
    pub fn set(&mut self, switch: u32, host: u32, port: u16) {
        if let Entries::Tree(tree) = &self.0 {
            let hosts = tree.hosts();
            let entries = (0..tree.switches()).flat_map(|switch| (0..hosts).map(move |host| tree.port(switch, host)));
            self.0 = Entries::Table(Table { hosts: hosts as usize, ports: entries.collect() });
        }
        if let Entries::Table(table) = &mut self.0 {
            table.ports[switch as usize * table.hosts + host as usize] = port;
        }
    }
}

/// Hops from every node to one switch, by breadth-first search; no path leads through a host.
fn distances_to(destination: NodeId, topology: &Topology, peers: &[Vec<(PortId, usize)>], distance: &mut [u32]) {
    distance.fill(u32::MAX);
    distance[destination.index()] = 0;
    let mut frontier = VecDeque::from([destination]);
    while let Some(node) = frontier.pop_front() {
        for (peer, _) in &peers[node.index()] {
            if distance[peer.node.index()] == u32::MAX {
                distance[peer.node.index()] = distance[node.index()] + 1;
                if topology.node(peer.node).kind == NodeKind::Switch {
                    frontier.push_back(peer.node);
                }
            }
        }
    }
}
