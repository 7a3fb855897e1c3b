//! Counters and guards of priority-based flow control.

use std::collections::HashMap;

use becalm_engine::Agenda;

use crate::context::Place;
use crate::error::FabricError;
use crate::event::{Event, Signal};
use crate::flow_control::pauses::{Buffer, Pauses};
use crate::ids::PortId;
use crate::policy::{Echo, Marker, Observer, Response};
use crate::sim::fabric::Fabric;
use crate::sim::headrooms::needed_headrooms;
use crate::switch::Slot;

/// The headroom of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headroom {
    /// Size in bytes, above XOFF.
    pub bytes: u32,
    /// Maximum number of bytes in use since the start of the run.
    pub most: u32,
}

/// A buffer's port and VL, the buffer, the bytes found in it by a separate count, and the index of its
/// sender's gate.
type Checked<'a> = (PortId, usize, &'a Buffer, u32, usize);

impl<R: Response, K: Marker, E: Echo + Clone, O: Observer> Fabric<R, K, E, O> {
    /// The buffers of a node; `None` with credits, and for a host without a drain rate.
    fn pauses_of(&self, place: Place) -> Option<&Pauses> {
        match place {
            Place::Host(rank) => self.hosts.adapters[rank as usize].pauses.as_deref(),
            Place::Switch(rank) => self.switches[rank as usize].state.pauses.as_deref(),
        }
    }

    /// The headroom of an input's buffer; `None` with credits, and at a host without a drain rate.
    pub fn headroom(&self, input: PortId, vl: u8) -> Option<Headroom> {
        let pauses = self.pauses_of(self.shared.places[input.node.index()])?;
        let at = usize::from(input.port) * usize::from(self.shared.config.vls) + usize::from(vl);
        let Buffer { headroom, most_over, .. } = pauses.buffers[at];
        Some(Headroom { bytes: headroom, most: most_over })
    }

    /// Whether a storm, and not the buffer's contents, pauses the sender of an input.
    pub(super) fn is_stormed(&self, input: PortId, vl: u8) -> bool {
        let at = usize::from(input.port) * usize::from(self.shared.config.vls) + usize::from(vl);
        let pauses = self.pauses_of(self.shared.places[input.node.index()]);
        pauses.is_some_and(|pauses| pauses.buffers[at].stormed)
    }

    /// The overflow error of a buffer that has needed more headroom than it has.
    pub fn overflow(&self) -> Option<FabricError> {
        self.shared.config.flow_control.pfc()?;
        let nodes = (0u32..).zip(&self.shared.places);
        let mut pauses = nodes.filter_map(|(node, &place)| Some((node, self.pauses_of(place)?)));
        let (node, at, buffer) =
            pauses.find_map(|(node, pauses)| pauses.overflow().map(|at| (node, at, &pauses.buffers[at])))?;
        let vls = usize::from(self.shared.config.vls);
        let (port, vl, shared) = (at / vls, at % vls, &self.shared);
        let packets = &self.hosts.flows.packets;
        let needed = needed_headrooms(&shared.topology, &shared.config, packets, &shared.changes)?;
        Some(FabricError::Overflow {
            buffer: format!("{}[{port}]", shared.topology.nodes()[node as usize].name),
            vl,
            given: buffer.headroom,
            needed: buffer.most_over,
            sum: needed[node as usize][port],
        })
    }

    /// Checks that no buffer has overflowed, that counts are correct, and that every gate matches its buffer.
    pub(super) fn check_pauses(&self, agenda: &Agenda<Event>) -> Result<(), FabricError> {
        self.overflow().map_or(Ok(()), Err)?;
        let held = self.held_back(agenda);
        let problem = self.checked().find_map(|(port, vl, buffer, taken, gate)| {
            let found = taken + held.get(&(port, vl)).copied().unwrap_or(0);
            let agrees = self.shared.gates[gate].will_be_open() != (buffer.paused || buffer.stormed);
            let problem = match (found == buffer.taken, agrees) {
                (true, true) => return None,
                (false, _) => format!("{found} B found, {} B counted", buffer.taken),
                (_, false) => "the sender's gate does not match".to_string(),
            };
            let name = &self.shared.topology.node(port.node).name;
            Some(FabricError::Guard(format!("buffer {name}[{}], VL {vl}: {problem}", port.port)))
        });
        problem.map_or(Ok(()), Err)
    }

    /// Bytes per buffer that have arrived and are held until they cannot run dry on a faster link.
    fn held_back(&self, agenda: &Agenda<Event>) -> HashMap<(PortId, usize), u32> {
        let mut held = HashMap::new();
        for entry in agenda.pending() {
            let (Event::Signal(word), Place::Switch(rank)) =
                (entry.event, self.shared.places[entry.key.target() as usize])
            else {
                continue;
            };
            let Signal::Ready(slot) = word.signal() else { continue };
            let state = &self.switches[rank as usize].state;
            let packet = state.pool.get(Slot::from(slot)).packet;
            *held.entry((state.port(entry.key.source()), usize::from(packet.vl))).or_default() += packet.size;
        }
        held
    }

    fn checked(&self) -> impl Iterator<Item = Checked<'_>> {
        let vls = usize::from(self.shared.config.vls);
        let of_switches = self.switches.iter().flat_map(move |switch| {
            let (state, pauses) = (&switch.state, switch.state.pauses.iter().flat_map(|pauses| &pauses.buffers));
            pauses.zip(&state.ports).enumerate().map(move |(at, (buffer, port))| {
                let gate = port.input.credit_return.first_credit as usize + at % vls;
                (state.port((at / vls) as u16), at % vls, buffer, port.input.taken, gate)
            })
        });
        let of_hosts = self.hosts.adapters.iter().flat_map(|adapter| {
            let pauses = adapter.pauses.iter().flat_map(|pauses| &pauses.buffers);
            pauses.zip(&adapter.taken).enumerate().map(|(vl, (buffer, &taken))| {
                (adapter.port(), vl, buffer, taken, adapter.credit_return.first_credit as usize + vl)
            })
        });
        of_switches.chain(of_hosts)
    }
}
