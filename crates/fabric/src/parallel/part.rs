//! A part of a fabric: its messages, and the joining of parts.

use becalm_engine::{Agenda, Entry, Part, Time};

use crate::config::FlowControl;
use crate::event::{Event, Signal};
use crate::ids::{FlowId, NodeId};
use crate::message::{Message, Recorded};
use crate::network::link::{EgressLink, LOCAL};
use crate::policy::{Echo, Joint, Marker, Observer, Response};
use crate::sim::fabric::Fabric;

impl<R: Response, K: Marker, E: Echo + Clone, O: Observer> Part for Fabric<R, K, E, O> {
    type Message = Message;

    fn outbox(&mut self, part: usize) -> &mut Vec<Message> {
        &mut self.shared.outboxes[part]
    }

    fn time(message: &Message) -> Time {
        match message {
            Message::Packet { at: (time, _), .. } | Message::Credit { time, .. } | Message::Gate { time, .. } => *time,
            Message::Recorded(recorded) => recorded.at.0,
            // An announcement has no effect before the message's packets arrive.
            Message::Announce { .. } => Time::MAX,
        }
    }

    fn receive(&mut self, message: Message, agenda: &mut Agenda<Event>) {
        match message {
            Message::Packet { at: (time, key), packet } => agenda.at(time, key, Event::Arrive(packet)),
            Message::Recorded(recorded) => {
                let Recorded { at: (time, key), mut packet, trail } = *recorded;
                self.shared.trails.take_in(&mut packet, trail);
                agenda.at(time, key, Event::Arrive(packet));
            }
            Message::Announce { flow, send } => self.hosts.announce(flow, send),
            Message::Credit { time, sender, credit: (credit, vl), units } => {
                if self.shared.credit[credit as usize].give_back(units, time, Time::ZERO) {
                    let (time, key, signal) = Signal::credit(time, sender, vl);
                    agenda.at(time, key, signal.into());
                }
            }
            Message::Gate { time, sender, gate: (gate, vl), open } => {
                if self.shared.gates[gate as usize].change(open, time, Time::ZERO) {
                    let (time, key, signal) = Signal::credit(time, sender, vl);
                    agenda.at(time, key, signal.into());
                }
            }
        }
    }

    fn work(&self) -> u64 {
        self.packet_hops()
    }

    fn is_open(&self) -> bool {
        self.open_ranks() > 0
    }
}

impl<R: Response, K: Marker, E: Echo + Clone, O: Joint + Observer> Fabric<R, K, E, O> {
    /// Takes over the nodes of another part, with their flows, credit and events.
    pub(super) fn join(
        &mut self,
        mut other: Self,
        pending: &Agenda<Event>,
        agenda: &mut Agenda<Event>,
        theirs: &dyn Fn(NodeId) -> bool,
    ) {
        let places = self.shared.trails.join(std::mem::take(&mut other.shared.trails));
        for Entry { time, key, event } in pending.pending() {
            let mut event = event;
            if let Event::Arrive(packet) = &mut event {
                packet.move_trail(places);
            }
            agenda.at(time, key, event);
        }
        other.switches.iter_mut().for_each(|switch| switch.state.pool.move_trails(places));
        for adapter in &mut other.hosts.adapters {
            adapter.draining.iter_mut().chain(adapter.answers.iter_mut()).for_each(|packet| packet.move_trail(places));
        }
        self.take_flows(&mut other, theirs);
        for rank in 0..self.hosts.adapters.len() {
            let (ours, its) = (&mut self.hosts.adapters[rank], &mut other.hosts.adapters[rank]);
            if theirs(ours.node) {
                std::mem::swap(ours, its);
                std::mem::swap(&mut self.hosts.echoes[rank], &mut other.hosts.echoes[rank]);
                let link = self.hosts.adapters[rank].link;
                self.take_credit(&mut other, &link);
            }
        }
        for rank in 0..self.switches.len() {
            if theirs(self.switches[rank].state.node) {
                for output in 0..self.switches[rank].state.degree {
                    let link = self.switches[rank].state.output(output).link;
                    self.take_credit(&mut other, &link);
                }
                std::mem::swap(&mut self.switches[rank], &mut other.switches[rank]);
            }
        }
        self.shared.hops += other.shared.hops;
        self.shared.together += other.shared.together;
        self.shared.packets += other.shared.packets;
        self.shared.faults.join(&other.shared.faults, theirs);
        self.observer.join(other.observer, theirs);
    }

    /// Takes over the flow ends, pacers and sources of another part's nodes.
    fn take_flows(&mut self, other: &mut Self, theirs: &dyn Fn(NodeId) -> bool) {
        let (hosts, its) = (&mut self.hosts, &mut other.hosts);
        let ends: Vec<(bool, bool)> = (0..hosts.flows.senders.len() as u32)
            .map(|flow| hosts.ends_of(FlowId(flow)))
            .map(|(source, destination)| (theirs(source), theirs(destination)))
            .collect();
        hosts.flows.senders.take_over(&mut its.flows.senders, |flow| ends[flow].0);
        hosts.receivers.take_over(&mut its.receivers, |flow| ends[flow].1);
        let adapters = &hosts.adapters;
        hosts.flows.take_pacers(&mut its.flows, |host| theirs(adapters[host as usize].node));
        for i in 0..hosts.sources.len() {
            if theirs(hosts.node_of_source(i)) {
                std::mem::swap(&mut hosts.sources[i], &mut its.sources[i]);
            }
        }
        hosts.jobs.take(&mut its.jobs, theirs);
    }

    /// Takes over the credit or the gates of a link.
    fn take_credit(&mut self, other: &mut Self, link: &EgressLink) {
        let lanes = link.credit_index(0)..link.credit_index(self.shared.config.vls);
        match self.shared.config.flow_control {
            FlowControl::Credits | FlowControl::Cbfc(_) => {
                self.shared.credit[lanes.clone()].swap_with_slice(&mut other.shared.credit[lanes]);
            }
            FlowControl::Pfc(_) => self.shared.gates[lanes.clone()].swap_with_slice(&mut other.shared.gates[lanes]),
        }
    }

    /// Assigns all nodes to this part.
    pub(super) fn handle_all(&mut self) {
        self.hosts.jobs.handle_all();
        for adapter in &mut self.hosts.adapters {
            (adapter.link.part, adapter.credit_return.part) = (LOCAL, LOCAL);
        }
        for state in self.switches.iter_mut().map(|switch| &mut switch.state) {
            for port in &mut state.ports {
                (port.output.link.part, port.input.credit_return.part) = (LOCAL, LOCAL);
            }
        }
    }
}
