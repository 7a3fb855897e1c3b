//! `[topology.torus]`: a grid of switches in which every row is a ring.

use becalm_engine::Time;
use becalm_fabric::{LaneChanges, Routes, Topology, TorusSpec};
use becalm_schema::{Located, Place, Review};

use super::direct;
use super::generator::{Choices, Deadlock, Generator};
use super::size::Size;
use crate::sections::quantities::LinkRate;
use crate::sections::routes::Route;

becalm_schema::table! {
    /// A torus (k-ary n-cube), a grid of switches in which every row is a ring. The sides may differ in length. Sides
    /// of 2 form a hypercube.
    ///
    /// Hosts are `H0`, `H1`, ..., numbered switch by switch. The switch at (x, y, z) is `S<x>_<y>_<z>`, and the last
    /// coordinate varies fastest. Packets take minimal paths, dimension by dimension. A packet that crosses the
    /// dateline (the cable that closes a ring) uses a second virtual lane along the entire ring, which avoids
    /// deadlocks. The first lane of each service level must therefore be even or, with detours, a multiple of 4.
    pub located struct Torus {
        /// Number of switches along each dimension, each at least 2.
        pub sides: Vec<u32>,
        /// Number of hosts on each switch.
        pub hosts_per_switch: u32 = 1; ""; 1..=4096,
        /// Rate of every link.
        pub rate: LinkRate = LinkRate::gigabytes(1.0),
        /// Propagation delay of every link.
        pub delay: Time = Time::ZERO; ""; ..=Time::from_ms(1000),
        /// Whether packets change their virtual lane. This requires two lanes for each service level, or four with
        /// detours.
        pub change_vls: bool = true,
        /// Whether to allow routes that can deadlock; a deadlock then ends the run.
        pub allow_cycles: bool = false,
        /// Forwarding entries that replace the topology's defaults.
        pub routes: Vec<Located<Route>> = Vec::new(),
    }
}

impl Generator for Torus {
    fn size(&self, _: Place, review: &mut Review<'_>) -> Option<Size> {
        let sides = &self.sides;
        if sides.is_empty() || sides.len() > 32 || sides.iter().any(|&side| side < 2) {
            review.add(sides.place(), "must have 1 to 32 numbers, each at least 2");
            return None;
        }
        let switches = sides.iter().fold(1u64, |product, &side| product.saturating_mul(u64::from(side)));
        let hosts = switches.saturating_mul(u64::from(*self.hosts_per_switch));
        let cables = hosts.saturating_add(switches.saturating_mul(sides.len() as u64));
        Some(Size::new(hosts, switches, cables))
    }

    fn build(&self, choices: Choices, _: &mut Review<'_>) -> Option<(Topology, Routes)> {
        let (rate, delay) = (self.rate.rate(), *self.delay);
        let spec = TorusSpec { sides: self.sides.to_vec(), hosts: *self.hosts_per_switch, rate, delay };
        let topology = Topology::torus(&spec);
        let mut routes = spec.routes(&topology, choices.all);
        if *self.change_vls {
            routes = routes.with_lanes(spec.lane_changes());
        }
        if choices.detours {
            routes = routes.with_detours(spec.detours(&topology));
        }
        Some((topology, routes))
    }

    fn routes(&self) -> Option<&Located<Vec<Located<Route>>>> {
        Some(&self.routes)
    }

    fn lanes(&self, detours: bool) -> u8 {
        if self.change_vls.get() == Some(&true) { LaneChanges::lanes_of(true, detours) } else { 1 }
    }

    fn deadlock(&self) -> Option<Deadlock> {
        direct::deadlock(&self.change_vls, *self.allow_cycles, &self.routes)
    }
}
