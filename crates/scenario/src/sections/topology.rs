//! `[topology]`: nodes and cables.

use std::collections::HashMap;

use becalm_engine::{Key, Time};
use becalm_fabric as fabric;
use becalm_fabric::{ClosSpec, DumbbellSpec, FatTreeSpec, NodeId, NodeKind, Routes, Topology};
use becalm_schema::{Choice, Conflict, Mistakes, Node};

use crate::hosts::{expand_list, unknown};
use crate::quantities::LinkRate;
use crate::sections::routes::{self, Route};

/// Forwarding entries that a topology may have, of two bytes each.
const MOST_ROUTES: u64 = 2_000_000_000;

becalm_schema::table! {
    /// Two switches and one link between them (Santos 2002 and 2003, Fig. 1).
    ///
    /// Hosts `A1`, `A2`, ... and `AV` are on switch `A`; `B1`, `B2`, ..., `BC` (the hot destination) and `BV` (the
    /// victim's destination) on switch `B`.
    pub struct Dumbbell {
        /// Hosts `A1`, `A2`, ... on switch `A`.
        pub remote: u32 = 10; "hosts"; 0..=60_000,
        /// Hosts `B1`, `B2`, ... on switch `B`.
        pub local: u32 = 10; "hosts"; 0..=60_000,
        /// Rate of every link.
        pub rate: LinkRate = LinkRate::gigabytes(1.0),
        /// Propagation delay of every link.
        pub delay: Time = Time::ZERO; ""; ..=Time::from_ms(1000),
    }
}

becalm_schema::table! {
    /// A two-level folded Clos network: every leaf switch is joined to every spine switch.
    ///
    /// Hosts are `H0`, `H1`, ... leaf by leaf; switches `leaf0`, ... and `spine0`, ...
    pub struct Clos {
        /// Leaf switches.
        pub leaves: u32; ""; 1..=4096,
        /// Spine switches.
        pub spines: u32; ""; 1..=4096,
        /// Hosts on each leaf.
        pub hosts_per_leaf: u32; ""; 1..=4096,
        /// Rate of every link.
        pub rate: LinkRate = LinkRate::gigabytes(1.0),
        /// Propagation delay of every link.
        pub delay: Time = Time::ZERO; ""; ..=Time::from_ms(1000),
        /// Forwarding entries that are given, in place of the topology's own.
        pub routes: Vec<Route> = Vec::new(),
    }
}

becalm_schema::table! {
    /// An m-port n-tree (Lin, Chung and Huang 2004): a fat tree of n levels of switches with m ports each, where the
    /// top switches use all their ports downward. It joins 2 (m/2)^n hosts.
    ///
    /// Hosts are `H0`, `H1`, ...; the switches of level l are `L<l>S0`, `L<l>S1`, ..., level 1 next to the hosts.
    /// Packets go up by their destination's number (d-mod-k).
    pub struct Tree {
        /// Ports of every switch, an even number.
        pub ports: u32; ""; 2..=128,
        /// Levels of switches.
        pub levels: u32; ""; 1..=10,
        /// Rate of every link.
        pub rate: LinkRate = LinkRate::gigabytes(1.0),
        /// Propagation delay of every link.
        pub delay: Time = Time::ZERO; ""; ..=Time::from_ms(1000),
        /// Forwarding entries that are given, in place of the topology's own.
        pub routes: Vec<Route> = Vec::new(),
    }
    check even_ports;
}

fn even_ports(tree: &Tree) -> Result<(), Conflict> {
    Conflict::unless(tree.ports.is_multiple_of(2), "ports", || "must be even".to_string())
}

becalm_schema::table! {
    /// One level of a fat tree.
    pub struct Level {
        /// Nodes of the level below that each switch of this level is joined to.
        pub children: u32; ""; 1..=4096,
        /// Switches of this level that each node of the level below is joined to.
        pub parents: u32 = 1; ""; 1..=4096,
        /// Cables between a node and each of its parents.
        pub parallel: u32 = 1; ""; 1..=64,
        /// Rate of these cables, if not the topology's.
        pub rate: Option<LinkRate> = None,
    }
}

becalm_schema::table! {
    /// A fat tree of any shape, oversubscribed or not: two- and three-level folded Clos networks and more.
    ///
    /// Named and routed like an m-port n-tree, which is a special case.
    pub struct FatTree {
        /// The levels of switches, the one next to the hosts first; there, `parents` and `parallel` are 1.
        pub levels: Vec<Level>,
        /// Rate of links.
        pub rate: LinkRate = LinkRate::gigabytes(1.0),
        /// Propagation delay of every link.
        pub delay: Time = Time::ZERO; ""; ..=Time::from_ms(1000),
        /// Forwarding entries that are given, in place of the topology's own.
        pub routes: Vec<Route> = Vec::new(),
    }
}

becalm_schema::table! {
    /// A cable, or one for each name of a range.
    pub struct Cable {
        /// The two nodes that it joins; one of them may be a range, such as `["H1..H8", "S"]`.
        pub between: Vec<String>,
        /// Rate of the link in each direction, if not the topology's.
        pub rate: Option<LinkRate>,
        /// Propagation delay in each direction, if not the topology's.
        pub delay: Option<Time>; ""; ..=Time::from_ms(1000),
    }
}

becalm_schema::table! {
    /// Any network, as lists of nodes and cables. Packets take shortest paths where no `routes` are given.
    pub struct Edges {
        /// Names of hosts, or ranges of them such as `"H1..H8"`. Each host has one cable, to a switch.
        pub hosts: Vec<String>,
        /// Names of switches, or ranges of them.
        pub switches: Vec<String>,
        /// Rate of links.
        pub rate: LinkRate = LinkRate::gigabytes(1.0),
        /// Propagation delay of links.
        pub delay: Time = Time::ZERO; ""; ..=Time::from_ms(1000),
        /// Whether to run on routes that can deadlock; a deadlock then ends the run.
        pub allow_cycles: bool = false,
        /// The cables.
        pub cables: Vec<Cable>,
        /// Forwarding entries that are given, in place of the topology's own.
        pub routes: Vec<Route> = Vec::new(),
    }
}

becalm_schema::choice! {
    /// Nodes and cables.
    pub enum TopologyChoice {
        /// The scene of Santos' papers.
        Dumbbell(Dumbbell) = "dumbbell",
        /// Leaves and spines.
        Clos(Clos) = "clos",
        /// An m-port n-tree.
        Tree(Tree) = "tree",
        /// A fat tree of any shape.
        FatTree(FatTree) = "fat_tree",
        /// Any network.
        Edges(Edges) = "edges",
    }
}

impl TopologyChoice {
    /// The network and its routes. Mistakes are noted at `node`, the section; then there is no network.
    pub(crate) fn build(&self, node: &Node, mistakes: &mut Mistakes) -> Option<(Topology, Routes)> {
        let (topology, mut routes) = self.build_cables(node, mistakes)?;
        let before = mistakes.list.len();
        if let Some(list) = node.get(self.name()).and_then(|node| node.get("routes")) {
            routes::apply(self.routes(), list, &topology, &mut routes, mistakes);
        }
        (mistakes.list.len() == before).then_some((topology, routes))
    }

    /// The forwarding entries that are given.
    pub(crate) fn routes(&self) -> &[Route] {
        match self {
            TopologyChoice::Dumbbell(_) => &[],
            TopologyChoice::Clos(p) => &p.routes,
            TopologyChoice::Tree(p) => &p.routes,
            TopologyChoice::FatTree(p) => &p.routes,
            TopologyChoice::Edges(p) => &p.routes,
        }
    }

    /// The network with its own routes.
    fn build_cables(&self, node: &Node, mistakes: &mut Mistakes) -> Option<(Topology, Routes)> {
        match self {
            TopologyChoice::Dumbbell(p) => {
                let spec = DumbbellSpec { remote: p.remote, local: p.local, rate: p.rate.rate(), delay: p.delay };
                Some(with_shortest_routes(Topology::dumbbell(&spec)))
            }
            TopologyChoice::Clos(p) => p.build(node, mistakes).map(with_shortest_routes),
            TopologyChoice::Tree(p) => {
                let spec = FatTreeSpec::ports_tree(p.ports, p.levels, p.rate.rate(), p.delay);
                build_fat_tree(&spec, !p.routes.is_empty(), node.get("tree").unwrap_or(node), mistakes)
            }
            TopologyChoice::FatTree(p) => p.build(node.get("fat_tree").unwrap_or(node), mistakes),
            TopologyChoice::Edges(p) => p.build(node.get("edges")?, mistakes).map(with_shortest_routes),
        }
    }
}

fn with_shortest_routes(topology: Topology) -> (Topology, Routes) {
    let routes = Routes::shortest(&topology);
    (topology, routes)
}

/// The fat tree and its routes, if it is small enough to be built.
fn build_fat_tree(
    spec: &FatTreeSpec,
    has_routes: bool,
    node: &Node,
    mistakes: &mut Mistakes,
) -> Option<(Topology, Routes)> {
    let Some(nodes) = spec.nodes().filter(|&nodes| nodes <= u64::from(Key::TARGETS)) else {
        let problem = format!("has too many hosts and switches, must have at most {}", Key::TARGETS);
        mistakes.add(node, problem, "");
        return None;
    };
    // Given entries need a table: every switch has an entry for every host.
    if has_routes && nodes - spec.hosts() > MOST_ROUTES / spec.hosts() {
        mistakes.add(node, format!("needs more than {MOST_ROUTES} forwarding entries"), "");
        return None;
    }
    Some((Topology::fat_tree(spec), Routes::d_mod_k(spec)))
}

impl FatTree {
    fn build(&self, node: &Node, mistakes: &mut Mistakes) -> Option<(Topology, Routes)> {
        let levels = node.get("levels")?;
        let Some(first) = self.levels.first() else {
            mistakes.add(levels, "must have at least one level", "");
            return None;
        };
        if first.parents != 1 || first.parallel != 1 {
            let problem = "has parents or parallel other than 1, but every host has one cable";
            mistakes.add(levels.items()?.first()?, problem, "");
            return None;
        }
        let level = |level: &Level| fabric::Level {
            children: level.children,
            parents: level.parents,
            parallel: level.parallel,
            rate: level.rate.as_ref().unwrap_or(&self.rate).rate(),
        };
        let spec = FatTreeSpec { levels: self.levels.iter().map(level).collect(), delay: self.delay };
        build_fat_tree(&spec, !self.routes.is_empty(), node, mistakes)
    }
}

impl Clos {
    fn build(&self, node: &Node, mistakes: &mut Mistakes) -> Option<Topology> {
        let nodes = u64::from(self.leaves) * u64::from(self.hosts_per_leaf + 1) + u64::from(self.spines);
        if nodes > u64::from(Key::TARGETS) {
            let problem = format!("has {nodes} hosts and switches, must have at most {}", Key::TARGETS);
            mistakes.add(node.get("clos").unwrap_or(node), problem, "");
            return None;
        }
        Some(Topology::clos(&ClosSpec {
            leaves: self.leaves,
            spines: self.spines,
            hosts_per_leaf: self.hosts_per_leaf,
            rate: self.rate.rate(),
            delay: self.delay,
        }))
    }
}

/// A network while it is put together from lists.
#[derive(Default)]
struct Draft {
    topology: Topology,
    by_name: HashMap<String, NodeId>,
}

impl Edges {
    fn build(&self, node: &Node, mistakes: &mut Mistakes) -> Option<Topology> {
        let before = mistakes.list.len();
        let mut draft = Draft::default();
        draft.add_nodes(node.get("hosts")?, NodeKind::Host, mistakes);
        draft.add_nodes(node.get("switches")?, NodeKind::Switch, mistakes);
        for (cable, node) in self.cables.iter().zip(node.get("cables")?.items()?) {
            let rate = cable.rate.as_ref().unwrap_or(&self.rate);
            draft.add_cables(node, rate, cable.delay.unwrap_or(self.delay), mistakes);
        }
        draft.check_hosts(node, mistakes);
        if mistakes.list.len() > before {
            return None;
        }
        Some(draft.topology)
    }
}

impl Draft {
    fn add_nodes(&mut self, list: &Node, kind: NodeKind, mistakes: &mut Mistakes) {
        for (name, node) in expand_list(list, mistakes) {
            if name == "*" {
                mistakes.add(node, "`*` stands for all hosts and cannot be a name", "");
                continue;
            }
            if self.by_name.contains_key(&name) {
                mistakes.add(node, format!("there are two nodes `{name}`"), "");
                continue;
            }
            if self.topology.nodes().len() as u32 == Key::TARGETS {
                mistakes.add(node, format!("too many nodes; there can be {}", Key::TARGETS), "");
                return;
            }
            let id = match kind {
                NodeKind::Host => self.topology.add_host(name.as_str()),
                NodeKind::Switch => self.topology.add_switch(name.as_str()),
            };
            self.by_name.insert(name, id);
        }
    }

    fn add_cables(&mut self, node: &Node, rate: &LinkRate, delay: Time, mistakes: &mut Mistakes) {
        let Some(between) = node.get("between") else { return };
        let ends: Vec<Vec<NodeId>> =
            between.items().unwrap_or_default().iter().map(|end| self.end(end, mistakes)).collect();
        let [a, b] = ends.as_slice() else {
            mistakes.add(between, "must name two nodes", "");
            return;
        };
        if a.is_empty() || b.is_empty() {
            return;
        }
        if a.len() > 1 && b.len() > 1 {
            mistakes.add(between, "only one of the two ends may be a range", "");
            return;
        }
        for (&a, &b) in a.iter().flat_map(|a| b.iter().map(move |b| (a, b))) {
            self.add_cable(a, b, rate, delay, between, mistakes);
        }
    }

    fn add_cable(&mut self, a: NodeId, b: NodeId, rate: &LinkRate, delay: Time, node: &Node, mistakes: &mut Mistakes) {
        let (first, second) = (self.topology.node(a), self.topology.node(b));
        if a == b {
            return mistakes.add(node, "joins a node to itself", "");
        }
        if first.kind == NodeKind::Host && second.kind == NodeKind::Host {
            return mistakes.add(node, "joins two hosts; a host is joined to a switch", "");
        }
        for end in [first, second] {
            if end.kind == NodeKind::Host && end.degree > 0 {
                return mistakes.add(node, format!("is a second cable of host `{}`; a host has one", end.name), "");
            }
            if end.degree == u16::MAX - 1 {
                return mistakes.add(node, format!("switch `{}` has too many ports", end.name), "");
            }
        }
        self.topology.connect(a, b, rate.rate(), delay);
    }

    /// The nodes that one end of a cable names.
    fn end(&self, node: &Node, mistakes: &mut Mistakes) -> Vec<NodeId> {
        let Some(text) = node.text() else { return Vec::new() };
        let names = match becalm_schema::names::expand(text) {
            Ok(names) => names,
            Err(problem) => {
                mistakes.add(node, problem, "");
                return Vec::new();
            }
        };
        let mut ids = Vec::new();
        for name in &names {
            match self.by_name.get(name) {
                Some(&id) => ids.push(id),
                None => {
                    let known: Vec<&str> = self.topology.nodes().iter().map(|node| node.name.as_str()).collect();
                    unknown("node", name, &known, node, mistakes);
                    return Vec::new();
                }
            }
        }
        ids
    }

    fn check_hosts(&self, node: &Node, mistakes: &mut Mistakes) {
        let lonely = self.topology.nodes().iter().find(|node| node.kind == NodeKind::Host && node.degree == 0);
        if let (Some(host), Some(hosts)) = (lonely, node.get("hosts")) {
            mistakes.add(hosts, format!("host `{}` has no cable", host.name), "");
        }
    }
}
