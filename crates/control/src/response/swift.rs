//! Swift: a window that keeps the delay at a target, and may fall below one packet.
//!
//! # What it does
//! An ACK whose delay is below the target widens the window by `ai` packets per round trip. An ACK whose delay is above
//! the target narrows the window in proportion to the excess, at most once per round trip. The target grows with the
//! length of the route. It also grows as the window falls, and thus with the number of flows. A window below one packet
//! becomes a pause between packets, so any number of flows can share a link.
//!
//! The smaller of two windows applies: one for the delay in the fabric (the round trip without the time at the
//! receiver), and one for the delay at the receiver.
//!
//! # Source
//! G. Kumar et al., "Swift: Delay is Simple and Effective for Congestion Control in the Datacenter", SIGCOMM 2020,
//! section 3, Algorithm 1 (window) and section 3.5 (target):
//!
//! - delay < target: W <- W + ai n / W for n packets acknowledged, or W + ai n below one packet
//! - otherwise, at least a round trip after the last decrease: W <- W max(1 - beta (delay - target) / delay, 1 -
//!   max_mdf)
//! - target = base + hops per_hop + max(0, min(A / sqrt(W) + B, fs_range)), A = fs_range / (1/sqrt(fs_min) -
//!   1/sqrt(fs_max)), B = -A / sqrt(fs_max)
//!
//! # Parameters
//! - `base`: the target without additions; if it is omitted, 1.25 times the longest base round trip of the run, plus 5
//!   us.
//! - `per_hop`: addition for each link of the route.
//! - `endpoint`: target for the delay at the receiver.
//! - `ai`: additive increase per round trip.
//! - `beta`: strength of a decrease.
//! - `max_mdf`: largest decrease, as a share of the window.
//! - `fs_range`: largest addition for small windows; if it is omitted, five times the base.
//! - `fs_min`, `fs_max`: windows between which the addition falls from `fs_range` to 0.
//! - `min_window`: smallest window.
//! - `max_window`: largest window; if it is omitted, what the link can send during the longest target.
//!
//! # Departures from the source
//! - The paper states almost no values. `ai`, `beta`, `max_mdf`, `fs_min` and `fs_max` are from the simulator htsim,
//!   which calls them guesses; `base`, `per_hop`, `endpoint` and the limits of the windows are our choices.
//! - A flow starts with the window that its link sends in its base round trip.
//! - The window is rounded down to an integer number of packets. If W is below one packet, one packet may be in flight,
//!   and full packets are sent at intervals of the smoothed round trip divided by W. Shorter packets have
//!   proportionally shorter intervals.
//! - The last round trip has a weight of 1/8 in the smoothed round trip.
//! - W in the formulas is never rounded to packets. Hops are links.
//! - Marks and congestion notification packets are ignored.

use std::sync::Arc;

use becalm_engine::Time;
use becalm_fabric::policy::{Ack, FlowShape, Notice, Pace, Response};
use becalm_schema::Conflict;

use crate::scheme::{Companions, Feedback, MarkingFor, ResponseScheme};

/// Weight of the last round trip in the smoothed one.
const LAST: f64 = 0.125;

becalm_schema::table! {
    /// A window keeps the delay at a target that grows with hops and flows; it may fall below one packet.
    pub struct Params {
        /// Target without the additions for hops and flows; derived from the longest base round trip of the run if it
        /// is omitted.
        pub base: Option<Time> = None; ""; Time::from_ns(1)..=Time::from_ms(1000),
        /// Addition to the target for each link of the route.
        pub per_hop: Time = Time::from_us(1); ""; ..=Time::from_ms(1000),
        /// Target for the delay at the receiver.
        pub endpoint: Time = Time::from_us(100); ""; Time::from_ns(1)..=Time::from_ms(1000),
        /// Increase per round trip.
        pub ai: f64 = 1.0; "packets"; 1e-6..=1000.0,
        /// Strength of a decrease.
        pub beta: f64 = 0.8; ""; 0.001..=1.0,
        /// Largest decrease, as a share of the window.
        pub max_mdf: f64 = 0.5; ""; 0.001..=0.999,
        /// Largest addition to the target for small windows; five times the base if it is omitted.
        pub fs_range: Option<Time> = None; ""; ..=Time::from_ms(1000),
        /// Window at which the addition is largest.
        pub fs_min: f64 = 0.1; "packets"; 1e-4..=1e6,
        /// Smallest window without an addition.
        pub fs_max: f64 = 100.0; "packets"; 1e-4..=1e6,
        /// Smallest window.
        pub min_window: f64 = 0.001; "packets"; 1e-6..=1e6,
        /// Largest window. If it is omitted, it is the number of packets that the link can send during the longest
        /// target.
        pub max_window: Option<f64> = None; "packets"; 1e-6..=1e6,
    }
    check Params::check;
}

impl Params {
    fn check(&self) -> Result<(), Conflict> {
        let Params { fs_min, fs_max, min_window, max_window, .. } = *self;
        Conflict::unless(fs_min < fs_max, "fs_min", || format!("must be below fs_max = {fs_max}"))?;
        let most = max_window.unwrap_or(f64::MAX);
        Conflict::unless(min_window <= most, "min_window", || format!("must be at most max_window = {most}"))
    }
}

/// The window for one kind of delay.
#[derive(Clone, Debug)]
struct Window {
    packets: f64,
    decreased: Option<Time>,
}

/// The response. Times are in seconds.
#[derive(Clone, Debug)]
pub struct Swift {
    params: Arc<Params>,
    /// Target without addition for small windows.
    base: f64,
    fs_range: f64,
    /// The constants A and B of the target.
    scale: (f64, f64),
    /// Initial and largest window of a flow.
    first: f64,
    most: f64,
    /// Duration of a full packet on the link, and of a round trip on an empty fabric.
    packet: f64,
    base_rtt: f64,
    rtt: f64,
    fabric: Window,
    receiver: Window,
}

impl ResponseScheme for Swift {
    type Params = Params;

    fn companions() -> Option<Companions> {
        Some(Companions { marking: MarkingFor::None, echo: "ack" })
    }

    fn new(params: &Params) -> Swift {
        let most = params.max_window.unwrap_or(f64::from(u32::MAX));
        let window = Window { packets: most, decreased: None };
        let (receiver, fabric) = (window.clone(), window);
        Swift {
            params: Arc::new(params.clone()),
            base: 0.0,
            fs_range: 0.0,
            scale: (0.0, 0.0),
            first: most,
            most,
            packet: 1e-6,
            base_rtt: 1e-6,
            rtt: 1e-6,
            fabric,
            receiver,
        }
    }

    fn feedback(_: &Params) -> Feedback {
        Feedback::RoundTripTime
    }

    fn moves_window(_: &Params) -> bool {
        true
    }
}

impl Swift {
    fn begin(&mut self) {
        self.rtt = self.base_rtt;
        self.fabric = Window { packets: self.first, decreased: None };
        self.receiver = self.fabric.clone();
    }

    /// The target for the delay in the fabric.
    fn target(&self) -> f64 {
        let (a, b) = self.scale;
        self.base + (a / self.fabric.packets.sqrt() + b).clamp(0.0, self.fs_range)
    }

    fn acked(&mut self, now: Time, ack: &Ack) {
        let (rtt, held) = (ack.rtt.as_secs(), ack.held.as_secs());
        self.rtt += LAST * (rtt - self.rtt);
        let (limits, endpoint) = ((self.params.min_window, self.most), self.params.endpoint.as_secs());
        let target = self.target();
        let acked = f64::from(ack.covers);
        self.fabric.acked((now, ack.rtt), acked, (rtt - held, target), &self.params, limits);
        self.receiver.acked((now, ack.rtt), acked, (held, endpoint), &self.params, limits);
    }
}

impl Window {
    /// Handles an ACK with its arrival time, round trip, delay and target.
    fn acked(
        &mut self,
        (now, rtt): (Time, Time),
        packets: f64,
        (delay, target): (f64, f64),
        params: &Params,
        (least, most): (f64, f64),
    ) {
        if delay < target {
            self.packets += params.ai * packets / self.packets.max(1.0);
        } else if self.decreased.is_none_or(|last| now.since(last) >= rtt) {
            self.decreased = Some(now);
            self.packets *= (1.0 - params.beta * (delay - target) / delay).max(1.0 - params.max_mdf);
        }
        self.packets = self.packets.clamp(least, most);
    }
}

impl Response for Swift {
    fn start(&mut self, flow: &FlowShape) {
        let Params { base, per_hop, fs_range, fs_min, fs_max, min_window, max_window, .. } = *self.params;
        let base = base.map_or(1.25 * flow.longest_rtt.as_secs() + 5e-6, Time::as_secs);
        self.fs_range = fs_range.map_or(5.0 * base, Time::as_secs);
        self.base = base + f64::from(flow.hops) * per_hop.as_secs();
        let a = self.fs_range / (1.0 / fs_min.sqrt() - 1.0 / fs_max.sqrt());
        self.scale = (a, -a / fs_max.sqrt());
        self.packet = flow.rate.time_of(flow.mtu + flow.header).as_secs();
        self.base_rtt = flow.base_rtt.as_secs();
        self.most = max_window.unwrap_or((self.base + self.fs_range) / self.packet).max(min_window);
        self.first = (self.base_rtt / self.packet).clamp(min_window, self.most);
        self.begin();
    }

    fn follows_sending(&self) -> bool {
        false
    }

    fn pace(&self) -> Pace {
        let packets = self.fabric.packets.min(self.receiver.packets);
        if packets >= 1.0 {
            return Pace { gap: 0.0, window: packets.min(f64::from(u32::MAX)) as u32 };
        }
        Pace { gap: (self.rtt / packets / self.packet - 1.0).max(0.0), window: 1 }
    }

    fn notice(&mut self, now: Time, notice: &Notice) {
        match notice {
            Notice::Ack(ack) => self.acked(now, ack),
            Notice::Restart => self.begin(),
            Notice::Becn | Notice::Timer => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_fabric::Rate;

    /// Full packets of 1 us, a base round trip of 8 us, three links.
    fn shape() -> FlowShape {
        let rate = Rate::from_bits_per_second(8e9);
        let (base_rtt, longest_rtt) = (Time::from_us(8), Time::from_us(12));
        FlowShape { rate, mtu: 980, header: 20, base_rtt, longest_rtt, hops: 3 }
    }

    fn flow(params: &Params) -> Swift {
        let mut flow = Swift::new(params);
        flow.start(&shape());
        flow
    }

    /// A target of 20 us.
    fn plain() -> Params {
        let (base, fs_range) = (Some(Time::from_us(17)), Some(Time::ZERO));
        Params { base, fs_range, ..Params::default() }
    }

    fn ack(rtt: u64, held: u64) -> Notice<'static> {
        Notice::Ack(Ack { covers: 1, rtt: Time::from_us(rtt), held: Time::from_us(held), ..Ack::default() })
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9 * b.abs()
    }

    #[test]
    fn begins_at_line_rate_and_widens_by_ai_over_the_window() {
        let mut flow = flow(&plain());
        assert_eq!(flow.pace(), Pace { gap: 0.0, window: 8 });
        flow.notice(Time::from_us(10), &ack(19, 0));
        assert!(near(flow.fabric.packets, 8.125));
        let two = Ack { covers: 2, rtt: Time::from_us(19), ..Ack::default() };
        flow.notice(Time::from_us(11), &Notice::Ack(two));
        assert!(near(flow.fabric.packets, 8.125 + 2.0 / 8.125));
        assert_eq!(flow.pace().window, 8, "rounded down");
    }

    #[test]
    fn narrows_in_proportion_once_per_round_trip_and_by_half_at_the_most() {
        let mut flow = flow(&plain());
        flow.notice(Time::from_us(100), &ack(25, 0));
        assert!(near(flow.fabric.packets, 8.0 * (1.0 - 0.8 * 5.0 / 25.0)));
        flow.notice(Time::from_us(124), &ack(25, 0));
        assert!(near(flow.fabric.packets, 8.0 * 0.84), "too soon");
        flow.notice(Time::from_us(125), &ack(25, 0));
        assert!(near(flow.fabric.packets, 8.0 * 0.84 * 0.84));
        flow.notice(Time::from_us(300), &ack(100, 0));
        assert!(near(flow.fabric.packets, 8.0 * 0.84 * 0.84 * 0.5));
    }

    #[test]
    fn a_window_below_one_packet_is_a_pause() {
        let mut flow = flow(&Params { ai: 0.25, ..plain() });
        (0..5).for_each(|i| flow.notice(Time::from_us(1000 * (i + 1)), &ack(100, 0)));
        assert!(near(flow.fabric.packets, 8.0 / 32.0));
        flow.rtt = 100e-6;
        // From packet to packet 100 us / 0.25 = 400 packet times.
        assert_eq!(flow.pace().window, 1);
        assert!(near(flow.pace().gap, 399.0));
        flow.notice(Time::from_us(9000), &ack(19, 0));
        assert!(near(flow.fabric.packets, 0.5), "by ai, not by ai over the window");
    }

    #[test]
    fn the_target_grows_with_hops_and_as_windows_shrink() {
        let mut flow = flow(&Params { base: Some(Time::from_us(10)), ..Params::default() });
        flow.fabric.packets = 200.0;
        assert!(near(flow.target(), 13e-6));
        flow.fabric.packets = 0.01;
        assert!(near(flow.target(), 63e-6), "not beyond the range");
        // A = 50 us / (sqrt(10) - 0.1), B = -A/10.
        flow.fabric.packets = 0.25;
        assert!(near(flow.target(), 13e-6 + 50e-6 * (2.0 - 0.1) / (10f64.sqrt() - 0.1)));
        // By default: 1.25 * 12 us + 5 us, and three hops.
        let mut flow = super::tests::flow(&Params::default());
        flow.fabric.packets = 100.0;
        assert!(near(flow.target(), 23e-6));
        assert!(near(flow.most, 123.0));
    }

    #[test]
    fn the_receiver_has_a_window_of_its_own() {
        let mut flow = flow(&plain());
        flow.notice(Time::from_us(500), &ack(219, 200));
        assert!(near(flow.fabric.packets, 8.125), "19 us in the fabric");
        assert!(near(flow.receiver.packets, 8.0 * (1.0 - 0.8 * 0.5)));
        assert_eq!(flow.pace().window, 4);
        flow.notice(Time::from_us(501), &Notice::Restart);
        assert_eq!(flow.pace().window, 8);
    }
}
