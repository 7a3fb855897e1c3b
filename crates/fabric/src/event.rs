//! What happens between and within nodes, and what handling it may touch.

use becalm_engine::{Agenda, Key, Time};

use crate::config::{SwitchConfig, Switching};
use crate::flow_control::credit::LinkCredit;
use crate::ids::{NodeId, PacketId, PortId, SourceId};
use crate::network::link::Rate;
use crate::network::topology::Topology;
use crate::packet::PacketArena;
use crate::parallel::fabric::Message;
use crate::policy::Observer;

/// An event at a node; the node is the key's target, the port its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Credit has come for a sender that waits for it.
    Credit {
        /// Virtual lane.
        vl: u8,
    },
    /// The last byte of a packet has left a switch by the port.
    Tail {
        /// The port it had come in by.
        input: u16,
        /// Its virtual lane.
        vl: u8,
        /// What it took of the input buffer.
        units: u32,
    },
    /// At a switch: the header is through and the output known. At a host: the last byte is in.
    Arrive(PacketId),
    /// At a switch: a packet from a slow link may start on a faster one without running dry.
    Ready(PacketId),
    /// An adapter has reason to look whether it can send.
    Wake,
    /// A source has something to do.
    Post(SourceId),
    /// A response wanted to be told; the number of its pacer.
    Timer(u32),
    /// At a host: a packet has been taken in.
    Drained(PacketId),
    /// The link behind the port gets another rate; its place in the list of changes.
    Rate(u32),
}

impl Event {
    /// Rank of the kind among events of the same time and node: what frees resources comes first.
    pub(crate) const fn kind(self) -> u8 {
        match self {
            Event::Credit { .. } => 0,
            Event::Tail { .. } => 1,
            Event::Arrive(_) | Event::Ready(_) => 2,
            Event::Drained(_) => 2,
            Event::Timer(_) => 3,
            Event::Post(_) => 4,
            Event::Wake => 5,
            Event::Rate(_) => 6,
        }
    }

    /// The event that tells a waiting sender of credit, with its time and rank.
    #[inline]
    pub(crate) fn credit(time: Time, sender: PortId, vl: u8) -> (Time, Key, Event) {
        let event = Event::Credit { vl };
        (time, Key::new(sender.node.0, event.kind(), u64::from(vl), sender.port), event)
    }

    /// The same event for a packet that has another number.
    pub(crate) fn with_packet(self, renumber: impl Fn(PacketId) -> PacketId) -> Event {
        match self {
            Event::Arrive(id) => Event::Arrive(renumber(id)),
            Event::Ready(id) => Event::Ready(renumber(id)),
            Event::Drained(id) => Event::Drained(renumber(id)),
            Event::Credit { .. }
            | Event::Tail { .. }
            | Event::Wake
            | Event::Post(_)
            | Event::Timer(_)
            | Event::Rate(_) => self,
        }
    }
}

/// The outgoing half of a cable, as its sender sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EgressLink {
    pub peer: PortId,
    pub to_switch: bool,
    /// Whether the buffer at the other end can fill up: that of a switch, or of a host with a drain rate.
    pub credited: bool,
    pub rate: Rate,
    pub delay: Time,
    /// The lines of credit of this link, by VL: from this place on.
    pub first_credit: u32,
    /// The part that the peer belongs to, or [`LOCAL`].
    pub part: u16,
}

/// The same part: a thread of its own handles both ends of the link.
pub(crate) const LOCAL: u16 = u16::MAX;

impl EgressLink {
    /// The line of credit for a VL.
    #[inline]
    pub fn credit_index(&self, vl: u8) -> usize {
        self.first_credit as usize + usize::from(vl)
    }
}

/// The way of credit from an input buffer back to the sender at the other end of the cable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CreditReturn {
    pub sender: PortId,
    pub delay: Time,
    /// The sender's line of credit, for VL 0.
    pub first_credit: u32,
    /// The part that the sender belongs to, or [`LOCAL`].
    pub part: u16,
}

/// What all nodes share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub topology: Topology,
    pub config: SwitchConfig,
    pub arena: PacketArena,
    pub credit: Vec<LinkCredit>,
    pub hops: u64,
    /// What other parts are to be told, by part.
    pub outboxes: Vec<Vec<Message>>,
}

/// What the handling of an event may touch besides the node itself.
pub(crate) struct Context<'a, O> {
    pub now: Time,
    pub agenda: &'a mut Agenda<Event>,
    pub shared: &'a mut Shared,
    pub observer: &'a mut O,
}

impl<O: Observer> Context<'_, O> {
    /// Schedules an event; `tie` decides among equal kinds of the same time.
    #[inline]
    pub fn schedule(&mut self, time: Time, node: NodeId, port: u16, tie: u64, event: Event) {
        self.agenda.at(time, Key::new(node.0, event.kind(), tie, port), event);
    }

    /// Sends a packet over a link from now on, in this time; returns when its last byte leaves.
    #[inline]
    pub fn launch(&mut self, from: PortId, link: &EgressLink, id: PacketId, transmission: Time) -> Time {
        let packet = &self.shared.arena[id];
        let tail = self.now + transmission;
        let arrival = match (link.to_switch, self.shared.config.switching) {
            (true, Switching::CutThrough) => self.now + link.delay + self.shared.config.forwarding_delay,
            (true, Switching::StoreAndForward) => tail + link.delay + self.shared.config.forwarding_delay,
            (false, _) => tail + link.delay,
        };
        self.shared.hops += 1;
        self.observer.hop(self.now, from, packet);
        let event = Event::Arrive(id);
        let key = Key::new(link.peer.node.0, event.kind(), u64::from(packet.tie), link.peer.port);
        if link.part == LOCAL {
            self.agenda.at(arrival, key, event);
        } else {
            let packet = self.shared.arena.remove(id);
            self.shared.outboxes[usize::from(link.part)].push(Message::Packet { at: (arrival, key), packet });
        }
        tail
    }

    /// Gives credit back to the sender that fills a buffer, from `time` on: now or later, and never before what has
    /// been given back already.
    #[inline]
    pub fn return_credit(&mut self, way: &CreditReturn, vl: u8, units: u32, time: Time) {
        let time = time + way.delay;
        let line = way.first_credit + u32::from(vl);
        if way.part != LOCAL {
            let message = Message::Credit { time, sender: way.sender, line: (line, vl), units };
            self.shared.outboxes[usize::from(way.part)].push(message);
            return;
        }
        // Another group may be behind, but by less than the delay of the link.
        let past = Time(self.now.0.saturating_sub(way.delay.0));
        if self.shared.credit[line as usize].give_back(units, time, past) {
            self.call(way.sender, vl, time);
        }
    }

    /// A sender lacks credit: has it called when some comes.
    pub fn wait_for_credit(&mut self, from: PortId, link: &EgressLink, vl: u8) {
        if let Some(time) = self.shared.credit[link.credit_index(vl)].wait(self.now) {
            self.call(from, vl, time);
        }
    }

    fn call(&mut self, sender: PortId, vl: u8, time: Time) {
        let (time, key, event) = Event::credit(time, sender, vl);
        self.agenda.at(time, key, event);
    }

    /// Whether a sender has credit for so many units.
    #[inline]
    pub fn has_credit(&mut self, link: &EgressLink, vl: u8, units: u32) -> bool {
        !link.credited || self.shared.credit[link.credit_index(vl)].has(units, self.now)
    }
}
