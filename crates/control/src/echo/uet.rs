//! The echo of Ultra Ethernet: one ACK for several packets, which is sent at once if a packet is marked or requests it.
//!
//! # What it does
//! An ACK covers the packets that arrived since the last one. It is sent after `ack_every` packets, and at once for a
//! marked packet, for the first packet of a flow, for the last packet of a message, and for a packet that requests it.
//! A source lets each packet that fills its window request an ACK. The mark, the round trip and the path that an ACK
//! reports are those of the packet that caused it.
//!
//! # Source
//! Ultra Ethernet Consortium, "Ultra Ethernet Specification 1.0", 2025, packet delivery sublayer, as implemented in its
//! simulator uet-htsim, commit 40ccb05, `uec.cpp`. An ACK is sent after 16,384 bytes there, which are four packets of 4
//! KiB.
//!
//! # Parameters
//! - `ack_every`: largest number of packets that one ACK covers. 1 acknowledges every packet.
//!
//! # Departures from the source
//! - The number of packets replaces the number of bytes.
//! - If a window shrinks below the number of packets in flight, and none has requested an ACK, another packet requests
//!   one. In uet-htsim, a timer repairs this.
//! - The first packet of a flow is the one sent first, not the one that arrives first.

use crate::scheme::EchoScheme;
use becalm_engine::Time;
use becalm_fabric::Packet;
use becalm_fabric::policy::{Answer, Echo, Unanswered};

becalm_schema::table! {
    /// An ACK covers several packets, and is sent at once for a mark or on request.
    pub struct Params {
        /// Largest number of packets that one ACK covers.
        pub ack_every: u32 = 4; "packets"; 1..=65_535,
    }
}

/// The echo.
#[derive(Clone, Debug)]
pub struct Uet {
    ack_every: u32,
}

impl EchoScheme for Uet {
    type Params = Params;

    fn new(params: &Params) -> Uet {
        Uet { ack_every: params.ack_every }
    }

    fn ack_every(params: &Params) -> Option<u32> {
        Some(params.ack_every)
    }
}

impl Echo for Uet {
    fn answer(&mut self, _: Time, packet: &Packet, unanswered: &Unanswered) -> Answer {
        let at_once = packet.marked || packet.train.is_last() || packet.sequence == 0 || packet.requests_ack();
        if at_once || unanswered.packets >= self.ack_every { Answer::ack(unanswered.marked) } else { Answer::SILENT }
    }

    fn hears_requests(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_fabric::Train;

    fn answer(ack_every: u32, packet: &Packet, packets: u32) -> Answer {
        let unanswered = Unanswered { packets, marked: u32::from(packet.marked), ..Unanswered::default() };
        Uet::new(&Params { ack_every }).answer(Time::ZERO, packet, &unanswered)
    }

    #[test]
    fn an_ack_waits_for_its_number_of_packets() {
        let packet = Packet { size: 4150, sequence: 9, ..Packet::default() };
        let answers: Vec<_> = (1..6).map(|packets| answer(4, &packet, packets).ack).collect();
        assert_eq!(answers, [None, None, None, Some(0), Some(0)]);
        assert_eq!(answer(1, &packet, 1), Answer::ack(0));
    }

    #[test]
    fn a_mark_a_request_and_both_ends_of_a_message_are_answered_at_once() {
        let packet = Packet { size: 4150, sequence: 9, ..Packet::default() };
        let mut request = packet;
        request.request_ack();
        let mut answered = [packet, packet, packet, request];
        (answered[0].marked, answered[1].train, answered[2].sequence) = (true, Train::LAST, 0);
        assert_eq!(answered.map(|packet| answer(4, &packet, 1).ack), [Some(1), Some(0), Some(0), Some(0)]);
    }
}
