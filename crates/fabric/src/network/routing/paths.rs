//! Paths of packets from host to host.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::Hash;

use rustc_hash::FxHashMap;

use crate::bits;
use crate::error::FabricError;
use crate::ids::{FlowId, NodeId, PortId};
use crate::network::routing::hash::{flow_hash, pick};
use crate::network::routing::lanes::Heading;
use crate::network::routing::port_set::PortSet;
use crate::network::routing::routes::Routes;
use crate::network::routing::{dependencies, descent};
use crate::network::topology::{NodeKind, Topology};
use crate::packet::Kind;

/// For each destination, the ranks of the switches from which packets are known to reach it, as [`bits`]. For thousands of
/// destinations, hash sets would need gigabytes.
type Good = HashMap<NodeId, Vec<u64>>;

/// Shares of packets at each location, in the order of discovery.
struct Shares<K> {
    list: Vec<(K, f64)>,
    places: FxHashMap<K, usize>,
}

impl<K> Default for Shares<K> {
    fn default() -> Self {
        Shares { list: Vec::new(), places: FxHashMap::default() }
    }
}

impl<K: Copy + Eq + Hash> Shares<K> {
    fn add(&mut self, key: K, share: f64) {
        let place = *self.places.entry(key).or_insert(self.list.len());
        if place == self.list.len() {
            self.list.push((key, 0.0));
        }
        self.list[place].1 += share;
    }
}

/// The paths of packets through a topology with routes.
#[derive(Clone, Debug)]
pub struct Paths<'a> {
    topology: &'a Topology,
    routes: &'a Routes,
    peers: Vec<Vec<(PortId, usize)>>,
}

impl<'a> Paths<'a> {
    /// The paths along these routes, which belong to this topology.
    pub fn new(topology: &'a Topology, routes: &'a Routes) -> Paths<'a> {
        Paths { topology, routes, peers: topology.peers() }
    }

    /// The topology's [`peers`](Topology::peers).
    pub fn peers(&self) -> &[Vec<(PortId, usize)>] {
        &self.peers
    }

    /// The ports by which a packet leaves the nodes on its path between two hosts, beginning with the
    /// source's own port. Where there are several equal ports, the forwarding table's port is used.
    ///
    /// # Errors
    /// [`FabricError::Unreachable`] if a forwarding table has no entry, [`FabricError::RoutingLoop`] if the
    /// tables form a cycle.
    pub fn path(&self, source: NodeId, destination: NodeId) -> Result<Vec<PortId>, FabricError> {
        self.collect(source, destination, |switch, host| self.routes.port(switch, host))
    }

    /// The path of a flow's packets of one kind if a hash chooses among equal ports, in the format of
    /// [`Paths::path`]. `salted` states whether the hash differs from switch to switch.
    ///
    /// # Errors
    /// As for [`Paths::path`].
    pub fn hashed(
        &self,
        (source, destination): (NodeId, NodeId),
        (flow, kind): (FlowId, Kind),
        seed: u64,
        salted: bool,
    ) -> Result<Vec<PortId>, FabricError> {
        self.collect(source, destination, |switch, host| {
            let set = self.routes.ports(switch, host);
            let hash = flow_hash(seed, flow, kind, salted.then_some(switch));
            (!set.is_empty()).then(|| set.get(pick(hash, set.len())))
        })
    }

    fn collect(
        &self,
        source: NodeId,
        destination: NodeId,
        port: impl Fn(u32, u32) -> Option<u16>,
    ) -> Result<Vec<PortId>, FabricError> {
        // Most paths are short.
        let mut path = Vec::with_capacity(8);
        self.walk(source, destination, port, |port| path.push(port))?;
        Ok(path)
    }

    /// Calls a function with the ports of a path, which `port` selects for a switch and a destination.
    #[inline]
    fn walk(
        &self,
        source: NodeId,
        destination: NodeId,
        port: impl Fn(u32, u32) -> Option<u16>,
        mut visit: impl FnMut(PortId),
    ) -> Result<(), FabricError> {
        let unreachable = || self.unreachable(source, destination);
        visit(PortId { node: source, port: 0 });
        let mut length = 1;
        let (mut at, _) = *self.peers[source.index()].first().ok_or_else(unreachable)?;
        while at.node != destination {
            if length > self.topology.switch_count() {
                return Err(self.runs_in_a_cycle(source, destination, at.node));
            }
            let node = self.topology.node(at.node);
            if node.kind == NodeKind::Host {
                return Err(unreachable());
            }
            let port = port(node.rank, self.topology.node(destination).rank).ok_or_else(unreachable)?;
            visit(PortId { node: at.node, port });
            length += 1;
            at = self.peers[at.node.index()][port as usize].0;
        }
        Ok(())
    }

    /// All ports by which packets between two hosts may leave the nodes on their paths, in order of distance
    /// from the source.
    ///
    /// # Errors
    /// [`FabricError::Unreachable`] and [`FabricError::RoutingLoop`], for any choice of equal ports.
    pub fn ports(&self, source: NodeId, destination: NodeId) -> Result<Vec<PortId>, FabricError> {
        Ok(self.shares(source, destination)?.into_iter().map(|(port, _)| port).collect())
    }

    /// As [`Paths::ports`], with the share of packets at each port when equal ports and detours are used
    /// evenly.
    ///
    /// # Errors
    /// As for [`Paths::ports`].
    pub fn shares(&self, source: NodeId, destination: NodeId) -> Result<Vec<(PortId, f64)>, FabricError> {
        self.check_choices(source, destination, &mut self.no_switches())?;
        let first = PortId { node: source, port: 0 };
        let headings: Vec<Heading> = self.headings(source, destination).collect();
        let mut found = Shares::default();
        found.add(first, 1.0);
        let mut front: Vec<_> = headings.iter().map(|&to| ((first, to), 1.0 / headings.len() as f64)).collect();
        // Each iteration advances one hop. Packets that meet after the same number of hops continue together.
        while !front.is_empty() {
            let mut next = Shares::default();
            for ((from, to), share) in front {
                let steps = self.steps(from, to);
                for &step in &steps {
                    found.add(step.0, share / steps.len() as f64);
                    next.add(step, share / steps.len() as f64);
                }
            }
            front = next.list;
        }
        Ok(found.list)
    }

    /// The headings of packets between two hosts: directly to the destination, or through a region.
    fn headings(&self, source: NodeId, destination: NodeId) -> impl Iterator<Item = Heading> + '_ {
        let [from, host] = [source, destination].map(|host| self.topology.node(host).rank);
        let regions = self.routes.detours().into_iter().flat_map(move |detours| {
            let ends = [from, host].map(|host| detours.region_of_host(host));
            (0..detours.regions()).filter(move |region| ends[0] != ends[1] && !ends.contains(region))
        });
        std::iter::once(Heading::to(host)).chain(regions.map(move |region| Heading { host, via: Some(region) }))
    }

    /// The ports by which a packet may leave the switch at the other end of `from`, with its new heading;
    /// empty at a host.
    fn steps(&self, from: PortId, to: Heading) -> Vec<(PortId, Heading)> {
        let (at, _) = self.peers[from.node.index()][usize::from(from.port)];
        let node = self.topology.node(at.node);
        if node.kind == NodeKind::Host {
            return Vec::new();
        }
        let region = self.routes.detours().zip(to.via).filter(|(detours, via)| detours.region_of(node.rank) != *via);
        let to = Heading { via: region.map(|(_, via)| via), ..to };
        let hosts = region.map_or(to.host..to.host + 1, |(detours, via)| detours.hosts_in(via));
        let mut ports: Vec<u16> = hosts.flat_map(|host| self.routes.ports(node.rank, host).iter()).collect();
        ports.sort_unstable();
        ports.dedup();
        ports.into_iter().map(|port| (PortId { node: at.node, port }, to)).collect()
    }

    /// Checks that a packet arrives whichever ports it uses. `good` holds switches from which this is already
    /// known.
    fn check_choices(&self, source: NodeId, destination: NodeId, good: &mut [u64]) -> Result<(), FabricError> {
        let (first, _) = *self.peers[source.index()].first().ok_or_else(|| self.unreachable(source, destination))?;
        let host = self.topology.node(destination).rank;
        // The switches on the current path, each with its ports and the number of unexplored ones.
        let mut way: Vec<(NodeId, PortSet<'_>, usize)> = Vec::new();
        let mut at = first.node;
        loop {
            let node = self.topology.node(at);
            if way.iter().any(|(node, ..)| *node == at) {
                return Err(self.runs_in_a_cycle(source, destination, at));
            }
            if at != destination && (node.kind == NodeKind::Host || !bits::contains(good, node.rank as usize)) {
                let set = match node.kind {
                    NodeKind::Host => return Err(self.unreachable(source, destination)),
                    NodeKind::Switch => self.routes.ports(node.rank, host),
                };
                if set.is_empty() {
                    return Err(self.unreachable(source, destination));
                }
                way.push((at, set, set.len()));
            }
            at = loop {
                let Some((node, set, left)) = way.last_mut() else { return Ok(()) };
                if *left > 0 {
                    *left -= 1;
                    break self.peers[node.index()][usize::from(set.get(*left))].0.node;
                }
                bits::set(good, self.topology.node(*node).rank as usize);
                way.pop();
            };
        }
    }

    /// An empty set of switches.
    fn no_switches(&self) -> Vec<u64> {
        vec![0; bits::words(self.topology.switch_count() as usize)]
    }

    fn unreachable(&self, source: NodeId, destination: NodeId) -> FabricError {
        FabricError::Unreachable { source_host: self.name(source), destination: self.name(destination) }
    }

    fn runs_in_a_cycle(&self, source: NodeId, destination: NodeId, switch: NodeId) -> FabricError {
        FabricError::RoutingLoop {
            source_host: self.name(source),
            destination: self.name(destination),
            switch: self.name(switch),
        }
    }

    pub(super) fn name(&self, node: NodeId) -> String {
        self.topology.node(node).name.clone()
    }

    /// Checks that the hosts of each pair can reach each other in both directions, whichever equal ports
    /// packets use.
    ///
    /// # Errors
    /// As for [`Paths::path`], for the first pair that fails.
    pub fn check(&self, pairs: impl Iterator<Item = (NodeId, NodeId)>) -> Result<(), FabricError> {
        let mut good = Good::new();
        for (source, destination) in pairs {
            for (from, to) in [(source, destination), (destination, source)] {
                self.check_path(from, to, &mut good)?;
            }
        }
        Ok(())
    }

    fn check_path(&self, from: NodeId, to: NodeId, good: &mut Good) -> Result<(), FabricError> {
        match self.routes.chooses() {
            true => self.check_choices(from, to, good.entry(to).or_insert_with(|| self.no_switches())),
            false => self.walk(from, to, |switch, host| self.routes.port(switch, host), |_| {}),
        }
    }

    /// A cycle of links in which each may wait for the next, if the paths of these pairs and their answers
    /// contain one, and all packets begin on the same virtual lane; see [`Paths::dependency_cycle_of_lanes`].
    pub fn dependency_cycle(&self, pairs: impl Iterator<Item = (NodeId, NodeId)>) -> Option<Vec<String>> {
        self.dependency_cycle_of_lanes(pairs.flat_map(|(a, b)| [(a, b, 0), (b, a, 0)]))
    }

    /// A cycle of links in which each may wait for the next, if the paths of these sources and destinations, each
    /// with the first virtual lane of its packets, contain one. All equal ports are considered. Each lane of a
    /// link is treated separately; with detours, those of all service levels together.
    ///
    /// A packet that occupies the buffer behind one link waits for space behind the next link of its path.
    /// Without a cycle of such dependencies, no deadlock is possible (Dally and Seitz 1987). Pairs without a
    /// path are skipped.
    pub fn dependency_cycle_of_lanes(&self, ways: impl Iterator<Item = (NodeId, NodeId, u8)>) -> Option<Vec<String>> {
        let mut next = dependencies::Graph::new();
        let mut seen: HashMap<NodeId, HashSet<dependencies::Link>> = HashMap::new();
        let mut good = Good::new();
        let detours = self.routes.detours().is_some();
        let ways: Vec<_> = ways.map(|(a, b, vl)| (a, b, if detours { 0 } else { vl })).collect();
        if !detours && self.surely_descend(&ways) {
            return None;
        }
        let entries = self.follow_detours(ways.iter().map(|&(source, ..)| source), &mut next);
        let several = self.routes.lanes().is_some() || ways.iter().any(|&(.., vl)| vl != ways[0].2);
        for (a, b, vl) in ways {
            if self.check_path(a, b, &mut good).is_err() {
                continue;
            }
            let seen = seen.entry(b).or_default();
            // Packets on detours continue to the destination from the links by which they reached their
            // region.
            let mut stack = if seen.is_empty() { entries.clone() } else { Vec::new() };
            stack.push((PortId { node: a, port: 0 }, vl));
            self.follow(stack, Heading::to(self.topology.node(b).rank), seen, &mut next);
        }
        let name = |&(port, vl): &dependencies::Link| {
            let (peer, _) = self.peers[port.node.index()][usize::from(port.port)];
            let lane = if several { format!(" (VL {vl})") } else { String::new() };
            format!("{}->{}{lane}", self.name(port.node), self.name(peer.node))
        };
        Some(dependencies::cycle(next)?.iter().map(name).collect())
    }

    /// Whether packets on these ways never go up again after they have gone down. Then there is no cycle of dependencies.
    ///
    /// With a choice of ports, all packets to the same destinations must do so, from any switch. `false` also if following
    /// the ways themselves takes fewer steps.
    fn surely_descend(&self, ways: &[(NodeId, NodeId, u8)]) -> bool {
        if !self.routes.chooses() {
            let levels = self.topology.levels();
            return ways.iter().all(|&(from, to, _)| self.climbs_once(from, to, &levels));
        }
        let destinations: HashSet<NodeId> = ways.iter().map(|&(_, to, _)| to).collect();
        let switches = self.topology.switch_count() as usize;
        ways.len() >= destinations.len() * switches && {
            descent::never_climbs(self.topology, self.routes, &self.peers, destinations.into_iter())
        }
    }

    /// Whether the path between two hosts first goes up from level to level, and then down. Without a path, it does.
    fn climbs_once(&self, from: NodeId, to: NodeId, levels: &[u32]) -> bool {
        let (mut climbs, mut has_descended) = (true, false);
        let walked = self.walk(
            from,
            to,
            |switch, host| self.routes.port(switch, host),
            |port| {
                let peer = self.peers[port.node.index()][usize::from(port.port)].0.node;
                match levels[peer.index()].cmp(&levels[port.node.index()]) {
                    Ordering::Less => has_descended = true,
                    Ordering::Equal => climbs = false,
                    Ordering::Greater => climbs &= !has_descended,
                }
            },
        );
        walked.is_err() || climbs
    }

    /// Follows packets from links to their destination, and records which links each link waits for. Returns
    /// the links by which packets on detours reach their region.
    fn follow(
        &self,
        mut stack: Vec<dependencies::Link>,
        to: Heading,
        seen: &mut HashSet<dependencies::Link>,
        next: &mut dependencies::Graph,
    ) -> Vec<dependencies::Link> {
        let mut entries = Vec::new();
        while let Some((from, vl)) = stack.pop() {
            if !seen.insert((from, vl)) {
                continue;
            }
            let steps = self.steps(from, to);
            if steps.first().is_some_and(|&(_, onward)| onward != to) {
                entries.push((from, vl));
                continue;
            }
            for (onward, _) in steps {
                let rank = self.topology.node(onward.node).rank;
                let ports = (self.peers[from.node.index()][usize::from(from.port)].0.port, onward.port);
                let lane = self.routes.lanes().map_or(vl, |lanes| lanes.next(rank, ports, vl, to));
                next.entry((from, vl)).or_default().insert((onward, lane));
                stack.push((onward, lane));
            }
        }
        entries
    }

    /// Follows detours from the sources of these pairs to all regions, and returns the links by which packets
    /// arrive there.
    fn follow_detours(
        &self,
        sources: impl Iterator<Item = NodeId>,
        next: &mut dependencies::Graph,
    ) -> Vec<dependencies::Link> {
        let Some(detours) = self.routes.detours() else { return Vec::new() };
        let sources: BTreeSet<NodeId> = sources.collect();
        let mut found = Vec::new();
        for region in 0..detours.regions() {
            let outside = |&&source: &&NodeId| detours.region_of_host(self.topology.node(source).rank) != region;
            let stack = sources.iter().filter(outside).map(|&node| (PortId { node, port: 0 }, 0)).collect();
            let to = Heading { host: detours.hosts_in(region).start, via: Some(region) };
            found.extend(self.follow(stack, to, &mut HashSet::new(), next));
        }
        found
    }
}
