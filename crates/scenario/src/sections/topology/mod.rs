//! `[topology]`: nodes and cables. A topology requires only its file and one line in the list below.

mod direct;
pub(crate) mod generator;
mod size;

use becalm_fabric::{Routes, Topology};
use becalm_schema::{Located, Place, Review};

use crate::sections::nodes::Node;
use crate::sections::routes::Route;
use generator::{Choices, Deadlock, Generator};

/// The list of topologies, `"name" => module::Table`: the modules, and the enum of their tables.
macro_rules! topologies {
    ($($name:literal => $module:ident::$table:ident),+ $(,)?) => {
        $(pub mod $module;)+

        becalm_schema::choice! {
            /// Nodes and cables.
            pub enum TopologyChoice {
                $(#[doc = concat!("The topology [`", stringify!($module), "`].")]
                $table(Located<$module::$table>) = $name),+
            }
        }

        impl TopologyChoice {
            /// The topology, and the location of its table; `None` after an error.
            fn generator(&self) -> Option<(&dyn Generator, Place)> {
                match self {
                    $(Self::$table(table) => Some((table.get()?, table.place()))),+
                }
            }
        }
    };
}

topologies! {
    "dumbbell" => dumbbell::Dumbbell,
    "clos" => clos::Clos,
    "tree" => tree::Tree,
    "fat_tree" => fat_tree::FatTree,
    "dragonfly" => dragonfly::Dragonfly,
    "torus" => torus::Torus,
    "rail" => rail::Rail,
    "edges" => edges::Edges,
}

impl TopologyChoice {
    /// The network with its default routes; `None` after an error, which has been recorded.
    pub(crate) fn build(&self, choices: Choices, review: &mut Review<'_>) -> Option<(Topology, Routes)> {
        let (generator, place) = self.generator()?;
        generator.size(place, review)?.check(place, review)?;
        generator.build(choices, review)
    }

    /// The nodes that the topology makes.
    pub(crate) fn nodes(&self, topology: &Topology) -> Vec<Node> {
        self.generator().map_or(Vec::new(), |(generator, _)| generator.nodes(topology))
    }

    /// The forwarding entries in `routes`.
    pub fn routes(&self) -> &[Located<Route>] {
        self.generator().and_then(|(generator, _)| generator.routes()).map_or(&[], Located::items)
    }

    /// Number of lanes that packets of a service level use along their path.
    pub(crate) fn lanes(&self, detours: bool) -> u8 {
        self.generator().map_or(1, |(generator, _)| generator.lanes(detours))
    }

    /// The setting that permits routes that can deadlock; `None` if there are no such routes, or if they are allowed.
    pub(crate) fn deadlock(&self) -> Option<Deadlock> {
        self.generator()?.0.deadlock()
    }
}
