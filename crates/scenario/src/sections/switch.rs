//! `[switch]`: the switches.

use becalm_engine::Time;
use becalm_fabric as fabric;
use becalm_fabric::{Room, SwitchConfig};
use becalm_schema::{Conflict, Located};

use crate::sections::distribution::Distribution;
use crate::sections::flow_control::{Credits, FlowControl};
use crate::sections::paths::{ByDestination, PathLaw};
use crate::sections::quantities::{Buffer, Limit};

becalm_schema::words! {
    /// When a switch may begin to forward a packet.
    pub enum Switching {
        /// After its header has arrived. The next buffer must have space for the entire packet.
        CutThrough = "cut_through",
        /// After its last byte has arrived.
        StoreAndForward = "store_and_forward",
    }
}

becalm_schema::words! {
    /// How packets wait in an input buffer.
    pub enum Queueing {
        /// One virtual output queue per output.
        Voq = "voq",
        /// One queue in order of arrival. Only the packet at its head can leave.
        Fifo = "fifo",
    }
}

becalm_schema::words! {
    /// Number of packets that an input buffer may send at the same time.
    pub enum InputReads {
        /// One to each output.
        Many = "many",
        /// One in total.
        One = "one",
    }
}

becalm_schema::words! {
    /// Scope of the bound on overtaking.
    pub enum Bypass {
        /// The oldest packet in the switch. At the bound, no other packet leaves before it.
        Switch = "switch",
        /// Every packet at its own output. At the bound, the output waits for the packet.
        Output = "output",
    }
}

becalm_schema::words! {
    /// How the bound on overtaking treats ACKs and congestion notification packets.
    pub enum Acks {
        /// Like other packets, they count towards the bound and are delayed by it.
        Counted = "counted",
        /// They are exempt, so they may overtake and be overtaken without limit.
        Free = "free",
    }
}

becalm_schema::table! {
    /// The packet that entered the switch first leaves first.
    pub struct OldestFirst {
        /// Number of packets that may overtake the oldest packet in the switch. A bound suits only switches with few
        /// ports.
        pub max_bypass: Limit = Limit(u32::MAX); "packets",
        /// Whether the bound applies to the oldest packet in the switch or to every packet at its own output.
        /// With `input_reads = "one"`, a packet may be overtaken at its output while its input buffer sends
        /// another packet.
        pub bypass: Bypass = Bypass::Switch,
        /// Whether the bound applies to ACKs and congestion notification packets.
        pub acks: Acks = Acks::Counted,
    }
    check OldestFirst::check;
}

impl OldestFirst {
    fn check(&self) -> Result<(), Conflict> {
        let unlimited = self.max_bypass.0 == u32::MAX;
        let idle = || "does nothing, because max_bypass is unlimited".into();
        Conflict::unless(!(unlimited && self.bypass == Bypass::Output), "bypass", idle)?;
        Conflict::unless(!(unlimited && self.acks == Acks::Free), "acks", idle)
    }
}

becalm_schema::table! {
    /// Serves the inputs in round-robin order.
    pub struct RoundRobin {}
}

becalm_schema::choice! {
    /// The order of inputs at a free output.
    pub enum Arbiter {
        /// Oldest first.
        OldestFirst(OldestFirst) = "oldest_first",
        /// In round-robin order.
        RoundRobin(RoundRobin) = "round_robin",
    }
}

becalm_schema::table! {
    /// Serves the lanes in round-robin order, one packet each.
    pub struct LanesInTurn {}
}

becalm_schema::table! {
    /// A virtual lane and its weight.
    pub struct Weight {
        /// The lane.
        pub vl: u32; ""; 0..=14,
        /// Amount of data that the lane may send before the next entry is served, in units of 64 bytes.
        pub weight: u32; ""; 0..=255,
    }
}

becalm_schema::table! {
    /// The two tables of IBTA. Entries of the high-priority table are served first, up to a limit.
    pub struct Tables {
        /// Entries of the high-priority table.
        pub high: Vec<Weight> = Vec::new(),
        /// Entries of the low-priority table.
        pub low: Vec<Weight>,
        /// Amount of high-priority data that may be sent before a low-priority packet, in units of 4096
        /// bytes; 255 for no limit.
        pub limit: u32 = 255; ""; 0..=255,
    }
}

becalm_schema::choice! {
    /// Order of the virtual lanes at an output.
    pub enum VlArbitration {
        /// In round-robin order.
        RoundRobin(LanesInTurn) = "round_robin",
        /// By weight and priority.
        Tables(Located<Tables>) = "tables",
    }
}

impl VlArbitration {
    fn config(&self) -> fabric::VlArbitration {
        let entries = |list: &[Weight]| list.iter().map(|entry| (entry.vl as u8, entry.weight as u8)).collect();
        match self {
            VlArbitration::RoundRobin(_) => fabric::VlArbitration::RoundRobin,
            VlArbitration::Tables(p) => {
                fabric::VlArbitration::Tables { high: entries(&p.high), low: entries(&p.low), limit: p.limit as u8 }
            }
        }
    }
}

becalm_schema::table! {
    /// Settings of all switches.
    pub located struct Switch {
        /// Size of the input buffer of each port and VL; with `[switch.flow_control.pfc]`, its size up to XOFF, not
        /// including headroom. `"4 packets"` has space for the bytes of four full packets; in `"4 slots"`, each packet
        /// occupies a slot, whatever its size. `"auto"` is at least 4 packets, and twice the product of rate and credit
        /// loop of the link that needs most: two delays of the cable, the forwarding delay and a packet's transmission
        /// time (twice, with `store_and_forward`).
        pub buffer: Buffer = Buffer::Auto,
        /// Time from the arrival of a packet's header (with `store_and_forward`, of its last byte) to its earliest
        /// departure.
        pub forwarding_delay: Time = Time::from_ns(40); ""; ..=Time::from_ms(1000),
        /// When a packet may be forwarded.
        pub switching: Switching = Switching::CutThrough,
        /// How packets wait in an input buffer.
        pub queueing: Queueing = Queueing::Voq,
        /// Number of packets that an input buffer may send at the same time.
        pub input_reads: InputReads = InputReads::Many,
        /// Number of virtual lanes.
        pub vls: u32 = 1; ""; 1..=15,
        /// The virtual lane of each service level, starting with level 0. If left out, each level uses the
        /// lane with the same number.
        pub sl_to_vl: Option<Vec<u32>> = None,
        /// Order of the virtual lanes at an output.
        pub vl_arbitration: VlArbitration = VlArbitration::RoundRobin(LanesInTurn {}),
        /// The order of inputs at a free output.
        pub arbiter: Arbiter = Arbiter::RoundRobin(RoundRobin {}),
        /// Rule by which a switch selects one of several equal ports.
        pub paths: PathLaw = PathLaw::Destination(ByDestination {}),
        /// Distribution of the service time of a packet at an output. The mean is the transmission time, and draws are
        /// independent. Values other than `"fixed"` require `switching = "store_and_forward"`.
        pub service: Distribution = Distribution::FIXED,
        /// Mechanism that prevents senders from overflowing the next buffer.
        pub flow_control: FlowControl = FlowControl::Credits(Credits {}),
    }
}

impl Switch {
    /// The virtual lane of a service level; `None` if the map has no entry for it, or could not be read.
    pub fn vl(&self, sl: u32) -> Option<u32> {
        match self.sl_to_vl.get()? {
            Some(map) => map.get(sl as usize).copied(),
            None => Some(sl),
        }
    }

    /// The fabric's settings for a switch with input buffers of this capacity.
    pub fn config(&self, buffer: Room) -> SwitchConfig {
        SwitchConfig {
            vls: *self.vls as u8,
            buffer,
            forwarding_delay: *self.forwarding_delay,
            switching: match *self.switching {
                Switching::CutThrough => fabric::Switching::CutThrough,
                Switching::StoreAndForward => fabric::Switching::StoreAndForward,
            },
            arbiter: match &*self.arbiter {
                Arbiter::OldestFirst(p) => fabric::Arbiter::OldestFirst {
                    max_bypass: p.max_bypass.0,
                    bypass: match p.bypass {
                        Bypass::Switch => fabric::Bypass::Switch,
                        Bypass::Output => fabric::Bypass::Output,
                    },
                    counts_answers: p.acks == Acks::Counted,
                },
                Arbiter::RoundRobin(_) => fabric::Arbiter::RoundRobin,
            },
            paths: self.paths.config(),
            queueing: match *self.queueing {
                Queueing::Voq => fabric::Queueing::Voq,
                Queueing::Fifo => fabric::Queueing::Fifo,
            },
            input_reads: match *self.input_reads {
                InputReads::Many => fabric::InputReads::Many,
                InputReads::One => fabric::InputReads::One,
            },
            vl_arbitration: self.vl_arbitration.config(),
            service: self.service.0.clone(),
            flow_control: self.flow_control.config(),
        }
    }
}
