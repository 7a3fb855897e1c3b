//! The model of every run: schemes are chosen at run time, and everything is observed.
//!
//! The fabric is generic over schemes and observers. The code that handles packets is compiled where these types are
//! named, which is only here. A web page can therefore compile this crate for speed and the rest for size.

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
