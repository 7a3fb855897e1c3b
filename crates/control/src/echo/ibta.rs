//! The echo of IBTA congestion control: BECN in an ACK or in a packet of its own.
//!
//! # What it does
//! On a reliable connection every data packet is acknowledged, and the ACK of a marked packet (FECN) tells the source
//! so (BECN). Without reliability nothing is acknowledged, and a marked packet is answered by a congestion
//! notification packet (CNP).
//!
//! # Source
//! InfiniBand Architecture Specification, Volume 1, Release 1.2.1, Annex A10, as described in E. G. Gran et al.,
//! "First Experiences with Congestion Control in InfiniBand Hardware", IPDPS 2010, section II-B.
//!
//! # Parameters
//! - `transport`: `reliable` or `unreliable`. A flow with a window needs ACKs, so `reliable`.
//!
//! # Departures from the source
//! - Every data packet of a reliable connection has an ACK of its own; adapters may acknowledge several at once.
//! - There is no multicast. A mark on an ACK or a CNP is ignored, as specified.

use becalm_fabric::Packet;
use becalm_fabric::seam::{Answer, Echo};

becalm_schema::words! {
    /// Whether data packets are acknowledged.
    pub enum Transport {
        /// They are, and the ACK carries the mark.
        Reliable = "reliable",
        /// They are not; a congestion notification packet carries the mark.
        Unreliable = "unreliable",
    }
}

becalm_schema::table! {
    /// A mark goes back in the ACK (BECN), or in a congestion notification packet where there are no ACKs.
    pub struct Params {
        /// Whether data packets are acknowledged.
        pub transport: Transport = Transport::Reliable,
    }
}

/// The echo.
#[derive(Clone, Debug)]
pub struct Ibta {
    transport: Transport,
}

impl Ibta {
    /// An echo for all destinations.
    pub fn new(params: &Params) -> Ibta {
        Ibta { transport: params.transport }
    }
}

impl Echo for Ibta {
    fn answer(&mut self, packet: &Packet) -> Answer {
        match self.transport {
            Transport::Reliable => Answer::Ack { echo: packet.marked },
            Transport::Unreliable if packet.marked => Answer::Cnp,
            Transport::Unreliable => Answer::Silent,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_engine::Time;
    use becalm_fabric::{FlowId, Kind, PacketId};

    fn answers(transport: Transport) -> [Answer; 2] {
        let packet = |marked| Packet {
            posted: Time::ZERO,
            injected: Time::ZERO,
            flow: FlowId(0),
            destination: 0,
            sequence: 0,
            size: 2068,
            payload: 2048,
            tie: 0,
            kind: Kind::Data,
            vl: 0,
            last: true,
            marked,
            echo: false,
            input: 0,
            output: 0,
            order: 0,
            next: PacketId::NONE,
        };
        [false, true].map(|marked| Ibta::new(&Params { transport }).answer(&packet(marked)))
    }

    #[test]
    fn a_reliable_connection_acknowledges_everything_with_its_mark() {
        assert_eq!(answers(Transport::Reliable), [Answer::Ack { echo: false }, Answer::Ack { echo: true }]);
    }

    #[test]
    fn without_reliability_only_a_mark_is_answered() {
        assert_eq!(answers(Transport::Unreliable), [Answer::Silent, Answer::Cnp]);
    }
}
