//! Limits on the size of a network, so that it fits into memory.

use becalm_schema::{Place, Review};

/// Largest number of forwarding entries of a topology, with two bytes each.
const MOST_ROUTES: u64 = 500_000_000;
/// Largest number of cables of a topology.
pub(super) const MOST_CABLES: u64 = 4_000_000;

/// Checks that a network can be built without exhausting memory. Records an error if it is too large.
pub(super) fn fits(hosts: u64, switches: u64, cables: u64, place: Place, review: &mut Review<'_>) -> Option<()> {
    if cables > MOST_CABLES {
        review.add(place, format!("has {cables} cables; the maximum is {MOST_CABLES}"));
        return None;
    }
    // Every switch has an entry for every host.
    if hosts.saturating_mul(switches) > MOST_ROUTES {
        review.add(place, format!("needs more than {MOST_ROUTES} forwarding entries"));
        return None;
    }
    Some(())
}
