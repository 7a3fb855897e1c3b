//! The lossless network.

pub mod config;
mod context;
pub mod distribution;
pub mod error;
mod event;
mod flow_control;
pub mod host;
pub mod ids;
mod message;
pub mod network;
pub mod packet;
pub mod parallel;
pub mod policy;
pub mod sim;
mod switch;

pub use config::{
    AdapterConfig, Arbiter, CREDIT_BYTES, Injection, InputReads, PacketConfig, Queueing, RateChange, Room,
    SwitchConfig, Switching, VlArbitration,
};
pub use distribution::Distribution;
pub use error::FabricError;
pub use event::Event;
pub use host::traffic::{SourceSpec, Traffic};
pub use ids::{FlowId, NodeId, PacketId, PortId, SourceId};
pub use message::Message;
pub use network::generators::{ClosSpec, DumbbellSpec, FatTreeSpec, Level};
pub use network::link::Rate;
pub use network::routing::{Paths, Routes};
pub use network::topology::{Cable, Node, NodeKind, Topology};
pub use packet::{Kind, Packet};
pub use parallel::fabric::ParallelFabric;
pub use parallel::partition::Partition;
pub use sim::counters::{FlowView, PortCounters, PortStanding};
pub use sim::fabric::Fabric;
pub use sim::spec::{FabricSpec, FlowSpec};
