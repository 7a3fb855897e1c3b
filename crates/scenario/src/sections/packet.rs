//! `[packet]`: sizes on the wire, and the class of answers.

use becalm_engine::Time;
use becalm_fabric::PacketConfig;

use crate::sections::quantities::{Bytes, Payload};

becalm_schema::words! {
    /// The virtual lane of congestion notification packets.
    pub enum CnpLane {
        /// A separate lane, in addition to the lanes in `switch.vls`. With arbitration by weights, it is in the
        /// high-priority table.
        Own = "own",
        /// The lane of ACKs.
        Acks = "acks",
    }
}

becalm_schema::table! {
    /// Sizes of packets, and the service level of answers.
    pub located struct Packet {
        /// Largest payload of a data packet; longer messages are split.
        pub mtu: Bytes = Bytes(2048); ""; Bytes(1)..=Bytes(1 << 20),
        /// Size of a data packet's headers.
        pub header: Bytes = Bytes(20); ""; Bytes(0)..=Bytes(4096),
        /// Size of an acknowledgement.
        pub ack: Bytes = Bytes(20); ""; Bytes(1)..=Bytes(4096),
        /// Size of a congestion notification packet; `ack` if left out.
        pub cnp: Option<Bytes> = None; ""; Bytes(1)..=Bytes(4096),
        /// Service level of acknowledgements and congestion notification packets; the level of their flow if
        /// left out.
        pub answers_sl: Option<u32> = None; ""; 0..=15,
        /// Virtual lane of congestion notification packets. If left out, they have a separate lane with `echo.rocev2`
        /// or PFC, unless all lanes are in use or `answers_sl` is set.
        pub cnp_lane: Option<CnpLane> = None,
    }
}

impl Packet {
    /// Size of a data packet with the largest payload, in bytes on the wire.
    pub fn full(&self) -> u32 {
        self.mtu.0 + self.header.0
    }

    /// The message of a full packet.
    pub fn payload(&self) -> Payload {
        Payload(self.mtu.0.into())
    }

    /// The fabric's settings for packet sizes, with ACKs and CNPs on the lane of their flow.
    pub fn sizes(&self) -> PacketConfig {
        let cnp = self.cnp.unwrap_or(*self.ack).0;
        PacketConfig {
            mtu: self.mtu.0,
            header: self.header.0,
            ack: self.ack.0,
            cnp,
            answers_vl: None,
            cnp_vl: None,
            train: 1,
            train_span: Time::MAX,
        }
    }
}
