//! What a topology declares beside its table: its size, its network, and the routes that can deadlock.

use becalm_fabric::{Routes, Topology};
use becalm_schema::{Located, Place, Review};

use super::size::Size;
use crate::sections::nodes::Node;
use crate::sections::routes::Route;

/// The choices that switches have.
#[derive(Clone, Copy)]
pub(crate) struct Choices {
    /// Whether routes contain all equal ports, or one for each destination.
    pub all: bool,
    /// Whether packets may make detours.
    pub detours: bool,
}

impl Choices {
    /// A network with shortest paths.
    pub fn shortest(self, topology: Topology) -> (Topology, Routes) {
        let routes = if self.all { Routes::all_shortest(&topology) } else { Routes::shortest(&topology) };
        (topology, routes)
    }
}

/// The setting that permits routes on which buffers may wait for each other in a cycle.
pub(crate) struct Deadlock {
    /// Its location.
    pub place: Place,
    /// How to avoid the cycle.
    pub advice: &'static str,
}

/// A topology. Every table of `[topology]` is one.
pub(crate) trait Generator {
    /// Number of nodes, cables and forwarding entries, or an upper limit, without building the network; `place` is the
    /// location of the topology's table. `None` after an error in the parameters, which has been recorded.
    fn size(&self, place: Place, review: &mut Review<'_>) -> Option<Size>;

    /// The network with its default routes, once [`Generator::size`] is within the limits. `None` after an error, which
    /// has been recorded.
    fn build(&self, choices: Choices, review: &mut Review<'_>) -> Option<(Topology, Routes)>;

    /// The key `routes`; `None` if the topology does not have it.
    fn routes(&self) -> Option<&Located<Vec<Located<Route>>>>;

    /// The nodes with several adapters that the topology makes, in this network.
    fn nodes(&self, topology: &Topology) -> Vec<Node> {
        let _ = topology;
        Vec::new()
    }

    /// Number of lanes that packets of a service level use along their path. Values of the table may be missing.
    fn lanes(&self, detours: bool) -> u8 {
        let _ = detours;
        1
    }

    /// The setting that permits routes that can deadlock; `None` if there are no such routes, or if they are allowed.
    /// Unless a topology says otherwise, its default routes never deadlock.
    fn deadlock(&self) -> Option<Deadlock> {
        let routes = self.routes().filter(|routes| !routes.is_empty())?;
        Some(Deadlock { place: routes.place(), advice: "set other routes" })
    }
}
