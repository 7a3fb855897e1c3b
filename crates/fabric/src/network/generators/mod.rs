//! Generators of topologies.

mod clos;
mod dumbbell;
mod fat_tree;

pub use clos::ClosSpec;
pub use dumbbell::DumbbellSpec;
pub use fat_tree::{FatTreeSpec, Level};
