//! The sections of a scenario, one file each, as values with their places.

pub mod adapter;
pub mod changes;
pub mod distribution;
mod files;
pub mod flows;
pub mod measured;
pub mod observe;
pub mod packet;
pub mod pattern;
pub mod quantities;
pub mod routes;
pub mod run;
pub mod sizes;
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
    /// A scenario: a network, its switches and adapters, schemes for congestion control, and traffic.
    pub located struct Sections {
        /// Duration, measured window and seed.
        pub run: Run,
        /// Nodes and cables.
        pub topology: TopologyChoice,
        /// Settings of all switches.
        pub switch: Switch = Switch::default(),
        /// Settings of all hosts' adapters.
        pub adapter: Adapter = Adapter::default(),
        /// Sizes of packets.
        pub packet: Packet = Packet::default(),
        /// Marking policy of the switches.
        pub marking: MarkingParams = MarkingParams::default(),
        /// Answers of destinations to marked packets.
        pub echo: EchoParams = EchoParams::default(),
        /// Response of source flows, unless their group sets its own.
        pub response: ResponseParams = ResponseParams::default(),
        /// Groups of flows.
        pub flows: Vec<Located<Group>>,
        /// Changes of link rates during the run.
        pub changes: Vec<Located<Change>> = Vec::new(),
        /// Recordings over time.
        pub observe: Observe = Observe::default(),
    }
}
