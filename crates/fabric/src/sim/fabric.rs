//! The model run by the engine: hosts, switches and the events between them.

use becalm_engine::{Agenda, Key, Model, Time};
use becalm_workload::Rank;

use crate::context::{Context, Place, Shared};
use crate::event::Event;
use crate::faults::{Fault, FaultKind, Toll};
use crate::host::Hosts;
use crate::ids::{FlowId, PortId};
use crate::network::topology::Topology;
use crate::policy::{Echo, Marker, Observer, Response};
use crate::switch::{StormReport, Switch};

/// A lossless network with its traffic. `R` is the response function, `K` the marker, `E` the echo, `O` the
/// observer.
#[derive(Debug)]
pub struct Fabric<R, K, E, O> {
    /// The observer of the run.
    pub observer: O,
    pub(crate) hosts: Hosts<R, E>,
    pub(crate) switches: Vec<Switch<K>>,
    pub(crate) shared: Shared,
}

impl<R: Response, K: Marker, E: Echo + Clone, O: Observer> Fabric<R, K, E, O> {
    /// The network.
    pub fn topology(&self) -> &Topology {
        &self.shared.topology
    }

    /// Number of flows.
    pub fn flow_count(&self) -> usize {
        self.hosts.flows.senders.len()
    }

    /// Number of times that a packet, including ACKs and CNPs, has started to cross a link.
    pub fn packet_hops(&self) -> u64 {
        self.shared.hops + self.shared.together
    }

    /// Number of times that a train or a single packet has started to cross a link.
    pub fn train_hops(&self) -> u64 {
        self.shared.hops
    }

    /// Number of job ranks that have not finished.
    pub fn open_ranks(&self) -> u32 {
        self.hosts.jobs.open_ranks()
    }

    /// The state of a job's rank.
    pub fn rank(&self, job: usize, rank: u32) -> &Rank {
        self.hosts.jobs.rank(job, rank)
    }

    /// The markers, in the order of the switches in the topology.
    pub fn markers(&self) -> impl Iterator<Item = &K> {
        self.switches.iter().map(|switch| &switch.marker)
    }

    /// The responses, in the order of [`FabricSpec::responses`](crate::FabricSpec::responses).
    pub fn responses(&self) -> impl Iterator<Item = &R> {
        self.hosts.flows.responses.made()
    }

    /// Reports all departures from switches up to now to the observer, then calls its `settle`.
    pub fn settle(&mut self, now: Time) {
        for switch in &mut self.switches {
            switch.state.settle_all(now, &mut self.observer);
        }
        self.observer.settle();
    }

    /// Returns the observer and frees everything else.
    pub fn into_observer(self) -> O {
        self.observer
    }

    /// Changes the response of a flow, and of all flows that share it. Its pace applies from `due`, which
    /// must be in the future and equal the response's deadline.
    pub fn set_response(&mut self, id: FlowId, response: R, due: Time, agenda: &mut Agenda<Event>) {
        let hosts = &mut self.hosts;
        hosts.flows.make(id);
        let pacer = hosts.flows.senders[id.index()].pacer;
        let own = &mut hosts.flows.pacers[pacer as usize];
        (own.is_steady, own.follows_sending) = (false, false);
        own.set_timer(own.timer().filter(|pending| *pending == due));
        let mut response = Some(response);
        let own = hosts.flows.responses.get_or_make(pacer as usize, || response.take().expect("made once"));
        response.into_iter().for_each(|response| *own = response);
        let mut cx = Context { now: Time(due.0 - 1), agenda, shared: &mut self.shared, observer: &mut self.observer };
        hosts.arm_timer(pacer, &mut cx);
    }

    /// Records the round-trip times of each flow from now on.
    pub fn note_rtts(&mut self) {
        self.hosts.rtts = vec![Time::ZERO; self.flow_count()];
    }

    /// Whether no flow has a packet to send, and no source is blocked by a full send queue.
    pub fn is_silent(&self) -> bool {
        let mut senders = self.hosts.flows.senders.made();
        senders.all(|sender| !sender.has_packet()) && self.hosts.sources.iter().all(|source| source.held.is_none())
    }

    /// What a fault has held up. A fault that has not ended counts what waits now.
    pub fn toll(&self, fault: usize, now: Time) -> Toll {
        let (toll, Fault { port, kind, begin, end }) =
            (self.shared.faults.tolls[fault], self.shared.faults.list[fault]);
        if now < begin {
            return Toll::default();
        }
        let is_host = matches!(self.shared.places[port.node.index()], Place::Host(_));
        if now >= end || matches!(kind, FaultKind::Storm(_)) || is_host && !kind.fills_hosts() {
            return toll;
        }
        let (held, held_bytes) = match self.shared.places[port.node.index()] {
            Place::Switch(rank) => self.switches[rank as usize].state.waiting_for_output(port.port),
            Place::Host(rank) => self.hosts.adapters[rank as usize].in_receive_buffer(),
        };
        Toll { held, held_bytes, ..toll }
    }

    /// What the watchdog of a switch's output has found and discarded on a lane; `None` without a watchdog, and if the other
    /// end of the link cannot pause it.
    pub fn storms(&self, output: PortId, vl: u8, now: Time) -> Option<StormReport> {
        let Place::Switch(rank) = self.shared.places[output.node.index()] else { return None };
        let state = &self.switches[rank as usize].state;
        let link = state.output(output.port).link;
        let dog = state.watchdog.as_ref().filter(|_| link.gated())?;
        let peer = link.peer();
        let overflow = match self.shared.places[peer.node.index()] {
            Place::Host(rank) => {
                self.hosts.adapters[rank as usize].lost.get(usize::from(vl)).copied().unwrap_or((0, 0))
            }
            Place::Switch(rank) => {
                let other = &self.switches[rank as usize].state;
                other.watchdog.as_ref().map_or((0, 0), |dog| dog.report(other.at(peer.port, vl), now).overflow)
            }
        };
        Some(StormReport { overflow, ..dog.report(state.at(output.port, vl), now) })
    }

    /// Whether a fault that never ends has begun. What it holds up never moves again.
    pub fn is_held_up(&self, now: Time) -> bool {
        self.shared.faults.is_permanent(now)
    }

    /// Packets that exist now.
    pub fn packets_in_flight(&self) -> usize {
        self.shared.packets as usize
    }
}

impl<R: Response, K: Marker, E: Echo + Clone, O: Observer> Model for Fabric<R, K, E, O> {
    type Event = Event;

    #[inline(always)]
    fn handle(&mut self, now: Time, key: Key, event: &Event, agenda: &mut Agenda<Event>) {
        let place = self.shared.places[key.target() as usize];
        let mut cx = Context { now, agenda, shared: &mut self.shared, observer: &mut self.observer };
        match place {
            Place::Switch(rank) => self.switches[rank as usize].handle(key.source(), event, &mut cx),
            Place::Host(rank) => self.hosts.handle(rank, event, &mut cx),
        }
    }
}
