//! The state that all nodes share, and the context in which a node handles an event.

use becalm_engine::{Agenda, Key, Time, mix};

use crate::config::{RateChange, SwitchConfig, Unit};
use crate::event::{Event, Signal, Word};
use crate::faults::Faults;
use crate::flow_control::credit::{CreditReturn, LinkCredit};
use crate::flow_control::gate::Gate;
use crate::ids::{NodeId, PortId, SourceId};
use crate::message::{Message, Recorded};
use crate::network::link::{Control, EgressLink, LOCAL};
use crate::network::routing::Routes;
use crate::network::topology::Topology;
use crate::packet::Packet;
use crate::policy::Observer;
use crate::trail::Trails;

/// A node's index in the list of its kind.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    Host(u32),
    Switch(u32),
}

/// The state that all nodes share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub topology: Topology,
    pub routes: Routes,
    /// Indexed by node.
    pub places: Vec<Place>,
    pub config: SwitchConfig,
    /// The unit of credit, and the number of units that a packet of the largest size needs.
    pub unit: Unit,
    pub largest: u32,
    pub changes: Vec<RateChange>,
    pub faults: Faults,
    /// Packets created minus packets consumed by this part's hosts.
    pub packets: i64,
    /// Empty with PFC.
    pub credit: Vec<LinkCredit>,
    pub trails: Trails,
    /// Empty with credit-based flow control.
    pub gates: Vec<Gate>,
    pub hops: u64,
    /// Packet-hops beyond one for each hop of a train.
    pub together: u64,
    /// Messages for other parts, indexed by part.
    pub outboxes: Vec<Vec<Message>>,
}

/// The context in which a node handles an event.
pub(crate) struct Context<'a, O> {
    pub now: Time,
    pub agenda: &'a mut Agenda<Event>,
    pub shared: &'a mut Shared,
    pub observer: &'a mut O,
}

impl<O: Observer> Context<'_, O> {
    /// Schedules an event; `tie` orders simultaneous events of the same kind.
    #[inline(always)]
    pub fn schedule(&mut self, time: Time, node: NodeId, port: u16, tie: u64, signal: Signal) {
        self.put(time, Key::new(node.0, signal.kind(), tie, port), signal.into());
    }

    /// Schedules an event by its rank. The event usually belongs to the same group.
    #[inline(never)]
    fn put(&mut self, time: Time, key: Key, signal: Word) {
        self.agenda.signal(time, key, signal.0);
    }

    /// Schedules the event of a source. A hash orders sources that begin at the same time. Equal hashes are
    /// ordered by source number.
    pub fn post(&mut self, time: Time, host: NodeId, source: SourceId, seed: u64) {
        self.schedule(time, host, source.0 as u16, mix(seed, u64::from(source.0)), Signal::Post(source));
    }

    /// Transmits a packet on a link for this time. Returns when its last byte leaves.
    #[inline(always)]
    pub fn launch(&mut self, from: PortId, link: &EgressLink, packet: &Packet, transmission: Time) -> Time {
        let tail = self.now + transmission;
        let arrival = if link.whole { tail } else { self.now } + link.delay;
        self.shared.hops += 1;
        self.observer.hop(self.now, from, packet);
        self.observer.sending(self.now, from, tail);
        let key = link.arrivals.with_tie(packet.tie);
        if link.part == LOCAL {
            self.agenda.at_with(arrival, key, || Event::Arrive(*packet));
        } else {
            self.launch_away(link.part, (arrival, key), packet);
        }
        tail
    }

    /// Notifies another part of a packet that arrives there.
    #[inline(never)]
    fn launch_away(&mut self, part: u16, at: (Time, Key), packet: &Packet) {
        let packet = *packet;
        let message = match self.shared.trails.end(&packet) {
            None => Message::Packet { at, packet },
            Some(trail) => Message::Recorded(Box::new(Recorded { at, packet, trail })),
        };
        self.shared.outboxes[usize::from(part)].push(message);
    }

    /// Returns credit to the sender that fills a buffer, effective at `time`, which is now or later.
    #[inline(always)]
    pub fn return_credit(&mut self, way: &CreditReturn, vl: u8, units: u32, time: Time) {
        let time = time + way.delay;
        let credit = way.first_credit + u32::from(vl);
        if way.part != LOCAL {
            return self.return_credit_away(way, (credit, vl), units, time);
        }
        // Another group's clock may be behind, but by less than the link's delay.
        let past = Time(self.now.0.saturating_sub(way.delay.0));
        if self.shared.credit[credit as usize].give_back(units, time, past) {
            self.call(way.sender, vl, time);
        }
    }

    /// Notifies another part of credit that it regains at `time`.
    #[inline(never)]
    fn return_credit_away(&mut self, way: &CreditReturn, credit: (u32, u8), units: u32, time: Time) {
        let message = Message::Credit { time, sender: way.sender, credit, units };
        self.shared.outboxes[usize::from(way.part)].push(message);
    }

    /// Tells the sender that fills a buffer to stop or to resume.
    pub fn pause(&mut self, way: &CreditReturn, vl: u8, stops: bool) {
        let time = self.now + way.delay;
        let gate = way.first_credit + u32::from(vl);
        if way.part != LOCAL {
            let message = Message::Gate { time, sender: way.sender, gate: (gate, vl), open: !stops };
            return self.shared.outboxes[usize::from(way.part)].push(message);
        }
        let past = Time(self.now.0.saturating_sub(way.delay.0));
        if self.shared.gates[gate as usize].change(!stops, time, past) {
            self.call(way.sender, vl, time);
        }
    }

    /// Removes a packet that a watchdog discards.
    pub fn lose(&mut self, packet: &Packet) {
        self.shared.packets -= 1;
        self.shared.trails.end(packet);
    }

    /// Schedules a call for a sender that lacks credit or whose gate is closed.
    pub fn wait_for_credit(&mut self, from: PortId, link: &EgressLink, vl: u8) {
        let at = link.credit_index(vl);
        let time = match link.gated() {
            true => self.shared.gates[at].wait(self.now),
            false => self.shared.credit[at].wait(self.now),
        };
        if let Some(time) = time {
            self.call(from, vl, time);
        }
    }

    fn call(&mut self, sender: PortId, vl: u8, time: Time) {
        let (time, key, signal) = Signal::credit(time, sender, vl);
        self.put(time, key, signal.into());
    }

    /// Notes that a sender waiting for credit is called. Returns whether the call is still valid.
    pub fn called(&mut self, link: &EgressLink, vl: u8) -> bool {
        let at = link.credit_index(vl);
        let holds = match link.gated() {
            true => self.shared.gates[at].called(self.now),
            false => self.shared.credit[at].called(self.now),
        };
        if !holds {
            self.agenda.discount();
        }
        holds
    }

    /// Whether a sender has this much credit, or an open gate.
    #[inline(always)]
    pub fn has_credit(&mut self, link: &EgressLink, vl: u8, units: u32) -> bool {
        match link.control {
            Control::Credit => self.shared.credit[link.credit_index(vl)].has(units, self.now),
            Control::Free => true,
            Control::Gate => self.is_open(link, vl),
        }
    }

    #[inline(never)]
    fn is_open(&self, link: &EgressLink, vl: u8) -> bool {
        self.shared.gates[link.credit_index(vl)].is_open(self.now)
    }
}
