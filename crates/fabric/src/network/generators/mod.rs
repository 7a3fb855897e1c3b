//! Generators of topologies.

mod clos;
mod dragonfly;
mod dumbbell;
mod fat_tree;
mod rail;
mod torus;

pub use clos::ClosSpec;
pub use dragonfly::DragonflySpec;
pub use dumbbell::DumbbellSpec;
pub use fat_tree::{FatTreeSpec, Level};
pub use rail::RailSpec;
pub use torus::TorusSpec;
