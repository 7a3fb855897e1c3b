//! Routes: forwarding tables that are stored or computed by a topology's rule.

use std::collections::VecDeque;

use crate::ids::{NodeId, PortId};
use crate::network::generators::FatTreeSpec;
use crate::network::routing::d_mod_k::{SwitchRoutes, TreeRoutes};
use crate::network::routing::detours::Detours;
use crate::network::routing::lanes::LaneChanges;
use crate::network::routing::port_set::PortSet;
use crate::network::routing::sets::Sets;
use crate::network::topology::{NodeKind, Topology};

const NO_PORT: u16 = u16::MAX;

/// The output port for each switch and destination host, indexed by rank; optionally, all equal ports.
#[derive(Clone, Debug, Default)]
pub struct Routes {
    entries: Entries,
    equal: Equal,
    lanes: Option<LaneChanges>,
    detours: Option<Detours>,
}

#[derive(Clone, Debug)]
enum Entries {
    Table(Table),
    Tree(TreeRoutes),
}

/// The equal ports of each entry.
#[derive(Clone, Debug, Default)]
enum Equal {
    /// Only the forwarding entries are used.
    #[default]
    Ignored,
    /// Computed by the tree's rule.
    Computed,
    Stored(Box<Sets>),
}

/// Entries as a flat array of shape (switches, hosts).
#[derive(Clone, Debug, Default)]
struct Table {
    hosts: usize,
    ports: Vec<u16>,
}

impl Default for Entries {
    fn default() -> Entries {
        Entries::Table(Table::default())
    }
}

/// The port and the rank of each host at a switch.
type HostPorts = Vec<(u16, u32)>;

impl Routes {
    /// Routes of a fat tree by destination (d-mod-k), computed on demand.
    pub fn d_mod_k(spec: &FatTreeSpec) -> Routes {
        Routes { entries: Entries::Tree(TreeRoutes::new(spec)), ..Routes::default() }
    }

    /// Routes of a fat tree with all equal ports: any cable upwards, and any cable to the right child
    /// downwards.
    pub fn all_of_tree(spec: &FatTreeSpec) -> Routes {
        Routes { equal: Equal::Computed, ..Routes::d_mod_k(spec) }
    }

    /// A table without entries.
    pub fn empty(topology: &Topology) -> Routes {
        let hosts = topology.host_count() as usize;
        let ports = vec![NO_PORT; hosts * topology.switch_count() as usize];
        Routes { entries: Entries::Table(Table { hosts, ports }), ..Routes::default() }
    }

    /// Shortest paths in hops. If a switch has `n` ports on shortest paths, destination number `d` uses port
    /// `d` mod `n` of these.
    pub fn shortest(topology: &Topology) -> Routes {
        Routes::empty(topology).filled_by_distance(topology)
    }

    /// Shortest paths in hops, with all equal ports.
    pub fn all_shortest(topology: &Topology) -> Routes {
        Routes::empty(topology).with_sets(topology).filled_by_distance(topology)
    }

    fn with_sets(self, topology: &Topology) -> Routes {
        Routes { equal: Equal::Stored(Box::new(Sets::new(topology))), ..self }
    }

    fn filled_by_distance(mut self, topology: &Topology) -> Routes {
        let peers = topology.peers();
        let mut distance = vec![u32::MAX; topology.nodes().len()];
        // The hosts of a switch are equally distant, so one search covers them all.
        for (last, hosts) in host_ports(topology, &peers) {
            distances_to(last, topology, &peers, &mut distance);
            for switch in topology.switches().filter(|&switch| switch != last) {
                let here = distance[switch.index()];
                let nearer = |(_, (peer, _)): &(u16, &(PortId, usize))| {
                    topology.node(peer.node).kind == NodeKind::Switch && distance[peer.node.index()] < here
                };
                let ports: Vec<u16> =
                    (0u16..).zip(&peers[switch.index()]).filter(nearer).map(|(port, _)| port).collect();
                self.lead(topology, (switch, last), &hosts, &ports);
            }
            self.arrive(topology, last, &hosts);
        }
        self.finished()
    }

    /// Routes by a rule: `rule` returns the equal ports of one switch towards another, both given by rank. If
    /// `all`, every one of them may be used. Otherwise, destination number `d` uses port `d` mod `n` of the
    /// `n` ports.
    pub(crate) fn by_rule(topology: &Topology, all: bool, rule: impl Fn(u32, u32) -> Vec<u16>) -> Routes {
        let mut routes = Routes::empty(topology);
        if all {
            routes = routes.with_sets(topology);
        }
        for (last, hosts) in host_ports(topology, &topology.peers()) {
            for switch in topology.switches().filter(|&switch| switch != last) {
                let ports = rule(topology.node(switch).rank, topology.node(last).rank);
                routes.lead(topology, (switch, last), &hosts, &ports);
            }
            routes.arrive(topology, last, &hosts);
        }
        routes.finished()
    }

    fn finished(mut self) -> Routes {
        if let Equal::Stored(sets) = &mut self.equal {
            sets.finish();
        }
        self
    }

    /// Sets the entries of a switch for the hosts of another switch, which any of the equal `ports` leads to.
    fn lead(&mut self, topology: &Topology, (switch, last): (NodeId, NodeId), hosts: &HostPorts, ports: &[u16]) {
        if ports.is_empty() {
            return;
        }
        let switch = topology.node(switch).rank;
        for &(_, host) in hosts {
            self.enter(switch, host, ports[host as usize % ports.len()]);
        }
        if let Equal::Stored(sets) = &mut self.equal {
            sets.add(switch, topology.node(last).rank, ports);
        }
    }

    /// Sets the entries of a switch for its own hosts.
    fn arrive(&mut self, topology: &Topology, last: NodeId, hosts: &HostPorts) {
        hosts.iter().for_each(|&(port, host)| self.enter(topology.node(last).rank, host, port));
    }

    fn enter(&mut self, switch: u32, host: u32, port: u16) {
        if let Entries::Table(table) = &mut self.entries {
            table.ports[switch as usize * table.hosts + host as usize] = port;
        }
    }

    /// Returns these routes with changes of virtual lane.
    pub fn with_lanes(self, lanes: LaneChanges) -> Routes {
        Routes { lanes: Some(lanes), ..self }
    }

    /// The changes of virtual lane along a packet's path, if there are any.
    #[inline]
    pub fn lanes(&self) -> Option<&LaneChanges> {
        self.lanes.as_ref()
    }

    /// Returns these routes with detours.
    pub fn with_detours(self, detours: Detours) -> Routes {
        Routes { detours: Some(detours), lanes: self.lanes.map(LaneChanges::with_detours), ..self }
    }

    /// The detours, if packets may make any.
    #[inline]
    pub fn detours(&self) -> Option<&Detours> {
        self.detours.as_ref()
    }

    /// The rule by which a switch computes its ports, if there is one. Using it avoids the lookup through all
    /// routes.
    pub(crate) fn computed(&self, switch: u32) -> Option<SwitchRoutes> {
        match &self.entries {
            Entries::Tree(tree) => Some(tree.of(switch)),
            Entries::Table(_) => None,
        }
    }

    /// The port by which the switch with rank `switch` sends to the host with rank `host`.
    #[inline]
    pub fn port(&self, switch: u32, host: u32) -> Option<u16> {
        let port = match &self.entries {
            Entries::Tree(tree) => return Some(tree.port(switch, host)),
            Entries::Table(table) => table.ports[switch as usize * table.hosts + host as usize],
        };
        (port != NO_PORT).then_some(port)
    }

    /// All ports by which the switch with rank `switch` may send to the host with rank `host`.
    #[inline]
    pub fn ports(&self, switch: u32, host: u32) -> PortSet<'_> {
        match (&self.equal, &self.entries) {
            (Equal::Computed, Entries::Tree(tree)) => tree.ports(switch, host),
            (Equal::Stored(sets), _) => {
                sets.get(switch, host).unwrap_or_else(|| PortSet::single(self.port(switch, host)))
            }
            _ => PortSet::single(self.port(switch, host)),
        }
    }

    /// Whether equal ports are used.
    pub(crate) fn chooses(&self) -> bool {
        !matches!(self.equal, Equal::Ignored)
    }

    /// Whether any switch has several ports towards any host.
    pub fn has_equal_ports(&self) -> bool {
        match (&self.equal, &self.entries) {
            (Equal::Computed, Entries::Tree(tree)) => tree.has_equal_ports(),
            (Equal::Stored(sets), _) => sets.any(),
            _ => false,
        }
    }

    /// Sets an entry, which becomes the only port. Computed routes become a stored table with two bytes per
    /// entry.
    pub fn set(&mut self, switch: u32, host: u32, port: u16) {
        if let Entries::Tree(tree) = &self.entries {
            let hosts = tree.hosts();
            let entries = (0..tree.switches()).flat_map(|switch| (0..hosts).map(move |host| tree.port(switch, host)));
            let table = Table { hosts: hosts as usize, ports: entries.collect() };
            if let Equal::Computed = self.equal {
                self.equal = Equal::Stored(Box::new(Sets::of_tree(tree)));
            }
            self.entries = Entries::Table(table);
        }
        self.enter(switch, host, port);
        if let Equal::Stored(sets) = &mut self.equal {
            sets.remove(switch, host);
        }
    }
}

/// The switches that have hosts, with the hosts of each.
fn host_ports<'a>(
    topology: &'a Topology,
    peers: &'a [Vec<(PortId, usize)>],
) -> impl Iterator<Item = (NodeId, HostPorts)> + 'a {
    topology.switches().filter_map(move |switch| {
        let host = |(port, (peer, _)): (u16, &(PortId, usize))| {
            let peer = topology.node(peer.node);
            (peer.kind == NodeKind::Host).then_some((port, peer.rank))
        };
        let hosts: HostPorts = (0u16..).zip(&peers[switch.index()]).filter_map(host).collect();
        (!hosts.is_empty()).then_some((switch, hosts))
    })
}

/// Hop counts from every node to one switch, found by breadth-first search. No path leads through a host.
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
