//! What a scenario can say: its sections, one file each, as values that know their places.

pub mod adapter;
pub mod changes;
pub mod distribution;
pub mod flows;
pub mod observe;
pub mod packet;
pub mod pattern;
pub mod quantities;
pub mod routes;
pub mod run;
pub mod switch;
pub mod topology;

use becalm_control::{EchoParams, MarkingParams, ResponseParams};
use becalm_schema::Located;

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
    pub located struct Sections {
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
        pub marking: MarkingParams = MarkingParams::default(),
        /// How destinations answer marked packets.
        pub echo: EchoParams = EchoParams::default(),
        /// How source flows respond, unless their group says otherwise.
        pub response: ResponseParams = ResponseParams::default(),
        /// Groups of flows.
        pub flows: Vec<Located<Group>>,
        /// Links that get another rate in the course of the run.
        pub changes: Vec<Located<Change>> = Vec::new(),
        /// What is written down over time.
        pub observe: Observe = Observe::default(),
    }
}
