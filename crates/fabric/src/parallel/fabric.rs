//! A fabric that runs on one or more threads.
//!
//! Each part is a complete [`Fabric`] that handles only its own nodes. Packets and credit for nodes of
//! another part are sent as messages. Counters are read from the part that handles the node, and
//! [`ParallelFabric::join`] reassembles the parts.

use becalm_engine::{Parts, Simulator, Stop, Time, Work};

use crate::error::FabricError;
use crate::faults::Toll;
use crate::ids::{FlowId, NodeId, PortId};
use crate::network::topology::Cable;
use crate::parallel::partition::Partition;
use crate::policy::{Echo, Joint, Marker, Observer, Response};
use crate::sim::build::Share;
use crate::sim::counters::{FlowView, PortCounters, PortStanding};
use crate::sim::fabric::Fabric;
use crate::sim::pausing::Headroom;
use crate::sim::spec::FabricSpec;

/// The simulator of a fabric in one or several parts.
pub struct ParallelFabric<R, K, E, O>
where
    R: Response + Send,
    K: Marker + Send,
    E: Echo + Clone + Send,
    O: Observer + Send,
{
    parts: Parts<Fabric<R, K, E, O>>,
    of_node: Vec<u16>,
}

impl<R, K, E, O> ParallelFabric<R, K, E, O>
where
    R: Response + Clone + Send,
    K: Marker + Clone + Send,
    E: Echo + Clone + Send,
    O: Observer + Joint + Send,
{
    /// Creates simulators at time zero, one per part; `observer` creates the observer of each. Within a part,
    /// the nodes of each of the `groups` are processed together, see [`becalm_engine::run`].
    ///
    /// # Errors
    /// As for [`Fabric::simulator`].
    pub fn new(
        spec: FabricSpec<R, K, E>,
        observer: impl Fn() -> O,
        partition: &Partition,
        groups: &Partition,
    ) -> Result<Self, FabricError> {
        let reach = reach(&spec);
        let simulator = |spec: FabricSpec<R, K, E>, part: u16| {
            let share = Share { part_of: &partition.of_node, part, parts: partition.parts };
            let mut simulator = Simulator::new(Fabric::build(spec, observer(), &share)?);
            let Simulator { model, agenda, .. } = &mut simulator;
            // A group window longer than the parts' window would be split repeatedly.
            agenda.split(groups.of_node.clone(), groups.lookahead.min(partition.lookahead), reach);
            model.begin(agenda, &share);
            Ok(simulator)
        };
        let last = partition.parts as u16 - 1;
        let mut simulators = Vec::with_capacity(partition.parts);
        for part in 0..last {
            simulators.push(simulator(spec.clone(), part)?);
        }
        simulators.push(simulator(spec, last)?);
        Ok(ParallelFabric { parts: Parts::new(simulators, partition.lookahead), of_node: partition.of_node.clone() })
    }

    /// Handles all events up to and including `until`; see [`Parts::run`].
    pub fn run(&mut self, until: Time, watch: &mut dyn FnMut(&Work) -> bool) -> Option<Stop> {
        self.parts.run(until, watch)
    }

    /// Whether [`ParallelFabric::run`] also ends, with [`Stop::Halt`], when the last rank of all jobs finishes.
    pub fn halt_after_jobs(&mut self, halts: bool) {
        self.parts.halt_at_close(halts);
    }

    /// The time, events handled and packet-hops so far.
    pub fn work(&self) -> Work {
        self.parts.work()
    }

    /// A time that no event has passed so far; see [`becalm_engine::Parts::reached`].
    pub fn reached(&self) -> Time {
        self.parts.reached()
    }

    fn model(&self, part: usize) -> &Fabric<R, K, E, O> {
        &self.parts.simulators()[part].model
    }

    fn model_of(&self, node: NodeId) -> &Fabric<R, K, E, O> {
        self.model(usize::from(self.of_node[node.index()]))
    }

    /// The counters of a port.
    pub fn port(&self, port: PortId) -> PortCounters {
        self.model_of(port.node).port(port, self.parts.now())
    }

    /// The contents of a port's buffers.
    pub fn standing(&self, port: PortId, vl: u8) -> PortStanding {
        self.model_of(port.node).standing(port, vl, self.parts.now())
    }

    /// The headroom of an input's buffer; `None` with credits, and at a host without a drain rate.
    pub fn headroom(&self, input: PortId, vl: u8) -> Option<Headroom> {
        self.model_of(input.node).headroom(input, vl)
    }

    /// What a fault at this node has held up so far; see [`Fabric::toll`].
    pub fn toll(&self, fault: usize, node: NodeId) -> Toll {
        self.model_of(node).toll(fault, self.parts.now())
    }

    /// Whether a fault that never ends has begun. What it holds up never moves again.
    pub fn is_held_up(&self) -> bool {
        self.model(0).is_held_up(self.parts.now())
    }

    /// The overflow error of a buffer that has needed more headroom than it has.
    pub fn overflow(&self) -> Option<FabricError> {
        self.parts.simulators().iter().find_map(|part| part.model.overflow())
    }

    /// The observer of a node.
    pub fn observer(&self, node: NodeId) -> &O {
        &self.model_of(node).observer
    }

    /// The counters of a flow.
    pub fn flow(&self, id: FlowId) -> FlowView {
        let (source, destination) = self.model(0).hosts.ends_of(id);
        self.model_of(source).flow(id).received_as(&self.model_of(destination).flow(id))
    }

    /// Records the round-trip times of each flow from now on.
    pub fn note_rtts(&mut self) {
        self.parts.simulators_mut().iter_mut().for_each(|simulator| simulator.model.note_rtts());
    }

    /// Changes the response of a flow, and of all flows that share it, from now on; see
    /// [`Fabric::set_response`].
    pub fn set_response(&mut self, id: FlowId, response: R, due: Time) {
        let part = self.part_of_source(id);
        let Simulator { model, agenda, .. } = &mut self.parts.simulators_mut()[part];
        model.set_response(id, response, due, agenda);
    }

    /// Bytes of a flow's data packets delivered so far, as in [`ParallelFabric::flow`] but without reading
    /// the sender.
    pub fn delivered_bytes(&self, id: FlowId) -> u64 {
        // Parts without the flow's destination count no bytes.
        let of = |part: &Simulator<Fabric<R, K, E, O>>| {
            part.model.hosts.receivers.get(id.index()).map_or(0, |receiver| receiver.bytes())
        };
        self.parts.simulators().iter().map(of).sum()
    }

    /// Bytes of a flow's data packets sent so far, including headers.
    pub fn sent_bytes(&self, id: FlowId) -> u64 {
        // Parts without the flow's source send no bytes.
        let of = |part: &Simulator<Fabric<R, K, E, O>>| {
            part.model.hosts.flows.senders.get(id.index()).map_or(0, |sender| sender.bytes)
        };
        self.parts.simulators().iter().map(of).sum()
    }

    fn part_of_source(&self, id: FlowId) -> usize {
        let (source, _) = self.model(0).hosts.ends_of(id);
        usize::from(self.of_node[source.index()])
    }

    /// Payload bytes of the flow's posted message that are still to be sent, or of its current part; `None` between
    /// messages.
    pub fn rest_of_message(&self, id: FlowId) -> Option<u32> {
        self.model(self.part_of_source(id)).hosts.flows.senders.get(id.index())?.rest_of_message()
    }

    /// Leaves out bytes of the message that the flow is sending, as if they had been delivered already. There must be
    /// more of them, and they must be whole packets.
    pub fn leave_out(&mut self, id: FlowId, bytes: u32) {
        let part = self.part_of_source(id);
        self.parts.simulators_mut()[part].model.hosts.flows.senders[id.index()].leave_out(bytes);
    }

    /// Whether a rank of a job calculates, or copies a message within its host.
    pub fn ranks_wait_for_time(&self) -> bool {
        self.parts.simulators().iter().any(|part| part.model.hosts.jobs.wait_for_time())
    }

    /// Whether all posted messages have been delivered and answered: no packets exist, none are left to send,
    /// and no source waits.
    pub fn is_drained(&self) -> bool {
        self.packets_in_flight() == 0 && self.parts.simulators().iter().all(|part| part.model.is_silent())
    }

    /// Packets that exist now.
    pub fn packets_in_flight(&self) -> usize {
        let packets: i64 = self.parts.simulators().iter().map(|part| part.model.shared.packets).sum();
        packets as usize
    }

    /// Number of job ranks that have not finished.
    pub fn open_ranks(&self) -> u32 {
        self.parts.simulators().iter().map(|part| part.model.open_ranks()).sum()
    }

    /// Joins all parts into one simulator that can continue on one thread.
    pub fn join(self) -> Simulator<Fabric<R, K, E, O>> {
        let of_node = self.of_node;
        let mut parts = self.parts.into_simulators().into_iter();
        let mut whole = parts.next().expect("at least one part");
        for (part, simulator) in (1..).zip(parts) {
            let events = simulator.events();
            let Simulator { model, agenda, .. } = simulator;
            whole.model.join(model, &agenda, &mut whole.agenda, &|node| of_node[node.index()] == part);
            whole.count_events(events);
        }
        whole.model.handle_all();
        whole
    }
}

/// The longest time from the start of a packet's transmission at one end of a cable to its arrival at the
/// other.
fn reach<R, K, E>(spec: &FabricSpec<R, K, E>) -> Time {
    let longest = spec.packets.longest();
    let time = |cable: &Cable| cable.rate.time_of(longest) + cable.delay + spec.switch.forwarding_delay;
    spec.topology.cables().iter().map(time).max().unwrap_or(Time::ZERO)
}
