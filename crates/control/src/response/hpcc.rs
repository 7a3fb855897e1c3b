//! HPCC: a window that depends on the bytes in flight on the busiest link, as reported by switches in telemetry.
//!
//! # What it does
//! From the records of switches that ACKs return, the source computes the utilization of each link on the path. The
//! source sets its window, and a rate of one window per base round trip, to keep the busiest link on its path at a
//! utilization of `eta`. Queues are then empty. An additive increase, small enough to keep links below capacity, makes
//! flows converge to equal shares.
//!
//! With N flows, the utilization of the busiest link is eta + N wai / (C T). If this exceeds 1, the excess, multiplied
//! by C T, is the amount of data in the queue.
//!
//! # Source
//! Y. Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019, Algorithm 1. Primes denote the records of the
//! previous ACK. B is the rate of a link, C the rate of the source's link, T the base round trip, and U the mean
//! utilization.
//!
//! - for each link: tx = (sent - sent') / (t - t'), u = min(waiting, waiting') / (B T) + tx / B; for the link with the
//!   largest u, tau = min(t - t', T) and U <- (1 - tau / T) U + tau / T u
//! - U >= eta or stage >= max_stage: W = Wc eta / U + wai, otherwise W = Wc + wai
//! - once per round trip: Wc <- W; the stage grows by 1 after a purely additive increase and otherwise becomes 0
//! - rate W / T
//!
//! # Parameters
//! - `eta`: target utilization of the busiest link.
//! - `max_stage`: number of consecutive additive increases before a proportional one.
//! - `wai`: additive increase.
//! - `rtt`: T; the longest base round trip of the run if it is omitted.
//! - `int_bytes`: size of the records in each data packet: 8 for each of five switches, plus 2.
//! - `rmin`: smallest rate.
//!
//! # Departures from the source
//! - By default, `max_stage` is 0 instead of the paper's 5, which is a typo according to its authors.
//! - The window is rounded up to an integer number of packets; the rate W / T provides finer control.
//! - U is `eta` before any link has been measured; in the authors' simulator, it is 1.
//! - W never exceeds C T, and W / T never falls below `rmin`. The authors' runs use a minimum of 1 Gb/s or 100 Mb/s.
//! - Fields of records never wrap around. Hosts add no records, and ACKs have the same size with or without records.
//! - If a packet has taken another path, the source only stores its records.
//! - An ACK for several packets counts once, with the last packet's records.
//! - Marks and congestion notification packets are ignored.

use std::sync::Arc;

use becalm_engine::Time;
use becalm_fabric::policy::{Ack, FlowShape, Hop, Notice, Pace, Response};

use super::law::SLOWEST;
use crate::scheme::{Companions, Feedback, MarkingFor, ResponseScheme};

becalm_schema::table! {
    /// A window keeps the busiest link just below its capacity, based on telemetry that switches record in packets.
    pub struct Params {
        /// Target utilization of the busiest link.
        pub eta: f64 = 0.95; ""; 0.1..=1.0,
        /// Number of consecutive additive increases before a proportional one.
        pub max_stage: u32 = 0; ""; 0..=1000,
        /// Additive increase of the window.
        pub wai: f64 = 80.0; "bytes"; 0.0..=1e6,
        /// Round-trip time of the window; the longest base round trip of the run if it is omitted.
        pub rtt: Option<Time> = None; ""; Time::from_ns(1)..=Time::from_ms(1000),
        /// Size of the switches' records in each data packet.
        pub int_bytes: u32 = 42; "bytes"; 0..=4096,
        /// Smallest rate.
        pub rmin: f64 = 0.001; "of the link rate"; SLOWEST..=1.0,
    }
}

/// The response. Windows are shares of C T, and rates are shares of the link rate.
#[derive(Clone, Debug)]
pub struct Hpcc {
    params: Arc<Params>,
    /// T in seconds.
    rtt: f64,
    /// C T in full packets.
    packets: f64,
    /// Additive increase.
    increase: f64,
    /// The records of the previous ACK.
    last: Vec<Hop>,
    utilization: f64,
    /// W and Wc.
    window: f64,
    reference: f64,
    stage: u32,
    /// The first packet sent after the last update of the reference.
    fresh: u32,
}

impl ResponseScheme for Hpcc {
    type Params = Params;

    fn companions() -> Option<Companions> {
        Some(Companions { marking: MarkingFor::None, echo: "ack" })
    }

    fn ceiling(params: &Params) -> Option<(&'static str, f64)> {
        (params.eta < 1.0).then_some(("eta", params.eta))
    }

    fn new(params: &Params) -> Hpcc {
        Hpcc::with(Arc::new(params.clone()))
    }

    fn feedback(_: &Params) -> Feedback {
        Feedback::Telemetry
    }

    fn moves_window(_: &Params) -> bool {
        true
    }
}

impl Hpcc {
    /// The response in its initial state.
    fn with(params: Arc<Params>) -> Hpcc {
        Hpcc {
            rtt: 1.0,
            packets: f64::from(u32::MAX),
            increase: 0.0,
            last: Vec::new(),
            utilization: params.eta,
            window: 1.0,
            reference: 1.0,
            stage: 0,
            fresh: 0,
            params,
        }
    }

    fn acked(&mut self, ack: &Ack) {
        if !self.last.iter().map(|hop| hop.output).eq(ack.trail.iter().map(|hop| hop.output)) {
            (self.last, self.fresh) = (ack.trail.to_vec(), ack.next);
            return;
        }
        let Some((busiest, tau)) = self.busiest(ack.trail) else { return };
        self.last.copy_from_slice(ack.trail);
        let weight = (tau / self.rtt).min(1.0);
        self.utilization += weight * (busiest - self.utilization);
        let stage = self.react();
        if ack.sequence >= self.fresh {
            (self.reference, self.stage, self.fresh) = (self.window, stage, ack.next);
        }
    }

    /// The utilization of the busiest link since the previous ACK, including its queue, and the seconds between the
    /// records.
    fn busiest(&self, trail: &[Hop]) -> Option<(f64, f64)> {
        let use_of = |(last, hop): (&Hop, &Hop)| {
            let (tau, capacity) = (hop.at.since(last.at).as_secs(), hop.rate.bytes_per_second());
            let sent = (hop.sent - last.sent) as f64 / tau;
            let waiting = hop.waiting.min(last.waiting) as f64 / self.rtt;
            ((sent + waiting) / capacity, tau)
        };
        let moved = self.last.iter().zip(trail).filter(|(last, hop)| hop.at > last.at && hop.sent >= last.sent);
        moved.map(use_of).max_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// Sets the window from the utilization; returns the next stage.
    fn react(&mut self) -> u32 {
        let Params { eta, max_stage, rmin, .. } = *self.params;
        let proportional = self.utilization >= eta || self.stage >= max_stage;
        let window = if proportional { self.reference * eta / self.utilization } else { self.reference };
        self.window = (window + self.increase).clamp(rmin, 1.0);
        if proportional { 0 } else { self.stage + 1 }
    }
}

impl Response for Hpcc {
    fn start(&mut self, flow: &FlowShape) {
        self.rtt = self.params.rtt.unwrap_or(flow.longest_rtt).as_secs();
        let bytes = flow.rate.bytes_per_second() * self.rtt;
        self.packets = bytes / f64::from(flow.mtu + flow.header);
        self.increase = self.params.wai / bytes;
    }

    fn trail(&self) -> Option<u32> {
        Some(self.params.int_bytes)
    }

    fn follows_sending(&self) -> bool {
        false
    }

    fn pace(&self) -> Pace {
        let window = (self.window * self.packets).ceil().clamp(1.0, f64::from(u32::MAX));
        Pace { gap: 1.0 / self.window - 1.0, window: window as u32 }
    }

    fn notice(&mut self, _: Time, notice: &Notice) {
        match notice {
            Notice::Ack(ack) => self.acked(ack),
            Notice::Restart => {
                let &mut Hpcc { rtt, packets, increase, .. } = self;
                *self = Hpcc { rtt, packets, increase, ..Hpcc::with(self.params.clone()) };
            }
            Notice::Becn | Notice::Timer => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_fabric::{NodeId, PortId, Rate};

    /// At 1 GB/s and T = 10 us, C T is 10,000 B, ten packets. An increase of 100 B is a hundredth of it.
    fn flow(params: &Params) -> Hpcc {
        let mut flow = Hpcc::new(&Params { wai: 100.0, ..params.clone() });
        let (rate, rtt) = (Rate::from_bits_per_second(8e9), Time::from_us(10));
        flow.start(&FlowShape { rate, mtu: 938, header: 62, base_rtt: rtt, longest_rtt: rtt, hops: 2 });
        flow
    }

    /// A record of a 1 GB/s link, by number.
    fn hop(link: u32, us: u64, sent: u64, waiting: u64) -> Hop {
        let output = PortId { node: NodeId(link), port: 0 };
        Hop { output, at: Time::from_us(us), sent, waiting, rate: Rate::from_bits_per_second(8e9) }
    }

    fn ack(flow: &mut Hpcc, sequence: u32, next: u32, trail: &[Hop]) -> f64 {
        flow.notice(Time::ZERO, &Notice::Ack(Ack { covers: 1, sequence, next, trail, ..Ack::default() }));
        flow.window
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-12
    }

    #[test]
    fn begins_at_line_rate_and_the_first_ack_only_keeps_the_records() {
        let mut flow = flow(&Params::default());
        assert_eq!(flow.pace(), Pace { gap: 0.0, window: 10 });
        assert_eq!(flow.trail(), Some(42));
        assert_eq!(ack(&mut flow, 0, 10, &[hop(1, 5, 70_000, 9_000)]), 1.0);
        assert_eq!((flow.utilization, flow.fresh), (0.95, 10));
    }

    #[test]
    fn the_window_follows_the_busiest_link_and_the_reference_once_per_round_trip() {
        let mut flow = flow(&Params::default());
        ack(&mut flow, 0, 10, &[hop(1, 0, 0, 0), hop(2, 1, 0, 4_000)]);
        // Link 1: 1,000 B in 2 us. Link 2: 2,000 B in 2 us, and 3,000 of 10,000 B wait: u = 1.3, tau = 2 us.
        let trail = [hop(1, 2, 1_000, 0), hop(2, 3, 2_000, 3_000)];
        let u = 0.95 + 0.2 * (1.3 - 0.95);
        assert!(near(ack(&mut flow, 1, 11, &trail), 0.95 / u + 0.01));
        assert!(near(flow.utilization, u) && flow.reference == 1.0, "packet 10 has not come back");
        assert!(near(flow.pace().gap, 1.0 / (0.95 / u + 0.01) - 1.0) && flow.pace().window == 10, "9.5 packets");
        // The same again, based on the earlier reference, not on the window.
        let trail = [hop(1, 4, 2_000, 0), hop(2, 5, 4_000, 5_000)];
        let u = u + 0.2 * (1.3 - u);
        assert!(near(ack(&mut flow, 10, 15, &trail), 0.95 / u + 0.01));
        assert!(near(flow.reference, 0.95 / u + 0.01) && flow.fresh == 15);
        // 20 us later, U depends only on the new sample. 5,000 B in 20 us and an empty queue: u = 0.25.
        let before = flow.reference;
        let trail = [hop(1, 24, 2_100, 0), hop(2, 25, 9_000, 0)];
        assert!(near(ack(&mut flow, 12, 16, &trail), 1.0), "no more than C T");
        assert!(near(flow.utilization, 0.25) && flow.reference == before);
    }

    #[test]
    fn stages_of_additive_increase_come_before_a_proportional_one() {
        let mut flow = flow(&Params { max_stage: 2, ..Params::default() });
        flow.reference = 0.2;
        let windows: Vec<f64> =
            (0..5).map(|i: u32| ack(&mut flow, i, i, &[hop(1, 10 * u64::from(i), 5_000 * u64::from(i), 0)])).collect();
        // u = 0.5 in each: + 0.01 twice, then 0.95/0.5 times, then + 0.01 again.
        let third = 0.22 * 1.9 + 0.01;
        for (found, expected) in windows[1..].iter().zip([0.21, 0.22, third, third + 0.01]) {
            assert!(near(*found, expected), "{windows:?}");
        }
    }

    #[test]
    fn another_way_only_keeps_the_records_and_a_new_flow_begins_again() {
        let mut flow = flow(&Params::default());
        ack(&mut flow, 0, 9, &[hop(1, 0, 0, 9_000)]);
        let slow = ack(&mut flow, 1, 9, &[hop(1, 5, 5_000, 9_000)]);
        assert!(slow < 1.0);
        assert_eq!(ack(&mut flow, 2, 12, &[hop(2, 6, 0, 0)]), slow);
        assert_eq!(ack(&mut flow, 3, 13, &[hop(2, 7, 0, 0), hop(3, 8, 0, 0)]), slow);
        assert_eq!(flow.fresh, 13);
        flow.notice(Time::ZERO, &Notice::Restart);
        assert_eq!(flow.pace(), Pace { gap: 0.0, window: 10 });
        assert!(flow.last.is_empty());
    }

    #[test]
    fn a_window_below_one_packet_is_one_packet_at_its_rate() {
        let mut flow = flow(&Params { rmin: 0.02, ..Params::default() });
        ack(&mut flow, 0, 0, &[hop(1, 0, 0, 1_000_000)]);
        assert_eq!(ack(&mut flow, 1, 1, &[hop(1, 20, 20_000, 1_000_000)]), 0.02);
        assert_eq!(flow.pace(), Pace { gap: 49.0, window: 1 });
    }
}
