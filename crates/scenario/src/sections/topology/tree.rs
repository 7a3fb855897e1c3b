//! `[topology.tree]`: an m-port n-tree.

use becalm_engine::Time;
use becalm_fabric::{FatTreeSpec, Routes, Topology};
use becalm_schema::{Conflict, Located, Place, Review};

use super::fat_tree;
use super::generator::{Choices, Generator};
use super::size::Size;
use crate::sections::quantities::LinkRate;
use crate::sections::routes::Route;

becalm_schema::table! {
    /// An m-port n-tree (Lin, Chung and Huang 2004): a fat tree with n levels of switches, each with m ports. The top
    /// switches use all their ports downward. The tree connects 2 (m/2)^n hosts.
    ///
    /// Hosts are `H0`, `H1`, ... The switches of level l are `L<l>S0`, `L<l>S1`, ...; level 1 is next to the hosts. The
    /// destination's number determines the upward path (d-mod-k).
    pub located struct Tree {
        /// Number of ports of every switch; must be even.
        pub ports: u32; ""; 2..=128,
        /// Number of levels of switches.
        pub levels: u32; ""; 1..=10,
        /// Rate of every link.
        pub rate: LinkRate = LinkRate::gigabytes(1.0),
        /// Propagation delay of every link.
        pub delay: Time = Time::ZERO; ""; ..=Time::from_ms(1000),
        /// Forwarding entries that replace the topology's defaults.
        pub routes: Vec<Located<Route>> = Vec::new(),
    }
    check even_ports;
}

fn even_ports(tree: &Tree) -> Result<(), Conflict> {
    Conflict::unless(tree.ports.is_multiple_of(2), "ports", || "must be even".to_string())
}

impl Tree {
    fn spec(&self) -> FatTreeSpec {
        FatTreeSpec::ports_tree(*self.ports, *self.levels, self.rate.rate(), *self.delay)
    }
}

impl Generator for Tree {
    fn size(&self, place: Place, review: &mut Review<'_>) -> Option<Size> {
        fat_tree::size(&self.spec(), !self.routes.is_empty(), place, review)
    }

    fn build(&self, choices: Choices, _: &mut Review<'_>) -> Option<(Topology, Routes)> {
        Some(fat_tree::build(&self.spec(), choices))
    }

    fn routes(&self) -> Option<&Located<Vec<Located<Route>>>> {
        Some(&self.routes)
    }
}
