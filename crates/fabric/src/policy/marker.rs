use becalm_engine::{Time, mix};

use crate::packet::Kind;

/// The dimensions of the switch a marker is made for.
#[derive(Clone, Debug)]
pub struct SwitchShape {
    /// Its name.
    pub name: String,
    /// Number of ports; inputs and outputs have the same numbers.
    pub ports: u16,
    /// Number of virtual lanes.
    pub vls: u8,
    /// Room of an input buffer, per port and virtual lane, in bytes. For a buffer that counts packets, the bytes
    /// of that many packets of the largest size.
    pub capacity_bytes: u32,
    /// For every port, whether a host is at the other end of its cable.
    pub host_ports: Vec<bool>,
}

/// A packet that has just been forwarded to the queue of its output.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// The time.
    pub now: Time,
    /// Its place in the switch's order of arrival; grows by one with every packet.
    pub order: u64,
    /// The port it came in by.
    pub input: u16,
    /// The port it will leave by.
    pub output: u16,
    /// Its virtual lane.
    pub vl: u8,
    /// Its size on the wire in bytes.
    pub size: u32,
    /// What it carries.
    pub kind: Kind,
    /// Whether it has to wait. If not, it cuts straight through: its departure follows at once.
    pub waits: bool,
}

/// A packet whose header is about to leave.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// The time.
    pub now: Time,
    /// Its place in the switch's order of arrival.
    pub order: u64,
    /// The port it came in by.
    pub input: u16,
    /// The port it leaves by.
    pub output: u16,
    /// Its virtual lane.
    pub vl: u8,
    /// Its size on the wire in bytes.
    pub size: u32,
    /// What it carries.
    pub kind: Kind,
    /// The seeded hash of the packet.
    pub tie: u32,
    /// The switch: its rank among the switches of the topology.
    pub switch: u32,
}

impl Departure {
    /// A random number, uniform in [0, 1): a hash of the packet and the switch. It comes from the scenario's seed, and is
    /// the same with any number of threads. A second call gives the same number.
    pub fn draw(&self) -> f64 {
        let bits = mix(u64::from(self.tie), u64::from(self.switch)) >> 11;
        bits as f64 / (1u64 << 53) as f64
    }
}

/// A marker's view of its switch. "Waiting" packets have arrived and not begun to leave; when an arrival is
/// shown, the packet itself is among them, and when a departure is shown, it still is. "Present" packets have arrived
/// and not left: those that wait and those in transmission.
pub trait SwitchView {
    /// Packets of the largest size for which an input buffer has room.
    fn room(&self, input: u16, vl: u8) -> u32;
    /// Packets of this VL that wait for an output.
    fn waiting(&self, output: u16, vl: u8) -> u32;
    /// Bytes of this VL that wait for an output.
    fn waiting_bytes(&self, output: u16, vl: u8) -> u64;
    /// Packets of this VL for an output that are present.
    fn present(&self, output: u16, vl: u8) -> u32;
    /// Packets of this VL for one output that are present in one input buffer.
    fn present_from(&self, input: u16, output: u16, vl: u8) -> u32;
    /// Packets of the largest size for which an output holds credit; `u32::MAX` where the next buffer never fills. With
    /// PFC, 0 while the output is paused, and `u32::MAX` otherwise.
    fn credit(&self, output: u16, vl: u8) -> u32;
    /// When an output last had a packet to send and no credit for it: now, if that is so now; `None` if it never was.
    fn blocked_until(&self, output: u16, vl: u8) -> Option<Time>;
    /// Time that a packet of this size takes on the link of a port, at the rate at which the switch sends on it.
    fn packet_time(&self, port: u16, size: u32) -> Time;
}

/// What a marker must be shown, from least to most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Attention {
    /// Nothing: it never marks.
    Nothing,
    /// Packets that join a queue and packets that leave one. One that could leave at once and meets no other packet for
    /// its output and lane is not shown: it is not marked, and changes nothing.
    Queues,
    /// Packets that arrive and packets that are about to leave.
    Packets,
    /// Also the time at which the last byte of a packet leaves: because of [`Marker::left`], or since it matters to
    /// [`SwitchView::room`], [`SwitchView::present`] or [`SwitchView::present_from`] whether a packet leaves just
    /// before or just after another one arrives at the same time.
    Tails,
    /// Also packets whose last byte has come in while they wait: [`Marker::stored`].
    Storage,
}

/// A switch's policy of marking packets. One marker serves one switch.
pub trait Marker {
    /// A packet has arrived.
    fn arrived<V: SwitchView>(&mut self, arrival: &Arrival, switch: &V);

    /// The last byte of a packet that had to wait has come in, and the packet still waits.
    fn stored<V: SwitchView>(&mut self, arrival: &Arrival, switch: &V) {
        let _ = (arrival, switch);
    }

    /// A packet's header is about to leave: mark it?
    fn departing<V: SwitchView>(&mut self, departure: &Departure, switch: &V) -> bool;

    /// The last byte of a packet has left by an output. Returns when the room that it took in its input buffer is
    /// credit again: now or later, and never before the time that was returned last for the same input and lane.
    fn left(&mut self, now: Time, input: u16, output: u16, vl: u8) -> Time {
        let _ = (input, output, vl);
        now
    }

    /// What the marker must be shown. A switch saves what it need not show.
    fn attention(&self) -> Attention {
        Attention::Tails
    }

    /// Whether it must be shown packets that leave at once and meet no other for their output and lane: unless it neither marks
    /// them nor changes its state by them.
    fn sees_passing(&self) -> bool {
        self.attention() >= Attention::Packets
    }

    /// Whether an output's virtual lane is in the congestion state, for the counters; asked after every packet that
    /// joins or leaves its queue. A marker without such a state returns `false`.
    fn is_congested(&self, output: u16, vl: u8) -> bool {
        let _ = (output, vl);
        false
    }
}
