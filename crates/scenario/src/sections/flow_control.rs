//! `[switch.flow_control]`: credits, credits that return in messages (CBFC), or pauses (PFC).

use becalm_engine::Time;
use becalm_fabric as fabric;
use becalm_fabric::{CREDIT_BYTES, Room, SharedPool, Unit, Watchdog as Watched, WatchdogAction, WatchdogRule};
use becalm_schema::{Conflict, Located};

use crate::sections::quantities::{Bytes, PauseTime};

/// Number of traffic classes in a pause frame.
pub(crate) const CLASSES: u32 = 8;

becalm_schema::table! {
    /// A sender tracks the free space in the buffer at the other end of its cable, and reserves space before
    /// it sends.
    pub struct Credits {}
}

/// Largest number of units that CBFC's counters of 20 bits can tell apart.
pub(crate) const MOST_UNITS: u32 = (1 << 20) - 1;

becalm_schema::table! {
    /// Credit-based flow control of Ultra Ethernet's link layer (CBFC). As with credits, a sender reserves space before it
    /// sends; `switch.buffer` is the limit of each lane. The receiver returns all credit that has become free in one
    /// message, CF_Update, of 8 B, which takes its share of the link. Not verified against a public text of the standard.
    pub located struct Cbfc {
        /// Bytes of a unit of credit, a power of two. A packet takes whole units.
        pub credit: Bytes = Bytes(128); ""; Bytes(32)..=Bytes(4096),
        /// Bytes that a packet takes in addition to its size, before rounding up.
        pub overhead: Bytes = Bytes(0); ""; ..=Bytes(127),
        /// Interval of CF_Updates, as bytes of the link.
        pub spacing: Bytes = Bytes(6400); ""; Bytes(800)..=Bytes(1 << 18),
    }
    check Cbfc::check;
}

impl Cbfc {
    fn check(&self) -> Result<(), Conflict> {
        Conflict::unless(self.credit.0.is_power_of_two(), "credit", || "must be a power of two".to_string())
    }

    /// The unit of credit.
    fn unit(&self) -> Unit {
        Unit::new(self.credit.0, self.overhead.0)
    }
}

becalm_schema::table! {
    /// XOFF and XON are constant, and each buffer has its own memory. XOFF is `switch.buffer`.
    pub located struct Static {
        /// Occupancy at which a paused sender resumes (XON); two full packets below XOFF if left out.
        pub xon: Option<Bytes> = None,
    }
}

becalm_schema::table! {
    /// The input buffers of a switch share memory. Each buffer's XOFF is a multiple of the free part of this memory.
    /// The XOFF of a host's receive buffer is `switch.buffer`.
    pub located struct Dynamic {
        /// Ratio of XOFF to the free memory.
        pub alpha: f64 = 0.125; ""; 0.001..=1024.0,
        /// The shared memory of each switch, without headroom. If left out, it is `switch.buffer` for each
        /// port and lane of the switch.
        pub shared: Option<Bytes> = None; ""; Bytes(1)..,
        /// Distance from XOFF down to XON; two full packets if left out.
        pub resume_offset: Option<Bytes> = None,
    }
}

becalm_schema::choice! {
    /// When a buffer pauses its sender.
    pub enum Thresholds {
        /// Fixed thresholds.
        Static(Static) = "static",
        /// Thresholds that follow the free memory.
        Dynamic(Dynamic) = "dynamic",
    }
}

becalm_schema::table! {
    /// Priority-based flow control (IEEE 802.1Qbb). A buffer filled beyond XOFF pauses the sender on the buffer's
    /// virtual lane. Packets that arrive after that fill the headroom. Every lane is a lossless class.
    pub located struct Pfc {
        /// When a buffer pauses its sender, and when it lets the sender resume.
        pub thresholds: Thresholds = Thresholds::Static(Static::default()),
        /// Space of each buffer above XOFF; as much as can be needed if left out. If a buffer overflows it, the run
        /// ends with an error.
        pub headroom: Option<Bytes> = None,
        /// Response time of a sender to a pause. A quantum is the transmission time of 64 B on the link. If left out,
        /// it is the maximum of IEEE 802.3, clause 31B.3.7, at the link rate or the next higher rate listed.
        pub response: Option<PauseTime> = None,
        /// Time from a buffer's decision to pause until its sender stops, without the cable's delay. If left out, it is
        /// the worst case: `response` plus the transmission times of a full packet and of the pause frame (84 B).
        pub delay: Option<Time> = None; ""; Time(1)..=Time::from_ms(1000),
        /// Watchdogs of the switches against storms of pauses; none if left out.
        pub watchdog: Option<Watchdog> = None,
    }
}

becalm_schema::words! {
    /// The rule by which a watchdog finds a storm between two polls.
    pub enum Rule {
        /// Packets wait, none has been sent since the last poll, and the queue was paused for over 99% of the time. A
        /// storm is found when these times sum up to over 99% of `detection`.
        Mellanox = "mellanox",
        /// The queue was paused at both polls, and did not resume in between. Packets do not count.
        Broadcom = "broadcom",
    }
}

becalm_schema::words! {
    /// What a watchdog does with a queue in a storm.
    pub enum Action {
        /// Discards the packets that wait in the queue, that come for it, and that arrive at its port on its lane.
        Drop = "drop",
        /// Ignores pauses. Packets for which the buffer at the other end has no room are lost.
        Forward = "forward",
        /// Only counts the storm, which ends with its condition.
        Alert = "alert",
    }
}

becalm_schema::table! {
    /// Watchdogs of all switches against storms of pauses, as SONiC has them. The queues of an output are polled
    /// together; switches are not synchronized. No host sends a lost packet again.
    pub located struct Watchdog {
        /// Time for which a storm must last.
        pub detection: Time; ""; Time(1)..,
        /// Time without a pause after which a queue is restored; twice `detection` if left out, as with `pfcwd start`.
        pub restoration: Option<Time> = None; ""; Time(1)..,
        /// Interval of polls; `detection` if left out, but not longer than `restoration`.
        pub poll: Option<Time> = None; ""; Time(1)..,
        /// The rule by which a storm is found.
        pub rule: Rule = Rule::Mellanox,
        /// What happens to a queue in a storm.
        pub action: Action = Action::Drop,
    }
    check Watchdog::check;
}

impl Watchdog {
    fn check(&self) -> Result<(), Conflict> {
        let Watched { poll, detection, restoration, .. } = self.config();
        let most = detection.min(restoration);
        Conflict::unless(poll <= most, "poll", || {
            format!("must not be longer than detection = {detection} and restoration = {restoration}")
        })
    }

    /// The watchdog as the fabric represents it.
    fn config(&self) -> Watched {
        let restoration = self.restoration.unwrap_or(Time(self.detection.0.saturating_mul(2)));
        Watched {
            rule: match *self.rule {
                Rule::Mellanox => WatchdogRule::Mellanox,
                Rule::Broadcom => WatchdogRule::Broadcom,
            },
            action: match *self.action {
                Action::Drop => WatchdogAction::Drop,
                Action::Forward => WatchdogAction::Forward,
                Action::Alert => WatchdogAction::Alert,
            },
            poll: self.poll.unwrap_or(self.detection.min(restoration)),
            detection: *self.detection,
            restoration,
        }
    }
}

becalm_schema::choice! {
    /// Mechanism that prevents senders from overflowing the next buffer.
    pub enum FlowControl {
        /// Credit.
        Credits(Credits) = "credits",
        /// Credit that returns in messages (Ultra Ethernet).
        Cbfc(Located<Cbfc>) = "cbfc",
        /// Pauses.
        Pfc(Located<Pfc>) = "pfc",
    }
}

impl FlowControl {
    /// The settings of PFC, if it is in use and could be read.
    pub fn pfc(&self) -> Option<&Pfc> {
        match self {
            FlowControl::Credits(_) | FlowControl::Cbfc(_) => None,
            FlowControl::Pfc(pfc) => pfc.get(),
        }
    }

    /// The settings of CBFC, if it is in use and could be read.
    pub fn cbfc(&self) -> Option<&Cbfc> {
        match self {
            FlowControl::Cbfc(cbfc) => cbfc.get(),
            FlowControl::Credits(_) | FlowControl::Pfc(_) => None,
        }
    }

    /// A buffer of this many bytes.
    pub(crate) fn room(&self, bytes: u32) -> Room {
        match self.cbfc().map(Cbfc::unit) {
            Some(unit) => Room::Units(bytes / unit.bytes(), unit),
            None => Room::Bytes(bytes),
        }
    }

    /// The space in bytes that a packet of `size` bytes takes.
    pub(crate) fn space_for(&self, size: u32) -> u32 {
        match self {
            FlowControl::Credits(_) => size.next_multiple_of(CREDIT_BYTES),
            FlowControl::Cbfc(cbfc) => {
                cbfc.get().map_or(size, |cbfc| cbfc.unit().of(size).saturating_mul(cbfc.credit.0))
            }
            FlowControl::Pfc(_) => size,
        }
    }

    /// Bytes that a link carries between two returns of credit; 0 if each packet's credit returns at once.
    pub(crate) fn spacing(&self) -> u32 {
        self.cbfc().map_or(0, |cbfc| cbfc.spacing.0)
    }

    /// The flow control as the fabric represents it.
    pub fn config(&self) -> fabric::FlowControl {
        if let Some(cbfc) = self.cbfc() {
            return fabric::FlowControl::Cbfc(fabric::Cbfc { spacing: cbfc.spacing.0 });
        }
        self.pfc().map_or(fabric::FlowControl::Credits, |pfc| fabric::FlowControl::Pfc(pfc.config()))
    }
}

impl Pfc {
    fn config(&self) -> fabric::Pfc {
        let bytes = |bytes: &Option<Bytes>| bytes.map(|Bytes(bytes)| bytes);
        let (xon, pool) = match &*self.thresholds {
            Thresholds::Static(own) => (bytes(&own.xon), None),
            Thresholds::Dynamic(of) => {
                let (shared, offset) = (bytes(&of.shared).map(u64::from), bytes(&of.resume_offset));
                (None, Some(SharedPool { bytes: shared, alpha: *of.alpha, offset }))
            }
        };
        fabric::Pfc {
            xon,
            pool,
            headroom: bytes(&self.headroom),
            delay: *self.delay,
            response: self.response.map(|PauseTime(response)| response),
            watchdog: self.watchdog.as_ref().map(Watchdog::config),
        }
    }
}
