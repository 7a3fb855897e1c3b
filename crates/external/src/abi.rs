//! The types of the C interface, as `include/becalm.h` declares them. A test compares sizes and offsets.
//!
//! Times are in picoseconds, rates in bytes per second, sizes in bytes on the wire. The layout equals that of
//! the header on every platform.

use std::ffi::{c_char, c_void};

/// The version of the interface. Libraries with another version are refused.
pub const ABI: u32 = 1;
/// No time, for a timer that is not set or a flow without a CNP.
pub const NEVER: u64 = u64::MAX;

/// The seam of responses.
pub const SEAM_RESPONSE: u32 = 0;
/// The seam of marking policies.
pub const SEAM_MARKING: u32 = 1;
/// The seam of echoes.
pub const SEAM_ECHO: u32 = 2;

/// The kind of a parameter that is a floating-point number.
pub const KIND_NUMBER: u32 = 0;
/// An integer.
pub const KIND_INTEGER: u32 = 1;
/// True or false, as 1 and 0.
pub const KIND_TRUTH: u32 = 2;
/// A time in picoseconds, as an integer. In scenarios, it is a text with a unit.
pub const KIND_TIME: u32 = 3;
/// One of several words, represented by its index as an integer.
pub const KIND_WORD: u32 = 4;

/// The value of a parameter: a number for [`KIND_NUMBER`], an integer for all others.
#[repr(C)]
#[derive(Clone, Copy)]
pub union Value {
    /// A floating-point number.
    pub number: f64,
    /// A value of any other kind.
    pub integer: i64,
}

/// The declaration of a parameter.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Parameter {
    /// The key.
    pub name: *const c_char,
    /// The unit; empty for none.
    pub unit: *const c_char,
    /// Help text.
    pub doc: *const c_char,
    /// For [`KIND_WORD`]: the words.
    pub words: *const *const c_char,
    /// One of the kinds.
    pub kind: u32,
    /// Number of words.
    pub word_count: u32,
    /// The value of an absent key.
    pub fallback: Value,
    /// The least value.
    pub least: Value,
    /// The greatest value.
    pub most: Value,
}

/// The context that every call gets in addition to its own arguments.
#[repr(C)]
pub struct Context {
    /// The values of the parameters, in the order of their declaration.
    pub parameters: *const Value,
    /// x to the power of y, with the same bits on every machine.
    pub power: extern "C" fn(f64, f64) -> f64,
    /// e to the power of x, with the same bits on every machine.
    pub exponential: extern "C" fn(f64) -> f64,
    /// The natural logarithm of x, with the same bits on every machine.
    pub logarithm: extern "C" fn(f64) -> f64,
}

/// The shape of a flow; see [`becalm_fabric::policy::FlowShape`].
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Flow {
    /// Rate of the source's link, in bytes per second.
    pub rate: f64,
    /// Round-trip time on an empty fabric.
    pub base_rtt: u64,
    /// The longest base RTT of all flows.
    pub longest_rtt: u64,
    /// Payload of a full packet.
    pub mtu: u32,
    /// Header of a data packet.
    pub header: u32,
    /// Number of links between the source and the destination.
    pub hops: u32,
    /// Zero.
    pub reserved: u32,
}

/// Telemetry of one output; see [`becalm_fabric::policy::Hop`].
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Hop {
    /// The time.
    pub at: u64,
    /// Bytes that the output has sent.
    pub sent: u64,
    /// Bytes that wait for it.
    pub waiting: u64,
    /// Rate of its link.
    pub rate: f64,
    /// Its switch.
    pub node: u32,
    /// Its port.
    pub port: u32,
}

/// An ACK; see [`becalm_fabric::policy::Ack`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// Round-trip time of the last packet that it covers.
    pub rtt: u64,
    /// Part of `rtt` for which the receiver held the packet or its ACK.
    pub held: u64,
    /// Number of marked packets that it reports.
    pub marked: u32,
    /// Number of packets that it covers.
    pub covers: u32,
    /// Number of the last packet that it covers.
    pub sequence: u32,
    /// Number of the next packet that the flow sends.
    pub next: u32,
    /// Telemetry, in the order of the switches.
    pub trail: *const Hop,
    /// Number of its entries.
    pub hops: u64,
}

/// A packet that the flow sends; see [`becalm_fabric::policy::Sent`].
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Sent {
    /// The time.
    pub now: u64,
    /// Size on the wire.
    pub bytes: u32,
    /// Number of unacknowledged packets, including this one.
    pub in_flight: u32,
}

/// The limits on the sending of a flow. They stay in force until a call changes them.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// Idle time after a packet, as a multiple of the packet's transmission time; at least 0.
    pub gap: f64,
    /// The time of the next call of `timer`; [`NEVER`] for none.
    pub timer: u64,
    /// Largest number of unacknowledged packets; at least 1, `u32::MAX` for no limit.
    pub window: u32,
    /// Not zero if the call has failed.
    pub failed: u32,
}

impl Pace {
    /// A pace without limits: line rate, no window, no timer.
    pub const FREE: Pace = Pace { gap: 0.0, timer: NEVER, window: u32::MAX, failed: 0 };
}

/// A call of a response with no argument other than the time.
pub type Tick = unsafe extern "C" fn(*mut c_void, *const Context, u64, *mut Pace);

/// A response. Its state is zero before `start`. All functions except `start` and `ack` may be null.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Response {
    /// Bytes of state of a flow.
    pub state_bytes: u64,
    /// Bytes of telemetry in each packet; 0 for none.
    pub trail_bytes: u32,
    /// [`MOVES_WINDOW`], [`COUNTS_MARKS`], [`USES_RTT`].
    pub flags: u32,
    /// Sets the initial pace of a flow.
    pub start: Option<unsafe extern "C" fn(*mut c_void, *const Context, *const Flow, *mut Pace)>,
    /// Handles an ACK.
    pub ack: Option<unsafe extern "C" fn(*mut c_void, *const Context, u64, *const Ack, *mut Pace)>,
    /// Handles a congestion notification packet.
    pub becn: Option<Tick>,
    /// Handles the expired timer.
    pub timer: Option<Tick>,
    /// Restarts the response for a new flow.
    pub restart: Option<Tick>,
    /// Handles a packet that the flow sends.
    pub sent: Option<unsafe extern "C" fn(*mut c_void, *const Context, *const Sent, *mut Pace)>,
}

/// Flag of a response that changes its window.
pub const MOVES_WINDOW: u32 = 1;
/// Flag of a response that reacts to the share of marked packets.
pub const COUNTS_MARKS: u32 = 2;
/// Flag of a response that reacts to round-trip times, not to marks.
pub const USES_RTT: u32 = 4;

/// The dimensions of a switch; see [`becalm_fabric::policy::SwitchShape`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Switch {
    /// Its name.
    pub name: *const c_char,
    /// For every port, 1 if a host is at the other end of its cable.
    pub host_ports: *const u8,
    /// Size of an input buffer, per port and lane, in bytes.
    pub capacity: u32,
    /// Number of ports.
    pub ports: u16,
    /// Number of virtual lanes.
    pub vls: u16,
}

/// A packet at a switch; see [`becalm_fabric::policy::Arrival`] and [`becalm_fabric::policy::Departure`].
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Packet {
    /// The time.
    pub now: u64,
    /// Its position in the switch's order of arrival.
    pub order: u64,
    /// Size on the wire.
    pub size: u32,
    /// The packet's seeded hash, at a departure.
    pub tie: u32,
    /// The rank of the switch, at a departure.
    pub switch_rank: u32,
    /// The input port.
    pub input: u16,
    /// The output port.
    pub output: u16,
    /// Its virtual lane.
    pub vl: u16,
    /// 0 for data, 1 for an ACK, 2 for a CNP.
    pub kind: u8,
    /// 1 if an arriving packet has to wait.
    pub waits: u8,
    /// Zero.
    pub reserved: u32,
}

/// The queries of a marker about its switch; see [`becalm_fabric::policy::SwitchView`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Questions {
    /// Number of packets of the largest size that fit into an input buffer.
    pub room: unsafe extern "C" fn(*const c_void, u16, u16) -> u32,
    /// Number of packets that wait for an output.
    pub waiting: unsafe extern "C" fn(*const c_void, u16, u16) -> u32,
    /// Number of bytes that wait for an output.
    pub waiting_bytes: unsafe extern "C" fn(*const c_void, u16, u16) -> u64,
    /// Number of packets for an output that have arrived and not left.
    pub present: unsafe extern "C" fn(*const c_void, u16, u16) -> u32,
    /// Number of packets for an output in one input buffer.
    pub present_from: unsafe extern "C" fn(*const c_void, u16, u16, u16) -> u32,
    /// Number of packets for which an output has credit.
    pub credit: unsafe extern "C" fn(*const c_void, u16, u16) -> u32,
    /// Last time at which an output had a packet but no credit; [`NEVER`] if there was none.
    pub blocked_until: unsafe extern "C" fn(*const c_void, u16, u16) -> u64,
    /// Transmission time of a packet of a given size on the link of a port.
    pub packet_time: unsafe extern "C" fn(*const c_void, u16, u32) -> u64,
    /// A random number in [0, 1) for a departing packet.
    pub draw: unsafe extern "C" fn(*const Packet) -> f64,
}

/// A marker's view of its switch, for one call. It is small, because every call creates one.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// The functions, the same in every call of a run.
    pub ask: *const Questions,
    /// The first argument of the functions.
    pub switch_: *const c_void,
    /// Number of ports.
    pub ports: u16,
    /// Number of virtual lanes.
    pub vls: u16,
    /// Not zero if the call has failed.
    pub failed: u32,
}

/// A marking policy. Its state is zero before `start`. All functions except `departing` may be null.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Marker {
    /// Bytes of state per switch.
    pub state_bytes: u64,
    /// Bytes of state per output and lane. The states form an array, indexed by `output * vls + vl`.
    pub lane_bytes: u64,
    /// The number of the fabric's `Attention` variant, starting at 0.
    pub attention: u32,
    /// [`PASSING`], [`NEEDS_BUFFER`], [`NEEDS_CREDIT`].
    pub flags: u32,
    /// Initializes the state.
    pub start: Option<unsafe extern "C" fn(*mut c_void, *mut c_void, *const Context, *const Switch)>,
    /// Handles the arrival of a packet.
    pub arrived: Option<unsafe extern "C" fn(*mut c_void, *mut c_void, *const Context, *const Packet, *mut View)>,
    /// Handles the arrival of the last byte of a waiting packet.
    pub stored: Option<unsafe extern "C" fn(*mut c_void, *mut c_void, *const Context, *const Packet, *mut View)>,
    /// Decides whether a departing packet is marked; 1 if it is.
    pub departing:
        Option<unsafe extern "C" fn(*mut c_void, *mut c_void, *const Context, *const Packet, *mut View) -> u8>,
}

/// Flag of a marker that must see packets that leave at once without meeting another.
pub const PASSING: u32 = 1;
/// Flag of a marker that depends on the occupancy of an input buffer.
pub const NEEDS_BUFFER: u32 = 2;
/// Flag of a marker that depends on credits.
pub const NEEDS_CREDIT: u32 = 4;

/// A data packet that has arrived; see [`becalm_fabric::policy::Echo::answer`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Received {
    /// The time.
    pub now: u64,
    /// Time of the flow's last CNP; [`NEVER`] if there was none.
    pub notified: u64,
    /// Time at which the packet's header left its source.
    pub injected: u64,
    /// Size on the wire.
    pub size: u32,
    /// Number of the packet in its flow.
    pub sequence: u32,
    /// Number of packets of the flow that no ACK covers yet, including this one.
    pub packets: u32,
    /// Number of marked packets among these.
    pub marks: u32,
    /// Number of the flow.
    pub flow: u32,
    /// The virtual lane.
    pub vl: u16,
    /// 1 if this packet is marked.
    pub marked: u8,
    /// 1 if it is the last packet of its message.
    pub last: u8,
}

/// The answer to a packet; see [`becalm_fabric::policy::Answer`]. All zero for no answer.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// 1 for an ACK.
    pub ack: u32,
    /// Number of marked packets that it reports.
    pub marks: u32,
    /// 1 for a CNP.
    pub cnp: u32,
    /// Not zero if the call has failed.
    pub failed: u32,
}

/// An echo. It has no state.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Echo {
    /// Largest number of packets that one ACK covers; 0 if no packet is acknowledged.
    pub ack_every: u32,
    /// Zero.
    pub reserved: u32,
    /// Answers a packet.
    pub answer: Option<unsafe extern "C" fn(*const Context, *const Received, *mut Answer)>,
}

/// The declaration of a scheme.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Scheme {
    /// [`ABI`].
    pub abi: u32,
    /// One of the seams.
    pub seam: u32,
    /// Its name in scenarios.
    pub name: *const c_char,
    /// A one-sentence description.
    pub doc: *const c_char,
    /// Its parameters.
    pub parameters: *const Parameter,
    /// Number of parameters.
    pub parameter_count: u64,
    /// A [`Response`], a [`Marker`] or an [`Echo`], depending on the seam.
    pub functions: *const c_void,
}

// The state of schemes may move to another thread, because becalm owns it and it is plain bytes.
#[allow(unsafe_code, reason = "a union of numbers, and pointers that are only passed on")]
mod threads {
    unsafe impl Send for super::Context {}
    unsafe impl Sync for super::Context {}
}
