//! Which host of a group sends to which others: lists, patterns, connections.

use becalm_engine::{Stream, Time};
use becalm_fabric::NodeId;
use becalm_schema::{Mistakes, Node};

use crate::hosts::unknown;
use crate::plan::{MOST_FLOWS, Network};
use crate::quantities::Bytes;
use crate::sections::flows::{Connection, Group, Traffic};
use crate::sections::pattern::Pattern;

/// What one source sends to.
pub(crate) struct Sending {
    pub source: NodeId,
    pub destinations: Vec<NodeId>,
    /// Payload of its messages, if it has one of its own.
    pub message: Option<Bytes>,
    /// When it starts, if it has a time of its own.
    pub start: Option<Time>,
}

impl Sending {
    fn new((source, destinations): (NodeId, Vec<NodeId>)) -> Sending {
        Sending { source, destinations, message: None, start: None }
    }
}

/// Every source of a group with its destinations, of which there may be `most` in all; `None` after a mistake.
pub(crate) fn sendings(
    group: &Group,
    node: &Node,
    network: &Network<'_>,
    most: usize,
    random: &mut Stream,
    mistakes: &mut Mistakes,
) -> Option<Vec<Sending>> {
    if let Some(connections) = &group.connections {
        return connected(connections, group, node.get("connections")?, network, most, mistakes);
    }
    let before = mistakes.list.len();
    let sources = network.resolve(node.get("from")?, mistakes);
    let to = node.get("to").filter(|_| group.to.is_some());
    let destinations = to.map(|to| network.resolve(to, mistakes));
    if mistakes.list.len() > before {
        return None;
    }
    let n = sources.len();
    let each = match (&group.pattern, &destinations) {
        (Some(Pattern::AllToAll(_)), _) => n.saturating_sub(1),
        (_, Some(destinations)) => destinations.len(),
        _ => 1,
    };
    if n.saturating_mul(each) > most {
        mistakes.add(node, too_many(), "");
        return None;
    }
    match (&group.pattern, &destinations) {
        (Some(pattern), _) => {
            let pattern = pattern.destinations(n, random);
            let places = pattern.map_err(|why| mistakes.add(node.get("pattern").unwrap_or(node), why, "")).ok()?;
            let hosts = |to: Vec<usize>| to.into_iter().map(|place| sources[place]).collect::<Vec<_>>();
            let pairs = sources.iter().copied().zip(places.into_iter().map(hosts));
            Some(pairs.filter(|(_, to)| !to.is_empty()).map(Sending::new).collect())
        }
        (None, Some(destinations)) => {
            let others = |source| destinations.iter().copied().filter(|&host| host != source).collect::<Vec<_>>();
            let pairs: Vec<_> = sources.into_iter().map(|source| (source, others(source))).collect();
            if let Some((host, _)) = pairs.iter().find(|(_, to)| to.is_empty()) {
                let name = &network.topology.node(*host).name;
                mistakes.add(to.unwrap_or(node), format!("host `{name}` would send only to itself"), "");
            }
            Some(pairs.into_iter().map(Sending::new).collect())
        }
        (None, None) => None,
    }
}

/// One source for each connection.
fn connected(
    connections: &[Connection],
    group: &Group,
    list: &Node,
    network: &Network<'_>,
    most: usize,
    mistakes: &mut Mistakes,
) -> Option<Vec<Sending>> {
    if connections.is_empty() {
        mistakes.add(list, "must have at least one connection", "");
    }
    if connections.len() > most {
        mistakes.add(list, too_many(), "");
        return None;
    }
    let one = |(connection, node): (&Connection, &Node)| {
        let on_off = matches!(group.traffic, Traffic::OnOff(_));
        if let Some(message) = node.get("message").filter(|_| on_off) {
            mistakes.add(message, "does nothing: with the traffic on_off every packet is a message", "");
        }
        let (source, destination) =
            (host(node.get("from")?, network, mistakes), host(node.get("to")?, network, mistakes));
        let (source, destination) = (source?, destination?);
        if source == destination {
            mistakes.add(node.get("to")?, "is the sending host itself", "");
        }
        let Connection { message, start, .. } = *connection;
        Some(Sending { source, destinations: vec![destination], message, start })
    };
    // All connections are looked at before one that failed ends it, so that every mistake is noted.
    let sendings: Vec<Option<Sending>> = connections.iter().zip(list.items()?).map(one).collect();
    sendings.into_iter().collect()
}

/// The host that a text names.
fn host(node: &Node, network: &Network<'_>, mistakes: &mut Mistakes) -> Option<NodeId> {
    let name = node.text()?;
    let host = network.by_name.get(name).copied();
    if host.is_none() {
        unknown("host", name, &network.names, node, mistakes);
    }
    host
}

fn too_many() -> String {
    format!("there would be more than {MOST_FLOWS} flows")
}
