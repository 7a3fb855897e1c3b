//! The model that the engine runs: nodes, flows and sources, and the events between them.

use becalm_engine::{Agenda, Key, Model, Time};

use crate::config::{PacketConfig, RateChange};
use crate::event::{Context, Event, Shared};
use crate::host::adapter::{Adapter, Flows, tie};
use crate::host::flow::{Pacer, Receiver, Sender};
use crate::host::source::Source;
use crate::ids::{FlowId, NodeId, PacketId};
use crate::network::topology::Topology;
use crate::packet::{Kind, Packet};
use crate::policy::{Answer, Echo, Marker, Notice, Observer, Response, Unanswered};
use crate::switch::Switch;

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
    pub(crate) shared: Shared,
    pub(crate) packets: PacketConfig,
    pub(crate) places: Vec<Place>,
    pub(crate) switches: Vec<Switch<K>>,
    pub(crate) adapters: Vec<Adapter>,
    pub(crate) echoes: Vec<E>,
    pub(crate) senders: Vec<Sender>,
    pub(crate) pacers: Vec<Pacer<R>>,
    pub(crate) receivers: Vec<Receiver>,
    pub(crate) sources: Vec<Source>,
    pub(crate) changes: Vec<RateChange>,
    pub(crate) seed: u64,
}

/// The fabric taken apart, so that one node can be worked on while the rest is at hand.
struct Parts<'a, R, K, O> {
    switches: &'a mut [Switch<K>],
    adapters: &'a mut [Adapter],
    flows: Flows<'a, R>,
    cx: Context<'a, O>,
}
impl<R: Response, K: Marker, E: Echo + Clone, O: Observer> Fabric<R, K, E, O> {
    /// The network.
    pub fn topology(&self) -> &Topology {
        &self.shared.topology
    }

    /// Number of flows.
    pub fn flow_count(&self) -> usize {
        self.senders.len()
    }

    /// Packets that have crossed a link (or begun to), ACKs and CNPs included.
    pub fn packet_hops(&self) -> u64 {
        self.shared.hops
    }

    /// Packets that exist now.
    pub fn packets_in_flight(&self) -> usize {
        let waiting = self.switches.iter().map(|switch| switch.state.pool.len());
        self.shared.arena.len() + waiting.sum::<usize>()
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

    fn split<'a>(&'a mut self, now: Time, agenda: &'a mut Agenda<Event>) -> Parts<'a, R, K, O> {
        let flows =
            Flows { senders: &mut self.senders, pacers: &mut self.pacers, packets: &self.packets, seed: self.seed };
        let cx = Context { now, agenda, shared: &mut self.shared, observer: &mut self.observer };
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
                cx.shared.credit[switch.state.outputs[usize::from(port)].link.credit_index(vl)].called();
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
                if adapters[rank as usize].receive(packet, &mut cx) {
                    self.receive(rank, packet, now, agenda);
                }
            }
            Event::Drained(packet) => {
                let Parts { adapters, mut cx, .. } = self.split(now, agenda);
                adapters[rank as usize].drained(packet, &mut cx);
                self.receive(rank, packet, now, agenda);
            }
            Event::Credit { vl } => self.shared.credit[self.adapters[rank as usize].link.credit_index(vl)].called(),
            Event::Wake => self.adapters[rank as usize].on_wake(now),
            Event::Post(source) => self.post(source, now, agenda),
            Event::Timer(pacer) => self.timer(pacer, now, agenda),
            Event::Rate(change) => self.change_rate(change),
            Event::Tail { .. } | Event::Ready(_) => unreachable!("{event:?} is not for a host"),
        }
        self.try_transmit(rank, now, agenda);
    }

    fn change_rate(&mut self, change: u32) {
        let RateChange { from, rate, .. } = self.changes[change as usize];
        match self.places[from.node.index()] {
            Place::Host(rank) => self.adapters[rank as usize].link.rate = rate,
            Place::Switch(rank) => self.switches[rank as usize].state.change_rate(from.port, rate),
        }
    }

    fn try_transmit(&mut self, host: u32, now: Time, agenda: &mut Agenda<Event>) {
        let Parts { adapters, mut flows, mut cx, .. } = self.split(now, agenda);
        adapters[host as usize].try_transmit(&mut flows, &mut cx);
    }

    pub(crate) fn update_eligibility(&mut self, flow: FlowId, now: Time, agenda: &mut Agenda<Event>) {
        let Parts { adapters, mut flows, .. } = self.split(now, agenda);
        let host = flows.pacers[flows.senders[flow.index()].pacer as usize].host;
        adapters[host as usize].update_eligibility(flow, now, &mut flows);
    }

    /// A packet has been taken in.
    fn receive(&mut self, host: u32, id: PacketId, now: Time, agenda: &mut Agenda<Event>) {
        let packet = self.shared.arena.remove(id);
        self.observer.delivered(now, &packet);
        match packet.kind {
            Kind::Data => self.receive_data(host, &packet),
            Kind::Ack => {
                let sender = &mut self.senders[packet.flow.index()];
                sender.acknowledged(packet.sequence, packet.echo);
                let pacer = sender.pacer;
                self.notify(pacer, Notice::Ack { marked: packet.echo }, now, agenda);
                self.update_eligibility(packet.flow, now, agenda);
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
        let answer = self.shared.arena.insert(answer);
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
        adapters[host as usize].update_pacer(id, now, &mut flows);
    }

    /// Schedules a timer event for a response that wants one earlier than any that is pending.
    pub(crate) fn arm_timer(&mut self, id: u32, agenda: &mut Agenda<Event>) {
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
