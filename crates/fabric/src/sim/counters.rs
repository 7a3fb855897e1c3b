//! Counters of flows and ports.

use becalm_engine::Time;

use crate::context::Place;
use crate::host::{Receiver, Sender};
use crate::ids::{FlowId, PortId};
use crate::policy::{Echo, Marker, Observer, Pace, Response};
use crate::sim::fabric::Fabric;

/// Counters of a flow since the start of the run. Bytes are on the wire, including headers, unless named
/// payload.
#[derive(Clone, Copy, Debug)]
pub struct FlowView {
    /// Data packets sent.
    pub sent_packets: u64,
    /// Bytes of data packets sent.
    pub sent_bytes: u64,
    /// Data packets delivered.
    pub delivered_packets: u64,
    /// Bytes of data packets delivered.
    pub delivered_bytes: u64,
    /// Payload bytes delivered.
    pub delivered_payload: u64,
    /// Data packets delivered with a mark.
    pub delivered_marked: u64,
    /// Data packets that arrived out of order, before one sent earlier.
    pub disordered_packets: u64,
    /// Messages delivered completely.
    pub messages_delivered: u64,
    /// ACKs received by the source.
    pub acks: u64,
    /// ACKs received that report a mark.
    pub acks_marked: u64,
    /// Bytes of posted messages, including dropped ones.
    pub posted_bytes: u64,
    /// Number of messages posted.
    pub posted_messages: u64,
    /// Messages dropped because the host's send queue was full.
    pub dropped_messages: u64,
    /// Total time during which the flow was greedy, up to the last change.
    pub greedy_time: Time,
    /// Time at which the current greedy period began, if the flow is greedy.
    pub greedy_since: Option<Time>,
    /// Unacknowledged packets.
    pub in_flight: u32,
    /// Round-trip time of the last ACK; zero before the first ACK, or if the fabric does not record it.
    pub rtt: Time,
    /// Current pace.
    pub pace: Pace,
}

impl FlowView {
    /// This view, with the receiving end's counters from another view.
    pub(crate) fn received_as(self, other: &FlowView) -> FlowView {
        FlowView {
            delivered_packets: other.delivered_packets,
            delivered_bytes: other.delivered_bytes,
            delivered_payload: other.delivered_payload,
            delivered_marked: other.delivered_marked,
            disordered_packets: other.disordered_packets,
            messages_delivered: other.messages_delivered,
            ..self
        }
    }
}

/// Contents of a port's buffers for one virtual lane.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PortStanding {
    /// Occupied share of the input buffer, from 0 to 1. With PFC, the share of its size plus headroom. 0 at a
    /// host without a drain rate.
    pub occupancy: f64,
    /// Bytes waiting for the output; 0 at a host.
    pub waiting: u64,
}

/// Counters of a port since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortCounters {
    /// Packets of all kinds sent.
    pub packets: u64,
    /// Bytes sent on the wire, without those of the current packet that are still to be sent.
    pub bytes: u64,
    /// Packets marked here.
    pub marked: u64,
}

impl<R: Response, K: Marker, E: Echo + Clone, O: Observer> Fabric<R, K, E, O> {
    /// The counters of a flow.
    pub fn flow(&self, id: FlowId) -> FlowView {
        let (no_sender, no_receiver) = (Sender::default(), Receiver::new(0, 0));
        let sender = self.hosts.flows.senders.get(id.index()).unwrap_or(&no_sender);
        let receiver = self.hosts.receivers.get(id.index()).unwrap_or(&no_receiver);
        FlowView {
            sent_packets: u64::from(sender.packets),
            sent_bytes: sender.bytes,
            delivered_packets: u64::from(receiver.packets()),
            delivered_bytes: receiver.bytes(),
            delivered_payload: receiver.payload,
            delivered_marked: u64::from(receiver.marked),
            disordered_packets: u64::from(receiver.disordered()),
            messages_delivered: u64::from(receiver.messages),
            acks: sender.acks,
            acks_marked: sender.acks_marked,
            posted_bytes: sender.posted_bytes,
            posted_messages: sender.posted_messages,
            dropped_messages: sender.dropped(),
            greedy_time: sender.greedy_time(),
            greedy_since: sender.greedy_since(),
            in_flight: sender.in_flight,
            rtt: self.hosts.rtts.get(id.index()).copied().unwrap_or(Time::ZERO),
            pace: self.hosts.flows.pace_of(id),
        }
    }

    /// The counters of a port at the current time, `now`.
    pub fn port(&self, port: PortId, now: Time) -> PortCounters {
        match self.shared.places[port.node.index()] {
            Place::Host(rank) => {
                let adapter = &self.hosts.adapters[rank as usize];
                let bytes = adapter.bytes - adapter.last_sent().rest(now);
                PortCounters { packets: adapter.packets, bytes, marked: 0 }
            }
            Place::Switch(rank) => {
                let state = &self.switches[rank as usize].state;
                let output = state.output(port.port);
                let bytes = output.bytes - state.last_sent(port.port).rest(now);
                PortCounters { packets: output.packets, bytes, marked: u64::from(output.marked) }
            }
        }
    }

    /// The contents of a port's buffers at the current time, `now`.
    pub fn standing(&self, port: PortId, vl: u8, now: Time) -> PortStanding {
        let (taken, waiting) = match self.shared.places[port.node.index()] {
            Place::Host(rank) => (self.hosts.adapters[rank as usize].taken[usize::from(vl)], 0),
            Place::Switch(rank) => {
                let state = &self.switches[rank as usize].state;
                let at = state.at(port.port, vl);
                (state.ports[at].input.taken_at(now), state.ports[at].lane.waiting_bytes)
            }
        };
        let headroom = self.headroom(port, vl).map_or(0, |headroom| headroom.bytes);
        let capacity = self.shared.config.capacity(self.hosts.flows.packets.largest());
        // With shared memory, a buffer may exceed its size and headroom.
        let occupancy = f64::from(taken) / (f64::from(capacity) + f64::from(headroom));
        PortStanding { occupancy: occupancy.min(1.0), waiting }
    }
}
