//! `[switch.flow_control]`: credit or pauses (PFC).

use becalm_engine::Time;
use becalm_fabric as fabric;
use becalm_fabric::SharedPool;
use becalm_schema::Located;

use crate::sections::quantities::{Bytes, PauseTime};

/// Classes of traffic that a pause frame can name.
pub(crate) const CLASSES: u32 = 8;

becalm_schema::table! {
    /// A sender knows the free space in the buffer at the other end of its cable, and reserves it before it sends.
    pub struct Credits {}
}

becalm_schema::table! {
    /// XOFF and XON are constant; each buffer has its own memory. XOFF is `switch.buffer`.
    pub located struct Static {
        /// Bytes of a buffer down to which its sender stays paused (XON); two packets of the largest size below XOFF if left
        /// out.
        pub xon: Option<Bytes> = None,
    }
}

becalm_schema::table! {
    /// The input buffers of a switch share memory, and the XOFF of each is a multiple of the part that is free. Receive
    /// buffers of hosts have XOFF at `switch.buffer`.
    pub located struct Dynamic {
        /// XOFF, as a multiple of the free memory.
        pub alpha: f64 = 0.125; ""; 0.001..=1024.0,
        /// The shared memory of each switch, its headroom not included; if left out, as much as the input buffers of all
        /// ports and lanes would have with `switch.buffer` each.
        pub shared: Option<Bytes> = None; ""; Bytes(1)..,
        /// Distance from XOFF down to XON in bytes; two packets of the largest size if left out.
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
    /// Priority-based flow control (IEEE 802.1Qbb): a buffer above XOFF pauses its sender, one virtual lane at a time;
    /// what arrives after that fills the headroom. Every lane is a lossless class.
    pub located struct Pfc {
        /// When a buffer pauses its sender, and when it lets the sender resume.
        pub thresholds: Thresholds = Thresholds::Static(Static::default()),
        /// Bytes that each buffer has above XOFF. If left out, as many as the rate, delays and packet sizes can
        /// require. A buffer that needs more than it has ends the run with an error.
        pub headroom: Option<Bytes> = None,
        /// Time that a sender takes to respond to a pause; or, for example, `"60 quanta"`, where a quantum is the time
        /// of 64 B on its link. If left out, the maximum that IEEE 802.3, clause 31B.3.7, allows at the rate of the
        /// link; for a rate that it does not list, the maximum at the next rate.
        pub response: Option<PauseTime> = None,
        /// Time from a buffer's decision to pause until its sender obeys, not including the delay of the cable. If left
        /// out, the worst case: a packet of the largest size that the pause has to wait for, the pause frame of 84 B,
        /// and `response`.
        pub delay: Option<Time> = None; ""; Time(1)..=Time::from_ms(1000),
    }
}

becalm_schema::choice! {
    /// What keeps a sender from overflowing the next buffer.
    pub enum FlowControl {
        /// Credit.
        Credits(Credits) = "credits",
        /// Pauses.
        Pfc(Located<Pfc>) = "pfc",
    }
}

impl FlowControl {
    /// PFC, if it is chosen and could be read.
    pub fn pfc(&self) -> Option<&Pfc> {
        match self {
            FlowControl::Credits(_) => None,
            FlowControl::Pfc(pfc) => pfc.get(),
        }
    }

    /// The flow control in the form that the fabric expects.
    pub fn config(&self) -> fabric::FlowControl {
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
        }
    }
}
