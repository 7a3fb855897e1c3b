//! The fabric against theory and against its own rules.

mod doubles;
mod dumbbell;
