//! A recording of single packets, waits and roles, with a limited length, for tools that show traces.

use std::collections::HashMap;

use becalm_engine::Time;
use becalm_fabric::policy::{Delivery, Observer};
use becalm_fabric::{Kind, Packet, PortId, Topology};

use crate::fingerprint::Fingerprint;
use crate::ports::Ports;
use crate::tree::{Role, Tree};

/// Selection of the data to record.
#[derive(Clone, Debug)]
pub struct Selection {
    /// For each flow, whether its packets, messages and gaps are recorded.
    pub flows: Vec<bool>,
    /// For each link, by the index of its port, whether its packets, waits and roles are recorded.
    pub links: Vec<bool>,
    /// Start of the recording.
    pub from: Time,
    /// End of the recording.
    pub until: Time,
    /// Largest number of rows of each kind. The recording ends before the first row that exceeds it.
    pub most: usize,
}

/// A packet sent on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// Time at which the header leaves.
    pub time: Time,
    /// The port.
    pub port: PortId,
    /// The destination's rank among the hosts.
    pub destination: u32,
    /// Flow of the packet.
    pub flow: u32,
    /// Number of the packet within the flow; for an ACK, the number of the last packet that it covers.
    pub sequence: u32,
    /// Bytes on the wire.
    pub size: u32,
    /// Payload bytes.
    pub payload: u32,
    /// Data, ACK or CNP.
    pub kind: Kind,
    /// Virtual lane.
    pub vl: u8,
    /// Whether the packet is the first of its message on this link.
    pub first: bool,
    /// Whether the packet is the last of its message.
    pub last: bool,
    /// Whether the packet carries a mark (FECN).
    pub marked: bool,
    /// Whether the packet reports a mark (BECN).
    pub becn: bool,
    /// Time at which the message was posted.
    pub posted: Time,
}

/// A period in which a lane of a port waited for credit, or had a role in a congestion tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    /// The port.
    pub port: PortId,
    /// Virtual lane.
    pub vl: u8,
    /// The role; `Calm` for a wait.
    pub role: Role,
    /// Start.
    pub begin: Time,
    /// End; for a period that continues, the end of the recording.
    pub end: Time,
}

/// A message that arrived completely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Time of the arrival.
    pub time: Time,
    /// The delivery.
    pub delivery: Delivery,
}

/// A flow's gap from a given time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gap {
    /// Time of the sample.
    pub time: Time,
    /// The flow.
    pub flow: u32,
    /// Idle time after a packet, as a multiple of its transmission time.
    pub gap: f64,
}

/// The recorded data; each kind is in chronological order.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// Packets on links.
    pub hops: Vec<Hop>,
    /// Waits for credit.
    pub waits: Vec<Period>,
    /// Roles in congestion trees.
    pub roles: Vec<Period>,
    /// Messages.
    pub messages: Vec<Arrival>,
    /// Changes of flows' gaps.
    pub gaps: Vec<Gap>,
    /// End of the recording, which is the selection's end or the time of the first row beyond the limit.
    pub end: Time,
}

/// The recording observer. It sees the entire run, and works only on one thread.
#[derive(Clone, Debug)]
pub struct Recorder {
    /// Fingerprint of the run so far.
    pub fingerprint: Fingerprint,
    selection: Selection,
    /// For each flow, the bytes of a data packet in addition to its payload.
    headers: Vec<u32>,
    ports: Ports,
    vls: usize,
    tree: Tree,
    /// For each lane, the start of its current wait.
    waiting: Vec<Option<Time>>,
    /// For each lane, its role and the start of the role.
    roles: Vec<(Role, Time)>,
    /// For each link and flow, whether the next data packet begins a message.
    begins: HashMap<(u32, u32), bool>,
    /// For each flow, its last gap.
    last_gaps: Vec<f64>,
    recording: Recording,
}

impl Recorder {
    /// Records a run from time zero; `capacity` is an input buffer's size in bytes, and `headers` are the header bytes
    /// of each flow's data packets.
    pub fn new(topology: &Topology, vls: u8, capacity: u32, headers: Vec<u32>, selection: Selection) -> Recorder {
        let (ports, vls) = (Ports::new(topology), usize::from(vls));
        let lanes = ports.len() * vls;
        Recorder {
            fingerprint: Fingerprint::default(),
            tree: Tree::new(topology, vls as u8, capacity, Time::ZERO),
            waiting: vec![None; lanes],
            roles: vec![(Role::Calm, Time::ZERO); lanes],
            begins: HashMap::new(),
            last_gaps: vec![0.0; selection.flows.len()],
            recording: Recording { end: selection.until, ..Recording::default() },
            selection,
            headers,
            ports,
            vls,
        }
    }

    /// Whether the recording has ended by `now`.
    pub fn is_over(&self, now: Time) -> bool {
        now >= self.recording.end
    }

    /// Records the gap of a flow, if the flow is selected and the gap is new.
    pub fn gap(&mut self, time: Time, flow: u32, gap: f64) {
        let place = flow as usize;
        if self.selection.flows[place] && self.is_recording(time) && self.last_gaps[place] != gap {
            self.last_gaps[place] = gap;
            add(&mut self.recording.gaps, Gap { time, flow, gap }, time, self.selection.most, &mut self.recording.end);
        }
    }

    /// The recording up to `now`, or to its end if that was earlier.
    pub fn finish(mut self, now: Time, ports: &[PortId]) -> Recording {
        let end = self.recording.end.min(now);
        for &port in ports {
            for vl in 0..self.vls as u8 {
                let lane = self.lane(port, vl);
                self.end_wait(end, lane, port, vl);
                self.end_role(end, lane, port, vl);
            }
        }
        let Recording { mut hops, mut waits, mut roles, mut messages, mut gaps, end: cut } = self.recording;
        let end = cut.min(now);
        hops.retain(|hop| hop.time < end);
        messages.retain(|message| message.time < end);
        gaps.retain(|gap| gap.time < end);
        for periods in [&mut waits, &mut roles] {
            periods.retain(|period| period.begin < end);
            periods.iter_mut().for_each(|period| period.end = period.end.min(end));
            periods.sort_by_key(|period| (period.begin, period.port.node.0, period.port.port, period.vl));
        }
        Recording { hops, waits, roles, messages, gaps, end }
    }

    fn is_recording(&self, now: Time) -> bool {
        now >= self.selection.from && now < self.recording.end
    }

    fn lane(&self, port: PortId, vl: u8) -> usize {
        self.ports.index(port) * self.vls + usize::from(vl)
    }

    fn period(&self, port: PortId, vl: u8, role: Role, begin: Time, end: Time) -> Option<Period> {
        let begin = begin.max(self.selection.from);
        let selected = self.selection.links[self.ports.index(port)];
        (selected && begin < end && begin < self.recording.end).then_some(Period { port, vl, role, begin, end })
    }

    fn end_wait(&mut self, now: Time, lane: usize, port: PortId, vl: u8) {
        let Some(begin) = self.waiting[lane].take() else { return };
        if let Some(wait) = self.period(port, vl, Role::Calm, begin, now) {
            add(&mut self.recording.waits, wait, wait.begin, self.selection.most, &mut self.recording.end);
        }
    }

    fn end_role(&mut self, now: Time, lane: usize, port: PortId, vl: u8) {
        let (role, begin) = std::mem::replace(&mut self.roles[lane], (Role::Calm, now));
        if role == Role::Calm {
            return;
        }
        if let Some(period) = self.period(port, vl, role, begin, now) {
            add(&mut self.recording.roles, period, period.begin, self.selection.most, &mut self.recording.end);
        }
    }

    /// Updates the recorded role of a lane after a change.
    fn settle(&mut self, now: Time, port: PortId, vl: u8) {
        let (lane, role) = (self.lane(port, vl), self.tree.role(port, vl));
        if self.roles[lane].0 != role {
            self.end_role(now, lane, port, vl);
            self.roles[lane] = (role, now);
        }
    }
}

/// Adds a row if the limit allows it; otherwise the recording ends at the time of this row.
fn add<T>(rows: &mut Vec<T>, row: T, time: Time, most: usize, end: &mut Time) {
    match rows.len() < most {
        true => rows.push(row),
        false => *end = (*end).min(time),
    }
}

impl Observer for Recorder {
    fn hop(&mut self, now: Time, from: PortId, packet: &Packet) {
        self.fingerprint.hop(now, from, packet);
        self.tree.hop(now, from, packet);
        self.settle(now, from, packet.vl);
        let link = self.ports.index(from);
        if !self.selection.links[link] || !self.selection.flows[packet.flow.index()] {
            return;
        }
        let mut first = false;
        if packet.kind == Kind::Data {
            first = self.begins.insert((link as u32, packet.flow.0), packet.train.is_last()).unwrap_or(true);
        }
        if !self.is_recording(now) {
            return;
        }
        let headers = packet.train.packets() * self.headers[packet.flow.index()];
        let hop = Hop {
            time: now,
            port: from,
            destination: packet.destination,
            flow: packet.flow.0,
            sequence: packet.sequence,
            size: packet.size,
            payload: if packet.kind == Kind::Data { packet.size - headers } else { 0 },
            kind: packet.kind,
            vl: packet.vl,
            first,
            last: packet.train.is_last() && packet.kind == Kind::Data,
            marked: packet.marked,
            becn: packet.becn(),
            posted: packet.posted,
        };
        add(&mut self.recording.hops, hop, now, self.selection.most, &mut self.recording.end);
    }

    fn delivered(&mut self, now: Time, packet: &Packet) {
        self.fingerprint.delivered(now, packet);
    }

    fn message(&mut self, now: Time, delivery: &Delivery) {
        if self.selection.flows[delivery.flow.index()] && self.is_recording(now) {
            let arrival = Arrival { time: now, delivery: *delivery };
            add(&mut self.recording.messages, arrival, now, self.selection.most, &mut self.recording.end);
        }
    }

    fn queue(&mut self, now: Time, output: PortId, vl: u8, bytes: u64) {
        self.tree.queue(now, output, vl, bytes);
        self.settle(now, output, vl);
    }

    fn stalled(&mut self, now: Time, output: PortId, vl: u8, stalled: bool) {
        self.tree.stalled(now, output, vl, stalled);
        self.settle(now, output, vl);
        let lane = self.lane(output, vl);
        match stalled {
            true => self.waiting[lane] = Some(now),
            false => self.end_wait(now, lane, output, vl),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fingerprint::tests::packet;
    use becalm_fabric::{NodeId, Rate, Train};

    const TRUNK: PortId = PortId { node: NodeId(0), port: 0 };
    const OTHER: PortId = PortId { node: NodeId(0), port: 1 };

    /// A switch with two cables to another switch, and two flows; the first of each is recorded.
    fn recorder(from: u64, until: u64, most: usize) -> Recorder {
        let mut topology = Topology::default();
        let (switch, other) = (topology.add_switch("S"), topology.add_switch("T"));
        for _ in 0..2 {
            topology.connect(switch, other, Rate::from_bits_per_second(8e9), Time::ZERO);
        }
        let selection = Selection {
            flows: vec![true, false],
            links: vec![true, false, false, false],
            from: Time(from),
            until: Time(until),
            most,
        };
        Recorder::new(&topology, 1, 100, vec![0; 2], selection)
    }

    fn sends(recorder: &mut Recorder, now: u64, port: PortId, flow: u32, sequence: u32, last: bool) {
        recorder.hop(Time(now), port, &Packet { train: Train::new(1, last), ..packet(flow, sequence, Time::ZERO) });
    }

    #[test]
    fn records_the_selected_flows_links_and_times_only() {
        let mut recorder = recorder(10, 40, 100);
        sends(&mut recorder, 5, TRUNK, 0, 0, false);
        sends(&mut recorder, 15, TRUNK, 0, 1, true);
        sends(&mut recorder, 20, TRUNK, 0, 2, true);
        sends(&mut recorder, 21, OTHER, 0, 3, true);
        sends(&mut recorder, 22, TRUNK, 1, 0, true);
        sends(&mut recorder, 40, TRUNK, 0, 4, true);
        let found = recorder.finish(Time(50), &[TRUNK, OTHER]);
        let rows: Vec<_> = found.hops.iter().map(|hop| (hop.time.0, hop.sequence, hop.first, hop.last)).collect();
        assert_eq!(rows, [(15, 1, false, true), (20, 2, true, true)]);
        assert_eq!(found.end, Time(40));
    }

    #[test]
    fn a_full_recording_ends_before_the_first_row_without_a_place() {
        let mut recorder = recorder(0, 100, 2);
        for now in [10, 20, 30, 40] {
            sends(&mut recorder, now, TRUNK, 0, now as u32, true);
        }
        recorder.gap(Time(25), 0, 1.0);
        recorder.gap(Time(35), 0, 2.0);
        let found = recorder.finish(Time(100), &[TRUNK]);
        assert_eq!((found.end, found.hops.len(), found.gaps.len()), (Time(30), 2, 1));
    }

    #[test]
    fn waits_and_roles_are_cut_to_the_recorded_time() {
        let mut recorder = recorder(10, 40, 100);
        recorder.queue(Time(1), TRUNK, 0, 90);
        recorder.stalled(Time(5), TRUNK, 0, true);
        recorder.stalled(Time(15), TRUNK, 0, false);
        recorder.queue(Time(30), TRUNK, 0, 80);
        sends(&mut recorder, 30, TRUNK, 0, 0, true);
        recorder.queue(Time(32), TRUNK, 0, 0);
        sends(&mut recorder, 32, TRUNK, 0, 1, true);
        recorder.queue(Time(35), TRUNK, 0, 90);
        let found = recorder.finish(Time(60), &[TRUNK, OTHER]);
        let times = |periods: &[Period]| -> Vec<_> {
            periods.iter().map(|period| (period.role.name(), period.begin.0, period.end.0)).collect()
        };
        assert_eq!(times(&found.waits), [("calm", 10, 15)]);
        assert_eq!(times(&found.roles), [("branch", 10, 32), ("root", 35, 40)]);
    }
}
