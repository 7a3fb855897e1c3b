//! Routes: forwarding tables that are stored, or computed by the rule of a topology.

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

/// For every switch and destination host, the port to leave by; by the nodes' ranks. Where asked for, all equal ports.
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

/// The equal ports.
#[derive(Clone, Debug, Default)]
enum Equal {
    /// Only the entries count.
    #[default]
    Ignored,
    /// Computed by the rule of the tree.
    Computed,
    Stored(Box<Sets>),
}

/// Entries as one flat array of shape (switches, hosts).
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

/// The hosts of one switch: the port and the rank of each.
type HostPorts = Vec<(u16, u32)>;

impl Routes {
    /// Routes of a fat tree by destination (d-mod-k), computed on demand.
    pub fn d_mod_k(spec: &FatTreeSpec) -> Routes {
        Routes { entries: Entries::Tree(TreeRoutes::new(spec)), ..Routes::default() }
    }

    /// Routes of a fat tree with all equal ports: any cable up, any cable to the right child down.
    pub fn all_of_tree(spec: &FatTreeSpec) -> Routes {
        Routes { equal: Equal::Computed, ..Routes::d_mod_k(spec) }
    }

    /// Tables without entries.
    pub fn empty(topology: &Topology) -> Routes {
        let hosts = topology.host_count() as usize;
        let ports = vec![NO_PORT; hosts * topology.switch_count() as usize];
        Routes { entries: Entries::Table(Table { hosts, ports }), ..Routes::default() }
    }

    /// Shortest paths in hops. Where a switch has several ports on one, destination number `d` takes the `d` mod
    /// `n`-th of its `n` ports.
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
        // The hosts of a switch are all as far away: one search is enough for them.
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

    /// Routes by a rule: `rule` gives the equal ports of one switch towards another, both by rank. With `all`, all of them
    /// count; otherwise destination number `d` takes the `d` mod `n`-th of `n`.
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

    /// Sets the entries of a switch towards the hosts of another one, which equal ports lead to.
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

    /// Sets the entries of a switch towards its own hosts.
    fn arrive(&mut self, topology: &Topology, last: NodeId, hosts: &HostPorts) {
        hosts.iter().for_each(|&(port, host)| self.enter(topology.node(last).rank, host, port));
    }

    fn enter(&mut self, switch: u32, host: u32, port: u16) {
        if let Entries::Table(table) = &mut self.entries {
            table.ports[switch as usize * table.hosts + host as usize] = port;
        }
    }

    /// The same routes, on which packets change their virtual lane.
    pub fn with_lanes(self, lanes: LaneChanges) -> Routes {
        Routes { lanes: Some(lanes), ..self }
    }

    /// The changes of virtual lane on the path of a packet, if there are any.
    #[inline]
    pub fn lanes(&self) -> Option<&LaneChanges> {
        self.lanes.as_ref()
    }

    /// The same routes, on which packets may take detours.
    pub fn with_detours(self, detours: Detours) -> Routes {
        Routes { detours: Some(detours), lanes: self.lanes.map(LaneChanges::with_detours), ..self }
    }

    /// The detours that packets may take, if they may take any.
    #[inline]
    pub fn detours(&self) -> Option<&Detours> {
        self.detours.as_ref()
    }

    /// The rule by which a switch computes its ports, if there is one: without the way to it through all routes.
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

    /// Whether equal ports count.
    pub(crate) fn chooses(&self) -> bool {
        !matches!(self.equal, Equal::Ignored)
    }

    /// Whether some switch may send to some host by several ports.
    pub fn has_equal_ports(&self) -> bool {
        match (&self.equal, &self.entries) {
            (Equal::Computed, Entries::Tree(tree)) => tree.has_equal_ports(),
            (Equal::Stored(sets), _) => sets.any(),
            _ => false,
        }
    }

    /// Sets an entry, which is then the only port. Computed routes become a stored table, of two bytes per entry.
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

/// The switches with hosts, and the hosts of each.
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
