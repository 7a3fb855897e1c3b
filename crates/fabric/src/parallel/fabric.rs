//! One fabric on several threads.
//!
//! Every part is a whole [`Fabric`] of which it handles its own nodes only; packets and credit for nodes of another part
//! leave as messages. What is counted is read from the part that a node belongs to, and [`ParallelFabric::join`] puts the
//! parts together again.

use becalm_engine::{Agenda, Entry, Key, Part, Parts, Simulator, Stop, Time, Work};

use crate::config::FabricSpec;
use crate::error::FabricError;
use crate::event::{Event, LOCAL};
use crate::ids::{FlowId, NodeId, PacketId, PortId};
use crate::packet::Packet;
use crate::parallel::partition::Partition;
use crate::policy::{Echo, Joint, Marker, Observer, Response};
use crate::sim::counters::{FlowView, PortCounters, PortStanding};
use crate::sim::fabric::Fabric;

/// What one part tells another.
#[derive(Clone, Copy, Debug)]
pub enum Message {
    /// A packet comes over a link.
    Packet {
        /// When it is there, and its rank among what happens then.
        at: (Time, Key),
        /// The packet.
        packet: Packet,
    },
    /// Room has come free in the buffer behind a link.
    Credit {
        /// When the sender will know.
        time: Time,
        /// The port that sends.
        sender: PortId,
        /// Its line of credit, and the lane.
        line: (u32, u8),
        /// How much.
        units: u32,
    },
}

/// The simulator of a fabric, in one part or several.
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
    /// Simulators at time zero, one for each part; `observer` makes the observer of each. Within a part, the nodes of
    /// each of the `groups` have their turns together; see [`becalm_engine::run`].
    ///
    /// # Errors
    /// Those of [`Fabric::simulator`].
    pub fn new(
        spec: FabricSpec<R, K, E>,
        observer: impl Fn() -> O,
        partition: &Partition,
        groups: &Partition,
    ) -> Result<Self, FabricError> {
        let last = partition.parts as u16 - 1;
        let mut simulators = Vec::with_capacity(partition.parts);
        for part in 0..last {
            simulators.push(Fabric::part(spec.clone(), observer(), partition, part, groups)?);
        }
        simulators.push(Fabric::part(spec, observer(), partition, last, groups)?);
        Ok(ParallelFabric { parts: Parts::new(simulators, partition.lookahead), of_node: partition.of_node.clone() })
    }

    /// Handles all events up to and including `until`; see [`Parts::run`].
    pub fn run(&mut self, until: Time, watch: &mut dyn FnMut(&Work) -> bool) -> Option<Stop> {
        self.parts.run(until, watch)
    }

    /// The time, events handled and packet-hops so far.
    pub fn work(&self) -> Work {
        self.parts.work()
    }

    fn model(&self, part: usize) -> &Fabric<R, K, E, O> {
        &self.parts.simulators()[part].model
    }

    fn model_of(&self, node: NodeId) -> &Fabric<R, K, E, O> {
        self.model(usize::from(self.of_node[node.index()]))
    }

    /// What a port has sent so far.
    pub fn port(&self, port: PortId) -> PortCounters {
        self.model_of(port.node).port(port)
    }

    /// What stands at a port now.
    pub fn standing(&self, port: PortId, vl: u8) -> PortStanding {
        self.model_of(port.node).standing(port, vl)
    }

    /// What watches a node.
    pub fn observer(&self, node: NodeId) -> &O {
        &self.model_of(node).observer
    }

    /// What a flow has done so far.
    pub fn flow(&self, id: FlowId) -> FlowView {
        let (source, destination) = self.model(0).ends_of(id);
        self.model_of(source).flow(id).received_as(&self.model_of(destination).flow(id))
    }

    /// Packets that exist now.
    pub fn packets_in_flight(&self) -> usize {
        self.parts.simulators().iter().map(|part| part.model.packets_in_flight()).sum()
    }

    /// All parts in one simulator, which could go on alone.
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

impl<R: Response, K: Marker, E: Echo + Clone, O: Observer> Part for Fabric<R, K, E, O> {
    type Message = Message;

    fn outbox(&mut self, part: usize) -> &mut Vec<Message> {
        &mut self.shared.outboxes[part]
    }

    fn time(message: &Message) -> Time {
        match message {
            Message::Packet { at: (time, _), .. } | Message::Credit { time, .. } => *time,
        }
    }

    fn receive(&mut self, message: Message, agenda: &mut Agenda<Event>) {
        match message {
            Message::Packet { at: (time, key), packet } => {
                let id = self.shared.arena.insert(packet);
                agenda.at(time, key, Event::Arrive(id));
            }
            Message::Credit { time, sender, line: (line, vl), units } => {
                if self.shared.credit[line as usize].give_back(units, time, Time::ZERO) {
                    let (time, key, event) = Event::credit(time, sender, vl);
                    agenda.at(time, key, event);
                }
            }
        }
    }

    fn work(&self) -> u64 {
        self.packet_hops()
    }
}

impl<R: Response, K: Marker, E: Echo + Clone, O: Joint + Observer> Fabric<R, K, E, O> {
    /// Takes over the nodes that are another part's, with all that belongs to them.
    fn join(
        &mut self,
        mut other: Self,
        pending: &Agenda<Event>,
        agenda: &mut Agenda<Event>,
        theirs: &dyn Fn(NodeId) -> bool,
    ) {
        let offset = self.shared.arena.join(std::mem::take(&mut other.shared.arena));
        let shift = |id: PacketId| id.moved_by(offset);
        for Entry { time, key, event } in pending.pending() {
            agenda.at(*time, *key, event.with_packet(shift));
        }
        for flow in 0..self.flow_count() {
            let (source, destination) = self.ends_of(FlowId(flow as u32));
            if theirs(source) {
                std::mem::swap(&mut self.senders[flow], &mut other.senders[flow]);
            }
            if theirs(destination) {
                std::mem::swap(&mut self.receivers[flow], &mut other.receivers[flow]);
            }
        }
        for (mine, its) in self.pacers.iter_mut().zip(&mut other.pacers) {
            if theirs(self.adapters[mine.host as usize].node) {
                std::mem::swap(mine, its);
            }
        }
        for i in 0..self.sources.len() {
            if theirs(self.node_of_source(i)) {
                std::mem::swap(&mut self.sources[i], &mut other.sources[i]);
            }
        }
        let vls = usize::from(self.shared.config.vls);
        for rank in 0..self.adapters.len() {
            let node = self.adapters[rank].node;
            if theirs(node) {
                other.adapters[rank].renumber(shift);
                let lines = self.adapters[rank].link.credit_index(0);
                self.shared.credit[lines..lines + vls].swap_with_slice(&mut other.shared.credit[lines..lines + vls]);
                std::mem::swap(&mut self.adapters[rank], &mut other.adapters[rank]);
                std::mem::swap(&mut self.echoes[rank], &mut other.echoes[rank]);
            }
        }
        for (mine, its) in self.switches.iter_mut().zip(&mut other.switches) {
            if theirs(mine.state.node) {
                for output in &its.state.outputs {
                    let lines = output.link.credit_index(0);
                    self.shared.credit[lines..lines + vls]
                        .swap_with_slice(&mut other.shared.credit[lines..lines + vls]);
                }
                std::mem::swap(mine, its);
            }
        }
        self.shared.hops += other.shared.hops;
        self.observer.join(other.observer, theirs);
    }

    /// From now on all nodes are this part's.
    fn handle_all(&mut self) {
        for adapter in &mut self.adapters {
            (adapter.link.part, adapter.credit_return.part) = (LOCAL, LOCAL);
        }
        for state in self.switches.iter_mut().map(|switch| &mut switch.state) {
            state.outputs.iter_mut().for_each(|output| output.link.part = LOCAL);
            state.inputs.iter_mut().for_each(|input| input.credit_return.part = LOCAL);
        }
    }
}
