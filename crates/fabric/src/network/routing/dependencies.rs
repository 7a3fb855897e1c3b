//! Dependencies between links: for which other links a link's packets may wait.

use std::collections::{HashMap, HashSet};

use crate::ids::PortId;

/// A virtual lane of the link at a port.
pub(super) type Link = (PortId, u8);

/// For every link, the links for which its packets may wait.
pub(super) type Graph = HashMap<Link, HashSet<Link>>;

/// A cycle of links, if there is one.
pub(super) fn cycle(mut next: Graph) -> Option<Vec<Link>> {
    // A link is on no cycle if no other link depends on it, or if it depends on no other.
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
