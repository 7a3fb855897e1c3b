//! The response of DCTCP: a window that shrinks in proportion to the share of marked packets.
//!
//! # What it does
//! A window of packets may be in flight. The source counts the acknowledged packets and the marked ones among them.
//! Once all packets that were in flight at the last update are acknowledged, about once per round trip, the share F of
//! marked packets updates the estimate alpha to (1 - g) alpha + g F. The first marked ACK in a window multiplies the
//! window by 1 - alpha / 2. The packets that are then in flight cause no further cut, and their ACKs do not increase
//! the window. Any other unmarked ACK, for n packets, adds n / window to the window or, in slow start (before the first
//! mark), n.
//!
//! # Source
//! M. Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010, section 3; RFC 8257, section 3.3. The switch marks
//! above a single threshold (`[marking.ramp]` with `kmin` = `kmax`). The RDMA variant, without slow start and with an
//! initial window of one bandwidth-delay product, is from Y. Li et al., "HPCC: High Precision Congestion Control",
//! SIGCOMM 2019.
//!
//! # Parameters
//! - `g`: weight of the last window in alpha: 1/16 in both sources.
//! - `initial_alpha`: alpha at the start: 1 in RFC 8257, 0 in the paper.
//! - `initial`: the initial window; if it is omitted, the bandwidth-delay product of the flow's path on an empty
//!   fabric.
//! - `largest`: limit of the window in packets.
//! - `slow_start`: whether the window grows by the number of acknowledged packets until the first mark.
//!
//! # Departures from the source
//! - There is no retransmission or timeout. The window never falls below one packet.
//! - By default, a flow starts with a window of one bandwidth-delay product and without slow start.
//! - ACKs report the number of marked packets, so an ACK for several packets does not inflate F.
//! - A congestion notification packet counts as the mark of one packet.
//! - Flows that share a response (`port_control = "sl"`) share its window and its counts.

use std::sync::Arc;

use becalm_engine::Time;
use becalm_fabric::policy::{Ack, FlowShape, Notice, Pace, Response};
use becalm_schema::Conflict;

use super::window::Window;
use crate::scheme::{Companions, MarkingFor, ResponseScheme};

becalm_schema::table! {
    /// The window shrinks in proportion to the share of marked packets, and grows by one packet per round trip.
    pub struct Params {
        /// Weight of the last window of packets in alpha.
        pub g: f64 = 0.0625; ""; 1e-6..=1.0,
        /// Alpha at the start.
        pub initial_alpha: f64 = 1.0; ""; 0.0..=1.0,
        /// The initial window; the bandwidth-delay product if it is omitted.
        pub initial: Option<f64> = None; "packets"; 1.0..=1e6,
        /// Largest window.
        pub largest: Window = Window::UNLIMITED; "packets",
        /// Whether the window grows by the number of acknowledged packets until the first mark.
        pub slow_start: bool = false,
    }
    check Params::check;
}

impl Params {
    fn check(&self) -> Result<(), Conflict> {
        let largest = self.largest.0;
        Conflict::unless(self.initial.is_none_or(|initial| initial <= f64::from(largest)), "initial", || {
            format!("must be at most largest = {largest}")
        })
    }
}

/// The response.
#[derive(Clone, Debug)]
pub struct Dctcp {
    params: Arc<Params>,
    /// The initial window.
    initial: f64,
    window: f64,
    alpha: f64,
    slow_start: bool,
    /// Number of packets acknowledged since the last count, and number of marked ones.
    acked: u32,
    marked: u32,
    /// Packet number whose acknowledgement triggers the next count.
    count_at: u32,
    /// Smallest packet number whose ACK may cause another cut.
    cut_from: u32,
    /// The last acknowledged packet, and the next packet to be sent at that time.
    latest: (u32, u32),
}

impl ResponseScheme for Dctcp {
    type Params = Params;

    fn companions() -> Option<Companions> {
        Some(Companions { marking: MarkingFor::Only("ramp"), echo: "ack" })
    }

    fn new(params: &Params) -> Dctcp {
        Dctcp::with(Arc::new(params.clone()), params.initial.unwrap_or(1.0))
    }

    fn moves_window(_: &Params) -> bool {
        true
    }

    fn counts_marks(_: &Params) -> bool {
        true
    }
}

impl Dctcp {
    fn with(params: Arc<Params>, initial: f64) -> Dctcp {
        Dctcp {
            initial,
            window: initial.clamp(1.0, f64::from(params.largest.0)),
            alpha: params.initial_alpha,
            slow_start: params.slow_start,
            acked: 0,
            marked: 0,
            count_at: 0,
            cut_from: 0,
            latest: (0, 0),
            params,
        }
    }

    /// The window in packets, a real number, and alpha.
    pub fn state(&self) -> (f64, f64) {
        (self.window, self.alpha)
    }

    fn acknowledged(&mut self, ack: &Ack) {
        self.acked += ack.covers;
        self.marked += ack.marked;
        self.latest = (ack.sequence, ack.next);
        if ack.sequence >= self.count_at {
            self.count(ack.next);
        }
        if ack.is_marked() {
            self.cut();
        } else if ack.sequence >= self.cut_from {
            self.grow(f64::from(ack.covers));
        }
    }

    /// Updates alpha with the share of marked packets, and begins a new count.
    fn count(&mut self, next: u32) {
        let share = f64::from(self.marked) / f64::from(self.acked.max(1));
        self.alpha += self.params.g * (share.min(1.0) - self.alpha);
        (self.acked, self.marked, self.count_at) = (0, 0, next);
    }

    /// Cuts the window, unless the last acknowledged packet was in flight at the last cut.
    fn cut(&mut self) {
        let (sequence, next) = self.latest;
        self.slow_start = false;
        if sequence >= self.cut_from {
            self.window = (self.window * (1.0 - self.alpha / 2.0)).max(1.0);
            self.cut_from = next;
        }
    }

    fn grow(&mut self, packets: f64) {
        let step = if self.slow_start { packets } else { packets / self.window };
        self.window = (self.window + step).min(f64::from(self.params.largest.0));
    }
}

impl Response for Dctcp {
    fn start(&mut self, flow: &FlowShape) {
        let packet = f64::from(flow.mtu + flow.header);
        let product = flow.rate.bytes_per_second() * flow.base_rtt.as_secs() / packet;
        *self = Dctcp::with(self.params.clone(), self.params.initial.unwrap_or(product));
    }

    fn follows_sending(&self) -> bool {
        false
    }

    fn pace(&self) -> Pace {
        Pace { gap: 0.0, window: self.window as u32 }
    }

    fn notice(&mut self, _: Time, notice: &Notice) {
        match notice {
            Notice::Ack(ack) => self.acknowledged(ack),
            Notice::Becn => {
                self.marked += 1;
                self.cut();
            }
            Notice::Restart => *self = Dctcp::with(self.params.clone(), self.initial),
            Notice::Timer => {}
        }
    }
}

#[cfg(test)]
mod tests;
