//! `routes` of a topology: entries of forwarding tables that are given.

use std::collections::HashMap;

use becalm_fabric::{NodeId, NodeKind, PortId, Routes, Topology};
use becalm_schema::{Conflict, Mistakes, Node};

use crate::hosts::{expand_list, unknown};

becalm_schema::table! {
    /// An entry of a switch's forwarding table that is given, for one or several destinations. Of several for the same
    /// destination the last one holds; where none is given, the topology's own holds.
    pub struct Route {
        /// Name of the switch.
        pub switch: String,
        /// Names of destination hosts, ranges such as `"H1..H8"`, or `"*"` for all.
        pub to: Vec<String>,
        /// The port that packets leave by, from 0, in the order in which cables are listed; in trees, cables to the
        /// level below come first. Either this or `via`.
        pub port: Option<u32>,
        /// The node at the other end of the cable that packets leave by.
        pub via: Option<String>,
    }
    check Route::check;
}

impl Route {
    fn check(&self) -> Result<(), Conflict> {
        match (&self.port, &self.via) {
            (None, None) => Err(Conflict { key: "via", problem: "is missing; a port would do, too".into() }),
            (Some(_), Some(_)) => Err(Conflict { key: "via", problem: "cannot be set beside port".into() }),
            _ => Ok(()),
        }
    }
}

/// Sets the entries of a list, whose node is `list`, in the forwarding tables; mistakes are noted.
pub(crate) fn apply(given: &[Route], list: &Node, topology: &Topology, routes: &mut Routes, mistakes: &mut Mistakes) {
    let network = Network::new(topology);
    let mut entries = Vec::new();
    for (route, node) in given.iter().zip(list.items().unwrap_or_default()) {
        let Some((switch, port)) = network.output(route, node, mistakes) else { continue };
        for host in network.destinations(node, mistakes) {
            entries.extend(network.entry(switch, port, host, node, mistakes));
        }
    }
    entries.into_iter().for_each(|(switch, host, port)| routes.set(switch, host, port));
}

/// A topology with its nodes by name.
struct Network<'a> {
    topology: &'a Topology,
    peers: Vec<Vec<(PortId, usize)>>,
    by_name: HashMap<&'a str, NodeId>,
}

impl<'a> Network<'a> {
    fn new(topology: &'a Topology) -> Network<'a> {
        let names = topology.nodes().iter().map(|node| node.name.as_str());
        let by_name = names.zip((0u32..).map(NodeId)).collect();
        Network { topology, peers: topology.peers(), by_name }
    }

    fn name(&self, node: NodeId) -> &'a str {
        &self.topology.node(node).name
    }

    fn find(&self, name: &str, kind: NodeKind, node: &Node, mistakes: &mut Mistakes) -> Option<NodeId> {
        let found = self.by_name.get(name).copied().filter(|&id| self.topology.node(id).kind == kind);
        if found.is_none() {
            let (what, ids): (_, Vec<NodeId>) = match kind {
                NodeKind::Host => ("host", self.topology.hosts().collect()),
                NodeKind::Switch => ("switch", self.topology.switches().collect()),
            };
            let known: Vec<&str> = ids.into_iter().map(|id| self.name(id)).collect();
            unknown(what, name, &known, node, mistakes);
        }
        found
    }

    /// The switch of a route and the port that it names.
    fn output(&self, route: &Route, node: &Node, mistakes: &mut Mistakes) -> Option<(NodeId, u16)> {
        let switch = self.find(&route.switch, NodeKind::Switch, node.get("switch")?, mistakes)?;
        let ports = &self.peers[switch.index()];
        if let Some(port) = route.port {
            if port as usize >= ports.len() {
                let problem = format!("must be below {}, the number of ports of `{}`", ports.len(), route.switch);
                mistakes.add(node.get("port")?, problem, "");
                return None;
            }
            return Some((switch, port as u16));
        }
        let via = route.via.as_deref()?;
        let leads_there = |(_, (peer, _)): &(u16, &(PortId, usize))| self.name(peer.node) == via;
        let found: Vec<u16> = (0u16..).zip(ports).filter(leads_there).map(|(port, _)| port).collect();
        match found[..] {
            [port] => return Some((switch, port)),
            [] => {
                let known: Vec<&str> = ports.iter().map(|(peer, _)| self.name(peer.node)).collect();
                unknown(&format!("cable from `{}` to", route.switch), via, &known, node.get("via")?, mistakes);
            }
            _ => {
                let problem =
                    format!("is joined to `{}` by several cables; name one of the ports {found:?}", route.switch);
                mistakes.add(node.get("via")?, problem, "");
            }
        }
        None
    }

    fn destinations(&self, node: &Node, mistakes: &mut Mistakes) -> Vec<NodeId> {
        let Some(to) = node.get("to") else { return Vec::new() };
        let mut hosts = Vec::new();
        for (name, item) in expand_list(to, mistakes) {
            if name == "*" {
                hosts.extend(self.topology.hosts());
                continue;
            }
            let Some(host) = self.find(&name, NodeKind::Host, item, mistakes) else { break };
            hosts.push(host);
        }
        hosts
    }

    /// An entry by ranks: (switch, host, port). A cable to a host carries only what is for that host.
    fn entry(
        &self,
        switch: NodeId,
        port: u16,
        host: NodeId,
        node: &Node,
        mistakes: &mut Mistakes,
    ) -> Option<(u32, u32, u16)> {
        let (peer, _) = self.peers[switch.index()][usize::from(port)];
        if peer.node != host && self.topology.node(peer.node).kind == NodeKind::Host {
            let problem = format!(
                "leads packets for `{}` to host `{}`, which forwards nothing",
                self.name(host),
                self.name(peer.node)
            );
            mistakes.add(node, problem, "");
            return None;
        }
        Some((self.topology.node(switch).rank, self.topology.node(host).rank, port))
    }
}
