//! The sources of a group and their destinations, from lists, patterns or connections.

use becalm_engine::Stream;
use becalm_fabric::{Mix, NodeId};
use becalm_schema::names::expand;
use becalm_schema::{Located, Place, Review};

use super::network::Network;
use super::sending::Sending;
use crate::names::ALL;
use crate::sections::flows::{Connection, Group, Traffic};
use crate::sections::pattern::Pattern;

/// Largest number of flows in a scenario.
pub(super) const MOST_FLOWS: usize = 4_000_000;
/// Largest number of flows in a scenario with those of jobs, which take less memory.
pub(super) const MOST_WITH_JOBS: usize = 1 << 25;

/// Every source of a group with its destinations, at most `most` in total; `None` after an error or if names
/// are ambiguous.
pub(super) fn sendings(
    group: &Group,
    place: Place,
    network: &Network,
    most: usize,
    random: &mut Stream,
    review: &mut Review<'_>,
) -> Option<Vec<Sending>> {
    if let Some(connections) = group.connections.set() {
        return connected(connections, group, network, most, review);
    }
    if group.pattern.given().is_some() && group.to.given().is_some() {
        return None;
    }
    let before = review.count();
    let sources = network.resolve(group.from.set()?, group.from.place(), review);
    let destinations = group.to.set().map(|to| network.resolve(to, group.to.place(), review));
    if review.count() > before {
        return None;
    }
    let n = sources.len();
    let each = match (group.pattern.set(), &destinations) {
        (Some(Pattern::AllToAll(_)), _) => n.saturating_sub(1),
        (_, Some(destinations)) => destinations.len(),
        _ => 1,
    };
    let flows = n.saturating_mul(each);
    if flows > most {
        review.add(place, too_many(flows, (most, MOST_FLOWS), "fewer hosts, or a `pattern` with fewer destinations"));
        return None;
    }
    match (group.pattern.set(), destinations) {
        (Some(pattern), _) => {
            let places = pattern.destinations(n, random);
            let places = places.map_err(|why| review.add(group.pattern.place(), why)).ok()?;
            let hosts = |to: Vec<usize>| to.into_iter().map(|place| sources[place]).collect::<Vec<_>>();
            let pairs = sources.iter().copied().zip(places.into_iter().map(hosts));
            Some(pairs.filter(|(_, to)| !to.is_empty()).map(|(source, to)| Sending::new(source, to)).collect())
        }
        (None, Some(destinations)) => {
            let parts = parts(group, &destinations);
            let pairs: Vec<Sending> =
                sources.into_iter().map(|source| sending(source, &destinations, &parts)).collect();
            Some(without_idle(pairs, group, network, review))
        }
        (None, None) => None,
    }
}

/// One part of the destinations for each name or range in `to`, with its number of hosts and its weight; none without
/// weights.
fn parts(group: &Group, destinations: &[NodeId]) -> Vec<(usize, f64)> {
    let (Some(weights), Some(to)) = (group.weights.set(), group.to.set()) else { return Vec::new() };
    let mut left = destinations.len();
    let mut part = |(name, weight): (&Located<String>, &f64)| {
        // All hosts are those that were not named before, and no name may follow.
        let named = name.get().filter(|text| *text != ALL).and_then(|text| expand(text).ok());
        let hosts = named.map_or(left, |names| names.len().min(left));
        left -= hosts;
        (hosts, *weight)
    };
    to.iter().zip(weights).map(&mut part).collect()
}

/// A source and its destinations, all but itself.
fn sending(source: NodeId, destinations: &[NodeId], parts: &[(usize, f64)]) -> Sending {
    let others = |hosts: &[NodeId]| hosts.iter().filter(|&&host| host != source).count() as u32;
    let mut first = 0;
    let mut part = |&(hosts, weight): &(usize, f64)| {
        first += hosts;
        (others(&destinations[first - hosts..first]), weight)
    };
    let parts: Vec<(u32, f64)> = parts.iter().map(&mut part).collect();
    let others = destinations.iter().copied().filter(|&host| host != source).collect();
    Sending { mix: Mix::weighted(parts.into_iter()), ..Sending::new(source, others) }
}

/// Removes hosts that have no destination other than themselves. This is an error if such a host was named
/// explicitly, not by `"*"`, or if no sender is left.
fn without_idle(pairs: Vec<Sending>, group: &Group, network: &Network, review: &mut Review<'_>) -> Vec<Sending> {
    let all = group.from.set().is_some_and(|from| from.iter().any(|name| name.get().is_some_and(|text| text == ALL)));
    let idle = pairs.iter().find(|sending| sending.destinations.is_empty()).map(|sending| sending.source);
    if let Some(host) = idle.filter(|_| !all || pairs.iter().all(|sending| sending.destinations.is_empty())) {
        review.add(group.to.place(), format!("host `{}` would send only to itself", network.name(host)));
    }
    pairs.into_iter().filter(|sending| !sending.destinations.is_empty()).collect()
}

/// One source for each connection.
fn connected(
    connections: &[Located<Connection>],
    group: &Group,
    network: &Network,
    most: usize,
    review: &mut Review<'_>,
) -> Option<Vec<Sending>> {
    if connections.is_empty() {
        review.add(group.connections.place(), "must have at least one connection");
    }
    if connections.len() > most {
        review.add(group.connections.place(), too_many(connections.len(), (most, MOST_FLOWS), "fewer connections"));
        return None;
    }
    let on_off = matches!(group.traffic.get(), Some(Traffic::OnOff(_)));
    let one = |connection: &Located<Connection>| {
        let connection = connection.get()?;
        if on_off && connection.message.given().is_some() {
            let why = "does nothing: with on_off traffic, every packet is a message";
            review.add(connection.message.place(), why);
        }
        let ends = (network.host(&connection.from, review), network.host(&connection.to, review));
        let (source, destination) = (ends.0?, ends.1?);
        if source == destination {
            review.add(connection.to.place(), "is the sending host itself");
        }
        let (message, start) = (connection.message.set().copied(), connection.start.set().copied());
        Some(Sending { message, start, ..Sending::new(source, vec![destination]) })
    };
    // Read all connections, so that every error is noted.
    let sendings: Vec<Option<Sending>> = connections.iter().map(one).collect();
    sendings.into_iter().collect()
}

/// The problem of this number of flows, of which at most `most` `of` all are possible, and what is valid instead.
pub(super) fn too_many(flows: usize, (most, of): (usize, usize), valid: &str) -> String {
    let left = if most < of { format!(", of which {most} are left") } else { String::new() };
    format!("needs {flows} flows; a scenario may have {of}{left}; valid: {valid}")
}
