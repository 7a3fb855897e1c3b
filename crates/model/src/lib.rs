//! The model of every run: schemes chosen at run time, everything observed.
//!
//! The fabric is generic over schemes and observers, and the code that handles packets is compiled where these are
//! named: here, and nowhere else. So a web page can use this crate compiled for speed and the rest compiled for size.

use becalm_control::{Echoing, Marking, Responding};
use becalm_engine::{Stop, Time, Work};
use becalm_fabric::{Fabric, FabricSpec, ParallelFabric};
use becalm_metrics::Watch;

/// The model of every run.
pub type Model = ParallelFabric<Responding, Marking, Echoing, Watch>;
/// The model after all its parts have been joined.
pub type Whole = Fabric<Responding, Marking, Echoing, Watch>;
/// The network, its traffic and its schemes.
pub type Spec = FabricSpec<Responding, Marking, Echoing>;

/// Handles all events up to and including `until`; see [`ParallelFabric::run`].
pub fn run(model: &mut Model, until: Time, go_on: &mut dyn FnMut(&Work) -> bool) -> Option<Stop> {
    model.run(until, go_on)
}
