//! The forwarding entries in `routes`.

use std::collections::HashMap;

use becalm_fabric::{NodeId, NodeKind, PortId, Routes, Topology};
use becalm_schema::{Located, Place, Review};

use crate::names::{ALL, expand_list, unknown};
use crate::sections::routes::Route;

/// Sets the entries of a list and records errors.
pub(super) fn apply(list: &[Located<Route>], topology: &Topology, routes: &mut Routes, review: &mut Review<'_>) {
    let nodes = Nodes::new(topology);
    for route in list {
        let Some((switch, port)) = nodes.output(route, review) else { continue };
        for host in nodes.destinations(route, review) {
            // A wrong route is one error, regardless of the number of hosts that it names.
            let Some((switch, host, port)) = nodes.entry(switch, port, host, route.place(), review) else { break };
            routes.set(switch, host, port);
        }
    }
}

/// A topology with its nodes by name.
struct Nodes<'a> {
    topology: &'a Topology,
    peers: Vec<Vec<(PortId, usize)>>,
    by_name: HashMap<&'a str, NodeId>,
}

impl<'a> Nodes<'a> {
    fn new(topology: &'a Topology) -> Nodes<'a> {
        let names = topology.nodes().iter().map(|node| node.name.as_str());
        let by_name = names.zip((0u32..).map(NodeId)).collect();
        Nodes { topology, peers: topology.peers(), by_name }
    }

    fn name(&self, node: NodeId) -> &'a str {
        &self.topology.node(node).name
    }

    fn find(&self, name: &str, kind: NodeKind, place: Place, review: &mut Review<'_>) -> Option<NodeId> {
        let found = self.by_name.get(name).copied().filter(|&id| self.topology.node(id).kind == kind);
        if found.is_none() {
            let (what, ids): (_, Vec<NodeId>) = match kind {
                NodeKind::Host => ("host", self.topology.hosts().collect()),
                NodeKind::Switch => ("switch", self.topology.switches().collect()),
            };
            let known: Vec<&str> = ids.into_iter().map(|id| self.name(id)).collect();
            unknown(what, name, &known, place, review);
        }
        found
    }

    /// The switch and the output port of a route.
    fn output(&self, route: &Route, review: &mut Review<'_>) -> Option<(NodeId, u16)> {
        let switch = self.find(&route.switch, NodeKind::Switch, route.switch.place(), review)?;
        let ports = &self.peers[switch.index()];
        if let Some(port) = *route.port {
            if port as usize >= ports.len() {
                let problem = format!("must be below {}, the number of ports of `{}`", ports.len(), *route.switch);
                review.add(route.port.place(), problem);
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
                unknown(&format!("cable from `{}` to", *route.switch), via, &known, route.via.place(), review);
            }
            _ => {
                let problem = format!("has several cables to `{}`; set one of the ports {found:?}", *route.switch);
                review.add(route.via.place(), problem);
            }
        }
        None
    }

    fn destinations(&self, route: &Route, review: &mut Review<'_>) -> Vec<NodeId> {
        let mut hosts = Vec::new();
        for (name, item) in expand_list(&route.to, review) {
            if name == ALL {
                hosts.extend(self.topology.hosts());
                continue;
            }
            let Some(host) = self.find(&name, NodeKind::Host, item, review) else { break };
            hosts.push(host);
        }
        hosts
    }

    /// An entry by ranks: (switch, host, port). A cable to a host carries only packets for that host.
    fn entry(
        &self,
        switch: NodeId,
        port: u16,
        host: NodeId,
        place: Place,
        review: &mut Review<'_>,
    ) -> Option<(u32, u32, u16)> {
        let (peer, _) = self.peers[switch.index()][usize::from(port)];
        if peer.node != host && self.topology.node(peer.node).kind == NodeKind::Host {
            let problem = format!(
                "sends packets for `{}` to host `{}`, which forwards no packets",
                self.name(host),
                self.name(peer.node)
            );
            review.add(place, problem);
            return None;
        }
        Some((self.topology.node(switch).rank, self.topology.node(host).rank, port))
    }
}
