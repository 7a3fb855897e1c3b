use std::collections::HashMap;

use becalm_engine::Time;

use crate::ids::{NodeId, PortId};
use crate::network::link::Rate;
use crate::network::routing::{Detours, LaneChanges, PortClass, Routes};
use crate::network::topology::{NodeKind, Topology};

/// A dragonfly (Kim, Dally, Scott and Abts 2008). Each switch of a group is connected to all others of the
/// group, and each group to all other groups.
///
/// Hosts are `H0`, `H1`, ..., numbered switch by switch. Switch r of group g is `G<g>R<r>`. The global links of a group
/// are numbered switch by switch. Between groups i < j, the n-th link is number n (g - 1) + j - 1 of group i and number
/// n (g - 1) + i of group j, where g is the number of groups. With the maximum number of groups, each pair is connected
/// by one link, in group order.
#[derive(Clone, Copy, Debug)]
pub struct DragonflySpec {
    /// Number of switches per group (a).
    pub routers: u32,
    /// Number of hosts per switch (p).
    pub hosts: u32,
    /// Number of global links per switch (h).
    pub globals: u32,
    /// Number of groups, at most a h + 1.
    pub groups: u32,
    /// Rate of every link.
    pub rate: Rate,
    /// Propagation delay of links within a group and of links to hosts.
    pub delay: Time,
    /// Propagation delay of global links.
    pub global_delay: Time,
}

impl DragonflySpec {
    /// Maximum number of groups that the global links can connect.
    pub fn most_groups(&self) -> u64 {
        u64::from(self.routers) * u64::from(self.globals) + 1
    }

    /// Number of links between two groups.
    fn links_between_groups(&self) -> u32 {
        if self.groups < 2 { 0 } else { self.routers * self.globals / (self.groups - 1) }
    }

    fn group(&self, router: u32) -> u32 {
        router / self.routers
    }

    /// Minimal routes, which lead to the switch with the global link, across it, and to the host's switch. If `all`,
    /// they include all equal ports; there are several if groups are connected by several links.
    pub fn routes(&self, topology: &Topology, all: bool) -> Routes {
        let exits = Exits::new(self, topology);
        Routes::by_rule(topology, all, |from, to| exits.ports(self, from, to))
    }

    /// The virtual-lane changes that keep minimal routes free of deadlocks.
    pub fn lane_changes(&self, topology: &Topology) -> LaneChanges {
        let peers = topology.peers();
        let class = |peer: NodeId| match topology.node(peer).kind {
            NodeKind::Host => PortClass::Host,
            NodeKind::Switch => PortClass::Link,
        };
        let classes = |switch: NodeId| peers[switch.index()].iter().map(|&(peer, _)| class(peer.node)).collect();
        let places = (0..topology.switch_count()).map(|switch| self.group(switch)).collect();
        let switches = (0..topology.host_count()).map(|host| host / self.hosts).collect();
        LaneChanges::new(topology.switches().map(classes).collect(), 1, places, switches)
    }

    /// Detours through any group.
    pub fn detours(&self, topology: &Topology) -> Detours {
        Detours::new(topology, self.routers, self.hosts)
    }
}

/// The ports of switches, by target.
struct Exits {
    /// Indexed by a switch and another switch of its group.
    local: HashMap<(u32, u32), u16>,
    /// Indexed by a switch and another group.
    global: HashMap<(u32, u32), Vec<u16>>,
    /// For two groups, the switches of the first with links to the second.
    gateways: HashMap<(u32, u32), Vec<u32>>,
}

impl Exits {
    fn new(spec: &DragonflySpec, topology: &Topology) -> Exits {
        let mut exits = Exits { local: HashMap::new(), global: HashMap::new(), gateways: HashMap::new() };
        let peers: Vec<Vec<(PortId, usize)>> = topology.peers();
        for (rank, switch) in (0u32..).zip(topology.switches()) {
            for (port, (peer, _)) in (0u16..).zip(&peers[switch.index()]) {
                let peer = topology.node(peer.node);
                let group = spec.group(peer.rank);
                if peer.kind == NodeKind::Host {
                    continue;
                }
                if group == spec.group(rank) {
                    exits.local.insert((rank, peer.rank), port);
                    continue;
                }
                exits.global.entry((rank, group)).or_default().push(port);
                let gateways = exits.gateways.entry((spec.group(rank), group)).or_default();
                if gateways.last() != Some(&rank) {
                    gateways.push(rank);
                }
            }
        }
        exits
    }

    /// The ports by which one switch sends to another.
    fn ports(&self, spec: &DragonflySpec, from: u32, to: u32) -> Vec<u16> {
        let (own, group) = (spec.group(from), spec.group(to));
        if own == group {
            return vec![self.local[&(from, to)]];
        }
        if let Some(ports) = self.global.get(&(from, group)) {
            return ports.clone();
        }
        self.gateways[&(own, group)].iter().map(|&gateway| self.local[&(from, gateway)]).collect()
    }
}

impl Topology {
    /// Generates a dragonfly.
    pub fn dragonfly(spec: &DragonflySpec) -> Topology {
        let mut topology = Topology::default();
        let name = |i: u32| format!("G{}R{}", i / spec.routers, i % spec.routers);
        let routers: Vec<NodeId> = (0..spec.groups * spec.routers).map(|i| topology.add_switch(name(i))).collect();
        for i in 0..spec.groups * spec.routers * spec.hosts {
            let host = topology.add_host(format!("H{i}"));
            topology.connect(host, routers[(i / spec.hosts) as usize], spec.rate, spec.delay);
        }
        for group in routers.chunks(spec.routers as usize) {
            for (i, &router) in group.iter().enumerate() {
                group[i + 1..].iter().for_each(|&other| topology.connect(router, other, spec.rate, spec.delay));
            }
        }
        let router = |group: u32, link: u32| routers[(group * spec.routers + link / spec.globals) as usize];
        for n in 0..spec.links_between_groups() {
            let first = n * (spec.groups - 1);
            for i in 0..spec.groups {
                for j in i + 1..spec.groups {
                    let (a, b) = (router(i, first + j - 1), router(j, first + i));
                    topology.connect(a, b, spec.rate, spec.global_delay);
                }
            }
        }
        topology
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::routing::Paths;

    fn spec(routers: u32, hosts: u32, globals: u32, groups: u32) -> DragonflySpec {
        let (rate, delay) = (Rate::from_bits_per_second(8e9), Time::ZERO);
        DragonflySpec { routers, hosts, globals, groups, rate, delay, global_delay: delay }
    }

    fn pairs(topology: &Topology) -> Vec<(NodeId, NodeId)> {
        let hosts: Vec<NodeId> = topology.hosts().collect();
        let all = hosts.iter().flat_map(|&a| hosts.iter().map(move |&b| (a, b)));
        all.filter(|(a, b)| a != b).collect()
    }

    #[test]
    fn a_canonical_dragonfly_has_the_papers_size_and_one_link_between_groups() {
        // Kim et al., Fig. 5: p = h = 2, a = 4: nine groups, 72 hosts, switches of 7 ports.
        let spec = spec(4, 2, 2, 9);
        let topology = Topology::dragonfly(&spec);
        assert_eq!((spec.most_groups(), topology.host_count(), topology.switch_count()), (9, 72, 36));
        assert!(topology.switches().all(|switch| topology.node(switch).degree == 7));
        let group = |node: NodeId| topology.node(node).rank / 4;
        let mut joined: Vec<(u32, u32)> =
            topology.cables()[72..].iter().map(|c| (group(c.a.node), group(c.b.node))).collect();
        joined.retain(|(a, b)| a != b);
        let wanted: Vec<(u32, u32)> = (0..9).flat_map(|i| (i + 1..9).map(move |j| (i, j))).collect();
        assert_eq!(joined, wanted);
    }

    #[test]
    fn minimal_paths_have_at_most_one_global_and_two_local_links() {
        for spec in [spec(4, 2, 2, 9), spec(4, 1, 2, 5), spec(4, 1, 2, 2), spec(2, 1, 1, 3), spec(3, 2, 1, 1)] {
            let topology = Topology::dragonfly(&spec);
            for all in [false, true] {
                let routes = spec.routes(&topology, all);
                let paths = Paths::new(&topology, &routes);
                paths.check(pairs(&topology).into_iter()).expect("all hosts are joined");
                assert!(pairs(&topology).iter().all(|&(a, b)| paths.path(a, b).expect("joined").len() <= 5));
            }
        }
    }

    #[test]
    fn groups_with_several_links_have_equal_ports() {
        let spec = spec(4, 1, 2, 5);
        let topology = Topology::dragonfly(&spec);
        assert!(spec.routes(&topology, true).has_equal_ports());
        let canonical = DragonflySpec { groups: 9, ..spec };
        assert!(!canonical.routes(&Topology::dragonfly(&canonical), true).has_equal_ports());
    }

    #[test]
    fn lane_changes_leave_no_cycle() {
        let spec = spec(4, 1, 2, 9);
        let topology = Topology::dragonfly(&spec);
        let routes = spec.routes(&topology, true);
        let pairs = pairs(&topology);
        let cycle = Paths::new(&topology, &routes).dependency_cycle(pairs.iter().copied());
        assert!(cycle.is_some_and(|cycle| cycle.len() >= 3));
        let routes = routes.with_lanes(spec.lane_changes(&topology));
        assert_eq!(Paths::new(&topology, &routes).dependency_cycle(pairs.iter().copied()), None);
        let routes = routes.with_detours(spec.detours(&topology));
        assert_eq!(Paths::new(&topology, &routes).dependency_cycle(pairs.into_iter()), None);
    }
}
