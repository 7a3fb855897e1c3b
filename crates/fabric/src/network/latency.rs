//! Latency of packets on an empty network.

use becalm_engine::Time;

use crate::config::{SwitchConfig, Switching};
use crate::ids::{NodeId, PortId};
use crate::network::link::Rate;
use crate::network::routing::Paths;
use crate::network::topology::Topology;

/// The latency of packets that meet no other packet, at the rates that links have at the start of the run.
#[derive(Debug)]
pub struct Unloaded<'a> {
    topology: &'a Topology,
    paths: &'a Paths<'a>,
    switching: Switching,
    forwarding_delay: Time,
}

impl<'a> Unloaded<'a> {
    /// The latencies in a network with such switches.
    pub fn new(topology: &'a Topology, paths: &'a Paths<'a>, switch: &SwitchConfig) -> Unloaded<'a> {
        Unloaded { topology, paths, switching: switch.switching, forwarding_delay: switch.forwarding_delay }
    }

    /// Time from the moment a packet's header leaves its source until its last byte arrives, in a packet of `size` bytes.
    /// `path` are the ports by which it leaves, see [`Paths::path`].
    pub fn latency(&self, path: &[PortId], size: u32) -> Time {
        let mut header = Time::ZERO;
        for ports in path.windows(2) {
            let ((rate, delay), (next, _)) = (self.link(ports[0]), self.link(ports[1]));
            let (time, next) = (rate.time_of(size), next.time_of(size));
            header += delay + self.forwarding_delay;
            header += match self.switching {
                Switching::StoreAndForward => time,
                // On the way to a faster link, a packet waits until it cannot run dry.
                Switching::CutThrough => Time(time.0.saturating_sub(next.0)),
            };
        }
        let (rate, delay) = self.link(path[path.len() - 1]);
        header + rate.time_of(size) + delay
    }

    /// The round trip of a packet and its ACK of these sizes: the latencies of both, and the number of links to the
    /// destination.
    ///
    /// # Panics
    /// If there is no path, there or back.
    pub fn round_trip(&self, source: NodeId, destination: NodeId, size: u32, ack: u32) -> (Time, usize) {
        let there = self.paths.path(source, destination).expect("the paths are checked");
        let back = self.paths.path(destination, source).expect("the paths are checked");
        (self.latency(&there, size) + self.latency(&back, ack), there.len())
    }

    /// Rate and delay of the link behind a port.
    pub fn link(&self, port: PortId) -> (Rate, Time) {
        let (_, cable) = self.paths.peers()[port.node.index()][usize::from(port.port)];
        let cable = &self.topology.cables()[cable];
        (cable.rate, cable.delay)
    }
}
