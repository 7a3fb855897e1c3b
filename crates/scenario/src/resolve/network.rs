//! The network of a scenario, built once.

use std::collections::HashMap;

use becalm_fabric::policy::SwitchShape;
use becalm_fabric::{NodeId, NodeKind, Rate, RateChange, Routes, Topology};
use becalm_schema::{Located, Place, Review};

use super::links::{Link, links};
use super::{routes, shapes};
use crate::names::{ALL, expand_list, unknown};
use crate::sections::Sections;
use crate::sections::changes::Change;
use crate::sections::nodes::Node;
use crate::sections::topology::generator::Choices;

/// Nodes, cables and routes, with derived values.
#[derive(Clone, Debug)]
pub(crate) struct Network {
    /// Nodes and cables.
    pub topology: Topology,
    /// The routes of packets.
    pub routes: Routes,
    /// Both directions of every cable, sorted by node and port.
    pub links: Vec<Link>,
    /// The rate of every host's link, indexed by node. Values for switches have no meaning.
    pub rates: Vec<Rate>,
    /// The nodes with several adapters.
    pub nodes: Vec<Node>,
    hosts: HashMap<String, NodeId>,
}

impl Network {
    /// The network of a scenario; `None` after an error, which has been recorded.
    pub fn build(sections: &Sections, review: &mut Review<'_>) -> Option<Network> {
        let law = sections.switch.get().and_then(|switch| switch.paths.get());
        let choices =
            Choices { all: law.is_some_and(|law| law.chooses()), detours: law.is_some_and(|law| law.makes_detours()) };
        let choice = sections.topology.complete()?;
        let (topology, mut routes) = choice.build(choices, review)?;
        if !choice.routes().is_empty() {
            let before = review.count();
            routes::apply(choice.routes(), &topology, &mut routes, review);
            if review.count() > before {
                return None;
            }
        }
        let hosts = topology.hosts().map(|host| (topology.node(host).name.clone(), host)).collect();
        let (links, rates, own) = (links(&topology), host_rates(&topology), choice.nodes(&topology));
        let mut network = Network { links, rates, nodes: Vec::new(), hosts, topology, routes };
        network.find_nodes(sections, own, review);
        Some(network)
    }

    /// The name of a node.
    pub fn name(&self, node: NodeId) -> &str {
        &self.topology.node(node).name
    }

    /// The names of all links.
    pub fn link_names(&self) -> Vec<&str> {
        self.links.iter().map(|link| link.name.as_str()).collect()
    }

    /// The changes of rates that name a link of this network.
    pub fn rate_changes(&self, sections: &Sections) -> Vec<RateChange> {
        let read = |change: &Located<Change>| {
            let change = change.get()?;
            let link = self.links.iter().find(|link| Some(&link.name) == change.link.get())?;
            Some(RateChange { at: *change.at.get()?, from: link.from, rate: change.rate.get()?.rate() })
        };
        sections.changes.items().iter().filter_map(read).collect()
    }

    /// The switches as their markers see them, with this number of virtual lanes and this capacity of input
    /// buffers.
    pub fn switch_shapes(&self, vls: u8, capacity_bytes: u32) -> Vec<SwitchShape> {
        shapes::switch_shapes(&self.topology, vls, capacity_bytes)
    }

    /// The host with this name.
    pub fn host(&self, name: &Located<String>, review: &mut Review<'_>) -> Option<NodeId> {
        let text = name.get()?;
        let host = self.hosts.get(text).copied();
        if host.is_none() {
            self.unknown_host(text, name.place(), review);
        }
        host
    }

    /// The hosts of a list, in its order. Errors are recorded.
    pub fn hosts(&self, list: &Located<Vec<Located<String>>>, review: &mut Review<'_>) -> Vec<NodeId> {
        self.resolve(list.items(), list.place(), review)
    }

    /// The hosts of a list at a location, in its order. Errors are recorded.
    pub fn resolve(&self, list: &[Located<String>], place: Place, review: &mut Review<'_>) -> Vec<NodeId> {
        if list.is_empty() {
            review.add(place, "must name at least one host");
        }
        let mut hosts = Vec::new();
        let mut seen = vec![false; self.topology.nodes().len()];
        let mut blamed = None;
        for (name, place) in expand_list(list, review) {
            if name == ALL {
                hosts.extend(self.topology.hosts().filter(|host| !std::mem::replace(&mut seen[host.index()], true)));
                continue;
            }
            match self.hosts.get(&name) {
                // A wrong range is one error, regardless of its length.
                _ if blamed == Some(place) => {}
                Some(&host) if std::mem::replace(&mut seen[host.index()], true) => {
                    review.add(place, format!("names host `{name}` twice"));
                    blamed = Some(place);
                }
                Some(&host) => hosts.push(host),
                None => {
                    self.unknown_host(&name, place, review);
                    blamed = Some(place);
                }
            }
        }
        hosts
    }

    fn unknown_host(&self, name: &str, place: Place, review: &mut Review<'_>) {
        let names: Vec<&str> = self.topology.hosts().map(|host| self.name(host)).collect();
        unknown("host", name, &names, place, review);
    }
}

fn host_rates(topology: &Topology) -> Vec<Rate> {
    let mut rates = vec![Rate::from_bits_per_second(1.0); topology.nodes().len()];
    for cable in topology.cables() {
        for end in [cable.a.node, cable.b.node] {
            if topology.node(end).kind == NodeKind::Host {
                rates[end.index()] = cable.rate;
            }
        }
    }
    rates
}
