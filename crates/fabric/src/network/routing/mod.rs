//! Routes between hosts.

mod d_mod_k;
mod routes;

pub(crate) use d_mod_k::TreeRoutes;
pub use routes::{Routes, check, dependency_cycle};
