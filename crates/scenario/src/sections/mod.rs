//! The sections of a scenario, one file each.

pub mod adapter;
pub mod changes;
pub mod flows;
pub mod observe;
pub mod packet;
pub mod pattern;
pub mod routes;
pub mod run;
pub mod switch;
pub mod topology;
pub mod variation;

use becalm_control::{EchoParams, MarkingParams, ResponseParams};

use crate::schemes::{default_echo, default_marking, default_response};
use adapter::Adapter;
use changes::Change;
use flows::Group;
use observe::Observe;
use packet::Packet;
use run::Run;
use switch::Switch;
use topology::TopologyChoice;

becalm_schema::table! {
    /// A scenario: a network, its switches, what watches for congestion and how sources respond, and the traffic.
    pub struct Sections {
        /// How long, what is measured, and the seed.
        pub run: Run,
        /// Nodes and cables.
        pub topology: TopologyChoice,
        /// What all switches are like.
        pub switch: Switch = Switch::default(),
        /// What all hosts' adapters are like.
        pub adapter: Adapter = Adapter::default(),
        /// Sizes of packets.
        pub packet: Packet = Packet::default(),
        /// Which packets switches mark when they see congestion.
        pub marking: MarkingParams = default_marking(),
        /// How destinations answer marked packets.
        pub echo: EchoParams = default_echo(),
        /// How source flows respond, unless their group says otherwise.
        pub response: ResponseParams = default_response(),
        /// Groups of flows.
        pub flows: Vec<Group>,
        /// Links that get another rate in the course of the run.
        pub changes: Vec<Change> = Vec::new(),
        /// What is written down over time.
        pub observe: Observe = Observe::default(),
    }
}
