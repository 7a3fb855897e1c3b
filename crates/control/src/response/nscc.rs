//! NSCC, the network-signaled congestion control of Ultra Ethernet: a window that follows delays and marks.
//!
//! # What it does
//! A source combines two signs of congestion in each ACK: whether the packet was marked, and the queueing delay d,
//! which is the round trip less the flow's base round trip. T is the target of the delay.
//!
//! | packet | d < T | d >= T |
//! |---|---|---|
//! | no mark | the window grows in proportion to T - d, and faster if all queues are empty | the window grows slowly |
//! | mark | no change | the window shrinks, at most once per base round trip |
//!
//! If little arrives during a round trip although d exceeds 4 T, the window falls to what has arrived (quick adapt).
//!
//! # Source
//! Ultra Ethernet Consortium, "Ultra Ethernet Specification 1.0", 2025, congestion management sublayer, as implemented
//! in its simulator uet-htsim, commit 40ccb05, `uec.cpp`. For an ACK of n bytes, B = mtu + header is a packet, S = mtu
//! its payload, D the mean delay, I the sum of increases to come, and A the network's bandwidth-delay product over that
//! of 100 Gb/s and 12 us (150,000 B). In this order:
//!
//! - n is added to `achieved`, `received` and `ignored`. A shorter round trip lowers the base round trip. d updates D
//!   with the weight 1/80; without a mark, a d above T counts as a quarter of the base round trip.
//! - Quick adapt: a marked ACK is skipped while `ignored` is less than the bytes in flight at the last quick adapt.
//!   Otherwise, if the last period (base round trip + T) is over, a new one begins. If d > 4 T and the period's
//!   `achieved` is less than an eighth of the largest window, then W <- max(`achieved`, B), and the ACK has no other
//!   effect.
//! - no mark, d >= T: I <- I + 5 S A n
//! - no mark, d < T: if d has been below 1 us for more than a window of bytes, W <- W + A n / 4; otherwise I <- I + 4 S
//!   A (T - d) n / 12 us
//! - mark, d >= T: if D > T and the last decrease was more than a base round trip ago, W <- W max(1 - 0.8 (D - T) / D,
//!   0.5)
//! - The window is at most 1.5 bandwidth-delay products of the flow, and at least B.
//! - If `received` exceeds 8 B, or the network's round trip has passed since the last addition of eta: W <- W + I / W;
//!   if that time has passed, also W <- W + eta, with eta = 0.15 S A. Then I <- 0 and `received` <- 0.
//!
//! # Parameters
//! - `target`: T; the network's round trip if it is omitted. uet-htsim takes 0.75 of it where switches trim
//!   packets.
//! - `network_rtt`: round trip of the network's longest path; the longest base round trip of the run if it is omitted.
//!   It determines A and the period of eta.
//! - `base_rtt`: the flow's base round trip at the start; if it is omitted, that of its path on an empty fabric. In
//!   uet-htsim, it starts at the network's round trip.
//! - `initial`: the initial window; the largest if it is omitted.
//! - `gate`: quick adapt applies if less than this share of the largest window has arrived. 0 turns it off.
//!
//! # Departures from the source
//! - There are no NACKs, timeouts, trimmed packets or receiver credit.
//! - A flow knows its own base round trip.
//! - An ACK reports packets, not bytes, and the window is rounded down to packets. A short packet counts as a full one.
//! - Congestion notification packets are ignored. An ACK with several marks counts as one marked ACK.

use std::sync::Arc;

use becalm_engine::Time;
use becalm_fabric::policy::{Ack, FlowShape, Notice, Pace, Response};

use crate::scheme::{Companions, Feedback, MarkingFor, ResponseScheme};

/// Bandwidth-delay product of the reference network, 100 Gb/s and 12 us, in bytes.
const REFERENCE_BYTES: f64 = 150_000.0;
/// Round trip of the reference network in seconds.
const REFERENCE_RTT: f64 = 12e-6;
/// Largest window in bandwidth-delay products of the flow.
const LARGEST: f64 = 1.5;
/// Strengths of the increases: below the target, above it, with empty queues, and per round trip of the network.
const PROPORTIONAL: f64 = 4.0;
const FAIR: f64 = 5.0;
const FAST: f64 = 0.25;
const ETA: f64 = 0.15;
/// Strength of a decrease, and its smallest factor.
const GAMMA: f64 = 0.8;
const LEAST_FACTOR: f64 = 0.5;
/// Weight of the last delay in the mean.
const WEIGHT: f64 = 0.0125;
/// Delay below which queues count as empty.
const EMPTY: Time = Time::from_us(1);
/// Quick adapt applies to delays above this multiple of the target.
const FAR: u64 = 4;
/// Number of packets after which increases take effect.
const GATHERED: f64 = 8.0;
/// Share of the base round trip that replaces a long delay without a mark in the mean.
const UNMARKED: f64 = 0.25;

becalm_schema::table! {
    /// A window follows delays and marks: Ultra Ethernet's network-signaled congestion control.
    pub struct Params {
        /// Target of the queueing delay; the network's round trip if it is omitted.
        pub target: Option<Time> = None; ""; Time::from_ns(1)..=Time::from_ms(1000),
        /// Round trip of the network's longest path; the longest base round trip of the run if it is omitted.
        pub network_rtt: Option<Time> = None; ""; Time::from_ns(1)..=Time::from_ms(1000),
        /// Base round trip of each flow at the start; that of its path on an empty fabric if it is omitted.
        pub base_rtt: Option<Time> = None; ""; Time::from_ns(1)..=Time::from_ms(1000),
        /// The initial window; the largest if it is omitted.
        pub initial: Option<f64> = None; "packets"; 1.0..=1e6,
        /// Share of the largest window below which quick adapt applies; 0 turns it off.
        pub gate: f64 = 0.125; "of the largest window"; 0.0..=0.25,
    }
}

/// The properties of a flow and its network.
#[derive(Clone, Copy, Debug)]
struct Shape {
    /// Bytes per second of the flow's link.
    rate: f64,
    /// A full packet and its payload, in bytes.
    packet: f64,
    payload: f64,
    base_rtt: Time,
    network_rtt: Time,
    target: Time,
    /// A.
    scale: f64,
}

/// The response. Windows and counts are in bytes.
#[derive(Clone, Debug)]
pub struct Nscc {
    params: Arc<Params>,
    shape: Shape,
    window: f64,
    /// Smallest round trip of the flow so far.
    base_rtt: Time,
    /// Mean delay in seconds.
    delay: f64,
    /// I, in bytes squared.
    increase: f64,
    achieved: f64,
    received: f64,
    ignored: f64,
    to_ignore: f64,
    /// Bytes acknowledged in succession while queues were empty, and whether the window grows fast.
    empty: f64,
    fast: bool,
    /// End of the current period of quick adapt.
    period_ends: Option<Time>,
    decreased: Time,
    adjusted: Time,
}

impl ResponseScheme for Nscc {
    type Params = Params;

    fn companions() -> Option<Companions> {
        Some(Companions { marking: MarkingFor::Marks("ramp"), echo: "uet" })
    }

    fn largest_window(_: &Params) -> Option<f64> {
        Some(LARGEST)
    }

    fn new(params: &Params) -> Nscc {
        let (rtt, target) = (Time::from_us(12), Time::from_us(12));
        let (rate, packet, payload) = (REFERENCE_BYTES / REFERENCE_RTT, 1.0, 1.0);
        let shape = Shape { rate, packet, payload, base_rtt: rtt, network_rtt: rtt, target, scale: 1.0 };
        Nscc::with(Arc::new(params.clone()), shape)
    }

    fn feedback(_: &Params) -> Feedback {
        Feedback::MarksAndDelay
    }

    fn moves_window(_: &Params) -> bool {
        true
    }
}

impl Nscc {
    /// The response in its initial state.
    fn with(params: Arc<Params>, shape: Shape) -> Nscc {
        let mut flow = Nscc {
            params,
            shape,
            window: 0.0,
            base_rtt: shape.base_rtt,
            delay: 0.0,
            increase: 0.0,
            achieved: 0.0,
            received: 0.0,
            ignored: 0.0,
            to_ignore: 0.0,
            empty: 0.0,
            fast: false,
            period_ends: None,
            decreased: Time::ZERO,
            adjusted: Time::ZERO,
        };
        flow.window = flow.params.initial.map_or(f64::MAX, |packets| packets * shape.packet);
        flow.clamp();
        flow
    }

    fn largest(&self) -> f64 {
        LARGEST * self.shape.rate * self.base_rtt.as_secs()
    }

    fn clamp(&mut self) {
        self.window = self.window.min(self.largest()).max(self.shape.packet);
    }

    fn acked(&mut self, now: Time, ack: &Ack) {
        let bytes = f64::from(ack.covers) * self.shape.packet;
        self.achieved += bytes;
        self.received += bytes;
        self.ignored += bytes;
        let delay = self.measure(ack);
        if self.adapts_quickly(now, ack, delay) {
            (self.increase, self.received) = (0.0, 0.0);
            return;
        }
        match (ack.is_marked(), delay >= self.shape.target) {
            (false, true) => self.increase += FAIR * self.shape.payload * self.shape.scale * bytes,
            (false, false) => self.grow(bytes, delay),
            (true, true) => self.shrink(now),
            (true, false) => {}
        }
        self.clamp();
        self.fulfill(now);
        self.clamp();
    }

    /// Updates the base round trip and the mean delay; returns the delay.
    fn measure(&mut self, ack: &Ack) -> Time {
        self.base_rtt = self.base_rtt.min(ack.rtt);
        let delay = ack.rtt.since(self.base_rtt);
        let long = !ack.is_marked() && delay > self.shape.target;
        let sample = if long { UNMARKED * self.base_rtt.as_secs() } else { delay.as_secs() };
        self.delay += WEIGHT * (sample - self.delay);
        delay
    }

    /// Whether the ACK is skipped, or reduces the window to what has arrived.
    fn adapts_quickly(&mut self, now: Time, ack: &Ack, delay: Time) -> bool {
        if self.ignored < self.to_ignore && ack.is_marked() {
            return true;
        }
        if self.period_ends.is_some_and(|end| now <= end) {
            return false;
        }
        let starved = self.achieved < self.params.gate * self.largest();
        let adapts = self.period_ends.is_some() && delay > self.shape.target * FAR && starved;
        if adapts {
            self.window = self.achieved.max(self.shape.packet);
            (self.to_ignore, self.ignored) = (f64::from(ack.in_flight) * self.shape.packet, 0.0);
        }
        self.achieved = 0.0;
        self.period_ends = Some(now + self.base_rtt + self.shape.target);
        adapts
    }

    /// Increases the window for an ACK without a mark, at a delay below the target.
    fn grow(&mut self, bytes: f64, delay: Time) {
        let Shape { payload, scale, target, .. } = self.shape;
        if delay < EMPTY {
            self.empty += bytes;
            self.fast |= self.empty > self.window;
        } else {
            (self.empty, self.fast) = (0.0, false);
        }
        if self.fast {
            self.window += FAST * scale * bytes;
            return;
        }
        let below = target.since(delay).as_secs() / REFERENCE_RTT;
        self.increase += PROPORTIONAL * payload * scale * below * bytes;
    }

    /// Decreases the window for a marked ACK at a delay above the target.
    fn shrink(&mut self, now: Time) {
        (self.empty, self.fast) = (0.0, false);
        let target = self.shape.target.as_secs();
        if self.delay <= target || now.since(self.decreased) <= self.base_rtt {
            return;
        }
        self.window *= (1.0 - GAMMA * (self.delay - target) / self.delay).max(LEAST_FACTOR);
        self.decreased = now;
    }

    /// Lets the gathered increases take effect, and adds eta once per round trip of the network.
    fn fulfill(&mut self, now: Time) {
        let Shape { packet, payload, network_rtt, scale, .. } = self.shape;
        let since = now.since(self.adjusted);
        if self.received <= GATHERED * packet && since <= network_rtt {
            return;
        }
        self.window += self.increase / self.window;
        if since >= network_rtt {
            self.window += ETA * payload * scale;
            self.adjusted = now;
        }
        (self.increase, self.received) = (0.0, 0.0);
    }
}

impl Response for Nscc {
    fn start(&mut self, flow: &FlowShape) {
        let network_rtt = self.params.network_rtt.unwrap_or(flow.longest_rtt);
        let rate = flow.rate.bytes_per_second();
        let shape = Shape {
            rate,
            packet: f64::from(flow.mtu + flow.header),
            payload: f64::from(flow.mtu),
            base_rtt: self.params.base_rtt.unwrap_or(flow.base_rtt),
            network_rtt,
            target: self.params.target.unwrap_or(network_rtt),
            scale: rate * network_rtt.as_secs() / REFERENCE_BYTES,
        };
        *self = Nscc::with(self.params.clone(), shape);
    }

    fn follows_sending(&self) -> bool {
        false
    }

    fn pace(&self) -> Pace {
        let packets = (self.window / self.shape.packet).clamp(1.0, f64::from(u32::MAX));
        Pace { gap: 0.0, window: packets as u32 }
    }

    fn notice(&mut self, now: Time, notice: &Notice) {
        match notice {
            Notice::Ack(ack) => self.acked(now, ack),
            Notice::Restart => *self = Nscc::with(self.params.clone(), self.shape),
            Notice::Becn | Notice::Timer => {}
        }
    }
}

#[cfg(test)]
mod tests;
