//! The specification of a run.

use crate::config::{AdapterConfig, PacketConfig, RateChange, SwitchConfig};
use crate::faults::Fault;
use crate::host::job::JobSpec;
use crate::host::traffic::SourceSpec;
use crate::ids::NodeId;
use crate::network::routing::Routes;
use crate::network::topology::Topology;

/// A flow: a queue pair from one host to another.
#[derive(Clone, Copy, Debug)]
pub struct FlowSpec {
    /// Sending host.
    pub source: NodeId,
    /// Receiving host.
    pub destination: NodeId,
    /// Virtual lane of data packets.
    pub vl: u8,
    /// Virtual lane of ACKs and CNPs unless [`PacketConfig`] has a separate one for all flows.
    pub answers_vl: u8,
    /// Index into [`FabricSpec::responses`]. Flows of the same host and lane may share a response (IBTA's
    /// congestion control by service level). The pace then applies to all of them together.
    pub response: u32,
    /// Whether the response treats every message as a separate flow. It then restarts with each message, and
    /// gets feedback only on this message's packets. Such a response cannot be shared with other flows.
    pub restart: bool,
}

/// The specification of a run. `R` is the response function, `K` the marker, `E` the echo.
#[derive(Clone, Debug)]
pub struct FabricSpec<R, K, E> {
    /// Nodes and links.
    pub topology: Topology,
    /// The routes in this topology.
    pub routes: Routes,
    /// Settings of the switches.
    pub switch: SwitchConfig,
    /// Packet sizes.
    pub packets: PacketConfig,
    /// One adapter per host, in topology order.
    pub adapters: Vec<AdapterConfig>,
    /// The flows; a flow's index is its [`FlowId`](crate::FlowId).
    pub flows: Vec<FlowSpec>,
    /// The responses to congestion, in their initial state. Each belongs to one flow or to several flows of
    /// one host.
    pub responses: Vec<R>,
    /// The sources that feed the flows.
    pub sources: Vec<SourceSpec>,
    /// The jobs.
    pub jobs: Vec<JobSpec>,
    /// Changes of link rates during the run.
    pub changes: Vec<RateChange>,
    /// Faults. Those of the same kind at the same port do not overlap.
    pub faults: Vec<Fault>,
    /// One marker per switch, in topology order.
    pub markers: Vec<K>,
    /// The echo that all destinations use.
    pub echo: E,
    /// Seed of all random streams.
    pub seed: u64,
}

impl<R, K, E> FabricSpec<R, K, E> {
    /// The same specification with other responses and markers, converted one by one in order.
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
            faults: self.faults,
            markers: self.markers.into_iter().map(marker).collect(),
            echo: self.echo,
            seed: self.seed,
        }
    }
}
