//! Routes and paths of packets.

mod d_mod_k;
mod dependencies;
mod descent;
mod detours;
pub(crate) mod hash;
mod lanes;
mod paths;
mod port_set;
mod routes;
mod sets;

pub(crate) use d_mod_k::SwitchRoutes;
pub use detours::Detours;
pub use lanes::{Heading, LaneChanges, PortClass};
pub use paths::Paths;
pub use port_set::PortSet;
pub use routes::Routes;
