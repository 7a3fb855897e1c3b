//! The echo of RoCEv2: congestion notification packets at a limited rate, and ACKs that carry no mark.
//!
//! # What it does
//! A congestion notification packet (CNP) answers each marked packet (CE), unless the flow's last CNP was sent less
//! than `cnp_interval` ago. ACKs are independent of CNPs. They open windows and report no marks.
//!
//! # Source
//! Y. Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, the notification point of DCQCN:
//! one CNP per flow every 50 us. NVIDIA, "DCQCN CC Parameters": `min_time_between_cnps`, 4 us by default on ConnectX
//! adapters.
//!
//! # Parameters
//! - `cnp_interval`: minimum time between two CNPs of a flow. With `"0 s"`, every marked packet is answered.
//! - `ack_every`: a packet is acknowledged if it is the last of its message, or if it is this many packets after the
//!   last acknowledged one.
//!
//! # Departures from the source
//! - The limit applies per flow. ConnectX adapters can also set it per port and per destination address.
//! - A pause of a flow does not reset the time of its last CNP. If the flow resumes before the interval has passed, no
//!   CNP is sent until it has.

use crate::scheme::{Cnps, EchoScheme};
use becalm_engine::Time;
use becalm_fabric::Packet;
use becalm_fabric::policy::{Answer, Echo, Unanswered};

becalm_schema::table! {
    /// A congestion notification packet answers a mark, at most one per interval; ACKs carry no mark.
    pub struct Params {
        /// Minimum time between two congestion notification packets of a flow.
        pub cnp_interval: Time = Time::from_us(50); ""; Time::ZERO..=Time::from_ms(1000),
        /// Largest number of packets that one ACK covers; the end of a message is always acknowledged.
        pub ack_every: u32 = 1; "packets"; 1..=65_535,
    }
}

/// The echo.
#[derive(Clone, Debug)]
pub struct RoceV2 {
    cnp_interval: Time,
    ack_every: u32,
}

impl EchoScheme for RoceV2 {
    type Params = Params;

    fn new(params: &Params) -> RoceV2 {
        RoceV2 { cnp_interval: params.cnp_interval, ack_every: params.ack_every }
    }

    fn ack_every(params: &Params) -> Option<u32> {
        Some(params.ack_every)
    }

    fn cnps(_: &Params) -> Cnps {
        Cnps::Apart
    }
}

impl Echo for RoceV2 {
    fn answer(&mut self, now: Time, packet: &Packet, unanswered: &Unanswered) -> Answer {
        let due = unanswered.notified.is_none_or(|last| now >= last.saturating_add(self.cnp_interval));
        let acknowledged = packet.last || unanswered.packets >= self.ack_every;
        Answer { ack: acknowledged.then_some(0), cnp: packet.marked && due }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(marked: bool, last: bool) -> Packet {
        Packet { size: 1058, last, marked, ..Packet::default() }
    }

    /// CNPs sent for packets, marked or not, that arrive at these times in microseconds, with one ACK for each packet.
    fn cnps(params: &Params, packets: &[(u64, bool)]) -> Vec<bool> {
        let mut echo = RoceV2::new(params);
        let mut unanswered = Unanswered { packets: 1, marked: 0, notified: None };
        let mut answer = |&(us, marked): &(u64, bool)| {
            let now = Time::from_us(us);
            unanswered.marked = u32::from(marked);
            let answer = echo.answer(now, &packet(marked, true), &unanswered);
            assert_eq!(answer.ack, Some(0), "an ACK carries no mark");
            unanswered.notified = if answer.cnp { Some(now) } else { unanswered.notified };
            answer.cnp
        };
        packets.iter().map(&mut answer).collect()
    }

    #[test]
    fn a_flow_gets_one_cnp_in_an_interval() {
        let packets = [(0, false), (3, true), (4, true), (52, true), (53, true), (54, true), (200, false), (201, true)];
        let expected = [false, true, false, false, true, false, false, true];
        assert_eq!(cnps(&Params::default(), &packets), expected);
    }

    #[test]
    fn without_an_interval_every_mark_is_answered() {
        let params = Params { cnp_interval: Time::ZERO, ..Params::default() };
        assert_eq!(cnps(&params, &[(0, true), (0, true), (1, false), (1, true)]), [true, true, false, true]);
    }

    #[test]
    fn acks_wait_for_their_number_or_for_the_end_of_a_message_and_cnps_do_not() {
        let mut echo = RoceV2::new(&Params { ack_every: 3, ..Params::default() });
        let mut answer = |packets, last| {
            let unanswered = Unanswered { packets, marked: 1, notified: None };
            echo.answer(Time::ZERO, &packet(true, last), &unanswered)
        };
        assert_eq!(answer(2, false), Answer { ack: None, cnp: true });
        assert_eq!(answer(3, false), Answer { ack: Some(0), cnp: true });
        assert_eq!(answer(1, true), Answer { ack: Some(0), cnp: true });
    }
}
