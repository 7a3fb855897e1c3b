//! TIMELY: rates that follow the gradient of the round-trip time, plain or patched.
//!
//! # What it does
//! Each acknowledged segment provides a sample of the round-trip time. Below `t_low`, the rate grows by a step. Above
//! `t_high`, it falls, by a larger factor for longer round trips. In between, it falls if round trips become longer,
//! and grows otherwise; the patched law instead combines an increase and a decrease towards `t_low`, weighted by the
//! gradient.
//!
//! Between the thresholds, the plain law has no fixed point: it reacts only to changes in the queue length, so the
//! final shares depend on the initial state. The patched law has a fixed point, with equal shares and, for N flows, a
//! round trip of t_low (1 + N delta / beta).
//!
//! # Source
//! R. Mittal et al., "TIMELY: RTT-based Congestion Control for the Datacenter", SIGCOMM 2015, Algorithm 1; Y. Zhu et
//! al., "ECN or Delay: Lessons Learnt from Analysis of DCQCN and TIMELY", CoNEXT 2016, section 4.3 (patched). The
//! defaults are from branch `timely` of ns3-rdma, the simulator by the authors of the second paper.
//!
//! Let rtt' be the round trip of the previous segment, and R the rate as a share of the link rate:
//!
//! - d <- (1 - alpha) d + alpha (rtt - rtt'), g = d / d_min
//! - rtt < t_low: R <- R + delta
//! - rtt > t_high: R <- R (1 - beta (1 - t_high / rtt))
//! - plain: R <- R + n delta if g <= 0, with n = `hai` after five such segments in a row and n = 1 before; R <- R (1 -
//!   beta g) otherwise
//! - patched: R <- delta (1 - w) + R (1 - beta w (rtt - t_low) / t_low), with w = 2 g + 1/2, limited to the range from
//!   0 to 1
//!
//! # Parameters
//! - `patched`: whether to use the law of Zhu 2016.
//! - `t_low`, `t_high`: thresholds for the round-trip time.
//! - `d_min`: the time relative to which gradients are measured.
//! - `alpha`: weight of the last difference of round-trip times.
//! - `beta`: strength of a decrease; if it is omitted, 0.8, or 0.008 for the patched law.
//! - `delta`: step of an increase; 10 Mb/s at 10 Gb/s by default.
//! - `hai`: number of steps per increase after five increases in a row (only the plain law).
//! - `segment`: data between two updates; 16 to 64 KB in the papers.
//! - `rmin`, `rmax`, `initial`: smallest, largest and initial rate. A flow starts at rmax if `initial` is omitted.
//!
//! # Departures from the source
//! - Packets are paced one by one. A round trip begins when the last packet of the segment leaves the source.
//! - A segment is an integer number of full packets, at least one; a short packet counts as a full one.
//! - `delta` grows with the link rate.
//! - A gradient of 0 increases the rate, as in Algorithm 1.
//! - R never falls below `rmin`; in Algorithm 1, it can become negative.
//! - Marks and congestion notification packets are ignored.

use std::sync::Arc;

use becalm_engine::Time;
use becalm_fabric::policy::{Ack, FlowShape, Notice, Pace, Response};
use becalm_schema::Conflict;

use super::law::SLOWEST;
use crate::scheme::{Companions, Feedback, MarkingFor, ResponseScheme};

/// Number of consecutive segments without a longer round trip after which steps are larger.
const CALM: u32 = 5;

becalm_schema::table! {
    /// The rate falls while round trips become longer, and grows otherwise.
    pub struct Params {
        /// Whether to use the patched law, which has a fixed point (Zhu 2016).
        pub patched: bool = false,
        /// Round-trip time below which the rate increases.
        pub t_low: Time = Time::from_us(50); ""; Time::from_ns(1)..=Time::from_ms(1000),
        /// Round-trip time above which the rate decreases.
        pub t_high: Time = Time::from_us(500); ""; Time::from_ns(1)..=Time::from_ms(1000),
        /// Round-trip time relative to which gradients are measured.
        pub d_min: Time = Time::from_us(20); ""; Time::from_ns(1)..=Time::from_ms(1000),
        /// Weight of the last difference of round-trip times.
        pub alpha: f64 = 0.875; ""; 0.001..=1.0,
        /// Strength of a decrease; if it is omitted, 0.8, or 0.008 for the patched law.
        pub beta: Option<f64> = None; ""; 1e-6..=1.0,
        /// Step of an increase.
        pub delta: f64 = 0.001; "of the link rate"; 1e-9..=1.0,
        /// Number of steps per increase after five increases in a row; plain law only.
        pub hai: f64 = 5.0; ""; 1.0..=1000.0,
        /// Number of bytes between two updates.
        pub segment: u32 = 16_000; "bytes"; 1..=16_777_216,
        /// Smallest rate.
        pub rmin: f64 = 0.01; "of the link rate"; SLOWEST..=1.0,
        /// Largest rate.
        pub rmax: f64 = 0.96; "of the link rate"; SLOWEST..=1.0,
        /// Rate of a new flow; `rmax` if it is omitted.
        pub initial: Option<f64> = None; "of the link rate"; SLOWEST..=1.0,
    }
    check Params::check;
}

impl Params {
    fn check(&self) -> Result<(), Conflict> {
        let Params { t_low, t_high, rmin, rmax, .. } = *self;
        Conflict::unless(t_low <= t_high, "t_low", || format!("must be at most t_high = {t_high}"))?;
        Conflict::unless(rmin <= rmax, "rmin", || format!("must be at most rmax = {rmax}"))?;
        Conflict::unless((rmin..=rmax).contains(&self.first_rate()), "initial", || {
            format!("must be between rmin = {rmin} and rmax = {rmax}")
        })
    }

    fn first_rate(&self) -> f64 {
        self.initial.unwrap_or(self.rmax)
    }

    fn strength(&self) -> f64 {
        self.beta.unwrap_or(if self.patched { 0.008 } else { 0.8 })
    }
}

/// The response.
#[derive(Clone, Debug)]
pub struct Timely {
    params: Arc<Params>,
    /// Packets per segment.
    packets: u32,
    /// Acknowledged packets of the current segment.
    acked: u32,
    /// Share of the link rate.
    rate: f64,
    /// Round trip of the previous segment.
    previous: Option<Time>,
    /// Mean difference of round trips, in seconds.
    difference: f64,
    /// Number of consecutive segments between the thresholds whose round trips did not become longer.
    calm: u32,
}

impl ResponseScheme for Timely {
    type Params = Params;

    fn companions() -> Option<Companions> {
        Some(Companions { marking: MarkingFor::None, echo: "ack" })
    }

    fn ceiling(params: &Params) -> Option<(&'static str, f64)> {
        (params.rmax < 1.0).then_some(("rmax", params.rmax))
    }

    fn new(params: &Params) -> Timely {
        Timely::with(Arc::new(params.clone()))
    }

    fn feedback(_: &Params) -> Feedback {
        Feedback::RoundTripTime
    }
}

impl Timely {
    /// The response in its initial state.
    fn with(params: Arc<Params>) -> Timely {
        let rate = params.first_rate();
        Timely { params, packets: 1, acked: 0, rate, previous: None, difference: 0.0, calm: 0 }
    }

    fn acked(&mut self, ack: &Ack) {
        self.acked += ack.covers;
        if self.acked < self.packets {
            return;
        }
        self.acked = 0;
        if let Some(previous) = self.previous.replace(ack.rtt) {
            let change = ack.rtt.as_secs() - previous.as_secs();
            self.difference = (1.0 - self.params.alpha) * self.difference + self.params.alpha * change;
            let gradient = self.difference / self.params.d_min.as_secs();
            self.rate = self.next_rate(ack.rtt, gradient).clamp(self.params.rmin, self.params.rmax);
        }
    }

    /// The rate after a segment with this round trip, before it is limited.
    fn next_rate(&mut self, rtt: Time, gradient: f64) -> f64 {
        let Params { patched, t_low, t_high, delta, hai, .. } = *self.params;
        let (rate, beta) = (self.rate, self.params.strength());
        let calm = std::mem::take(&mut self.calm);
        if rtt < t_low {
            rate + delta
        } else if rtt > t_high {
            rate * (1.0 - beta * (1.0 - t_high.as_secs() / rtt.as_secs()))
        } else if patched {
            let weight = (2.0 * gradient + 0.5).clamp(0.0, 1.0);
            let excess = rtt.as_secs() / t_low.as_secs() - 1.0;
            delta * (1.0 - weight) + rate * (1.0 - beta * weight * excess)
        } else if gradient > 0.0 {
            rate * (1.0 - beta * gradient)
        } else {
            self.calm = calm + 1;
            rate + if calm >= CALM { hai * delta } else { delta }
        }
    }
}

impl Response for Timely {
    fn start(&mut self, flow: &FlowShape) {
        self.packets = (self.params.segment / flow.mtu).max(1);
    }

    fn follows_sending(&self) -> bool {
        false
    }

    fn pace(&self) -> Pace {
        Pace { gap: (1.0 / self.rate - 1.0).max(0.0), window: u32::MAX }
    }

    fn notice(&mut self, _: Time, notice: &Notice) {
        match notice {
            Notice::Ack(ack) => self.acked(ack),
            Notice::Restart => *self = Timely { packets: self.packets, ..Timely::with(self.params.clone()) },
            Notice::Becn | Notice::Timer => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rates after one-packet segments with these round trips in us.
    fn rates(params: &Params, round_trips: &[u64]) -> Vec<f64> {
        let mut flow = Timely::new(params);
        let mut rate = |&us: &u64| {
            flow.notice(Time::ZERO, &Notice::Ack(Ack { covers: 1, rtt: Time::from_us(us), ..Ack::default() }));
            flow.rate
        };
        round_trips.iter().map(&mut rate).collect()
    }

    fn near(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        let close = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12);
        assert!(close, "{found:?}, expected {expected:?}");
    }

    fn at_half() -> Params {
        Params { initial: Some(0.5), ..Params::default() }
    }

    #[test]
    fn the_plain_law_by_hand() {
        // The first segment has no predecessor. Below 50 us: + 0.001. 40 to 60 us: d = 0.125 * 0 + 0.875 * 20 us, g =
        // 0.875.
        let fallen = 0.501 * (1.0 - 0.8 * 0.875);
        // 60 to 60: d = 0.125 * 17.5 us, g = 0.109375. 60 to 55: d = 0.2734375 - 4.375 us < 0.
        let again = fallen * (1.0 - 0.8 * 0.109_375);
        near(&rates(&at_half(), &[40, 40, 60, 60, 55]), &[0.5, 0.501, fallen, again, again + 0.001]);
        // Above 500 us, whatever the gradient: 1 - 0.8 (1 - 500/1000).
        near(&rates(&at_half(), &[2000, 1000]), &[0.5, 0.5 * 0.6]);
    }

    #[test]
    fn a_standing_queue_is_no_reason_to_slow_down_and_steps_grow_after_five() {
        let expected = [0.5, 0.501, 0.502, 0.503, 0.504, 0.505, 0.510, 0.515];
        near(&rates(&at_half(), &[100; 8]), &expected);
        near(&rates(&at_half(), &[100, 100, 100, 100, 100, 100, 40, 60]), &{
            // 60 to 40: up by one step. Then g = (0.125 * -52.5 + 0.875 * 20) us / 20 us > 0.
            let fallen = 0.506 * (1.0 - 0.8 * (0.125 * -52.5 + 0.875 * 20.0) / 20.0);
            [0.5, 0.501, 0.502, 0.503, 0.504, 0.505, 0.506, fallen]
        });
    }

    #[test]
    fn the_patched_law_by_hand_and_at_its_fixed_point() {
        let patched = Params { patched: true, ..at_half() };
        // g = 0: w = 1/2. At 100 us: 0.001/2 + 0.5 (1 - 0.008/2).
        near(&rates(&patched, &[100, 100]), &[0.5, 0.0005 + 0.5 * (1.0 - 0.004)]);
        // g = 0.875 * 10/20 = 0.4375: w = 1. g = -0.4375: w = 0.
        near(&rates(&patched, &[100, 110]), &[0.5, 0.5 * (1.0 - 0.008 * 1.2)]);
        near(&rates(&patched, &[110, 100]), &[0.5, 0.501]);
        // Two flows with half of the link each: 48 us (1 + 2 * 0.001/0.008) = 60 us.
        let rest = Params { t_low: Time::from_us(48), ..patched };
        near(&rates(&rest, &[60; 4]), &[0.5; 4]);
    }

    #[test]
    fn a_segment_has_several_packets_and_only_its_last_ack_counts() {
        let mut flow = Timely::new(&at_half());
        let shape = FlowShape {
            rate: becalm_fabric::Rate::from_bits_per_second(10e9),
            mtu: 1000,
            header: 0,
            base_rtt: Time::from_us(20),
            longest_rtt: Time::from_us(20),
            hops: 2,
        };
        flow.start(&shape);
        let mut ack = |covers, us| {
            flow.notice(Time::ZERO, &Notice::Ack(Ack { covers, rtt: Time::from_us(us), ..Ack::default() }));
            flow.rate
        };
        assert!((0..31).all(|i| ack(1, 100 + i) == 0.5));
        assert_eq!(ack(1, 30), 0.501);
        assert_eq!((ack(10, 900), ack(6, 30)), (0.501, 0.502));
        flow.notice(Time::ZERO, &Notice::Restart);
        assert_eq!((flow.rate, flow.previous), (0.5, None));
    }
}
