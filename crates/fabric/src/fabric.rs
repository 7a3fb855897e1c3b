//! The model that the engine runs: nodes, flows and sources, and the events between them.

use becalm_engine::{Agenda, Key, Model, Simulator, Time};

use crate::adapter::{Adapter, Flows, Ready, tie};
use crate::config::{AdapterConfig, FabricSpec, FlowSpec, PacketConfig, RateChange, SwitchConfig};
use crate::credit::Line;
use crate::domains::Message;
use crate::error::FabricError;
use crate::event::{Context, Event, HERE, Outlink};
use crate::flow::{Candidates, Pacer, Receiver, Sender};
use crate::ids::{FlowId, NodeId, PacketId, PortId, SourceId};
use crate::packet::{Kind, Packet, Slab};
use crate::partition::Partition;
use crate::seam::{Answer, Echo, Marker, Notice, Observer, Pace, Response, Unanswered};
use crate::source::Source;
use crate::switch::Switch;
use crate::topology::{NodeKind, Topology};

/// A node's place in the list of its kind.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    Host(u32),
    Switch(u32),
}

/// A lossless network with its traffic: `R` responds, `K` marks, `E` echoes, `O` observes.
#[derive(Debug)]
pub struct Fabric<R, K, E, O> {
    /// What watches the run.
    pub observer: O,
    pub(crate) topology: Topology,
    pub(crate) config: SwitchConfig,
    pub(crate) packets: PacketConfig,
    pub(crate) places: Vec<Place>,
    pub(crate) switches: Vec<Switch<K>>,
    pub(crate) adapters: Vec<Adapter>,
    pub(crate) echoes: Vec<E>,
    pub(crate) senders: Vec<Sender>,
    pub(crate) pacers: Vec<Pacer<R>>,
    pub(crate) receivers: Vec<Receiver>,
    pub(crate) sources: Vec<Source>,
    pub(crate) slab: Slab,
    pub(crate) credit: Vec<Line>,
    changes: Vec<RateChange>,
    /// What other parts are to be told, by part.
    pub(crate) outboxes: Vec<Vec<Message>>,
    seed: u64,
    hops: u64,
}

/// The fabric taken apart, so that one node can be worked on while the rest is at hand.
struct Parts<'a, R, K, O> {
    switches: &'a mut [Switch<K>],
    adapters: &'a mut [Adapter],
    flows: Flows<'a, R>,
    cx: Context<'a, O>,
}

/// What a flow has done since the start of the run. Bytes are on the wire, headers included, unless named payload.
#[derive(Clone, Copy, Debug)]
pub struct FlowView {
    /// Data packets sent.
    pub sent_packets: u64,
    /// Bytes of data packets sent.
    pub sent_bytes: u64,
    /// Data packets delivered.
    pub delivered_packets: u64,
    /// Bytes of data packets delivered.
    pub delivered_bytes: u64,
    /// Payload bytes delivered.
    pub delivered_payload: u64,
    /// Data packets delivered with a mark.
    pub delivered_marked: u64,
    /// Messages of which the last packet was delivered.
    pub messages_delivered: u64,
    /// ACKs that came back.
    pub acks: u64,
    /// ACKs that came back with a mark.
    pub acks_marked: u64,
    /// Bytes of the messages that were posted.
    pub posted_bytes: u64,
    /// Time in which it always had a message to send, up to the last time that this changed.
    pub greedy_time: Time,
    /// Since when it always has a message to send, if it does.
    pub greedy_since: Option<Time>,
    /// The pace now.
    pub pace: Pace,
}

impl FlowView {
    /// Time up to now in which the flow always had a message to send.
    pub fn greedy_until(&self, now: Time) -> Time {
        self.greedy_time + self.greedy_since.map_or(Time::ZERO, |since| now.since(since))
    }

    /// The same flow, with what it has received as another view of it says.
    pub(crate) fn received_as(self, other: &FlowView) -> FlowView {
        FlowView {
            delivered_packets: other.delivered_packets,
            delivered_bytes: other.delivered_bytes,
            delivered_payload: other.delivered_payload,
            delivered_marked: other.delivered_marked,
            messages_delivered: other.messages_delivered,
            ..self
        }
    }
}

/// What stands at a port and virtual lane at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PortStanding {
    /// Share of the input buffer that is taken, 0 to 1; 0 at a host that takes in everything at once.
    pub occupancy: f64,
    /// Bytes that wait for the output; 0 at a host, of which no queue is seen.
    pub waiting: u64,
}

/// What a port has sent since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortCounters {
    /// Packets of all kinds.
    pub packets: u64,
    /// Bytes on the wire.
    pub bytes: u64,
    /// Packets that were marked here.
    pub marked: u64,
}

impl<R: Response, K: Marker, E: Echo + Clone, O: Observer> Fabric<R, K, E, O> {
    /// A simulator at time zero, with the first event of every source pending.
    ///
    /// # Errors
    /// [`FabricError::Unreachable`] or [`FabricError::RoutingLoop`] for a flow or the way back of its answers.
    ///
    /// # Panics
    /// If a flow, a source or the number of markers does not fit the topology; the scenario checks these.
    pub fn simulator(spec: FabricSpec<R, K, E>, observer: O) -> Result<Simulator<Self>, FabricError> {
        let whole = Partition::whole(&spec.topology);
        Self::part(spec, observer, &whole, 0, &whole)
    }

    /// A simulator of which only the nodes of one part will do anything. The nodes of each of the `groups` have their
    /// turns together.
    pub(crate) fn part(
        spec: FabricSpec<R, K, E>,
        observer: O,
        partition: &Partition,
        part: u16,
        groups: &Partition,
    ) -> Result<Simulator<Self>, FabricError> {
        let topology = spec.topology;
        crate::routing::check(&topology, spec.flows.iter().map(|flow| (flow.source, flow.destination)))?;
        assert_eq!(spec.markers.len(), topology.switch_count() as usize, "one marker per switch");
        let places = places(&topology);
        assert_eq!(spec.adapters.len(), topology.host_count() as usize, "one adapter per host");
        let lines = 2 * topology.cables().len() * usize::from(spec.switch.vls);
        let credit = vec![Line::new(spec.switch.buffer.capacity()); lines];
        let mut links = outlinks(&topology, &spec.adapters, spec.switch.vls);
        for link in links.iter_mut().flatten() {
            let other = partition.of_node[link.peer.node.index()];
            link.part = if other == part { HERE } else { other };
        }
        let largest = spec.packets.largest();
        let mut markers = spec.markers.into_iter();
        let mut switches = Vec::new();
        let mut adapters = Vec::new();
        for (i, place) in places.iter().enumerate() {
            let (node, links) = (NodeId(i as u32), std::mem::take(&mut links[i]));
            match place {
                Place::Switch(rank) => {
                    let marker = markers.next().expect("counted");
                    switches.push(Switch::new(node, *rank, &spec.switch, links, largest, spec.seed, marker));
                }
                Place::Host(rank) => {
                    adapters.push(Adapter::new(node, links[0], spec.switch.vls, spec.adapters[*rank as usize]));
                }
            }
        }
        let pacers = pacers(&topology, &spec.flows, spec.responses, &spec.adapters);
        let senders: Vec<_> = spec.flows.iter().map(|flow| sender(&topology, flow)).collect();
        let sources = (0u64..).zip(spec.sources).map(|(i, source)| Source::new(source, spec.seed, i)).collect();
        let fabric = Fabric {
            observer,
            echoes: vec![spec.echo; adapters.len()],
            receivers: vec![Receiver::default(); senders.len()],
            topology,
            config: spec.switch,
            packets: spec.packets,
            places,
            switches,
            adapters,
            senders,
            pacers,
            sources,
            slab: Slab::default(),
            credit,
            changes: spec.changes,
            outboxes: vec![Vec::new(); partition.parts],
            seed: spec.seed,
            hops: 0,
        };
        let mut simulator = Simulator::new(fabric);
        let Simulator { model, agenda, .. } = &mut simulator;
        agenda.split(groups.of_node.clone(), groups.lookahead);
        model.begin(agenda, &|node| partition.of_node[node.index()] == part);
        Ok(simulator)
    }

    fn begin(&mut self, agenda: &mut Agenda<Event>, ours: &dyn Fn(NodeId) -> bool) {
        for i in 0..self.sources.len() {
            if !ours(self.node_of_source(i)) {
                continue;
            }
            let id = SourceId(i as u32);
            self.sources[i].first_time().into_iter().for_each(|time| self.schedule_post(time, id, agenda));
        }
        for pacer in 0..self.pacers.len() {
            if ours(self.adapters[self.pacers[pacer].host as usize].node) {
                self.arm_timer(pacer as u32, agenda);
            }
        }
        for (i, change) in (0u32..).zip(&self.changes).filter(|(_, change)| ours(change.from.node)) {
            let event = Event::Rate(i);
            agenda.at(change.at, Key::new(change.from.node.0, event.kind(), u64::from(i), change.from.port), event);
        }
    }

    /// The host of a source.
    pub(crate) fn node_of_source(&self, source: usize) -> NodeId {
        self.ends_of(self.sources[source].first_flow()).0
    }

    /// The hosts that a flow goes from and to.
    pub(crate) fn ends_of(&self, flow: FlowId) -> (NodeId, NodeId) {
        let destination = self.senders[flow.index()].destination;
        (self.adapters[self.host_of(flow) as usize].node, self.adapters[destination as usize].node)
    }

    /// Adds hops that another part has counted.
    pub(crate) fn count_hops(&mut self, hops: u64) {
        self.hops += hops;
    }

    /// The network.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Number of flows.
    pub fn flow_count(&self) -> usize {
        self.senders.len()
    }

    /// What a flow has done so far.
    pub fn flow(&self, id: FlowId) -> FlowView {
        let (sender, receiver) = (&self.senders[id.index()], &self.receivers[id.index()]);
        FlowView {
            sent_packets: u64::from(sender.packets),
            sent_bytes: sender.bytes,
            delivered_packets: u64::from(receiver.packets),
            delivered_bytes: receiver.bytes,
            delivered_payload: receiver.payload,
            delivered_marked: receiver.marked,
            messages_delivered: receiver.messages,
            acks: sender.acks,
            acks_marked: sender.acks_marked,
            posted_bytes: sender.posted_bytes,
            greedy_time: sender.greedy_time,
            greedy_since: sender.greedy.map(|_| sender.greedy_since),
            pace: self.pacers[sender.pacer as usize].pace,
        }
    }

    /// What a port has sent so far.
    pub fn port(&self, port: PortId) -> PortCounters {
        match self.places[port.node.index()] {
            Place::Host(rank) => {
                let adapter = &self.adapters[rank as usize];
                PortCounters { packets: adapter.packets, bytes: adapter.bytes, marked: 0 }
            }
            Place::Switch(rank) => {
                let output = &self.switches[rank as usize].state.outputs[usize::from(port.port)];
                PortCounters { packets: output.packets, bytes: output.bytes, marked: output.marked }
            }
        }
    }

    /// What stands at a port now.
    pub fn standing(&self, port: PortId, vl: u8) -> PortStanding {
        let (taken, waiting) = match self.places[port.node.index()] {
            Place::Host(rank) => (self.adapters[rank as usize].taken[usize::from(vl)], 0),
            Place::Switch(rank) => {
                let state = &self.switches[rank as usize].state;
                let at = usize::from(port.port) * usize::from(self.config.vls) + usize::from(vl);
                (state.inputs[at].taken, state.lanes[state.at(port.port, vl)].waiting_bytes)
            }
        };
        PortStanding { occupancy: f64::from(taken) / f64::from(self.config.buffer.capacity()), waiting }
    }

    /// Packets that have crossed a link (or begun to), ACKs and CNPs included.
    pub fn packet_hops(&self) -> u64 {
        self.hops
    }

    /// Packets that exist now.
    pub fn packets_in_flight(&self) -> usize {
        self.slab.len()
    }

    fn split<'a>(&'a mut self, now: Time, agenda: &'a mut Agenda<Event>) -> Parts<'a, R, K, O> {
        let flows =
            Flows { senders: &mut self.senders, pacers: &mut self.pacers, packets: &self.packets, seed: self.seed };
        let cx = Context {
            now,
            agenda,
            slab: &mut self.slab,
            credit: &mut self.credit,
            observer: &mut self.observer,
            switch: &self.config,
            routes: &self.topology.routes,
            hops: &mut self.hops,
            outboxes: &mut self.outboxes,
        };
        Parts { switches: &mut self.switches, adapters: &mut self.adapters, flows, cx }
    }

    fn at_switch(&mut self, rank: u32, now: Time, key: Key, event: Event, agenda: &mut Agenda<Event>) {
        let Parts { switches, mut cx, .. } = self.split(now, agenda);
        let switch = &mut switches[rank as usize];
        let port = key.source();
        match event {
            Event::Arrive(packet) => switch.arrive(port, packet, &mut cx),
            Event::Ready(packet) => switch.admit(packet, &mut cx),
            Event::Credit { vl } => {
                cx.credit[switch.state.outputs[usize::from(port)].link.line(vl)].called();
                switch.credit(port, &mut cx);
            }
            Event::Tail { input, vl, units } => switch.tail(port, input, vl, units, &mut cx),
            Event::Rate(change) => self.change_rate(change),
            Event::Wake | Event::Post(_) | Event::Timer(_) | Event::Drained(_) => {
                unreachable!("{event:?} is not for a switch")
            }
        }
    }

    fn at_host(&mut self, rank: u32, now: Time, event: Event, agenda: &mut Agenda<Event>) {
        match event {
            Event::Arrive(packet) => {
                let Parts { adapters, mut cx, .. } = self.split(now, agenda);
                if adapters[rank as usize].take_in(packet, &mut cx) {
                    self.receive(rank, packet, now, agenda);
                }
            }
            Event::Drained(packet) => {
                let Parts { adapters, mut cx, .. } = self.split(now, agenda);
                adapters[rank as usize].drained(packet, &mut cx);
                self.receive(rank, packet, now, agenda);
            }
            Event::Credit { vl } => self.credit[self.adapters[rank as usize].link.line(vl)].called(),
            Event::Wake => self.adapters[rank as usize].woken(now),
            Event::Post(source) => self.post(source, now, agenda),
            Event::Timer(pacer) => self.timer(pacer, now, agenda),
            Event::Rate(change) => self.change_rate(change),
            Event::Tail { .. } | Event::Ready(_) => unreachable!("{event:?} is not for a host"),
        }
        self.drive(rank, now, agenda);
    }

    fn change_rate(&mut self, change: u32) {
        let RateChange { from, rate, .. } = self.changes[change as usize];
        match self.places[from.node.index()] {
            Place::Host(rank) => self.adapters[rank as usize].link.rate = rate,
            Place::Switch(rank) => self.switches[rank as usize].state.outputs[usize::from(from.port)].link.rate = rate,
        }
    }

    fn drive(&mut self, host: u32, now: Time, agenda: &mut Agenda<Event>) {
        let Parts { adapters, mut flows, mut cx, .. } = self.split(now, agenda);
        adapters[host as usize].drive(&mut flows, &mut cx);
    }

    pub(crate) fn consider(&mut self, flow: FlowId, now: Time, agenda: &mut Agenda<Event>) {
        let Parts { adapters, mut flows, .. } = self.split(now, agenda);
        let host = flows.pacers[flows.senders[flow.index()].pacer as usize].host;
        adapters[host as usize].consider(flow, now, &mut flows);
    }

    /// A packet has been taken in.
    fn receive(&mut self, host: u32, id: PacketId, now: Time, agenda: &mut Agenda<Event>) {
        let packet = self.slab.remove(id);
        self.observer.delivered(now, &packet);
        match packet.kind {
            Kind::Data => self.receive_data(host, &packet),
            Kind::Ack => {
                let sender = &mut self.senders[packet.flow.index()];
                sender.acknowledged(packet.sequence, packet.echo);
                let pacer = sender.pacer;
                self.notify(pacer, Notice::Ack { marked: packet.echo }, now, agenda);
                self.consider(packet.flow, now, agenda);
            }
            Kind::Cnp => {
                let pacer = self.senders[packet.flow.index()].pacer;
                self.notify(pacer, Notice::Becn, now, agenda);
            }
        }
    }

    fn receive_data(&mut self, host: u32, packet: &Packet) {
        let receiver = &mut self.receivers[packet.flow.index()];
        receiver.disordered += u32::from(packet.sequence != receiver.packets);
        receiver.packets += 1;
        receiver.bytes += u64::from(packet.size);
        receiver.payload += u64::from(packet.payload);
        receiver.marked += u64::from(packet.marked);
        receiver.messages += u64::from(packet.last);
        receiver.unanswered.packets += 1;
        receiver.unanswered.marked |= packet.marked;
        let (kind, size, echo) = match self.echoes[host as usize].answer(packet, receiver.unanswered) {
            Answer::Ack { echo } => (Kind::Ack, self.packets.ack, echo),
            Answer::Cnp => (Kind::Cnp, self.packets.cnp, true),
            Answer::Silent => return,
        };
        receiver.unanswered = Unanswered::default();
        let answer = Packet {
            destination: self.host_of(packet.flow),
            kind,
            size,
            payload: 0,
            echo,
            marked: false,
            tie: tie(self.seed, packet.flow, kind, packet.sequence),
            ..*packet
        };
        let answer = self.slab.insert(answer);
        self.adapters[host as usize].answers.push_back(answer);
    }

    /// The rank of a flow's sending host.
    pub(crate) fn host_of(&self, flow: FlowId) -> u32 {
        self.pacers[self.senders[flow.index()].pacer as usize].host
    }

    /// Tells a response something, and takes over the pace that follows.
    pub(crate) fn notify(&mut self, id: u32, notice: Notice, now: Time, agenda: &mut Agenda<Event>) {
        let pacer = &mut self.pacers[id as usize];
        pacer.response.notice(now, notice);
        pacer.pace = pacer.response.pace();
        let host = pacer.host;
        self.arm_timer(id, agenda);
        let Parts { adapters, mut flows, .. } = self.split(now, agenda);
        adapters[host as usize].consider_pacer(id, now, &mut flows);
    }

    /// Schedules a timer event for a response that wants one earlier than any that is pending.
    fn arm_timer(&mut self, id: u32, agenda: &mut Agenda<Event>) {
        let pacer = &mut self.pacers[id as usize];
        let Some(deadline) = pacer.response.deadline() else { return };
        if pacer.timer.is_some_and(|pending| pending <= deadline) {
            return;
        }
        pacer.timer = Some(deadline);
        let node = self.adapters[pacer.host as usize].node;
        let event = Event::Timer(id);
        agenda.at(deadline, Key::new(node.0, event.kind(), u64::from(id), 0), event);
    }

    fn timer(&mut self, id: u32, now: Time, agenda: &mut Agenda<Event>) {
        let pacer = &mut self.pacers[id as usize];
        if pacer.timer != Some(now) {
            return;
        }
        pacer.timer = None;
        if pacer.response.deadline().is_some_and(|deadline| deadline <= now) {
            self.notify(id, Notice::Timer, now, agenda);
        } else {
            self.arm_timer(id, agenda);
        }
    }
}

impl<R: Response, K: Marker, E: Echo + Clone, O: Observer> Model for Fabric<R, K, E, O> {
    type Event = Event;

    #[inline]
    fn handle(&mut self, now: Time, key: Key, event: Event, agenda: &mut Agenda<Event>) {
        match self.places[key.target() as usize] {
            Place::Switch(rank) => self.at_switch(rank, now, key, event, agenda),
            Place::Host(rank) => self.at_host(rank, now, event, agenda),
        }
    }
}

fn places(topology: &Topology) -> Vec<Place> {
    let place = |node: &crate::Node| match node.kind {
        NodeKind::Host => Place::Host(node.rank),
        NodeKind::Switch => Place::Switch(node.rank),
    };
    topology.nodes().iter().map(place).collect()
}

/// The sending end of a flow, with nothing to send yet.
fn sender(topology: &Topology, flow: &FlowSpec) -> Sender {
    let destination = topology.node(flow.destination).rank;
    Sender::new(flow.response, destination, flow.vl)
}

/// One pacer per response, with the host of its flows.
fn pacers<R: Response>(
    topology: &Topology,
    flows: &[FlowSpec],
    responses: Vec<R>,
    adapters: &[AdapterConfig],
) -> Vec<Pacer<R>> {
    let mut members: Vec<(u32, Option<FlowId>)> = vec![(0, None); responses.len()];
    let mut shared = vec![false; responses.len()];
    for (i, flow) in flows.iter().enumerate() {
        let pacer = flow.response as usize;
        shared[pacer] = members[pacer].1.is_some();
        members[pacer] = (topology.node(flow.source).rank, Some(FlowId(i as u32)));
    }
    let pacer = |(i, response): (usize, R)| {
        let (host, flow) = members[i];
        let candidates = match flow {
            Some(flow) if !shared[i] => Candidates::One(flow),
            _ => Candidates::Several(Ready::new(adapters[host as usize].injection)),
        };
        Pacer::new(host, candidates, response)
    };
    responses.into_iter().enumerate().map(pacer).collect()
}

/// The outgoing link of every port of every node.
fn outlinks(topology: &Topology, adapters: &[AdapterConfig], vls: u8) -> Vec<Vec<Outlink>> {
    // Each direction of a cable has a line of credit per VL: those of the direction from its first end come first.
    let link = |(peer, index): &(PortId, usize)| {
        let cable = &topology.cables()[*index];
        let first = 2 * *index as u32 * u32::from(vls);
        let second = first + u32::from(vls);
        let (lines, lines_back) = if *peer == cable.b { (first, second) } else { (second, first) };
        let node = topology.node(peer.node);
        let to_switch = node.kind == NodeKind::Switch;
        let credited = to_switch || adapters[node.rank as usize].drain_rate.is_some();
        Outlink {
            peer: *peer,
            to_switch,
            credited,
            rate: cable.rate,
            delay: cable.delay,
            lines,
            lines_back,
            part: HERE,
        }
    };
    topology.peers().iter().map(|ports| ports.iter().map(link).collect()).collect()
}
