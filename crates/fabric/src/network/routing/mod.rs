//! Routes, and the paths that packets take by them.

mod d_mod_k;
mod paths;
mod routes;

pub use paths::Paths;
pub use routes::Routes;
