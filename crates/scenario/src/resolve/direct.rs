//! Direct networks, where every switch has hosts: dragonfly and torus.

use becalm_engine::Key;
use becalm_fabric::{DragonflySpec, Routes, Topology, TorusSpec};
use becalm_schema::{Place, Review};

use super::size::fits;
use crate::sections::topology::{Dragonfly, Torus};

/// The choices that switches have.
#[derive(Clone, Copy)]
pub(super) struct Choices {
    /// Whether routes contain all equal ports, or one for each destination.
    pub all: bool,
    /// Whether packets may make detours.
    pub detours: bool,
}

/// The dragonfly and its routes.
pub(super) fn dragonfly(
    p: &Dragonfly,
    choices: Choices,
    place: Place,
    review: &mut Review<'_>,
) -> Option<(Topology, Routes)> {
    let (routers, globals) = (u64::from(*p.switches_per_group), u64::from(*p.global_links));
    let most = routers * globals + 1;
    let groups = p.groups.map_or(most, u64::from);
    if groups > most {
        let problem = format!(
            "must be at most {most}: {routers} switches with {globals} global links each cannot reach more groups"
        );
        review.add(p.groups.place(), problem);
        return None;
    }
    let (switches, hosts) = (groups * routers, groups * routers * u64::from(*p.hosts_per_switch));
    let between = if groups > 1 { routers * globals / (groups - 1) * groups * (groups - 1) / 2 } else { 0 };
    let cables = hosts + groups * routers * (routers - 1) / 2 + between;
    sized(hosts, switches, cables, place, review)?;
    let spec = DragonflySpec {
        routers: *p.switches_per_group,
        hosts: *p.hosts_per_switch,
        globals: *p.global_links,
        groups: groups as u32,
        rate: p.rate.rate(),
        delay: *p.delay,
        global_delay: p.global_delay.unwrap_or(*p.delay),
    };
    let topology = Topology::dragonfly(&spec);
    let mut routes = spec.routes(&topology, choices.all);
    if *p.change_vls {
        routes = routes.with_lanes(spec.lane_changes(&topology));
    }
    if choices.detours {
        routes = routes.with_detours(spec.detours(&topology));
    }
    Some((topology, routes))
}

/// The torus and its routes.
pub(super) fn torus(p: &Torus, choices: Choices, place: Place, review: &mut Review<'_>) -> Option<(Topology, Routes)> {
    if p.sides.is_empty() || p.sides.len() > 32 || p.sides.iter().any(|&side| side < 2) {
        review.add(p.sides.place(), "must have 1 to 32 numbers, each at least 2");
        return None;
    }
    let (rate, delay) = (p.rate.rate(), *p.delay);
    let spec = TorusSpec { sides: p.sides.to_vec(), hosts: *p.hosts_per_switch, rate, delay };
    let switches = p.sides.iter().fold(1u64, |product, &side| product.saturating_mul(u64::from(side)));
    let hosts = switches.saturating_mul(u64::from(*p.hosts_per_switch));
    let cables = hosts.saturating_add(switches.saturating_mul(p.sides.len() as u64));
    sized(hosts, switches, cables, place, review)?;
    let topology = Topology::torus(&spec);
    let mut routes = spec.routes(&topology, choices.all);
    if *p.change_vls {
        routes = routes.with_lanes(spec.lane_changes());
    }
    if choices.detours {
        routes = routes.with_detours(spec.detours(&topology));
    }
    Some((topology, routes))
}

/// Checks that a network can be built without exhausting memory. Records an error if it is too large.
fn sized(hosts: u64, switches: u64, cables: u64, place: Place, review: &mut Review<'_>) -> Option<()> {
    let nodes = hosts.saturating_add(switches);
    if nodes > u64::from(Key::TARGETS) {
        review.add(place, format!("has {nodes} hosts and switches; the maximum is {}", Key::TARGETS));
        return None;
    }
    fits(hosts, switches, cables, place, review)
}
