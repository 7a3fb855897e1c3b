//! The model of a checked scenario: the only place that makes the fabric and its schemes.

use std::collections::HashMap;

use becalm_control::{EchoScheme, Echoing, Marking, MarkingScheme, Responding, ResponseScheme};
use becalm_engine::Time;
use becalm_fabric::{
    Fabric, FabricError, FabricSpec, FlowSpec, NodeId, NodeKind, ParallelFabric, Partition, PortId, RateChange, Room,
};
use becalm_metrics::Watch;
use becalm_schema::Located;

use crate::scenario::Scenario;
use crate::sections::adapter::PortControl;
use crate::sections::flows::Group;

/// Packets that must cross the cables between switches in a look-ahead for each further thread to pay off.
const PACKETS_PER_THREAD: u64 = 2_000;
/// The same threshold for each further group of nodes that have their turns together.
const PACKETS_PER_TURN: u64 = 10;
/// Ports whose state, without the packets in their buffers, fits a core's smallest cache.
const PORTS_PER_GROUP: usize = 16;
/// Most groups.
const MAX_GROUPS: usize = 8192;

/// The model of every run: schemes chosen at run time, everything observed.
pub(crate) type Model = ParallelFabric<Responding, Marking, Echoing, Watch>;
/// The model when all its parts are together again.
pub(crate) type Whole = Fabric<Responding, Marking, Echoing, Watch>;

impl Scenario {
    /// The fabric in its initial state.
    fn fabric_spec(&self, seed: u64) -> FabricSpec<Responding, Marking, Echoing> {
        let sections = &self.sections;
        let vls = *sections.switch.vls as u8;
        let shapes = self.network.switch_shapes(vls, self.capacity_bytes());
        let markers = shapes.into_iter().map(|shape| Marking::new(&sections.marking, shape));
        let (flows, responses) = self.flows();
        FabricSpec {
            topology: self.network.topology.clone(),
            routes: self.network.routes.clone(),
            switch: sections.switch.config(),
            packets: sections.packet.config(),
            adapters: self.plan.adapters.clone(),
            flows,
            responses,
            sources: self.plan.sources.clone(),
            changes: self.rate_changes(),
            markers: markers.collect(),
            echo: Echoing::new(&sections.echo),
            seed,
        }
    }

    fn rate_changes(&self) -> Vec<RateChange> {
        let port = |name: &str| self.network.links.iter().find(|link| link.name == name).expect("checked").from;
        let changes = self.sections.changes.iter();
        changes.map(|p| RateChange { at: *p.at, from: port(&p.link), rate: p.rate.rate() }).collect()
    }

    /// Room of an input buffer; one that counts packets has room for as many of the largest size.
    fn capacity_bytes(&self) -> u32 {
        match self.sections.switch.buffer.0 {
            Room::Bytes(bytes) => bytes,
            Room::Packets(packets) => packets.saturating_mul(self.sections.packet.config().largest()),
        }
    }

    /// The flows and their responses: one for each flow, or one for all of a host and service level.
    fn flows(&self) -> (Vec<FlowSpec>, Vec<Responding>) {
        let sections = &self.sections;
        let new = |group: &Located<Group>| Responding::new(group.response.as_ref().unwrap_or(&sections.response));
        // Some responses share a table among their clones.
        let initial: Vec<Responding> = sections.flows.iter().map(new).collect();
        let mut responses = Vec::new();
        let mut shared: HashMap<(NodeId, u32), u32> = HashMap::new();
        let mut flows = Vec::with_capacity(self.plan.flows.len());
        for flow in &self.plan.flows {
            let group = &sections.flows[flow.group as usize];
            let mut add = || {
                responses.push(initial[flow.group as usize].clone());
                responses.len() as u32 - 1
            };
            let response = match *sections.adapter.port_control {
                PortControl::Qp => add(),
                PortControl::Sl => *shared.entry((flow.source, *group.sl)).or_insert_with(add),
            };
            let vl = sections.switch.vl(*group.sl).expect("checked") as u8;
            flows.push(FlowSpec { source: flow.source, destination: flow.destination, vl, response });
        }
        (flows, responses)
    }

    /// Number of cores, of those available, that make one run faster; at least 1. Threads meet once for every
    /// look-ahead, and need enough work in between.
    pub fn useful_threads(&self, cores: usize) -> usize {
        ((self.packets_ahead() / PACKETS_PER_THREAD) as usize).clamp(1, cores.max(1))
    }

    /// How many groups of nodes have their turns together: as many as fit a cache, each with enough to do in a turn.
    fn groups(&self) -> usize {
        let ports: usize = self.network.topology.nodes().iter().map(|node| usize::from(node.degree)).sum();
        let turns = (self.packets_ahead() / PACKETS_PER_TURN) as usize;
        (ports / PORTS_PER_GROUP).min(turns).clamp(1, MAX_GROUPS)
    }

    /// Packets that cross all cables between switches, if they are full, in the smallest delay of one.
    fn packets_ahead(&self) -> u64 {
        let is_switch = |port: PortId| self.network.topology.node(port.node).kind == NodeKind::Switch;
        let between = self.network.topology.cables().iter().filter(|cable| is_switch(cable.a) && is_switch(cable.b));
        let (count, delay) = between.fold((0, Time::MAX), |(n, least), cable| (n + 1, least.min(cable.delay)));
        let packet =
            self.network.topology.cables().first().map_or(Time(1), |c| c.rate.time_of(self.sections.packet.full()));
        if count == 0 { 0 } else { 2 * count * delay.0 / packet.0.max(1) }
    }

    fn watch(&self, from: Time) -> Watch {
        let group_of = self.plan.flows.iter().map(|flow| flow.group).collect();
        let vls = *self.sections.switch.vls as u8;
        Watch::new(&self.network.topology, vls, self.capacity_bytes(), from, group_of, self.plan.groups.len())
    }

    /// The model at time zero for one replication, for up to `threads` threads.
    pub(crate) fn simulator(&self, replication: u32, threads: usize) -> Result<Model, FabricError> {
        let run = &self.sections.run;
        let seed = run.seed.wrapping_add(u64::from(replication));
        let spec = self.fabric_spec(seed);
        let partition = match threads {
            0 | 1 => Partition::whole(&spec.topology),
            _ => Partition::balanced(&spec.topology, &spec.routes, &spec.flows, threads),
        };
        let groups = Partition::balanced(&spec.topology, &spec.routes, &spec.flows, self.groups());
        ParallelFabric::new(spec, || self.watch(*run.warmup), &partition, &groups)
    }
}
