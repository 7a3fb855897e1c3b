//! All observers of a run at once.

use becalm_engine::Time;
use becalm_fabric::policy::{Delivery, Joint, Observer};
use becalm_fabric::{NodeId, Packet, PortId, Topology};

use crate::fingerprint::Fingerprint;
use crate::hosts::Hosts;
use crate::latency::Latency;
use crate::messages::Messages;
use crate::occupancy::Occupancy;
use crate::pauses::Pauses;
use crate::ports::Ports;
use crate::queues::Queues;
use crate::spans::Spans;
use crate::tree::Tree;

/// All observers of single packets.
#[derive(Clone, Debug)]
pub struct Watch {
    /// Fingerprint of the entire run.
    pub fingerprint: Fingerprint,
    /// Latencies of flows and groups.
    pub latency: Latency,
    /// Contents of the switches' input buffers.
    pub occupancy: Occupancy,
    /// Outputs that send nothing and have a packet to send on at least one VL, but no credit for it.
    pub stalls: Spans,
    /// Whether an output can send on one lane while another lane waits for credit.
    several_lanes: bool,
    /// Outputs in the congestion state, as reported by their marker.
    pub congestion: Spans,
    /// Packets received by the hosts.
    pub hosts: Hosts,
    /// Roots and branches of congestion.
    pub tree: Tree,
    /// Pauses, with priority-based flow control.
    pub pauses: Option<Box<Pauses>>,
    /// Messages, if requested.
    pub messages: Option<Box<Messages>>,
    /// Queues of outputs, if requested.
    pub queues: Option<Box<Queues>>,
}

impl Watch {
    /// Starts measuring at `from`. `capacity` is the size of an input buffer in bytes; `group_of` is the group number
    /// of each flow, below `groups`.
    pub fn new(topology: &Topology, vls: u8, capacity: u32, from: Time, group_of: Vec<u32>, groups: usize) -> Watch {
        let ports = Ports::new(topology);
        Watch {
            fingerprint: Fingerprint::default(),
            latency: Latency::new(from, group_of, groups),
            occupancy: Occupancy::new(from, ports.clone(), vls),
            stalls: Spans::new(from, ports.clone()),
            several_lanes: vls > 1,
            congestion: Spans::new(from, ports),
            hosts: Hosts::new(from, topology.host_count()),
            tree: Tree::new(topology, vls, capacity, from),
            pauses: None,
            messages: None,
            queues: None,
        }
    }
}

impl Watch {
    /// Measures waits for credit from the start of the run, for frames before the measured window.
    pub fn with_early_stalls(mut self) -> Watch {
        self.stalls = Spans::new(Time::ZERO, self.stalls.ports().clone());
        self
    }

    /// Measures the queues of outputs.
    pub fn with_queues(mut self, from: Time, vls: u8) -> Watch {
        self.queues = Some(Box::new(Queues::new(from, self.stalls.ports().clone(), vls)));
        self
    }

    /// Keeps about this many periods in which outputs were roots or branches.
    pub fn with_spans_of_roles(mut self, most: usize) -> Watch {
        self.tree.keep_spans(most);
        self
    }
}

impl Joint for Watch {
    fn join(&mut self, other: Self, theirs: &dyn Fn(NodeId) -> bool) {
        self.fingerprint.join(other.fingerprint, theirs);
        self.latency.join(other.latency, theirs);
        self.occupancy.join(other.occupancy, theirs);
        self.stalls.join(other.stalls, theirs);
        self.congestion.join(other.congestion, theirs);
        self.hosts.join(other.hosts, theirs);
        self.tree.join(other.tree, theirs);
        if let (Some(own), Some(its)) = (&mut self.pauses, other.pauses) {
            own.join(*its, theirs);
        }
        if let (Some(own), Some(its)) = (&mut self.messages, other.messages) {
            own.join(*its, theirs);
        }
        if let (Some(own), Some(its)) = (&mut self.queues, other.queues) {
            own.join(*its, theirs);
        }
    }
}

impl Observer for Watch {
    #[inline(always)]
    fn hop(&mut self, now: Time, from: PortId, packet: &Packet) {
        self.fingerprint.hop(now, from, packet);
        self.tree.hop(now, from, packet);
    }

    #[inline(always)]
    fn sending(&mut self, now: Time, from: PortId, tail: Time) {
        if self.several_lanes {
            self.stalls.hold(now, from, tail);
        }
    }

    #[inline(always)]
    fn delivered(&mut self, now: Time, packet: &Packet) {
        self.fingerprint.delivered(now, packet);
        self.latency.delivered(now, packet);
        self.hosts.delivered(now, packet);
        if let Some(messages) = &mut self.messages {
            messages.delivered(now, packet);
        }
    }

    #[inline]
    fn message(&mut self, now: Time, delivery: &Delivery) {
        if let Some(messages) = &mut self.messages {
            messages.message(now, delivery);
        }
    }

    #[inline(always)]
    fn buffer(&mut self, now: Time, input: PortId, vl: u8, packets: u32) {
        self.occupancy.buffer(now, input, vl, packets);
    }

    #[inline(always)]
    fn buffers(&mut self, input: PortId, vl: u8, tell: impl FnOnce(&mut dyn FnMut(Time, u32))) {
        self.occupancy.buffers(input, vl, tell);
    }

    #[inline(always)]
    fn queue(&mut self, now: Time, output: PortId, vl: u8, bytes: u64) {
        self.tree.queue(now, output, vl, bytes);
        if let Some(queues) = &mut self.queues {
            queues.queue(now, output, vl, bytes);
        }
    }

    #[inline]
    fn stalled(&mut self, now: Time, output: PortId, vl: u8, stalled: bool) {
        self.stalls.set(now, output, vl, stalled);
        self.tree.stalled(now, output, vl, stalled);
    }

    fn paused(&mut self, now: Time, input: PortId, vl: u8, paused: bool) {
        if let Some(pauses) = &mut self.pauses {
            pauses.set(now, input, vl, paused);
        }
    }

    fn settle(&mut self) {
        self.latency.settle();
    }

    #[inline]
    fn congested(&mut self, now: Time, output: PortId, vl: u8, congested: bool) {
        self.congestion.set(now, output, vl, congested);
    }
}
