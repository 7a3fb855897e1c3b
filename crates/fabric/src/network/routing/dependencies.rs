//! Dependencies between links: which link's packets may wait for which other link.

use std::collections::{HashMap, HashSet};

use crate::ids::PortId;

/// A virtual lane of the link behind a port.
pub(super) type Link = (PortId, u8);

/// For every link those that its packets may wait for.
pub(super) type Graph = HashMap<Link, HashSet<Link>>;

/// A cycle of links, if there is one.
pub(super) fn cycle(mut next: Graph) -> Option<Vec<Link>> {
    // A link that no other depends on, or that depends on no other, is on no cycle.
    loop {
        let before = next.len();
        let waiting: HashSet<Link> = next.keys().copied().collect();
        for waits_for in next.values_mut() {
            waits_for.retain(|link| waiting.contains(link));
        }
        next.retain(|_, waits_for| !waits_for.is_empty());
        if next.len() == before {
            break;
        }
    }
    let mut path = vec![*next.keys().min()?];
    loop {
        let link = *next[path.last()?].iter().min()?;
        if let Some(at) = path.iter().position(|&other| other == link) {
            return Some(path.split_off(at));
        }
        path.push(link);
    }
}
