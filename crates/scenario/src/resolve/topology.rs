//! Nodes and cables.

use std::collections::HashMap;

use becalm_engine::{Key, Time};
use becalm_fabric as fabric;
use becalm_fabric::{ClosSpec, DumbbellSpec, FatTreeSpec, NodeId, NodeKind, Routes, Topology};
use becalm_schema::names::expand;
use becalm_schema::{Located, Place, Review};

use super::direct::{self, Choices};
use super::names::{ALL, expand_list, unknown};
use super::routes;
use super::size::{MOST_CABLES, fits};
use crate::sections::quantities::LinkRate;
use crate::sections::topology::{Clos, Edges, FatTree, Level, TopologyChoice};

/// The nodes, cables and routes of a topology; `None` after an error, which has been recorded.
pub(super) fn build(choice: &TopologyChoice, choices: Choices, review: &mut Review<'_>) -> Option<(Topology, Routes)> {
    let (topology, mut routes) = build_cables(choice, choices, review)?;
    let before = review.count();
    if !choice.routes().is_empty() {
        routes::apply(choice.routes(), &topology, &mut routes, review);
    }
    (review.count() == before).then_some((topology, routes))
}

/// The network with its default routes.
fn build_cables(choice: &TopologyChoice, choices: Choices, review: &mut Review<'_>) -> Option<(Topology, Routes)> {
    let all = choices.all;
    let shortest = |topology| {
        let routes = if all { Routes::all_shortest(&topology) } else { Routes::shortest(&topology) };
        (topology, routes)
    };
    match choice {
        TopologyChoice::Dumbbell(p) => Some(shortest(Topology::dumbbell(&DumbbellSpec {
            remote: p.remote,
            local: p.local,
            rate: p.rate.rate(),
            delay: p.delay,
        }))),
        TopologyChoice::Clos(p) => clos(p, p.place(), review).map(shortest),
        TopologyChoice::Tree(p) => {
            let spec = FatTreeSpec::ports_tree(*p.ports, *p.levels, p.rate.rate(), *p.delay);
            build_fat_tree(&spec, !p.routes.is_empty(), all, p.place(), review)
        }
        TopologyChoice::FatTree(p) => fat_tree(p, all, p.place(), review),
        TopologyChoice::Dragonfly(p) => direct::dragonfly(p, choices, p.place(), review),
        TopologyChoice::Torus(p) => direct::torus(p, choices, p.place(), review),
        TopologyChoice::Edges(p) => edges(p, review).map(shortest),
    }
}

/// The fat tree and its routes; `None` if it is too large.
fn build_fat_tree(
    spec: &FatTreeSpec,
    has_routes: bool,
    all: bool,
    place: Place,
    review: &mut Review<'_>,
) -> Option<(Topology, Routes)> {
    let Some(nodes) = spec.nodes().filter(|&nodes| nodes <= u64::from(Key::TARGETS)) else {
        let problem = format!("has too many hosts and switches; the maximum is {}", Key::TARGETS);
        review.add(place, problem);
        return None;
    };
    if let Some(radix) = (0..spec.levels.len()).map(|l| spec.radix(l)).find(|&radix| radix >= u64::from(u16::MAX)) {
        review.add(place, format!("has switches with {radix} ports; the number must be below {}", u16::MAX));
        return None;
    }
    // Without entries in `routes`, there is no table.
    let switches = if has_routes { nodes - spec.hosts() } else { 0 };
    fits(spec.hosts(), switches, spec.cables(), place, review)?;
    let routes = if all { Routes::all_of_tree(spec) } else { Routes::d_mod_k(spec) };
    Some((Topology::fat_tree(spec), routes))
}

fn fat_tree(p: &FatTree, all: bool, place: Place, review: &mut Review<'_>) -> Option<(Topology, Routes)> {
    let Some(first) = p.levels.first() else {
        review.add(p.levels.place(), "must have at least one level");
        return None;
    };
    if first.parents != 1 || first.parallel != 1 {
        review.add(first.place(), "must have parents = 1 and parallel = 1: every host has one cable");
        return None;
    }
    let level = |level: &Located<Level>| fabric::Level {
        children: level.children,
        parents: level.parents,
        parallel: level.parallel,
        rate: level.rate.as_ref().unwrap_or(&p.rate).rate(),
    };
    let spec = FatTreeSpec { levels: p.levels.iter().map(level).collect(), delay: *p.delay };
    build_fat_tree(&spec, !p.routes.is_empty(), all, place, review)
}

fn clos(p: &Clos, place: Place, review: &mut Review<'_>) -> Option<Topology> {
    let nodes = u64::from(*p.leaves) * u64::from(*p.hosts_per_leaf + 1) + u64::from(*p.spines);
    if nodes > u64::from(Key::TARGETS) {
        review.add(place, format!("has {nodes} hosts and switches; the maximum is {}", Key::TARGETS));
        return None;
    }
    let (leaves, spines) = (u64::from(*p.leaves), u64::from(*p.spines));
    let hosts = leaves * u64::from(*p.hosts_per_leaf);
    fits(hosts, leaves + spines, hosts + leaves * spines, place, review)?;
    Some(Topology::clos(&ClosSpec {
        leaves: *p.leaves,
        spines: *p.spines,
        hosts_per_leaf: *p.hosts_per_leaf,
        rate: p.rate.rate(),
        delay: *p.delay,
    }))
}

/// A network under construction from lists.
#[derive(Default)]
struct Draft {
    topology: Topology,
    by_name: HashMap<String, NodeId>,
}

fn edges(p: &Edges, review: &mut Review<'_>) -> Option<Topology> {
    let before = review.count();
    let mut draft = Draft::default();
    draft.add_nodes(p.hosts.items(), NodeKind::Host, review);
    draft.add_nodes(p.switches.items(), NodeKind::Switch, review);
    for cable in p.cables.iter() {
        let rate = cable.rate.as_ref().unwrap_or(&p.rate);
        draft.add_cables(&cable.between, rate, cable.delay.unwrap_or(*p.delay), review);
    }
    draft.check_hosts(p.hosts.place(), review);
    if review.count() > before {
        return None;
    }
    let (hosts, switches) = (u64::from(draft.topology.host_count()), u64::from(draft.topology.switch_count()));
    fits(hosts, switches, draft.topology.cables().len() as u64, p.hosts.place(), review)?;
    Some(draft.topology)
}

impl Draft {
    fn add_nodes(&mut self, list: &[Located<String>], kind: NodeKind, review: &mut Review<'_>) {
        let mut blamed = None;
        for (name, place) in expand_list(list, review) {
            if name == ALL {
                review.add(place, "`*` means all hosts and cannot be a name");
                continue;
            }
            if self.by_name.contains_key(&name) {
                // A wrong range is one error, regardless of its length.
                if blamed.replace(place) != Some(place) {
                    review.add(place, format!("two nodes have the name `{name}`"));
                }
                continue;
            }
            if self.topology.nodes().len() as u32 == Key::TARGETS {
                review.add(place, format!("too many nodes; the maximum is {}", Key::TARGETS));
                return;
            }
            let id = match kind {
                NodeKind::Host => self.topology.add_host(name.as_str()),
                NodeKind::Switch => self.topology.add_switch(name.as_str()),
            };
            self.by_name.insert(name, id);
        }
    }

    fn add_cables(
        &mut self,
        between: &Located<Vec<Located<String>>>,
        rate: &LinkRate,
        delay: Time,
        review: &mut Review<'_>,
    ) {
        let ends: Vec<Vec<NodeId>> = between.items().iter().map(|end| self.end(end, review)).collect();
        let [a, b] = ends.as_slice() else {
            review.add(between.place(), "must name two nodes");
            return;
        };
        if a.is_empty() || b.is_empty() {
            return;
        }
        if a.len() > 1 && b.len() > 1 {
            review.add(between.place(), "only one of the two ends may be a range");
            return;
        }
        for (&a, &b) in a.iter().flat_map(|a| b.iter().map(move |b| (a, b))) {
            if let Some(problem) = self.misfit(a, b) {
                return review.add(between.place(), problem);
            }
            self.topology.connect(a, b, rate.rate(), delay);
        }
    }

    /// The reason that a cable between two nodes is not possible, if any.
    fn misfit(&self, a: NodeId, b: NodeId) -> Option<String> {
        let (first, second) = (self.topology.node(a), self.topology.node(b));
        if a == b {
            return Some("connects a node to itself".to_string());
        }
        if first.kind == NodeKind::Host && second.kind == NodeKind::Host {
            return Some("connects two hosts; a host must be connected to a switch".to_string());
        }
        if self.topology.cables().len() as u64 == MOST_CABLES {
            return Some(format!("exceeds the maximum of {MOST_CABLES} cables"));
        }
        [first, second].into_iter().find_map(|end| match end.kind {
            NodeKind::Host if end.degree > 0 => {
                Some(format!("is a second cable of host `{}`; a host has only one", end.name))
            }
            _ if end.degree == u16::MAX - 1 => Some(format!("switch `{}` has too many ports", end.name)),
            _ => None,
        })
    }

    /// The nodes that one end of a cable names.
    fn end(&self, end: &Located<String>, review: &mut Review<'_>) -> Vec<NodeId> {
        let (text, place) = (end.as_str(), end.place());
        let names = match expand(text) {
            Ok(names) => names,
            Err(problem) => {
                review.add(place, problem);
                return Vec::new();
            }
        };
        let mut ids = Vec::new();
        for name in &names {
            match self.by_name.get(name) {
                Some(&id) => ids.push(id),
                None => {
                    let known: Vec<&str> = self.topology.nodes().iter().map(|node| node.name.as_str()).collect();
                    unknown("node", name, &known, place, review);
                    return Vec::new();
                }
            }
        }
        ids
    }

    fn check_hosts(&self, hosts: Place, review: &mut Review<'_>) {
        let lonely = self.topology.nodes().iter().find(|node| node.kind == NodeKind::Host && node.degree == 0);
        if let Some(host) = lonely {
            review.add(hosts, format!("host `{}` has no cable", host.name));
        }
        if self.topology.host_count() == 0 {
            review.add(hosts, "must name at least one host");
        }
    }
}
