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
        /// After its header has passed; the next buffer must have room for the whole packet.
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
        /// One queue in order of arrival: only its head can leave.
        Fifo = "fifo",
    }
}

becalm_schema::words! {
    /// How many packets one input buffer may send at the same time.
    pub enum InputReads {
        /// One per output.
        Many = "many",
        /// One.
        One = "one",
    }
}

becalm_schema::words! {
    /// Which overtaking is bounded, and which packets are held back at the bound.
    pub enum Bypass {
        /// Overtaking of the oldest packet in the switch; at the bound, nothing leaves before that packet.
        Switch = "switch",
        /// Overtaking of every packet at its own output; at the bound, that output waits for the packet.
        Output = "output",
    }
}

becalm_schema::words! {
    /// Whether ACKs and congestion notification packets take part in the bound on overtaking.
    pub enum Acks {
        /// They count towards it and are held up by it, as other packets are.
        Counted = "counted",
        /// They overtake and are overtaken freely.
        Free = "free",
    }
}

becalm_schema::table! {
    /// The packet that entered the switch first leaves first.
    pub struct OldestFirst {
        /// Number of packets that may overtake the oldest one in the switch; after that, nothing leaves before it. A
        /// bound is meant for switches with few ports: a bound of 4 packets leaves a switch of 32 ports half of its
        /// capacity or less.
        pub max_bypass: Limit = Limit(u32::MAX); "packets",
        /// Whether the bound applies to the oldest packet in the switch or to every packet at its own output. At its
        /// output, younger packets overtake a packet while its input buffer sends another one, with
        /// `input_reads = "one"`.
        pub bypass: Bypass = Bypass::Switch,
        /// Whether ACKs and congestion notification packets count towards that number and are held up by it, or
        /// overtake and are overtaken freely.
        pub acks: Acks = Acks::Counted,
    }
    check OldestFirst::check;
}

impl OldestFirst {
    fn check(&self) -> Result<(), Conflict> {
        let unlimited = self.max_bypass.0 == u32::MAX;
        let idle = || "does nothing, since max_bypass is unlimited".into();
        Conflict::unless(!(unlimited && self.bypass == Bypass::Output), "bypass", idle)?;
        Conflict::unless(!(unlimited && self.acks == Acks::Free), "acks", idle)
    }
}

becalm_schema::table! {
    /// The inputs in turn.
    pub struct RoundRobin {}
}

becalm_schema::choice! {
    /// The order of inputs at a free output.
    pub enum Arbiter {
        /// Oldest first.
        OldestFirst(OldestFirst) = "oldest_first",
        /// In turn.
        RoundRobin(RoundRobin) = "round_robin",
    }
}

becalm_schema::table! {
    /// The lanes in turn, one packet each.
    pub struct LanesInTurn {}
}

becalm_schema::table! {
    /// A virtual lane and its weight.
    pub struct Weight {
        /// The lane.
        pub vl: u32; ""; 0..=14,
        /// Data that the lane may send before the next entry's turn, in units of 64 bytes.
        pub weight: u32; ""; 0..=255,
    }
}

becalm_schema::table! {
    /// The two tables of IBTA: entries of the high-priority table go first, up to a limit.
    pub struct Tables {
        /// High priority.
        pub high: Vec<Weight> = Vec::new(),
        /// Low priority.
        pub low: Vec<Weight>,
        /// High-priority bytes that may go before a low-priority packet, in units of 4096; 255 for no limit.
        pub limit: u32 = 255; ""; 0..=255,
    }
}

becalm_schema::choice! {
    /// Which virtual lane goes next on an output.
    pub enum VlArbitration {
        /// In turn.
        RoundRobin(LanesInTurn) = "round_robin",
        /// By weights and priority.
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
        /// Input buffer of each port and VL; with `[switch.flow_control.pfc]`, the bytes up to XOFF, not including
        /// headroom.
        pub buffer: Buffer = Buffer(Room::Packets(4)),
        /// Time from a header's arrival to its earliest departure, or from the tail's arrival where packets are stored
        /// first.
        pub forwarding_delay: Time = Time::from_ns(40); ""; ..=Time::from_ms(1000),
        /// When a packet may be forwarded.
        pub switching: Switching = Switching::CutThrough,
        /// How packets wait in an input buffer.
        pub queueing: Queueing = Queueing::Voq,
        /// How many packets one input buffer may send at the same time.
        pub input_reads: InputReads = InputReads::Many,
        /// Number of virtual lanes.
        pub vls: u32 = 1; ""; 1..=15,
        /// The virtual lane of each service level, starting with level 0; if left out, each level has the lane of the
        /// same number.
        pub sl_to_vl: Option<Vec<u32>> = None,
        /// Which virtual lane goes next on an output.
        pub vl_arbitration: VlArbitration = VlArbitration::RoundRobin(LanesInTurn {}),
        /// The order of inputs at a free output.
        pub arbiter: Arbiter = Arbiter::RoundRobin(RoundRobin {}),
        /// Which of several equal ports a packet takes.
        pub paths: PathLaw = PathLaw::Destination(ByDestination {}),
        /// Distribution of an output's time for a packet around the time that the packet's size requires; drawn again
        /// at every switch. Values other than `"fixed"` need `switching = "store_and_forward"`.
        pub service: Distribution = Distribution::FIXED,
        /// What keeps a sender from overflowing the next buffer.
        pub flow_control: FlowControl = FlowControl::Credits(Credits {}),
    }
}

impl Switch {
    /// The virtual lane of a service level; `None` if the map has none for it, or could not be read.
    pub fn vl(&self, sl: u32) -> Option<u32> {
        match self.sl_to_vl.get()? {
            Some(map) => map.get(sl as usize).copied(),
            None => Some(sl),
        }
    }

    /// The switch in the form that the fabric expects.
    pub fn config(&self) -> SwitchConfig {
        SwitchConfig {
            vls: *self.vls as u8,
            buffer: self.buffer.0,
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
