//! Settings of switches and adapters, and sizes of packets.

pub mod pfc;

use becalm_engine::Time;

use crate::distribution::Distribution;
use crate::ids::PortId;
use crate::network::link::Rate;
use crate::packet::Kind;
pub use pfc::{FlowControl, PauseResponse, Pfc, SharedPool};

/// The room of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// Slots; every packet takes one, whatever its size.
    Packets(u32),
    /// Bytes, in credits of [`CREDIT_BYTES`]; a packet takes its size rounded up.
    Bytes(u32),
}

/// Size of an InfiniBand flow-control credit.
pub const CREDIT_BYTES: u32 = 64;

impl Room {
    /// Room for any number of packets.
    pub const UNLIMITED: Room = Room::Packets(u32::MAX);

    /// Whether packets of all sizes take the same room.
    #[inline]
    pub const fn is_in_packets(self) -> bool {
        matches!(self, Room::Packets(_))
    }

    /// The buffer's size in units of credit.
    pub const fn capacity(self) -> u32 {
        match self {
            Room::Packets(n) => n,
            Room::Bytes(n) => n / CREDIT_BYTES,
        }
    }

    /// The buffer's size in bytes; for a buffer that counts packets, the size of that many packets of the largest size.
    pub const fn bytes(self, largest: u32) -> u32 {
        match self {
            Room::Packets(n) => n.saturating_mul(largest),
            Room::Bytes(n) => n,
        }
    }

    /// Units of credit that a packet of `size` bytes takes.
    #[inline]
    pub const fn need(self, size: u32) -> u32 {
        match self {
            Room::Packets(_) => 1,
            Room::Bytes(_) => size.div_ceil(CREDIT_BYTES),
        }
    }
}

/// The time at which a switch may begin to forward a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switching {
    /// As soon as its header is through; the next buffer must have room for all of it (virtual cut-through).
    CutThrough,
    /// When its last byte is in.
    StoreAndForward,
}

/// The policy by which a free output chooses a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arbiter {
    /// The packet that came into the switch first, among those that wait for this output.
    ///
    /// Younger packets may overtake a packet at most `max_bypass` times.
    OldestFirst {
        /// Packets that may overtake one.
        max_bypass: u32,
        /// The packets that the bound protects, and those that it holds back.
        bypass: Bypass,
        /// Whether ACKs and CNPs count among them, and are held up as other packets are; otherwise they overtake and are
        /// overtaken at will.
        counts_answers: bool,
    },
    /// The inputs in turn.
    RoundRobin,
}

impl Arbiter {
    /// Whether a packet of this kind takes part in the order of arrival and its bound on overtaking.
    #[inline]
    pub(crate) fn counts(&self, kind: Kind) -> bool {
        kind == Kind::Data || matches!(self, Arbiter::OldestFirst { counts_answers: true, .. })
    }
}

/// The scope of a bound on overtaking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bypass {
    /// The oldest packet of the whole switch: once it has been overtaken that often, nothing leaves the switch before
    /// it does, unless it has no credit.
    Switch,
    /// Every packet on its own output and virtual lane: once it has been overtaken there that often, nothing younger
    /// leaves by them before it does. Without effect where an input buffer feeds several outputs at once, since then
    /// the oldest packet for an output always leaves first.
    Output,
}

/// How packets wait in an input buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queueing {
    /// One virtual output queue per output: no packet waits for one that goes elsewhere.
    Voq,
    /// One queue in order of arrival: only its head can leave (head-of-line blocking).
    Fifo,
}

/// How many packets one input buffer may send at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputReads {
    /// One per output.
    Many,
    /// One.
    One,
}

/// The law by which a switch chooses among equal ports, when the header of a packet is through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathSelection {
    /// By the forwarding table: one port for each destination.
    Destination,
    /// By a hash of the flow, which differs from switch to switch if it is salted (ECMP). An ACK or a CNP is a packet of a
    /// flow of its own.
    Flow {
        /// Whether the switch is part of the hash.
        salted: bool,
    },
    /// By a hash of the packet (oblivious spraying).
    Packet,
    /// In turn, for each set of equal ports.
    RoundRobin,
    /// The port with the least work waiting, among those that have credit if any has; a hash decides between equals.
    LeastWaiting {
        /// Ports that are drawn and compared; [`PathSelection::ALL`] for all.
        sample: u32,
    },
    /// As [`PathSelection::LeastWaiting`], for the first packet of a flowlet; the others follow it.
    Flowlet {
        /// Idle time of a flow at a switch after which a new flowlet begins.
        gap: Time,
    },
    /// To a region drawn by lot first, for every data packet (Valiant 1982). Needs [`crate::Detours`].
    Valiant,
    /// The same, but only if the product of queue and hops is smaller than on the way straight to the destination, as
    /// the source's switch sees it (UGAL-L, Singh 2005).
    Ugal,
}

impl PathSelection {
    /// A sample of all ports.
    pub const ALL: u32 = u32::MAX;

    /// Whether packets of a flow arrive in the order in which they were sent.
    #[inline]
    pub const fn keeps_order(self) -> bool {
        matches!(self, PathSelection::Destination | PathSelection::Flow { .. })
    }
}

/// All switches are alike.
#[derive(Clone, Debug)]
pub struct SwitchConfig {
    /// Number of virtual lanes, 1 to 15.
    pub vls: u8,
    /// Input buffer of each port and VL.
    pub buffer: Room,
    /// From a header's arrival to its earliest departure, or from the tail's where packets are stored first.
    pub forwarding_delay: Time,
    /// Cut-through or store-and-forward.
    pub switching: Switching,
    /// The policy by which a free output chooses a packet.
    pub arbiter: Arbiter,
    /// The law by which a switch chooses among equal ports.
    pub paths: PathSelection,
    /// How packets wait.
    pub queueing: Queueing,
    /// How many packets an input buffer may send at once.
    pub input_reads: InputReads,
    /// Which virtual lane goes next on an output.
    pub vl_arbitration: VlArbitration,
    /// How the time that an output takes for a packet varies around what its size and the link's rate ask for. Unless
    /// fixed, packets must be stored first: one that leaves while it comes in could run dry.
    pub service: Distribution,
    /// The policy that keeps a sender from filling a buffer beyond its end.
    pub flow_control: FlowControl,
}

impl SwitchConfig {
    /// Units that a packet of `size` bytes takes in a buffer: those of credit, or bytes with PFC.
    #[inline]
    pub(crate) fn need(&self, size: u32) -> u32 {
        if self.flow_control == FlowControl::Credits { self.buffer.need(size) } else { size }
    }

    /// Units that a buffer has, up to XOFF with PFC, where packets have at most `largest` bytes.
    pub(crate) fn capacity(&self, largest: u32) -> u32 {
        if self.flow_control == FlowControl::Credits { self.buffer.capacity() } else { self.buffer.bytes(largest) }
    }
}

/// A change of a link's rate during a run. Packets must be stored first, as for
/// [`SwitchConfig::service`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateChange {
    /// Time of the change; a packet in transmission keeps the old rate.
    pub at: Time,
    /// The port that sends on the link; the other direction keeps its rate.
    pub from: PortId,
    /// The new rate.
    pub rate: Rate,
}

/// The policy by which a link chooses a virtual lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VlArbitration {
    /// The lanes in turn, packet by packet.
    RoundRobin,
    /// The two tables of IBTA (volume 1, section 7.6.9). Lanes that do not exist and weights of 0 are passed over; a
    /// lane in neither table never sends.
    Tables {
        /// High priority: (lane, weight in units of 64 bytes).
        high: Vec<(u8, u8)>,
        /// Low priority: (lane, weight in units of 64 bytes).
        low: Vec<(u8, u8)>,
        /// Bytes of high priority that may go before a packet of low priority, in units of 4096; 255 for no limit.
        limit: u8,
    },
}

/// Sizes of packets on the wire, in bytes, and the lane of answers.
#[derive(Clone, Copy, Debug)]
pub struct PacketConfig {
    /// Largest payload of a data packet.
    pub mtu: u32,
    /// Headers of a data packet.
    pub header: u32,
    /// An ACK.
    pub ack: u32,
    /// A congestion notification packet.
    pub cnp: u32,
    /// Virtual lane of ACKs and CNPs; `None`: that of the packet that they answer.
    pub answers_vl: Option<u8>,
    /// Virtual lane of CNPs; `None`: that of ACKs.
    pub cnp_vl: Option<u8>,
}

impl PacketConfig {
    /// Packets that a message is cut into.
    pub(crate) fn packets_of(&self, bytes: u32) -> u32 {
        bytes.div_ceil(self.mtu).max(1)
    }

    /// The largest packet on the wire.
    pub fn largest(&self) -> u32 {
        (self.mtu + self.header).max(self.ack).max(self.cnp)
    }

    /// The smallest packet on the wire.
    pub fn smallest(&self) -> u32 {
        (self.header + 1).min(self.ack).min(self.cnp).max(1)
    }
}

/// The policy by which an adapter chooses a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Injection {
    /// Flows take turns, packet by packet.
    RoundRobin,
    /// Messages leave in the order in which they were posted, whatever flow they belong to; one whose pace or window
    /// does not let it send is passed over.
    Posted,
}

/// The policy for a message that finds its host's send queue full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenFull {
    /// Its source waits with it, and makes no other.
    Block,
    /// It is dropped and counted.
    Drop,
}

/// The policy by which an adapter chooses between answers (ACKs and CNPs) and data of the same lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answers {
    /// They take turns. The packet whose turn it is waits for its credit, and nothing overtakes it on its lane.
    Turns,
    /// Answers go first. Where data lack credit, they get none until no answer waits.
    First,
}

/// Settings of a host's adapter.
#[derive(Clone, Copy, Debug)]
pub struct AdapterConfig {
    /// Policy by which it chooses a flow.
    pub injection: Injection,
    /// Policy by which it chooses between answers and data.
    pub answers: Answers,
    /// Whether an ACK that waits takes in those of the same flow that come after it, unless it has telemetry.
    pub coalesces: bool,
    /// Rate at which data packets are fetched from memory; `None`: the rate of the link.
    pub injection_rate: Option<Rate>,
    /// Time that the host works on a message before its first packet can be fetched. It works on one message at a time,
    /// while the one before is being sent.
    pub message_overhead: Time,
    /// Rate at which packets are drained from a receive buffer as large as a switch's; `None`: the rate at which they come.
    pub drain_rate: Option<Rate>,
    /// Packets of posted messages that the host's send queue holds, those of all flows together;
    /// [`AdapterConfig::UNLIMITED`] for any number.
    pub queue: u32,
    /// The policy for a message that finds the send queue full.
    pub when_full: WhenFull,
}

impl AdapterConfig {
    /// The size of an unlimited send queue.
    pub const UNLIMITED: u32 = u32::MAX;
}
