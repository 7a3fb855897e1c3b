//! Limits on the size of a network, so that it fits into memory.

use becalm_engine::Key;
use becalm_schema::{Place, Review};

/// Largest number of forwarding entries of a topology, with two bytes each.
const MOST_ROUTES: u64 = 500_000_000;
/// Largest number of cables of a topology.
pub(super) const MOST_CABLES: u64 = 4_000_000;

/// The size of a network. Numbers saturate.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    /// Number of hosts and switches.
    pub nodes: u64,
    /// Number of cables.
    pub cables: u64,
    /// Number of forwarding entries.
    pub entries: u64,
}

impl Size {
    /// The size of a network in which every switch has an entry for every host.
    pub fn new(hosts: u64, switches: u64, cables: u64) -> Size {
        Size { nodes: hosts.saturating_add(switches), cables, entries: hosts.saturating_mul(switches) }
    }

    /// Checks that the network can be built without exhausting memory. Records an error if it is too large.
    pub fn check(self, place: Place, review: &mut Review<'_>) -> Option<()> {
        let problem = if self.nodes > u64::from(Key::TARGETS) {
            format!("has {} hosts and switches; the maximum is {}", self.nodes, Key::TARGETS)
        } else if self.cables > MOST_CABLES {
            format!("has {} cables; the maximum is {MOST_CABLES}", self.cables)
        } else if self.entries > MOST_ROUTES {
            format!("needs more than {MOST_ROUTES} forwarding entries")
        } else {
            return Some(());
        };
        review.add(place, problem);
        None
    }
}
