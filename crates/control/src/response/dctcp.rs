//! The response of DCTCP: a window that shrinks by the share of marked packets.
//!
//! # What it does
//! A window of packets may be under way. The source counts the packets that ACKs cover and the marked ones that they
//! report. When the packets that were under way at the last count are acknowledged, about once per round trip, the
//! share F of marked ones moves the estimate alpha to (1 - g) alpha + g F. The first marked ACK in a window of packets
//! multiplies the window by 1 - alpha / 2, at most once for the packets under way at that time, whose ACKs do not let
//! it grow. Any other ACK without a mark, for n packets, adds n / window to the window; in slow start, before the first
//! mark, it adds n.
//!
//! # Source
//! M. Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010, section 3; RFC 8257, section 3.3. The switch marks with
//! a step: `[marking.ramp]` with `kmin` = `kmax`. The variant for RDMA, which has no slow start and begins at the
//! bandwidth-delay product, is that of Y. Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019.
//!
//! # Parameters
//! - `g`: weight of a window in alpha; 1/16 in the paper and in RFC 8257.
//! - `initial_alpha`: alpha at the start: 1 in RFC 8257, Linux and ns-3; the paper begins at 0.
//! - `initial`: the window at the start, in packets; if it is left out, the bandwidth-delay product of the flow's path:
//!   the rate of its link times the round-trip time on an empty fabric.
//! - `largest`: packets, or `"unlimited"`; the window never exceeds it.
//! - `slow_start`: whether the window grows by the number of acknowledged packets until the first mark.
//!
//! # Departures from the source
//! - Nothing is lost here, so there is neither retransmission nor a timeout. The window never falls below one packet:
//!   if there are more flows than packets that fit on the path, the rest stand in a queue.
//! - By default a flow begins with the bandwidth-delay product and without slow start, just as other schemes for RDMA
//!   begin at the rate of the link.
//! - ACKs report the number of marked packets, so that ACKs for several packets do not inflate F.
//! - A congestion notification packet counts as the mark of one packet.
//! - Flows that share a response (`port_control = "sl"`) share its window and its counts.

use std::sync::Arc;

use becalm_engine::Time;
use becalm_fabric::policy::{Ack, FlowShape, Notice, Pace, Response};
use becalm_schema::Conflict;

use super::window::Window;
use crate::scheme::ResponseScheme;

becalm_schema::table! {
    /// The window shrinks by the share of marked packets in it, and grows by one packet per round trip.
    pub struct Params {
        /// Weight of a window of packets in alpha.
        pub g: f64 = 0.0625; ""; 1e-6..=1.0,
        /// Alpha at the start.
        pub initial_alpha: f64 = 1.0; ""; 0.0..=1.0,
        /// The window at the start; the bandwidth-delay product if it is left out.
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
    /// The window at the start.
    initial: f64,
    window: f64,
    alpha: f64,
    slow_start: bool,
    /// Packets acknowledged since the last count, and marked ones among them.
    acked: u32,
    marked: u32,
    /// The next count is taken when the packet with this number is acknowledged.
    count_at: u32,
    /// The next cut may come when the packet with this number is acknowledged.
    cut_from: u32,
    /// The packet acknowledged last, and the one that was next to be sent at that time.
    latest: (u32, u32),
}

impl ResponseScheme for Dctcp {
    type Params = Params;

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

    /// Moves alpha by the share of marked packets, and begins a new count.
    fn count(&mut self, next: u32) {
        let share = f64::from(self.marked) / f64::from(self.acked.max(1));
        self.alpha += self.params.g * (share.min(1.0) - self.alpha);
        (self.acked, self.marked, self.count_at) = (0, 0, next);
    }

    /// Cuts the window, unless the packet acknowledged last was under way at the last cut.
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
