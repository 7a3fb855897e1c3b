//! `[packet]`: sizes on the wire.

use becalm_fabric::PacketConfig;

use crate::sections::quantities::Bytes;

becalm_schema::table! {
    /// Sizes of packets.
    pub located struct Packet {
        /// Largest payload of a data packet; longer messages are cut.
        pub mtu: Bytes = Bytes(2048); ""; Bytes(1)..=Bytes(1 << 20),
        /// Headers of a data packet.
        pub header: Bytes = Bytes(20); ""; Bytes(0)..=Bytes(4096),
        /// An acknowledgement.
        pub ack: Bytes = Bytes(20); ""; Bytes(1)..=Bytes(4096),
    }
}

impl Packet {
    /// Bytes on the wire of a data packet with the largest payload.
    pub fn full(&self) -> u32 {
        self.mtu.0 + self.header.0
    }

    /// The sizes as the fabric has them. Congestion notification packets are as large as ACKs.
    pub fn config(&self) -> PacketConfig {
        PacketConfig { mtu: self.mtu.0, header: self.header.0, ack: self.ack.0, cnp: self.ack.0 }
    }
}
