use becalm_engine::{Time, mix};

use crate::packet::Kind;

/// The dimensions of the switch for which a marker is created.
#[derive(Clone, Debug)]
pub struct SwitchShape {
    /// Name of the switch.
    pub name: String,
    /// Number of ports; inputs and outputs have the same numbers.
    pub ports: u16,
    /// Number of virtual lanes.
    pub vls: u8,
    /// Size of an input buffer, per port and virtual lane, in bytes. A buffer that counts packets is sized
    /// for packets of the largest size.
    pub capacity_bytes: u32,
    /// For every port, whether a host is at the other end of its cable.
    pub host_ports: Vec<bool>,
}

/// A packet that has just been forwarded to the queue of its output.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// The time.
    pub now: Time,
    /// Position in the switch's order of arrival, which increases by one with every packet.
    pub order: u64,
    /// Port at which the packet arrived.
    pub input: u16,
    /// Port by which the packet will leave.
    pub output: u16,
    /// Virtual lane of the packet.
    pub vl: u8,
    /// Size on the wire in bytes.
    pub size: u32,
    /// Kind of the packet.
    pub kind: Kind,
    /// Whether the packet has to wait. If not, it cuts through, and its departure follows immediately.
    pub waits: bool,
}

/// A packet whose header is about to leave.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// The time.
    pub now: Time,
    /// Position in the switch's order of arrival.
    pub order: u64,
    /// Port at which the packet arrived.
    pub input: u16,
    /// Port by which the packet leaves.
    pub output: u16,
    /// Virtual lane of the packet.
    pub vl: u8,
    /// Size on the wire in bytes; for a packet of a train, with those before it.
    pub size: u32,
    /// Kind of the packet.
    pub kind: Kind,
    /// The seeded hash of the packet.
    pub tie: u32,
    /// Rank of the switch among the switches of the topology.
    pub switch: u32,
}

impl Departure {
    /// A random number, uniformly distributed in [0, 1). It is a hash of the packet and the switch, and depends on the
    /// scenario's seed but not on the number of threads. Repeated calls return the same number.
    pub fn draw(&self) -> f64 {
        let bits = mix(u64::from(self.tie), u64::from(self.switch)) >> 11;
        bits as f64 / (1u64 << 53) as f64
    }
}

/// A marker's view of its switch. "Waiting" packets have arrived but not begun to leave. They include the packet of the
/// current arrival or departure. "Present" packets either wait or are in transmission.
pub trait SwitchView {
    /// Free space of an input buffer, in packets of the largest size.
    fn room(&self, input: u16, vl: u8) -> u32;
    /// Packets on this VL that wait for an output.
    fn waiting(&self, output: u16, vl: u8) -> u32;
    /// Bytes on this VL that wait for an output.
    fn waiting_bytes(&self, output: u16, vl: u8) -> u64;
    /// Packets on this VL for an output that are present.
    fn present(&self, output: u16, vl: u8) -> u32;
    /// Packets on this VL for an output that are present in one input buffer.
    fn present_from(&self, input: u16, output: u16, vl: u8) -> u32;
    /// Credit of an output, in packets of the largest size; `u32::MAX` if the next buffer never fills. With PFC, 0
    /// while the output is paused, otherwise `u32::MAX`.
    fn credit(&self, output: u16, vl: u8) -> u32;
    /// The last time at which an output had a packet to send but no credit for it. This is the current time if the
    /// output is blocked now, and `None` if it never was.
    fn blocked_until(&self, output: u16, vl: u8) -> Option<Time>;
    /// Transmission time of a packet of this size at the rate at which the switch sends on the port's link.
    fn packet_time(&self, port: u16, size: u32) -> Time;
}

/// The events that a marker must see, from fewest to most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Attention {
    /// No events, since the marker never marks.
    Nothing,
    /// Packets that join and leave queues. A packet that leaves at once and meets no other packet for its output and
    /// lane is not shown. It is not marked, and does not change the marker's state.
    Queues,
    /// All packets that arrive, and all that are about to leave.
    Packets,
    /// Also the departure of each packet's last byte. This is needed for [`Marker::left`], or if
    /// [`SwitchView::room`], [`SwitchView::present`] or [`SwitchView::present_from`] must reflect the order
    /// of simultaneous departures and arrivals.
    Tails,
    /// Also the arrival of the last byte of a packet that waits ([`Marker::stored`]).
    Storage,
}

/// A switch's policy for marking packets. Each switch has its own marker.
pub trait Marker {
    /// A packet has arrived.
    fn arrived<V: SwitchView>(&mut self, arrival: &Arrival, switch: &V);

    /// The last byte of a waiting packet has arrived.
    fn stored<V: SwitchView>(&mut self, arrival: &Arrival, switch: &V) {
        let _ = (arrival, switch);
    }

    /// A packet's header is about to leave. Returns whether to mark the packet.
    fn departing<V: SwitchView>(&mut self, departure: &Departure, switch: &V) -> bool;

    /// The last byte of a packet has left by an output. Returns the time at which its space in the input
    /// buffer becomes credit again. This is now or later, and not before the time last returned for the same
    /// input and lane.
    fn left(&mut self, now: Time, input: u16, output: u16, vl: u8) -> Time {
        let _ = (input, output, vl);
        now
    }

    /// The events that the marker must see. The switch saves the work for all others.
    fn attention(&self) -> Attention {
        Attention::Tails
    }

    /// Whether the marker must see packets that leave at once and meet no other packet for their output and
    /// lane. This may be `false` only if the marker neither marks them nor changes its state because of them.
    fn sees_passing(&self) -> bool {
        self.attention() >= Attention::Packets
    }

    /// Whether an output's virtual lane is in the congestion state, for the counters. Called after every
    /// packet that joins or leaves its queue. A marker without a congestion state returns `false`.
    fn is_congested(&self, output: u16, vl: u8) -> bool {
        let _ = (output, vl);
        false
    }
}
