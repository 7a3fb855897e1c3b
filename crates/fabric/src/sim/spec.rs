//! The specification of a run.

use crate::config::{AdapterConfig, PacketConfig, RateChange, SwitchConfig};
use crate::host::job::JobSpec;
use crate::host::traffic::SourceSpec;
use crate::ids::NodeId;
use crate::network::routing::Routes;
use crate::network::topology::Topology;

/// One flow: a queue pair from one host to another.
#[derive(Clone, Copy, Debug)]
pub struct FlowSpec {
    /// Sending host.
    pub source: NodeId,
    /// Receiving host.
    pub destination: NodeId,
    /// Virtual lane of data packets, and of ACKs and CNPs unless these have one of their own.
    pub vl: u8,
    /// Its place in [`FabricSpec::responses`]. Flows of the same host and lane may share one (IBTA's congestion
    /// control by service level): then the pace holds for all of them together.
    pub response: u32,
    /// Whether every message is a flow of its own for the response, which no other flow may share then: it begins again
    /// with each, and gets feedback on the packets of this one alone.
    pub restart: bool,
}

/// The specification of a run. `R` is the response function, `K` the marker, `E` the echo.
#[derive(Clone, Debug)]
pub struct FabricSpec<R, K, E> {
    /// Nodes and links.
    pub topology: Topology,
    /// The routes of this topology.
    pub routes: Routes,
    /// The switches.
    pub switch: SwitchConfig,
    /// Packet sizes.
    pub packets: PacketConfig,
    /// One adapter per host, in the order of the hosts in the topology.
    pub adapters: Vec<AdapterConfig>,
    /// The flows; a flow's place in the list is its [`FlowId`](crate::FlowId).
    pub flows: Vec<FlowSpec>,
    /// The responses to congestion, in their initial state, one for each flow or for several of one host.
    pub responses: Vec<R>,
    /// The sources that feed the flows.
    pub sources: Vec<SourceSpec>,
    /// The jobs.
    pub jobs: Vec<JobSpec>,
    /// Changes of rates during the run.
    pub changes: Vec<RateChange>,
    /// One marker per switch, in the order of the switches in the topology.
    pub markers: Vec<K>,
    /// The echo of every destination.
    pub echo: E,
    /// Seed of all random streams.
    pub seed: u64,
}

impl<R, K, E> FabricSpec<R, K, E> {
    /// The same run with other responses and markers, made of these one by one, in their order.
    pub fn with_seams<S, L>(self, response: impl FnMut(R) -> S, marker: impl FnMut(K) -> L) -> FabricSpec<S, L, E> {
        FabricSpec {
            topology: self.topology,
            routes: self.routes,
            switch: self.switch,
            packets: self.packets,
            adapters: self.adapters,
            flows: self.flows,
            responses: self.responses.into_iter().map(response).collect(),
            sources: self.sources,
            jobs: self.jobs,
            changes: self.changes,
            markers: self.markers.into_iter().map(marker).collect(),
            echo: self.echo,
            seed: self.seed,
        }
    }
}
