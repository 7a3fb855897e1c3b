//! The traffic of a scenario as individual flows.

use std::ops::Range;

use becalm_engine::{Stream, Time};
use becalm_fabric::{AdapterConfig, NodeId, SourceSpec};
use becalm_schema::{Located, Review};

use super::faults::{self, PortFault};
use super::flow::Flow;
use super::jobs::{self, Job};
use super::levels::Levels;
use super::network::Network;
use super::pairs::{MOST_FLOWS, MOST_WITH_JOBS, sendings};
use super::sources::sources;
use crate::sections::adapter::Adapter;
use crate::sections::flows::Group;
use crate::sections::packet::Packet;
use crate::sections::{self, Sections};

/// The purpose of the random stream of a group's pattern. The fabric uses other purposes.
const PATTERN_STREAM: u64 = 1 << 32;
/// The purpose of the random stream of a job. Streams are by job, so that groups do not change them.
const JOB_STREAM: u64 = 1 << 37;

/// The traffic of a scenario.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    pub flows: Vec<Flow>,
    pub sources: Vec<SourceSpec>,
    /// The flows of each group; empty if the group has errors.
    pub groups: Vec<Range<u32>>,
    /// Start time of the last source of each group, without its random spread; `None` without sources.
    pub last_starts: Vec<Option<Time>>,
    /// The jobs; `None` for a job with errors. Their flows come after all others, and each job is a group.
    pub jobs: Vec<Option<Job>>,
    /// The adapters, one per host.
    pub adapters: Vec<AdapterConfig>,
    /// The faults, by port.
    pub faults: Vec<PortFault>,
    /// The service levels of paths.
    pub levels: Levels,
}

impl Plan {
    /// The plan of a scenario, as far as the scenario could be read. Errors are recorded.
    pub fn new(sections: &Sections, network: &Network, review: &mut Review<'_>) -> Plan {
        let mut plan = Plan::default();
        if let Some(adapter) = sections.adapter.complete() {
            plan.set_adapters(adapter, network, review);
            plan.levels = Levels::new(adapter, network, review);
        }
        plan.faults = faults::resolve(sections, network, &plan.adapters, review);
        let default = Packet::default();
        let packet = sections.packet.complete().unwrap_or(&default);
        let seed = sections.run.get().and_then(|run| run.seed.get().copied()).unwrap_or(0);
        for group in sections.flows.items() {
            plan.add(group, network, packet, seed, review);
        }
        for job in sections.jobs.items() {
            plan.add_job(job, network, seed, review);
        }
        plan
    }

    /// Adds the flows and sources of a group.
    fn add(&mut self, group: &Located<Group>, network: &Network, packet: &Packet, seed: u64, review: &mut Review<'_>) {
        let (first, number) = (self.flows.len() as u32, self.groups.len() as u32);
        let mut random = Stream::new(seed, u64::from(number), PATTERN_STREAM);
        let most = MOST_FLOWS - self.flows.len();
        let read = group.get();
        let sendings = read.and_then(|read| sendings(read, group.place(), network, most, &mut random, review));
        let sl = read.and_then(|read| read.sl.get().copied()).unwrap_or(0);
        let mut of_flows = Vec::new();
        for sending in sendings.into_iter().flatten() {
            let (source, begin) = (sending.source, self.flows.len() as u32);
            let flow = |&destination: &NodeId| self.levels.flow((source, destination), number, sl);
            self.flows.extend(sending.destinations.iter().map(flow));
            of_flows.push((sending, begin..self.flows.len() as u32, network.rates[source.index()]));
        }
        self.groups.push(first..self.flows.len() as u32);
        let sources = group.complete().map_or(Vec::new(), |group| sources(group, packet, of_flows.into_iter()));
        self.last_starts.push(sources.iter().map(|source| source.start).max());
        self.sources.extend(sources);
    }

    /// Adds a job and the flows between its ranks.
    fn add_job(&mut self, job: &Located<sections::jobs::Job>, network: &Network, seed: u64, review: &mut Review<'_>) {
        let first = self.flows.len() as u32;
        let number = self.groups.len() as u32;
        let most = MOST_WITH_JOBS - self.flows.len();
        let mut random = Stream::new(seed, self.jobs.len() as u64, JOB_STREAM);
        let sl = job.get().and_then(|job| job.sl.get().copied()).unwrap_or(0);
        let job = jobs::resolve(job, (network, &self.faults), (most, seed), &mut random, review);
        self.flows.reserve_exact(job.as_ref().map_or(0, |job| job.ends.len()));
        for &ends in job.iter().flat_map(|job| &job.ends) {
            self.flows.push(self.levels.flow(ends, number, sl));
        }
        self.groups.push(first..self.flows.len() as u32);
        self.jobs.push(job);
    }

    /// Sets the adapter of every host.
    fn set_adapters(&mut self, adapter: &Adapter, network: &Network, review: &mut Review<'_>) {
        self.adapters = vec![adapter.config(); network.topology.host_count() as usize];
        for caps in adapter.caps.iter() {
            for host in network.hosts(&caps.hosts, review) {
                let rank = network.topology.node(host).rank as usize;
                self.adapters[rank] = adapter.with_caps(&caps.injection_rate, &caps.drain_rate);
            }
        }
    }
}
