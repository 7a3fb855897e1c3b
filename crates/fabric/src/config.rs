//! Settings of switches and adapters, and packet sizes.

mod cbfc;
pub mod pfc;
mod room;

use becalm_engine::Time;

use crate::distribution::Distribution;
use crate::ids::PortId;
use crate::network::link::Rate;
use crate::packet::{Kind, Packet};
pub use cbfc::Cbfc;
pub use pfc::{FlowControl, PauseResponse, Pfc, SharedPool, Watchdog, WatchdogAction, WatchdogRule};
pub use room::{CREDIT_BYTES, Room, Unit};

/// When a switch may begin to forward a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switching {
    /// After its header has arrived, if the next buffer has space for the entire packet (virtual cut-through).
    CutThrough,
    /// After its last byte has arrived.
    StoreAndForward,
}

/// The policy by which a free output chooses a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arbiter {
    /// The packet for this output that was the first to arrive at the switch.
    ///
    /// Younger packets may overtake a packet at most `max_bypass` times.
    OldestFirst {
        /// Maximum number of packets that may overtake one.
        max_bypass: u32,
        /// Which packets the bound protects, and which it holds back.
        bypass: Bypass,
        /// Whether the bound also applies to ACKs and CNPs. Otherwise, they may overtake and be overtaken freely.
        counts_answers: bool,
    },
    /// The inputs, in round-robin order.
    RoundRobin,
}

impl Arbiter {
    /// Whether arrival order and the bound on overtaking apply to a packet of this kind.
    #[inline]
    pub(crate) fn counts(&self, kind: Kind) -> bool {
        kind == Kind::Data || matches!(self, Arbiter::OldestFirst { counts_answers: true, .. })
    }
}

/// The scope of a bound on overtaking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bypass {
    /// The oldest packet in the switch. Once the bound is reached, no other packet leaves the switch first,
    /// unless the oldest packet lacks credit.
    Switch,
    /// Each packet, on its own output and virtual lane. Once the bound is reached, no younger packet leaves
    /// on that output and lane before it. This has no effect where an input buffer can feed several outputs
    /// at once, because the oldest packet for an output then always leaves first.
    Output,
}

/// How packets wait in an input buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queueing {
    /// One virtual output queue per output, so no packet waits for a packet to another output.
    Voq,
    /// One queue in order of arrival, of which only the head can leave (head-of-line blocking).
    Fifo,
}

/// Number of packets that one input buffer may send at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputReads {
    /// One per output.
    Many,
    /// One.
    One,
}

/// How a switch chooses among equal ports once a packet's header has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathSelection {
    /// By the forwarding table: one port for each destination.
    Destination,
    /// By a hash of the flow (ECMP). If salted, the hash differs from switch to switch. ACKs and CNPs are
    /// hashed as flows separate from the data.
    Flow {
        /// Whether the switch is an input to the hash.
        salted: bool,
    },
    /// By a hash of the packet (oblivious spraying).
    Packet,
    /// Round-robin over each set of equal ports.
    RoundRobin,
    /// The port with the least waiting data. Ports with credit are preferred, and a hash breaks ties.
    LeastWaiting {
        /// Number of ports sampled and compared; [`PathSelection::ALL`] for all.
        sample: u32,
    },
    /// As [`PathSelection::LeastWaiting`] for the first packet of a flowlet; the rest of the flowlet follows
    /// it.
    Flowlet {
        /// Idle time of a flow at a switch after which a new flowlet begins.
        gap: Time,
    },
    /// Each data packet first goes to a random region (Valiant 1982). Requires [`crate::Detours`].
    Valiant,
    /// As [`PathSelection::Valiant`], but only if the product of queue length and hops, as seen by the
    /// source's switch, is smaller for the detour than for the direct path (UGAL-L, Singh 2005).
    Ugal,
    /// By a hash of the switch, the flow, and a value that the source sets in each data packet. Other packets are
    /// hashed one by one.
    Entropy {
        /// Number of values that a flow uses, a power of two of at most [`PathSelection::MOST_VALUES`].
        values: u32,
        /// How a source chooses among them.
        balancer: Balancer,
    },
}

/// How a source chooses the entropy value of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Balancer {
    /// All values in turn, in a random order.
    Oblivious,
    /// As [`Balancer::Oblivious`], but skips each value as often as its packets were marked.
    Bitmap,
    /// The value of an unmarked packet, which is used once more, or a random value if there is none.
    Reps,
    /// The value of an unmarked packet, or as [`Balancer::Bitmap`] if there is none.
    Mixed,
}

impl PathSelection {
    /// A sample of all ports.
    pub const ALL: u32 = u32::MAX;
    /// Largest number of entropy values.
    pub const MOST_VALUES: u32 = 1 << 15;

    /// Whether the packets of a flow always arrive in the order in which they were sent.
    #[inline]
    pub const fn keeps_order(self) -> bool {
        matches!(self, PathSelection::Destination | PathSelection::Flow { .. })
    }
}

/// Settings shared by all switches.
#[derive(Clone, Debug)]
pub struct SwitchConfig {
    /// Number of virtual lanes, 1 to 15.
    pub vls: u8,
    /// Input buffer of each port and virtual lane.
    pub buffer: Room,
    /// Time from the arrival of a packet's header (or, with store-and-forward, of its tail) to its earliest departure.
    pub forwarding_delay: Time,
    /// Cut-through or store-and-forward.
    pub switching: Switching,
    /// The policy by which a free output chooses a packet.
    pub arbiter: Arbiter,
    /// How a switch chooses among equal ports.
    pub paths: PathSelection,
    /// How packets wait in an input buffer.
    pub queueing: Queueing,
    /// Number of packets that an input buffer may send at the same time.
    pub input_reads: InputReads,
    /// How an output chooses a virtual lane.
    pub vl_arbitration: VlArbitration,
    /// Distribution of transmission times, relative to the nominal time at the link's rate. Unless it is fixed,
    /// switching must be store-and-forward, because the transmission of a packet that cuts through could run out of
    /// bytes.
    pub service: Distribution,
    /// The policy that keeps a sender from overflowing a buffer.
    pub flow_control: FlowControl,
}

impl SwitchConfig {
    /// Buffer units that a packet of `size` bytes occupies: credits, or bytes with PFC.
    #[inline]
    pub(crate) fn need(&self, size: u32) -> u32 {
        if self.flow_control.pauses() { size } else { self.buffer.need(size) }
    }

    /// Buffer units that a packet occupies, or all packets of a train.
    pub(crate) fn need_of(&self, packet: &Packet) -> u32 {
        if self.flow_control.pauses() { packet.size } else { self.buffer.unit().of_packet(packet) }
    }

    /// A buffer's capacity in these units (with PFC, up to XOFF), where packets have at most `largest` bytes.
    pub(crate) fn capacity(&self, largest: u32) -> u32 {
        if self.flow_control.pauses() { self.buffer.bytes(largest) } else { self.buffer.capacity() }
    }
}

/// A change of a link's rate during a run. Requires store-and-forward switching, as does a variable
/// [`SwitchConfig::service`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateChange {
    /// Time of the change; a packet in transmission keeps the old rate.
    pub at: Time,
    /// The port that sends on the link; the rate of the other direction is unchanged.
    pub from: PortId,
    /// The new rate.
    pub rate: Rate,
}

/// The policy by which an output chooses a virtual lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VlArbitration {
    /// Round-robin over the lanes, packet by packet.
    RoundRobin,
    /// The two tables of IBTA (volume 1, section 7.6.9). Lanes that do not exist and entries with weight 0
    /// are skipped. A lane in neither table never sends.
    Tables {
        /// High priority: (lane, weight in units of 64 bytes).
        high: Vec<(u8, u8)>,
        /// Low priority: (lane, weight in units of 64 bytes).
        low: Vec<(u8, u8)>,
        /// Bytes of high priority that may be sent before a packet of low priority, in units of 4096; 255 for
        /// no limit.
        limit: u8,
    },
}

/// Packet sizes on the wire, in bytes, and the virtual lanes of answers.
#[derive(Clone, Copy, Debug)]
pub struct PacketConfig {
    /// Largest payload of a data packet.
    pub mtu: u32,
    /// Headers of a data packet.
    pub header: u32,
    /// Size of an ACK.
    pub ack: u32,
    /// Size of a congestion notification packet.
    pub cnp: u32,
    /// Virtual lane of ACKs and CNPs; `None` for the answered packet's.
    pub answers_vl: Option<u8>,
    /// Virtual lane of CNPs; `None` for the ACKs'.
    pub cnp_vl: Option<u8>,
    /// Largest number of data packets that one simulated packet stands for, see [`Train`](crate::Train); 1 for exact
    /// runs.
    pub train: u32,
    /// Longest time over which the packets of a train would spread if others took turns with them; [`Time::MAX`] for any.
    pub train_span: Time,
}

impl PacketConfig {
    /// Number of packets in a message.
    pub(crate) fn packets_of(&self, bytes: u64) -> u64 {
        bytes.div_ceil(u64::from(self.mtu)).max(1)
    }

    /// Size of the largest packet on the wire.
    pub fn largest(&self) -> u32 {
        (self.mtu + self.header).max(self.ack).max(self.cnp)
    }

    /// Size of the longest train on the wire.
    pub(crate) fn longest(&self) -> u32 {
        self.train * self.largest()
    }

    /// Size of the smallest packet on the wire.
    pub fn smallest(&self) -> u32 {
        (self.header + 1).min(self.ack).min(self.cnp).max(1)
    }
}

/// The policy by which an adapter chooses a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Injection {
    /// Round-robin over the flows, packet by packet.
    RoundRobin,
    /// Messages leave in the order in which they were posted, regardless of their flow. A message is skipped while its
    /// flow's pace or window does not allow it to send.
    Posted,
}

/// The policy for a message that finds its host's send queue full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenFull {
    /// Its source waits until the message fits, and posts no others.
    Block,
    /// The message is dropped and counted.
    Drop,
}

/// The policy by which an adapter chooses between answers (ACKs and CNPs) and data on the same lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answers {
    /// Answers and data alternate. The packet that is due waits for credit, and no other packet overtakes it on its
    /// lane.
    Turns,
    /// Answers have priority. Data packets that lack credit get none while any answer waits.
    First,
}

/// Settings of a host's adapter.
#[derive(Clone, Copy, Debug)]
pub struct AdapterConfig {
    /// Policy for choosing a flow.
    pub injection: Injection,
    /// Policy for choosing between answers and data.
    pub answers: Answers,
    /// Whether a waiting ACK absorbs later ACKs of the same flow, unless it carries telemetry.
    pub coalesces: bool,
    /// Rate at which data packets are fetched from memory; `None` for the link's rate.
    pub injection_rate: Option<Rate>,
    /// Time in which the host prepares a message before its first packet can be fetched. The host prepares one message
    /// at a time, while the previous one is being sent.
    pub message_overhead: Time,
    /// Rate at which packets drain from a receive buffer as large as a switch's; `None` if they drain on
    /// arrival.
    pub drain_rate: Option<Rate>,
    /// Capacity of the host's send queue, in packets of posted messages of all flows;
    /// [`AdapterConfig::UNLIMITED`] for no limit.
    pub queue: u32,
    /// The policy for a message that finds the send queue full.
    pub when_full: WhenFull,
}

impl AdapterConfig {
    /// The capacity of an unlimited send queue.
    pub const UNLIMITED: u32 = u32::MAX;
}
