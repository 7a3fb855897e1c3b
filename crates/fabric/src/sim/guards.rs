//! Guards: checks that no packets are lost, credits are conserved, flows stay in order and nothing is
//! deadlocked.

use std::collections::{HashMap, HashSet};

use becalm_engine::{Agenda, Time};

use crate::config::{FlowControl, PathSelection};
use crate::context::Place;
use crate::error::FabricError;
use crate::event::{Event, Signal};
use crate::ids::{FlowId, NodeId, PortId};
use crate::network::link::{Control, EgressLink};
use crate::packet::Kind;
use crate::policy::{Echo, Marker, Observer, Response};
use crate::sim::fabric::Fabric;
use crate::switch::{Port, Slot, Switch};

/// An input buffer: (switch rank, port, VL).
type Buffer = (u32, u16, u8);

/// The buffers that the heads of each buffer's queues wait for.
type Waits = HashMap<Buffer, Vec<Option<Buffer>>>;

impl<R: Response, K: Marker, E: Echo + Clone, O: Observer> Fabric<R, K, E, O> {
    /// Checks the invariants that hold between events.
    ///
    /// # Errors
    /// [`FabricError::Guard`] with the violated invariant, which indicates a bug in becalm.
    /// [`FabricError::Overflow`] if headroom is too small.
    pub fn check(&self, agenda: &Agenda<Event>) -> Result<(), FabricError> {
        self.check_packets(agenda)?;
        match self.shared.config.flow_control {
            FlowControl::Credits | FlowControl::Cbfc(_) => self.check_credits(agenda)?,
            FlowControl::Pfc(_) => self.check_pauses(agenda)?,
        }
        self.check_flows()
    }

    /// Checks that every packet is in a queue or on its way to the next node.
    fn check_packets(&self, agenda: &Agenda<Event>) -> Result<(), FabricError> {
        let holds_packet = |event| match event {
            Event::Arrive(_) => true,
            Event::Signal(word) => {
                matches!(word.signal(), Signal::Ready(_) | Signal::Notify(_))
            }
        };
        let travelling = agenda.pending().filter(|entry| holds_packet(entry.event)).count();
        let waiting: usize = self.switches.iter().map(|switch| switch.state.waiting_packets()).sum();
        let answers: usize = self.hosts.adapters.iter().map(|adapter| adapter.answers.len()).sum();
        let draining: usize = self.hosts.adapters.iter().map(|adapter| adapter.draining.len()).sum();
        let found = travelling + waiting + answers + draining;
        let exist = self.packets_in_flight();
        if found != exist {
            return Err(FabricError::Guard(format!("{exist} packets exist, but {found} were found")));
        }
        let trails = self.shared.trails.in_use();
        if trails > exist {
            return Err(FabricError::Guard(format!("{exist} packets exist, but {trails} trails")));
        }
        Ok(())
    }

    /// Checks for every buffer that the sender's credit, the credit and packets on the link, and the occupied
    /// units add up to the buffer's size.
    fn check_credits(&self, agenda: &Agenda<Event>) -> Result<(), FabricError> {
        let mut sums: HashMap<(NodeId, u16, usize), u32> = HashMap::new();
        for entry in agenda.pending() {
            let (node, port) = (NodeId(entry.key.target()), entry.key.source());
            let packet = match (entry.event, self.shared.places[node.index()]) {
                (Event::Arrive(packet), _) => Some(packet),
                (Event::Signal(word), Place::Switch(rank)) => match word.signal() {
                    Signal::Ready(slot) => Some(self.switches[rank as usize].state.pool.get(Slot::from(slot)).packet),
                    _ => None,
                },
                _ => None,
            };
            if let Some(packet) = packet {
                let units = self.shared.unit.of_packet(&packet);
                *sums.entry((node, port, usize::from(packet.vl))).or_default() += units;
            }
        }
        for (port, vl, first_credit, taken) in self.buffers() {
            let moving = sums.get(&(port.node, port.port, vl)).copied().unwrap_or(0);
            let sum = self.shared.credit[first_credit as usize + vl].total() + taken + moving;
            let capacity = self.shared.config.buffer.capacity();
            if sum != capacity {
                let (name, port) = (&self.shared.topology.node(port.node).name, port.port);
                let message = format!("buffer {name}[{port}], VL {vl}: credits add up to {sum}, not {capacity}");
                return Err(FabricError::Guard(message));
            }
        }
        Ok(())
    }

    /// All buffers that can fill up, with VL, index of the sender's credit, and occupied units.
    fn buffers(&self) -> impl Iterator<Item = (PortId, usize, u32, u32)> + '_ {
        let vls = usize::from(self.shared.config.vls);
        let of_switches = self.switches.iter().flat_map(move |switch| {
            let ports = switch.state.ports.iter().enumerate();
            ports.map(move |(at, Port { input, .. })| {
                let port = PortId { node: switch.state.node, port: (at / vls) as u16 };
                (port, at % vls, input.credit_return.first_credit, input.uncredited())
            })
        });
        let draining = self.hosts.adapters.iter().filter(|adapter| adapter.drains);
        let of_hosts = draining.flat_map(|adapter| {
            let taken = adapter.taken.iter().enumerate();
            taken.map(|(vl, &taken)| (adapter.port(), vl, adapter.credit_return.first_credit, taken))
        });
        of_switches.chain(of_hosts)
    }

    fn check_flows(&self) -> Result<(), FabricError> {
        // A flow may take another path while a link is down.
        let moves = self.shared.faults.moves_paths() && self.shared.config.paths != PathSelection::Destination;
        if moves || !self.shared.config.paths.keeps_order() {
            return Ok(());
        }
        let disordered: u64 = self.hosts.receivers.made().map(|receiver| u64::from(receiver.disordered())).sum();
        if disordered > 0 {
            return Err(FabricError::Guard(format!("packets arrived out of order: {disordered}")));
        }
        Ok(())
    }

    /// Finds a cycle of buffers in which each buffer waits forever for space in the next one.
    ///
    /// Starts with all buffers that hold waiting packets and send nothing. Repeatedly removes buffers in
    /// which a packet can still move, until none are left to remove. A packet can still move if its output is
    /// free and has credit for the packet that it sends next, or credit is on its way (with PFC, if the gate is open,
    /// or an opening is on its way), or if the buffer that it waits for has been removed. The remaining buffers never
    /// move again. An output keeps its order: a small packet does not pass a large one that lacks credit.
    pub fn deadlock(&self, now: Time) -> Option<FabricError> {
        let mut waits_for = self.waits(now);
        loop {
            let stuck: HashSet<Buffer> = waits_for.keys().copied().collect();
            waits_for.retain(|_, next| next.iter().all(|next| next.is_some_and(|next| stuck.contains(&next))));
            if waits_for.len() == stuck.len() {
                break;
            }
        }
        let start = *waits_for.keys().min()?;
        Some(self.describe_cycle(start, &waits_for, now))
    }

    /// For every buffer with waiting packets, the buffer that each head of its queues waits for; `None` for a head that
    /// can move.
    fn waits(&self, now: Time) -> Waits {
        let mut waits_for = Waits::new();
        for Switch { state, .. } in &self.switches {
            for (output, vl, packet) in state.next_packets(&self.shared.config) {
                let out = state.output(output);
                let blocked_by = (self.lacks_credit(&out.link, vl, self.shared.config.need_of(packet))
                    && !out.is_sending(now))
                .then(|| self.buffer_at(&out.link, vl))
                .flatten();
                for (input, came_on) in state.waiting_for(output, vl) {
                    let sends = state.ports[state.at(input, came_on)].input.is_sending(now);
                    let blocked_by = if sends { None } else { blocked_by };
                    waits_for.entry((state.rank, input, came_on)).or_default().push(blocked_by);
                }
            }
        }
        waits_for
    }

    /// Number of flows with data packets in buffers that never move again, or at hosts that wait for such a buffer.
    fn stopped(&self, stuck: &Waits) -> usize {
        let mut stopped = HashSet::new();
        for Switch { state, .. } in &self.switches {
            for (packet, (input, vl)) in state.waiting(&self.shared.config) {
                if packet.kind == Kind::Data && stuck.contains_key(&(state.rank, input, vl)) {
                    stopped.insert(packet.flow);
                }
            }
        }
        let flows = &self.hosts.flows;
        let made = (0..flows.senders.len()).filter_map(|i| Some((FlowId(i as u32), flows.senders.get(i)?)));
        for (flow, sender) in made {
            let link = &self.hosts.adapters[flows.pacer_of(flow).host as usize].link;
            let first = self.buffer_at(link, sender.vl);
            let is_stuck = first.is_some_and(|buffer| stuck.contains_key(&buffer));
            if is_stuck
                && sender.has_packet()
                && self.lacks_credit(link, sender.vl, self.shared.config.need(flows.packets.longest()))
            {
                stopped.insert(flow);
            }
        }
        stopped.len()
    }

    /// Whether a sender lacks this many units of credit even after the credit on its way arrives. With PFC, whether
    /// its gate is closed and no opening is on its way.
    fn lacks_credit(&self, link: &EgressLink, vl: u8, units: u32) -> bool {
        let at = link.credit_index(vl);
        match link.control {
            Control::Credit => self.shared.credit[at].total() < units,
            Control::Free => false,
            Control::Gate => self.shared.gates[at].stays_closed() && !self.is_stormed(link.peer(), vl),
        }
    }

    /// The buffer at the other end of a link, unless that is a host.
    fn buffer_at(&self, link: &EgressLink, vl: u8) -> Option<Buffer> {
        let peer = link.peer();
        match self.shared.places[peer.node.index()] {
            Place::Switch(rank) => Some((rank, peer.port, vl)),
            Place::Host(_) => None,
        }
    }

    fn describe_cycle(&self, start: Buffer, waits_for: &Waits, now: Time) -> FabricError {
        let mut path = vec![start];
        let cycle = loop {
            let next = waits_for[path.last().expect("never empty")][0].expect("only waiting buffers remain");
            if let Some(at) = path.iter().position(|&buffer| buffer == next) {
                path.push(next);
                break path.split_off(at);
            }
            path.push(next);
        };
        let name = |(rank, port, _): &Buffer| {
            let node = self.switches[*rank as usize].state.node;
            format!("{}[{port}]", self.shared.topology.node(node).name)
        };
        FabricError::Deadlock {
            time: now.to_string(),
            stopped: self.stopped(waits_for),
            flows: self.hosts.flows.senders.len(),
            cycle: cycle.iter().map(name).collect(),
        }
    }
}
