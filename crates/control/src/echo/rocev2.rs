//! The echo of RoCEv2: congestion notification packets at a limited rate, and ACKs that carry no mark.
//!
//! # What it does
//! A congestion notification packet (CNP) answers each marked packet (CE), unless the last CNP within the same
//! `cnp_scope` was sent less than `cnp_interval` ago. ACKs open windows and report no marks.
//!
//! # Source
//! Y. Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, the notification point of DCQCN:
//! one CNP per flow every 50 us. NVIDIA, "DCQCN CC Parameters": `min_time_between_cnps`, 4 us by default on ConnectX
//! adapters, which `mstflint` describes as the minimum time between the CNPs of a port.
//!
//! # Parameters
//! - `cnp_interval`: minimum time between two CNPs. With `"0 s"`, every marked packet is answered.
//! - `cnp_scope`: what the limit applies to. Flows share a limit with `"destination"` if they come from the same host,
//!   and with `"port"` in any case.
//! - `cnp_delay`: time from the arrival of a marked packet until its CNP is ready to be sent.
//! - `ack_every`: as for `[echo.ibta]`.
//!
//! If `cnp_interval` or `cnp_scope` is left out, it is 4 us or `"port"` with the preset `connectx` of
//! `[response.dcqcn]`, and otherwise 50 us or `"qp"`.
//!
//! # Departures from the source
//! - A pause of a flow does not reset the time of its last CNP.

use std::collections::BTreeMap;

use crate::cnps::{CnpLimit, CnpScope};
use crate::scheme::{Cnps, EchoScheme};
use becalm_engine::Time;
use becalm_fabric::Packet;
use becalm_fabric::policy::{Answer, Echo, Unanswered};

becalm_schema::table! {
    /// A congestion notification packet answers a mark, at most one per interval; ACKs carry no mark.
    pub struct Params {
        /// Minimum time between two congestion notification packets. If left out, it is that of the response's preset:
        /// 50 us, or 4 us with `connectx`.
        pub cnp_interval: Option<Time> = None; ""; Time::ZERO..=Time::from_ms(1000),
        /// What `cnp_interval` applies to. If left out, it is that of the response's preset: `"qp"`, or `"port"` with
        /// `connectx`.
        pub cnp_scope: Option<CnpScope> = None,
        /// Time from the arrival of a marked packet until its congestion notification packet is ready to be sent.
        pub cnp_delay: Time = Time::ZERO; ""; Time::ZERO..=Time::from_ms(1000),
        /// Largest number of packets that one ACK covers; the end of a message is always acknowledged.
        pub ack_every: u32 = 1; "packets"; 1..=65_535,
    }
}

/// The echo of one host.
#[derive(Clone, Debug)]
pub struct RoceV2 {
    cnp_interval: Time,
    cnp_delay: Time,
    ack_every: u32,
    last: Last,
}

/// The times of the last CNPs, one for each limit.
#[derive(Clone, Debug)]
enum Last {
    /// The fabric stores them for each flow.
    ByFlow,
    /// By rank of the host to which they were sent.
    ByHost(BTreeMap<u32, Time>),
    Port(Option<Time>),
}

impl RoceV2 {
    /// Whether a marked packet is answered by a CNP, which is then the last one.
    fn notifies(&mut self, now: Time, unanswered: &Unanswered) -> bool {
        let last = match &self.last {
            Last::ByFlow => unanswered.notified,
            Last::ByHost(last) => last.get(&unanswered.source).copied(),
            Last::Port(last) => *last,
        };
        if last.is_some_and(|last| now < last.saturating_add(self.cnp_interval)) {
            return false;
        }
        match &mut self.last {
            Last::ByFlow => {}
            Last::ByHost(last) => drop(last.insert(unanswered.source, now)),
            Last::Port(last) => *last = Some(now),
        }
        true
    }
}

impl EchoScheme for RoceV2 {
    type Params = Params;

    fn new(params: &Params) -> RoceV2 {
        let last = match params.cnp_scope.unwrap_or(CnpLimit::PAPER.scope) {
            CnpScope::QueuePair => Last::ByFlow,
            CnpScope::Destination => Last::ByHost(BTreeMap::new()),
            CnpScope::Port => Last::Port(None),
        };
        let cnp_interval = params.cnp_interval.unwrap_or(CnpLimit::PAPER.interval);
        RoceV2 { cnp_interval, cnp_delay: params.cnp_delay, ack_every: params.ack_every, last }
    }

    fn ack_every(params: &Params) -> Option<u32> {
        Some(params.ack_every)
    }

    fn cnps(_: &Params) -> Cnps {
        Cnps::Apart
    }

    fn cnp_interval(params: &Params) -> Option<Time> {
        params.cnp_interval
    }

    fn adopt_limit(params: &mut Params, limit: &CnpLimit) {
        params.cnp_interval.get_or_insert(limit.interval);
        params.cnp_scope.get_or_insert(limit.scope);
    }

    fn takes_trains(_: &Params) -> bool {
        true
    }
}

impl Echo for RoceV2 {
    fn answer(&mut self, now: Time, packet: &Packet, unanswered: &Unanswered) -> Answer {
        let acknowledged = packet.train.is_last() || unanswered.packets >= self.ack_every;
        let cnp = packet.marked && self.notifies(now, unanswered);
        Answer { ack: acknowledged.then_some(0), cnp }
    }

    fn cnp_delay(&self) -> Time {
        self.cnp_delay
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_fabric::Train;

    fn packet(marked: bool, last: bool) -> Packet {
        Packet { size: 1058, train: Train::new(1, last), marked, ..Packet::default() }
    }

    /// CNPs sent for packets, marked or not, that arrive at these times in microseconds, with one ACK for each packet.
    fn cnps(params: &Params, packets: &[(u64, bool)]) -> Vec<bool> {
        let mut echo = RoceV2::new(params);
        let mut unanswered = Unanswered { packets: 1, ..Unanswered::default() };
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
        let params = Params { cnp_interval: Some(Time::ZERO), ..Params::default() };
        assert_eq!(cnps(&params, &[(0, true), (0, true), (1, false), (1, true)]), [true, true, false, true]);
    }

    /// Whether marked packets of flows, each with its source, are answered. They arrive at one host, a microsecond apart.
    fn notified(scope: CnpScope, flows: &[(u32, u32)]) -> Vec<bool> {
        let params = Params { cnp_scope: Some(scope), ..Params::default() };
        let mut echo = RoceV2::new(&params);
        let mut last: BTreeMap<u32, Time> = BTreeMap::new();
        let mut answer = |(us, &(flow, source)): (usize, &(u32, u32))| {
            let now = Time::from_us(us as u64);
            let notified = last.get(&flow).copied();
            let unanswered = Unanswered { packets: 1, marked: 1, notified, source };
            let cnp = echo.answer(now, &packet(true, true), &unanswered).cnp;
            cnp.then(|| last.insert(flow, now));
            cnp
        };
        flows.iter().enumerate().map(&mut answer).collect()
    }

    #[test]
    fn a_limit_applies_to_a_flow_a_source_or_the_port() {
        let flows = [(0, 7), (0, 7), (1, 7), (2, 8), (1, 7)];
        assert_eq!(notified(CnpScope::QueuePair, &flows), [true, false, true, true, false]);
        assert_eq!(notified(CnpScope::Destination, &flows), [true, false, false, true, false]);
        assert_eq!(notified(CnpScope::Port, &flows), [true, false, false, false, false]);
    }

    #[test]
    fn only_parameters_that_are_left_out_adopt_a_limit() {
        let adopted = |keys: &str| {
            let mut params: Params = becalm_schema::read(keys, "f.toml").unwrap();
            RoceV2::adopt_limit(&mut params, &CnpLimit::CONNECTX);
            (params.cnp_interval.unwrap(), params.cnp_scope.unwrap())
        };
        assert_eq!(adopted(""), (Time::from_us(4), CnpScope::Port));
        assert_eq!(adopted("cnp_interval = \"50 us\""), (Time::from_us(50), CnpScope::Port));
        assert_eq!(adopted("cnp_scope = \"qp\""), (Time::from_us(4), CnpScope::QueuePair));
    }

    #[test]
    fn acks_wait_for_their_number_or_for_the_end_of_a_message_and_cnps_do_not() {
        let mut echo = RoceV2::new(&Params { ack_every: 3, ..Params::default() });
        let mut answer = |packets, last| {
            let unanswered = Unanswered { packets, marked: 1, ..Unanswered::default() };
            echo.answer(Time::ZERO, &packet(true, last), &unanswered)
        };
        assert_eq!(answer(2, false), Answer { ack: None, cnp: true });
        assert_eq!(answer(3, false), Answer { ack: Some(0), cnp: true });
        assert_eq!(answer(1, true), Answer { ack: Some(0), cnp: true });
    }
}
