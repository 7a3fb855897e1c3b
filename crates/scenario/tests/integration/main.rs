//! Tests of whole scenarios, from text to tables.

mod bad;
mod catalogue;
mod convergence;
mod golden;
mod random;
mod ready;
mod resolved;
mod results;
mod scenes;
mod stations;
