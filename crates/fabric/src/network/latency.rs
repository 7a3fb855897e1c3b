//! Packet and message latency on an idle network.

use std::collections::{HashMap, VecDeque};

use becalm_engine::Time;

use crate::config::{AdapterConfig, PacketConfig, SwitchConfig, Switching};
use crate::ids::{NodeId, PortId};
use crate::network::link::Rate;
use crate::network::routing::Paths;
use crate::network::topology::{NodeKind, Topology};

/// Latencies without contention, at the rates that links have at the start of the run.
#[derive(Debug)]
pub struct Unloaded<'a> {
    topology: &'a Topology,
    paths: &'a Paths<'a>,
    switching: Switching,
    forwarding_delay: Time,
}

impl<'a> Unloaded<'a> {
    /// The latencies in a network with these switches.
    pub fn new(topology: &'a Topology, paths: &'a Paths<'a>, switch: &SwitchConfig) -> Unloaded<'a> {
        Unloaded { topology, paths, switching: switch.switching, forwarding_delay: switch.forwarding_delay }
    }

    /// Time from the departure of a packet's header at the source to the arrival of its last byte, for a
    /// packet of `size` bytes. `path` lists the ports by which it leaves, see [`Paths::path`].
    pub fn latency(&self, path: &[PortId], size: u32) -> Time {
        let header = path.windows(2).fold(Time::ZERO, |header, ports| header + self.to_next(ports, size));
        let (rate, delay) = self.link(path[path.len() - 1]);
        header + rate.time_of(size) + delay
    }

    /// Time from the posting of a message to the delivery of its last byte, if its host has nothing else to
    /// send and its packets follow each other as closely as links and adapters allow. `path` lists the ports
    /// by which packets leave, see [`Paths::path`]. `ends` are the adapters of the source and the
    /// destination.
    ///
    /// Windows, gaps and credit are not considered.
    pub fn message(
        &self,
        path: &[PortId],
        bytes: u64,
        packets: &PacketConfig,
        ends: (&AdapterConfig, &AdapterConfig),
    ) -> Time {
        let full = packets.mtu + packets.header;
        let before = packets.packets_of(bytes) - 1;
        let last = (bytes - before * u64::from(packets.mtu)) as u32 + packets.header;
        // Departure times of the headers of the last full packet and of the last packet. The spacing of full
        // packets is set by the slowest link so far.
        let (rate, _) = self.link(path[0]);
        let fetch = |size| ends.0.injection_rate.map_or(Time::ZERO, |cap| cap.time_of(size));
        let mut distance = rate.time_of(full).max(fetch(full));
        let mut first = ends.0.message_overhead;
        let mut end = first + distance * before;
        for ports in path.windows(2) {
            let rate = self.link(ports[1]).0;
            first += self.to_next(ports, full);
            distance = distance.max(rate.time_of(full));
            let free = first + distance * before.saturating_sub(1) + rate.time_of(full);
            end += self.to_next(ports, last);
            end = if before > 0 { end.max(free) } else { end };
        }
        let (rate, delay) = self.link(path[path.len() - 1]);
        let arrival = |header: Time, size| header + rate.time_of(size) + delay;
        let Some(drain) = ends.1.drain_rate else { return arrival(end, last) };
        distance = distance.max(drain.time_of(full));
        let drained = arrival(first, full) + distance * before.saturating_sub(1) + drain.time_of(full);
        let free = if before > 0 { drained } else { Time::ZERO };
        arrival(end, last).max(free) + drain.time_of(last)
    }

    /// A lower bound on a message's latency if its packets may use all equal ports and overtake each other.
    /// Such packets share only the links of the two hosts. Otherwise as [`Unloaded::message`].
    ///
    /// # Panics
    /// If there is no path.
    pub fn spread_message(
        &self,
        (source, destination): (NodeId, NodeId),
        bytes: u64,
        packets: &PacketConfig,
        ends: (&AdapterConfig, &AdapterConfig),
    ) -> Time {
        let ports = self.paths.ports(source, destination).expect("the paths are checked");
        let full = packets.mtu + packets.header;
        let before = packets.packets_of(bytes) - 1;
        let last = (bytes - before * u64::from(packets.mtu)) as u32 + packets.header;
        let fetch = |size| ends.0.injection_rate.map_or(Time::ZERO, |cap| cap.time_of(size));
        let distance = self.link(ports[0]).0.time_of(full).max(fetch(full));
        let first = ends.0.message_overhead;
        let ((arrives, to_host), (full_arrives, _)) = (self.quickest(&ports, last), self.quickest(&ports, full));
        let (rate, delay) = self.link(to_host);
        let end = first + distance * before + arrives + rate.time_of(last) + delay;
        let full_in = first + full_arrives + rate.time_of(full) + delay;
        let after = |spacing: Time| full_in + spacing * before.saturating_sub(1);
        let (drained_last, spacing, drained) = match ends.1.drain_rate {
            None => (Time::ZERO, rate.time_of(full), Time::ZERO),
            Some(drain) => (drain.time_of(last), rate.time_of(full).max(drain.time_of(full)), drain.time_of(full)),
        };
        let fulls = if before > 0 { after(spacing) + drained } else { Time::ZERO };
        (end + drained_last).max(fulls)
    }

    /// The shortest time from the departure of a packet's header until it leaves by the port to its
    /// destination, and that port. `ports` are all ports that the packet may use, see [`Paths::ports`].
    fn quickest(&self, ports: &[PortId], size: u32) -> (Time, PortId) {
        let mut times = HashMap::from([(ports[0], Time::ZERO)]);
        let mut queue = VecDeque::from([ports[0]]);
        while let Some(from) = queue.pop_front() {
            let (at, _) = self.paths.peers()[from.node.index()][usize::from(from.port)];
            for &onward in ports.iter().filter(|onward| onward.node == at.node) {
                let time = times[&from] + self.to_next(&[from, onward], size);
                if times.get(&onward).is_none_or(|&known| time < known) {
                    times.insert(onward, time);
                    queue.push_back(onward);
                }
            }
        }
        let is_last = |port: &&PortId| {
            self.topology.node(self.paths.peers()[port.node.index()][usize::from(port.port)].0.node).kind
                == NodeKind::Host
        };
        let last = *ports.iter().find(is_last).expect("a path ends at a host");
        (times[&last], last)
    }

    /// Time between the departures of a packet's header by two successive ports of its path.
    fn to_next(&self, ports: &[PortId], size: u32) -> Time {
        let ((rate, delay), (next, _)) = (self.link(ports[0]), self.link(ports[1]));
        let (time, next) = (rate.time_of(size), next.time_of(size));
        let wait = match self.switching {
            Switching::StoreAndForward => time,
            // Before a faster link, a packet waits until it cannot run dry.
            Switching::CutThrough => Time(time.0.saturating_sub(next.0)),
        };
        delay + self.forwarding_delay + wait
    }

    /// The latencies of a packet of `size` bytes and its ACK of `ack` bytes, added up, and the number of
    /// links to the destination.
    ///
    /// # Panics
    /// If there is no path in one of the two directions.
    pub fn round_trip(&self, source: NodeId, destination: NodeId, size: u32, ack: u32) -> (Time, usize) {
        let there = self.paths.path(source, destination).expect("the paths are checked");
        let back = self.paths.path(destination, source).expect("the paths are checked");
        (self.latency(&there, size) + self.latency(&back, ack), there.len())
    }

    /// Rate and delay of the link at a port.
    pub fn link(&self, port: PortId) -> (Rate, Time) {
        let (_, cable) = self.paths.peers()[port.node.index()][usize::from(port.port)];
        let cable = &self.topology.cables()[cable];
        (cable.rate, cable.delay)
    }
}
