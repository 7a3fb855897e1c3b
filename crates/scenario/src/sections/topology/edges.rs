//! `[topology.edges]`: any network, as lists of nodes and cables.

use std::collections::HashMap;

use becalm_engine::{Key, Time};
use becalm_fabric::{NodeId, NodeKind, Routes, Topology};
use becalm_schema::names::expand;
use becalm_schema::{Located, Place, Review};

use super::generator::{Choices, Deadlock, Generator};
use super::size::{MOST_CABLES, Size};
use crate::names::{ALL, expand_list, unknown};
use crate::sections::quantities::LinkRate;
use crate::sections::routes::Route;

becalm_schema::table! {
    /// A cable, or one cable for each name in a range.
    pub located struct Cable {
        /// The two nodes at its ends. One of them may be a range, such as `["H1..H8", "S"]`.
        pub between: Vec<Located<String>>,
        /// Rate of the link in each direction, if it differs from the topology's.
        pub rate: Option<LinkRate>,
        /// Propagation delay in each direction, if it differs from the topology's.
        pub delay: Option<Time>; ""; ..=Time::from_ms(1000),
    }
}

becalm_schema::table! {
    /// Any network, as lists of nodes and cables. Packets take shortest paths unless `routes` specifies
    /// others.
    pub located struct Edges {
        /// Names of hosts, or ranges such as `"H1..H8"`. Each host has one cable, to a switch.
        pub hosts: Vec<Located<String>>,
        /// Names of switches, or ranges.
        pub switches: Vec<Located<String>>,
        /// Rate of links.
        pub rate: LinkRate = LinkRate::gigabytes(1.0),
        /// Propagation delay of links.
        pub delay: Time = Time::ZERO; ""; ..=Time::from_ms(1000),
        /// Whether to allow routes that can deadlock; a deadlock then ends the run.
        pub allow_cycles: bool = false,
        /// The cables.
        pub cables: Vec<Located<Cable>>,
        /// Forwarding entries that replace the topology's defaults.
        pub routes: Vec<Located<Route>> = Vec::new(),
    }
}

impl Generator for Edges {
    /// The number of cables and entries is known only when all names are: see `build`.
    fn size(&self, _: Place, _: &mut Review<'_>) -> Option<Size> {
        Some(Size::new(0, 0, 0))
    }

    fn build(&self, choices: Choices, review: &mut Review<'_>) -> Option<(Topology, Routes)> {
        let before = review.count();
        let mut draft = Draft::default();
        draft.add_nodes(self.hosts.items(), NodeKind::Host, review);
        draft.add_nodes(self.switches.items(), NodeKind::Switch, review);
        for cable in self.cables.iter() {
            let rate = cable.rate.as_ref().unwrap_or(&self.rate);
            draft.add_cables(&cable.between, rate, cable.delay.unwrap_or(*self.delay), review);
        }
        draft.check_hosts(self.hosts.place(), review);
        if review.count() > before {
            return None;
        }
        draft.size().check(self.hosts.place(), review)?;
        Some(choices.shortest(draft.topology))
    }

    fn routes(&self) -> Option<&Located<Vec<Located<Route>>>> {
        Some(&self.routes)
    }

    fn deadlock(&self) -> Option<Deadlock> {
        let place = if self.routes.is_empty() { self.cables.place() } else { self.routes.place() };
        let advice = "connect the switches without a cycle, set other routes, or set allow_cycles = true to run anyway";
        (!*self.allow_cycles).then_some(Deadlock { place, advice })
    }
}

/// A network under construction from lists.
#[derive(Default)]
struct Draft {
    topology: Topology,
    by_name: HashMap<String, NodeId>,
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

    fn size(&self) -> Size {
        let (hosts, switches) = (self.topology.host_count(), self.topology.switch_count());
        Size::new(u64::from(hosts), u64::from(switches), self.topology.cables().len() as u64)
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
