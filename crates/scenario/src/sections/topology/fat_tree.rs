//! `[topology.fat_tree]`: a fat tree of any shape.

use becalm_engine::{Key, Time};
use becalm_fabric as fabric;
use becalm_fabric::{FatTreeSpec, Routes, Topology};
use becalm_schema::{Located, Place, Review};

use super::generator::{Choices, Generator};
use super::size::Size;
use crate::sections::quantities::LinkRate;
use crate::sections::routes::Route;

becalm_schema::table! {
    /// One level of a fat tree.
    pub struct Level {
        /// Number of nodes of the level below that each switch of this level is connected to.
        pub children: u32; ""; 1..=4096,
        /// Number of switches of this level that each node of the level below is connected to.
        pub parents: u32 = 1; ""; 1..=4096,
        /// Number of cables between a node and each of its parents.
        pub parallel: u32 = 1; ""; 1..=64,
        /// Rate of these cables, if it differs from the topology's.
        pub rate: Option<LinkRate> = None,
    }
}

becalm_schema::table! {
    /// A fat tree of any shape, such as a folded Clos network with two or three levels. It may be
    /// oversubscribed.
    ///
    /// Names and routes are those of an m-port n-tree, which is a special case.
    pub located struct FatTree {
        /// The levels of switches, starting with the level next to the hosts, where `parents` and `parallel`
        /// must be 1.
        pub levels: Vec<Located<Level>>,
        /// Rate of links.
        pub rate: LinkRate = LinkRate::gigabytes(1.0),
        /// Propagation delay of every link.
        pub delay: Time = Time::ZERO; ""; ..=Time::from_ms(1000),
        /// Forwarding entries that replace the topology's defaults.
        pub routes: Vec<Located<Route>> = Vec::new(),
    }
}

impl FatTree {
    fn spec(&self) -> FatTreeSpec {
        let level = |level: &Located<Level>| fabric::Level {
            children: level.children,
            parents: level.parents,
            parallel: level.parallel,
            rate: level.rate.as_ref().unwrap_or(&self.rate).rate(),
        };
        FatTreeSpec { levels: self.levels.iter().map(level).collect(), delay: *self.delay }
    }
}

impl Generator for FatTree {
    fn size(&self, place: Place, review: &mut Review<'_>) -> Option<Size> {
        let Some(first) = self.levels.first() else {
            review.add(self.levels.place(), "must have at least one level");
            return None;
        };
        if first.parents != 1 || first.parallel != 1 {
            review.add(first.place(), "must have parents = 1 and parallel = 1: every host has one cable");
            return None;
        }
        size(&self.spec(), !self.routes.is_empty(), place, review)
    }

    fn build(&self, choices: Choices, _: &mut Review<'_>) -> Option<(Topology, Routes)> {
        Some(build(&self.spec(), choices))
    }

    fn routes(&self) -> Option<&Located<Vec<Located<Route>>>> {
        Some(&self.routes)
    }
}

/// The size of a fat tree; `None` after an error, which has been recorded.
pub(super) fn size(spec: &FatTreeSpec, has_routes: bool, place: Place, review: &mut Review<'_>) -> Option<Size> {
    let Some(nodes) = spec.nodes().filter(|&nodes| nodes <= u64::from(Key::TARGETS)) else {
        let problem = format!("has too many hosts and switches; the maximum is {}", Key::TARGETS);
        review.add(place, problem);
        return None;
    };
    if let Some(radix) = (0..spec.levels.len()).map(|l| spec.radix(l)).find(|&radix| radix >= u64::from(u16::MAX)) {
        review.add(place, format!("has switches with {radix} ports; the number must be below {}", u16::MAX));
        return None;
    }
    let size = Size::new(spec.hosts(), nodes - spec.hosts(), spec.cables());
    // Without entries in `routes`, there is no table.
    Some(if has_routes { size } else { Size { entries: 0, ..size } })
}

/// A fat tree and its routes.
pub(super) fn build(spec: &FatTreeSpec, choices: Choices) -> (Topology, Routes) {
    let routes = if choices.all { Routes::all_of_tree(spec) } else { Routes::d_mod_k(spec) };
    (Topology::fat_tree(spec), routes)
}
