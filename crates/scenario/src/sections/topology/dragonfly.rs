//! `[topology.dragonfly]`: groups of switches with global links between them.

use becalm_engine::Time;
use becalm_fabric::{DragonflySpec, LaneChanges, Routes, Topology};
use becalm_schema::{Located, Place, Review};

use super::direct;
use super::generator::{Choices, Deadlock, Generator};
use super::size::Size;
use crate::sections::quantities::LinkRate;
use crate::sections::routes::Route;

becalm_schema::table! {
    /// A dragonfly (Kim, Dally, Scott and Abts 2008), a network of groups of switches. Each switch is connected to all
    /// others in its group, and global links connect every pair of groups. In the notation of the key descriptions, the
    /// canonical dragonfly has a = 2p = 2h, and ah + 1 groups.
    ///
    /// Hosts are `H0`, `H1`, ..., numbered switch by switch. Switch r of group g is `G<g>R<r>`. Packets take minimal
    /// paths: to the switch with a link to the other group, over that link, and to the destination's switch. In the
    /// destination's group, they use a second virtual lane, which avoids deadlocks. The first lane of each service
    /// level must therefore be even or, with detours, a multiple of 3.
    pub located struct Dragonfly {
        /// Number of switches in each group (a).
        pub switches_per_group: u32; ""; 1..=4096,
        /// Number of hosts on each switch (p).
        pub hosts_per_switch: u32; ""; 1..=4096,
        /// Number of global links of each switch (h).
        pub global_links: u32; ""; 1..=4096,
        /// Number of groups; the maximum, ah + 1, if left out.
        pub groups: Option<u32>; ""; 1..=1_000_000,
        /// Rate of every link.
        pub rate: LinkRate = LinkRate::gigabytes(1.0),
        /// Propagation delay of every link.
        pub delay: Time = Time::ZERO; ""; ..=Time::from_ms(1000),
        /// Propagation delay of global links, if it differs from `delay`.
        pub global_delay: Option<Time>; ""; ..=Time::from_ms(1000),
        /// Whether packets change their virtual lane. This requires two lanes for each service level, or three with
        /// detours.
        pub change_vls: bool = true,
        /// Whether to allow routes that can deadlock; a deadlock then ends the run.
        pub allow_cycles: bool = false,
        /// Forwarding entries that replace the topology's defaults.
        pub routes: Vec<Located<Route>> = Vec::new(),
    }
}

impl Dragonfly {
    /// Number of groups with which every switch uses all its global links.
    fn most_groups(&self) -> u64 {
        u64::from(*self.switches_per_group) * u64::from(*self.global_links) + 1
    }

    fn groups(&self) -> u64 {
        self.groups.map_or(self.most_groups(), u64::from)
    }
}

impl Generator for Dragonfly {
    fn size(&self, _: Place, review: &mut Review<'_>) -> Option<Size> {
        let (routers, globals) = (u64::from(*self.switches_per_group), u64::from(*self.global_links));
        let (groups, most) = (self.groups(), self.most_groups());
        if groups > most {
            let problem = format!(
                "must be at most {most}: {routers} switches with {globals} global links each cannot reach more groups"
            );
            review.add(self.groups.place(), problem);
            return None;
        }
        let (switches, hosts) = (groups * routers, groups * routers * u64::from(*self.hosts_per_switch));
        let between = if groups > 1 { routers * globals / (groups - 1) * groups * (groups - 1) / 2 } else { 0 };
        Some(Size::new(hosts, switches, hosts + groups * routers * (routers - 1) / 2 + between))
    }

    fn build(&self, choices: Choices, _: &mut Review<'_>) -> Option<(Topology, Routes)> {
        let spec = DragonflySpec {
            routers: *self.switches_per_group,
            hosts: *self.hosts_per_switch,
            globals: *self.global_links,
            groups: self.groups() as u32,
            rate: self.rate.rate(),
            delay: *self.delay,
            global_delay: self.global_delay.unwrap_or(*self.delay),
        };
        let topology = Topology::dragonfly(&spec);
        let mut routes = spec.routes(&topology, choices.all);
        if *self.change_vls {
            routes = routes.with_lanes(spec.lane_changes(&topology));
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
        if self.change_vls.get() == Some(&true) { LaneChanges::lanes_of(false, detours) } else { 1 }
    }

    fn deadlock(&self) -> Option<Deadlock> {
        direct::deadlock(&self.change_vls, *self.allow_cycles, &self.routes)
    }
}
