//! The echo of IBTA congestion control: a BECN in an ACK or in a separate packet.
//!
//! # What it does
//! On a reliable connection, the ACK of a marked packet (FECN) carries the mark to the source (BECN). An ACK that
//! covers several packets carries a mark if any of them is marked. On an unreliable connection, packets are not
//! acknowledged, and a congestion notification packet (CNP) answers each marked packet.
//!
//! # Source
//! InfiniBand Architecture Specification, Volume 1, Release 1.2.1, Annex A10, as described in E. G. Gran et al., "First
//! Experiences with Congestion Control in InfiniBand Hardware", IPDPS 2010, section II-B.
//!
//! # Parameters
//! - `transport`: a flow with a window needs ACKs and therefore `reliable`.
//! - `ack_every`: a packet is acknowledged if it is the last of its message, or this many packets after the last
//!   acknowledged one. `CCTI_Timer` should be longer than the time between two ACKs of a flow at its fair share.
//!
//! # Departures from the source
//! - A mark waits for the next regular ACK; the specification requires marks to be returned as soon as possible.
//! - There is no multicast. Marks on ACKs and CNPs are ignored, as specified.

use crate::scheme::{Cnps, EchoScheme};
use becalm_engine::Time;
use becalm_fabric::Packet;
use becalm_fabric::policy::{Answer, Echo, Unanswered};
use becalm_schema::Conflict;

becalm_schema::words! {
    /// Whether data packets are acknowledged.
    pub enum Transport {
        /// Data packets are acknowledged, and the ACK carries the mark.
        Reliable = "reliable",
        /// Data packets are not acknowledged; a congestion notification packet carries the mark.
        Unreliable = "unreliable",
    }
}

becalm_schema::table! {
    /// A mark returns in the ACK (BECN), or in a congestion notification packet where there are no ACKs.
    pub struct Params {
        /// Whether data packets are acknowledged.
        pub transport: Transport = Transport::Reliable,
        /// Largest number of packets that one ACK covers; the end of a message is always acknowledged.
        pub ack_every: u32 = 1; "packets"; 1..=65_535,
    }
    check Params::check;
}

impl Params {
    fn check(&self) -> Result<(), Conflict> {
        match (self.transport, self.ack_every) {
            (Transport::Unreliable, 2..) => Err(Conflict::new("ack_every", "does nothing: no packet is acknowledged")),
            _ => Ok(()),
        }
    }
}

/// The echo.
#[derive(Clone, Debug)]
pub struct Ibta {
    transport: Transport,
    ack_every: u32,
}

impl EchoScheme for Ibta {
    type Params = Params;

    fn new(params: &Params) -> Ibta {
        Ibta { transport: params.transport, ack_every: params.ack_every }
    }

    fn ack_every(params: &Params) -> Option<u32> {
        (params.transport == Transport::Reliable).then_some(params.ack_every)
    }

    fn cnps(params: &Params) -> Cnps {
        if params.transport == Transport::Reliable { Cnps::None } else { Cnps::Sent }
    }

    fn takes_trains(_: &Params) -> bool {
        true
    }
}

impl Echo for Ibta {
    fn answer(&mut self, _: Time, packet: &Packet, unanswered: &Unanswered) -> Answer {
        match self.transport {
            Transport::Reliable if packet.train.is_last() || unanswered.packets >= self.ack_every => {
                Answer::ack(unanswered.marked)
            }
            Transport::Reliable => Answer::SILENT,
            Transport::Unreliable if packet.marked => Answer::CNP,
            Transport::Unreliable => Answer::SILENT,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_engine::Time;
    use becalm_fabric::Train;

    fn packet(marked: bool, last: bool) -> Packet {
        Packet { size: 2068, train: Train::new(1, last), marked, ..Packet::default() }
    }

    fn unanswered(packets: u32, marked: bool) -> Unanswered {
        Unanswered { packets, marked: u32::from(marked), notified: None, ..Unanswered::default() }
    }

    fn answers(transport: Transport) -> [Answer; 2] {
        let mut echo = Ibta::new(&Params { transport, ack_every: 1 });
        [false, true].map(|marked| echo.answer(Time::ZERO, &packet(marked, true), &unanswered(1, marked)))
    }

    #[test]
    fn a_reliable_connection_acknowledges_everything_with_its_mark() {
        assert_eq!(answers(Transport::Reliable), [Answer::ack(0), Answer::ack(1)]);
    }

    #[test]
    fn without_reliability_only_a_mark_is_answered() {
        assert_eq!(answers(Transport::Unreliable), [Answer::SILENT, Answer::CNP]);
    }

    #[test]
    fn an_ack_waits_for_the_last_packet_or_the_end_of_a_message_and_tells_of_any_mark() {
        let mut echo = Ibta::new(&Params { ack_every: 3, ..Params::default() });
        let mut answer =
            |packets, marked, last| echo.answer(Time::ZERO, &packet(false, last), &unanswered(packets, marked));
        assert_eq!(answer(2, true, false), Answer::SILENT);
        assert_eq!(answer(3, true, false), Answer::ack(1));
        assert_eq!(answer(3, false, false), Answer::ack(0));
        assert_eq!(answer(1, true, true), Answer::ack(1));
    }
}
