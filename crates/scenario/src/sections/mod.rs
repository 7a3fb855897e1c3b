//! The sections of a scenario as values with source locations, with one module per section.

pub mod adapter;
pub mod changes;
pub mod collective;
pub mod distribution;
pub mod faults;
mod files;
pub mod flow_control;
pub mod flows;
pub mod jobs;
mod lanes;
pub mod loads;
pub mod measured;
pub mod nodes;
pub mod observe;
pub mod packet;
pub mod paths;
pub mod pattern;
pub mod quantities;
pub mod routes;
pub mod run;
pub mod schedule;
pub mod sizes;
pub mod step;
pub mod switch;
pub mod topology;

use becalm_control::{EchoParams, MarkingParams, Responding, ResponseParams, ResponseScheme};
use becalm_fabric::PacketConfig;
use becalm_fabric::policy::Response;
use becalm_schema::Located;

use adapter::{Adapter, PathLevel};
use changes::Change;
use faults::Fault;
use flows::Group;
use jobs::Job;
use nodes::Nodes;
use observe::Observe;
use packet::Packet;
use run::Run;
use switch::Switch;
use topology::TopologyChoice;

becalm_schema::table! {
    /// A scenario: a network, its switches and adapters, schemes for congestion control, and traffic.
    pub located struct Sections {
        /// Duration, measured window and seed of a run.
        pub run: Run,
        /// Nodes and cables.
        pub topology: TopologyChoice,
        /// Nodes with several adapters.
        pub nodes: Vec<Located<Nodes>> = Vec::new(),
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
        pub flows: Vec<Located<Group>> = Vec::new(),
        /// Message-passing jobs.
        pub jobs: Vec<Located<Job>> = Vec::new(),
        /// Changes of link rates during the run.
        pub changes: Vec<Located<Change>> = Vec::new(),
        /// What breaks during the run.
        pub faults: Vec<Located<Fault>> = Vec::new(),
        /// Recordings over time.
        pub observe: Observe = Observe::default(),
    }
}

/// Settings that groups of flows and jobs have in common.
pub(crate) struct Settings<'a> {
    pub name: &'a str,
    pub response: Option<&'a ResponseParams>,
}

impl Sections {
    /// Bytes of the largest packet on the wire, including telemetry.
    pub(crate) fn largest(&self, packet: &Packet) -> u32 {
        let sizes = packet.sizes();
        PacketConfig { header: sizes.header + self.trail(), ..sizes }.largest()
    }

    /// Largest number of telemetry bytes in a data packet of any flow, as far as the responses could be read.
    fn trail(&self) -> u32 {
        let own = self.flows.items().iter().map(|group| group.get().map(|group| &group.response));
        let of_jobs = self.jobs.items().iter().map(|job| job.get().map(|job| &job.response));
        let trail = |params: &ResponseParams| Responding::new(params).trail();
        let given = |response: &Located<Option<ResponseParams>>| match response.get() {
            Some(Some(own)) => trail(own),
            _ => self.response.get().and_then(trail),
        };
        own.chain(of_jobs).flatten().filter_map(given).max().unwrap_or(0)
    }

    /// The service levels of paths that could be read.
    pub(crate) fn path_levels(&self) -> impl Iterator<Item = &PathLevel> {
        let adapter = self.adapter.get().into_iter();
        adapter.flat_map(|adapter| adapter.path_sl.items()).filter_map(|path| path.get())
    }

    /// The groups of flows, followed by the jobs, each of which is also a group.
    ///
    /// # Panics
    /// If the scenario has errors.
    pub(crate) fn groups(&self) -> impl Iterator<Item = Settings<'_>> {
        (0..(self.flows.len() + self.jobs.len()) as u32).map(|number| self.group(number))
    }

    /// One of [`Sections::groups`].
    ///
    /// # Panics
    /// If the scenario has errors.
    pub(crate) fn group(&self, number: u32) -> Settings<'_> {
        let number = number as usize;
        let (name, response) = match self.flows.items().get(number) {
            Some(group) => (&group.name, &group.response),
            None => {
                let job = &self.jobs[number - self.flows.len()];
                (&job.name, &job.response)
            }
        };
        Settings { name, response: response.as_ref() }
    }
}
