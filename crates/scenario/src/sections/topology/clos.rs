//! `[topology.clos]`: leaf and spine switches.

use becalm_engine::Time;
use becalm_fabric::{ClosSpec, Routes, Topology};
use becalm_schema::{Located, Place, Review};

use super::generator::{Choices, Generator};
use super::size::Size;
use crate::sections::quantities::LinkRate;
use crate::sections::routes::Route;

becalm_schema::table! {
    /// A two-level folded Clos network. Every leaf switch is connected to every spine switch.
    ///
    /// Hosts are `H0`, `H1`, ..., numbered leaf by leaf. Switches are `leaf0`, ... and `spine0`, ...
    pub located struct Clos {
        /// Number of leaf switches.
        pub leaves: u32; ""; 1..=4096,
        /// Number of spine switches.
        pub spines: u32; ""; 1..=4096,
        /// Number of hosts on each leaf.
        pub hosts_per_leaf: u32; ""; 1..=4096,
        /// Rate of every link.
        pub rate: LinkRate = LinkRate::gigabytes(1.0),
        /// Propagation delay of every link.
        pub delay: Time = Time::ZERO; ""; ..=Time::from_ms(1000),
        /// Forwarding entries that replace the topology's defaults.
        pub routes: Vec<Located<Route>> = Vec::new(),
    }
}

impl Generator for Clos {
    fn size(&self, _: Place, _: &mut Review<'_>) -> Option<Size> {
        let (leaves, spines) = (u64::from(*self.leaves), u64::from(*self.spines));
        let hosts = leaves * u64::from(*self.hosts_per_leaf);
        Some(Size::new(hosts, leaves + spines, hosts + leaves * spines))
    }

    fn build(&self, choices: Choices, _: &mut Review<'_>) -> Option<(Topology, Routes)> {
        Some(choices.shortest(Topology::clos(&ClosSpec {
            leaves: *self.leaves,
            spines: *self.spines,
            hosts_per_leaf: *self.hosts_per_leaf,
            rate: self.rate.rate(),
            delay: *self.delay,
        })))
    }

    fn routes(&self) -> Option<&Located<Vec<Located<Route>>>> {
        Some(&self.routes)
    }
}
