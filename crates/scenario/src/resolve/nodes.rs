//! The nodes of a scenario: those of its topology, or those that it lists.

use std::collections::HashSet;

use becalm_fabric::NodeId;
use becalm_schema::names::expand;
use becalm_schema::{Located, Review};

use super::network::Network;
use crate::names::{ALL, expand_list, unknown};
use crate::sections::Sections;
use crate::sections::nodes::{Gpu, Node, Nodes};

impl Network {
    /// Sets the nodes. Errors are recorded.
    pub(super) fn find_nodes(&mut self, sections: &Sections, own: Vec<Node>, review: &mut Review<'_>) {
        self.nodes = own;
        let Some(place) = sections.nodes.given().filter(|_| !sections.nodes.items().is_empty()) else { return };
        if !self.nodes.is_empty() {
            return review.add(place, "does nothing: the topology makes its own nodes");
        }
        let mut taken = HashSet::new();
        for group in sections.nodes.items().iter().filter_map(|group| group.get()) {
            let made = self.listed(group, &mut taken, review);
            for node in made.into_iter().flatten() {
                if self.nodes.iter().any(|other| other.name == node.name) {
                    return review.add(group.name.place(), format!("two nodes have the name `{}`", node.name));
                }
                self.nodes.push(node);
            }
        }
    }

    /// The nodes of a table; `None` after an error.
    fn listed(&self, group: &Nodes, taken: &mut HashSet<NodeId>, review: &mut Review<'_>) -> Option<Vec<Node>> {
        let before = review.count();
        let names = match expand(group.name.get()?) {
            Ok(names) => names,
            Err(problem) => {
                review.add(group.name.place(), problem);
                return None;
            }
        };
        let gpus = *group.gpus.get()? as usize;
        let wanted = names.len() * gpus;
        if group.nics.get().is_some_and(Vec::is_empty) {
            review.add(group.nics.place(), "must have a list of hosts for at least one port");
        }
        let ports: Vec<Vec<NodeId>> =
            group.nics.items().iter().map(|port| self.adapters(port, wanted, taken, review)).collect();
        let local = match group.local.items() {
            [] => Vec::new(),
            _ => self.adapters(&group.local, wanted, taken, review),
        };
        let rails = group.rails.get().copied().flatten().unwrap_or(gpus as u32);
        if rails as usize > gpus {
            review.add(group.rails.place(), format!("must be at most {gpus}, the number of GPUs of a node"));
        }
        if review.count() > before {
            return None;
        }
        let gpu = |place: usize| Gpu {
            nics: ports.iter().map(|port| Some(port[place])).collect(),
            local: local.get(place).copied(),
            rail: (place % gpus) as u32 % rails,
        };
        let node = |(i, name)| Node { name, gpus: (i * gpus..(i + 1) * gpus).map(gpu).collect() };
        Some(names.into_iter().enumerate().map(node).collect())
    }

    /// The hosts of a list, one for each of `wanted` GPUs. Errors are recorded.
    fn adapters(
        &self,
        list: &Located<Vec<Located<String>>>,
        wanted: usize,
        taken: &mut HashSet<NodeId>,
        review: &mut Review<'_>,
    ) -> Vec<NodeId> {
        let before = review.count();
        let hosts = self.hosts(list, review);
        if review.count() > before {
            return hosts;
        }
        if hosts.len() != wanted {
            review.add(list.place(), format!("must name {wanted} hosts, one for each GPU, not {}", hosts.len()));
        }
        if let Some(&twice) = hosts.iter().find(|&&host| !taken.insert(host)) {
            review.add(list.place(), format!("host `{}` is already an adapter of another GPU", self.name(twice)));
        }
        hosts
    }

    /// The nodes of a list, as indices, in its order. Errors are recorded.
    pub(super) fn nodes_of(&self, list: &Located<Vec<Located<String>>>, review: &mut Review<'_>) -> Vec<u32> {
        if self.nodes.is_empty() {
            let problem = "there are no nodes: use [topology.rail], or list nodes in [[nodes]]";
            review.add(list.place(), problem);
            return Vec::new();
        }
        let mut found = Vec::new();
        let mut seen = vec![false; self.nodes.len()];
        for (name, place) in expand_list(list.items(), review) {
            if name == ALL {
                found.extend((0..seen.len()).filter(|&i| !std::mem::replace(&mut seen[i], true)).map(|i| i as u32));
                continue;
            }
            match self.nodes.iter().position(|node| node.name == name) {
                Some(i) if std::mem::replace(&mut seen[i], true) => {
                    review.add(place, format!("names node `{name}` twice"));
                    return found;
                }
                Some(i) => found.push(i as u32),
                None => {
                    let known: Vec<&str> = self.nodes.iter().map(|node| node.name.as_str()).collect();
                    unknown("node", &name, &known, place, review);
                    return found;
                }
            }
        }
        found
    }
}
