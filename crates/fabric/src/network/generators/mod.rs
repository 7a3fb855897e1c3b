//! Generators of topologies.

mod clos;
mod dragonfly;
mod dumbbell;
mod fat_tree;
mod torus;

pub use clos::ClosSpec;
pub use dragonfly::DragonflySpec;
pub use dumbbell::DumbbellSpec;
pub use fat_tree::{FatTreeSpec, Level};
pub use torus::TorusSpec;
