//! Results as a payload for a page: layout of the fabric, frames, rankings, packed and deflated.
//!
//! The page of `becalm report` and the playground read the same payload, which this crate makes.
//!
//! # Modules
//!
//! | module | contents |
//! |---|---|
//! | [`pack`] | the format: a header and typed arrays, deflated |
//! | [`tables`] | the result tables of a replication, by name |
//! | `schema` | declarations of the tables |
//! | [`layout`] | positions of a fabric's nodes in a drawing |
//! | `fabric`, `frames`, `ranking`, `harm`, `blocking`, `crossing`, `growth`, `groups` | parts of a payload, one per question |
//! | [`verdict()`], [`difference()`] | one run in a sentence, and what a change did |
//! | [`payload()`] | complete payloads for the replications of a run |

mod blocking;
mod crossing;
mod fabric;
mod frames;
mod groups;
mod growth;
mod harm;
pub mod layout;
pub mod pack;
pub mod payload;
mod ranking;
mod schema;
pub mod tables;
mod verdict;
mod versus;
mod words;

pub use layout::Layout;
pub use pack::Pack;
pub use payload::{Options, Payload, Run, payload};
pub use tables::{Column, Tables};
pub use verdict::verdict;
pub use versus::{Change, Difference, Outcome, difference};
