//! The lossless network.
//!
//! From the ground up:
//!
//! - [`ids`], [`packet`], [`link`]: names, packets and the slab they travel in, link rates.
//! - [`topology`], [`routing`]: nodes and cables, forwarding tables.
//! - [`config`], [`traffic`], [`variation`]: how switches, adapters and flows are set up, what makes flows send, and
//!   how sizes and times vary.
//! - [`seam`]: the traits that a congestion-control scheme implements, and what it may see.
//! - `event`: what happens, and what handling it may touch.
//! - `credit`: what a sender knows of the next buffer.
//! - `source`: sources at work.
//! - `switch`, `adapter`, `flow`: the two kinds of node, and the two ends of a flow.
//! - [`fabric`]: the model that the engine runs: events between nodes. `build` makes it, `views` tells what it counts.
//! - [`partition`], [`domains`]: one fabric on several threads.
//! - `guards`: nothing lost, credits conserved, deadlocks found.
//!
//! No packet is ever dropped: a sender needs credit for a whole packet before it begins, and a buffer gives the
//! credit back when the packet's last byte has left it.

mod adapter;
mod bits;
mod build;
pub mod config;
mod credit;
pub mod domains;
pub mod error;
mod event;
pub mod fabric;
mod flow;
mod guards;
pub mod ids;
pub mod link;
pub mod packet;
pub mod partition;
pub mod routing;
pub mod seam;
mod source;
mod switch;
pub mod topology;
pub mod traffic;
pub mod variation;
mod views;
mod vl;

pub use config::{
    AdapterConfig, Arbiter, CREDIT_BYTES, FabricSpec, FlowSpec, Injection, InputReads, PacketConfig, Queueing,
    RateChange, Room, SwitchConfig, Switching, VlArbitration,
};
pub use domains::{Domains, Message};
pub use error::FabricError;
pub use event::Event;
pub use fabric::Fabric;
pub use ids::{FlowId, NodeId, PacketId, PortId, SourceId};
pub use link::Rate;
pub use packet::{Kind, Packet};
pub use partition::Partition;
pub use routing::Routes;
pub use topology::{Cable, ClosSpec, DumbbellSpec, FatTreeSpec, Level, Node, NodeKind, Topology};
pub use traffic::{SourceSpec, Traffic};
pub use variation::Variation;
pub use views::{FlowView, PortCounters, PortStanding};
