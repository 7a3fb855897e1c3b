//! Binary feedback: a window that follows the majority of the marks in each window of ACKs (DECbit).
//!
//! # What it does
//! The source changes its window each time it has received the ACKs of both the previous and the current window. It
//! ignores the ACKs of the previous window. If the share of marked ACKs in the current window is at least a cutoff, the
//! window is multiplied by a factor below 1; otherwise, it grows by an increment. The window is a real number of at
//! least 1. Rounded to the nearest integer, it is the number of packets that may be in flight.
//!
//! The ACK that triggers a change releases the next packet before the window changes. A window that has grown does not
//! grow again until the number of packets in flight has reached it, since until then the source is the bottleneck.
//!
//! # Source
//! K. K. Ramakrishnan, R. Jain, "A Binary Feedback Scheme for Congestion Avoidance in Computer Networks", ACM
//! Transactions on Computer Systems 8(2), 1990: section 2 for the policy, section 5 for its parts and the variants that
//! were tried, and section 6.3.2 for sources that are the bottleneck.
//!
//! # Parameters
//! - `initial`: the first window.
//! - `largest`: limit of the window in packets.
//! - `cutoff`: smallest share of marked ACKs at which the window shrinks.
//! - `increase`: packets by which the window grows.
//! - `decrease`: `{multiplicative = {factor = 0.875}}`, with a factor of 0.01 to 0.999, or `{additive = {by = 1}}`,
//!   with 0.01 to 1000 packets. The paper finds the latter unfair (Fig. 7).
//! - `decide`: with `"every_ack"`, each ACK's mark decides. In the paper, the window then oscillates (Fig. 4).
//! - `keep_bits`: whether ACKs that counted in earlier decisions also count in the next one. Section 5.2 advises
//!   against this.
//! - `history`: with `keep_bits`, the number of these decisions.
//! - `check_source`: whether a window that has grown must be filled before it grows again. Otherwise, the window of a
//!   source that is the bottleneck grows without limit (section 6.3.2).
//! - `arithmetic`: `"single"` for single precision, or `"integer"` to truncate the window after every change, which can
//!   be unfair (section 5.4).
//!
//! # Departures from the source
//! - The first decision is made after one window of ACKs, since there is no previous window to wait for.
//! - A congestion notification packet counts as a marked ACK.
//! - A flow that resumes after a pause starts again with the initial window.

use std::collections::VecDeque;
use std::sync::Arc;

use becalm_engine::Time;
use becalm_fabric::policy::{Notice, Pace, Response, Sent};
use becalm_schema::Conflict;

use super::window::Window;
use crate::scheme::ResponseScheme;

becalm_schema::words! {
    /// When the window changes.
    pub enum Decide {
        /// After the ACKs of the previous and the current window, based only on those of the current window.
        TwoWindows = "two_windows",
        /// At every ACK, based on that ACK.
        EveryAck = "every_ack",
    }
}

becalm_schema::words! {
    /// Type of the window's values.
    pub enum Arithmetic {
        /// Real numbers, rounded for use.
        Real = "real",
        /// Real numbers in single precision, rounded for use.
        Single = "single",
        /// Integers; the window is rounded down after every change.
        Integer = "integer",
    }
}

becalm_schema::table! {
    /// By a factor.
    pub struct Multiplicative {
        /// Factor of the window.
        pub factor: f64 = 0.875; ""; 0.01..=0.999,
    }
}

becalm_schema::table! {
    /// By a number of packets.
    pub struct Additive {
        /// Number of packets.
        pub by: f64 = 1.0; "packets"; 0.01..=1000.0,
    }
}

becalm_schema::choice! {
    /// How a window shrinks.
    pub enum Decrease {
        /// By a factor.
        Multiplicative(Multiplicative) = "multiplicative",
        /// By a number.
        Additive(Additive) = "additive",
    }
}

becalm_schema::table! {
    /// If most ACKs of a window are marked, the window shrinks by a factor; otherwise, it grows by one packet.
    pub struct Params {
        /// The window at the start.
        pub initial: f64 = 1.0; "packets"; 1.0..=1e6,
        /// Largest window.
        pub largest: Window = Window::UNLIMITED; "packets",
        /// Smallest share of marked ACKs at which the window shrinks.
        pub cutoff: f64 = 0.5; "of the ACKs"; 0.001..=1.0,
        /// Number of packets by which the window grows.
        pub increase: f64 = 1.0; "packets"; 0.01..=1000.0,
        /// How the window shrinks.
        pub decrease: Decrease = Decrease::Multiplicative(Multiplicative::default()),
        /// When the window changes.
        pub decide: Decide = Decide::TwoWindows,
        /// Whether ACKs that counted in earlier decisions also count in the next one.
        pub keep_bits: bool = false,
        /// Number of earlier decisions whose ACKs count again; only with `keep_bits`.
        pub history: u32 = 1; "decisions"; 1..=10_000,
        /// Whether a window that has grown must be filled before it grows again.
        pub check_source: bool = true,
        /// Type of the window's values.
        pub arithmetic: Arithmetic = Arithmetic::Real,
    }
    check Params::check;
}

impl Params {
    fn check(&self) -> Result<(), Conflict> {
        let largest = self.largest.0;
        Conflict::unless(self.initial <= f64::from(largest), "initial", || {
            format!("must be at most largest = {largest}")
        })?;
        let forgets = self.decide == Decide::EveryAck && self.keep_bits;
        Conflict::unless(!forgets, "keep_bits", || "needs decide = \"two_windows\"".to_string())?;
        Conflict::unless(self.keep_bits || self.history == 1, "history", || "needs keep_bits = true".to_string())?;
        let grows = self.arithmetic != Arithmetic::Integer || self.increase >= 1.0;
        Conflict::unless(grows, "increase", || "must be at least 1 with integer arithmetic".to_string())
    }

    /// The nearest allowed window.
    fn allowed(&self, window: f64) -> f64 {
        let window = match self.arithmetic {
            Arithmetic::Real => window,
            Arithmetic::Single => f64::from(window as f32),
            Arithmetic::Integer => window.trunc(),
        };
        window.clamp(1.0, f64::from(self.largest.0))
    }

    fn decreased(&self, window: f64) -> f64 {
        match &self.decrease {
            Decrease::Multiplicative(p) => window * p.factor,
            Decrease::Additive(p) => window - p.by,
        }
    }
}

/// The response.
#[derive(Clone, Debug)]
pub struct BinaryFeedback {
    params: Arc<Params>,
    window: f64,
    /// The window in packets.
    current: u32,
    /// The previous window.
    previous: u32,
    /// The window for the next packet; right after a decision, this is still the previous one.
    in_use: u32,
    /// ACKs since the last decision.
    acks: u32,
    /// Number of marked ACKs among those that count.
    marked: u32,
    /// Numbers of ACKs and of marked ones in the earlier decisions that count again, oldest first.
    kept: VecDeque<(u32, u32)>,
    /// Whether the last change was an increase.
    increased: bool,
    /// Whether the window has been filled since the last decision.
    filled: bool,
}

impl ResponseScheme for BinaryFeedback {
    type Params = Params;

    fn new(params: &Params) -> BinaryFeedback {
        BinaryFeedback::with(Arc::new(params.clone()))
    }

    fn growth(params: &Params) -> Option<(f64, f64)> {
        let windows = if params.decide == Decide::TwoWindows { 2.0 } else { 1.0 };
        Some((params.initial, windows / params.increase))
    }

    fn moves_window(_: &Params) -> bool {
        true
    }

    fn counts_marks(_: &Params) -> bool {
        true
    }
}

impl BinaryFeedback {
    /// The response in its initial state.
    fn with(params: Arc<Params>) -> BinaryFeedback {
        let window = params.allowed(params.initial);
        let current = window.round() as u32;
        BinaryFeedback {
            window,
            current,
            previous: 0,
            in_use: current,
            acks: 0,
            marked: 0,
            kept: VecDeque::new(),
            increased: false,
            filled: false,
            params,
        }
    }

    /// Number of ACKs to skip, and number of ACKs after them that count.
    fn epoch(&self) -> (u32, u32) {
        match self.params.decide {
            Decide::TwoWindows => (self.previous, self.current),
            Decide::EveryAck => (0, 1),
        }
    }

    fn ack(&mut self, marked: bool) {
        let (passed_over, counted) = self.epoch();
        self.in_use = self.current;
        self.acks += 1;
        self.marked += u32::from(marked && self.acks > passed_over);
        if self.acks < passed_over.saturating_add(counted) {
            return;
        }
        let earlier = self.kept.iter().fold((0, 0), |sum, kept| (sum.0 + u64::from(kept.0), sum.1 + u64::from(kept.1)));
        let (all, marked) = (earlier.0 + u64::from(counted), earlier.1 + u64::from(self.marked));
        if self.params.keep_bits {
            if self.kept.len() == self.params.history as usize {
                self.kept.pop_front();
            }
            self.kept.push_back((counted, self.marked));
        }
        self.decide(marked as f64 >= self.params.cutoff * all as f64);
        (self.acks, self.marked, self.filled) = (0, 0, false);
    }

    fn decide(&mut self, congested: bool) {
        if congested {
            self.window = self.params.allowed(self.params.decreased(self.window));
            self.increased = false;
        } else if !self.increased || self.filled || !self.params.check_source {
            self.window = self.params.allowed(self.window + self.params.increase);
            self.increased = true;
        }
        (self.previous, self.current) = (self.current, self.window.round() as u32);
        if self.params.decide == Decide::EveryAck {
            self.in_use = self.current;
        }
    }
}

impl Response for BinaryFeedback {
    fn pace(&self) -> Pace {
        Pace { gap: 0.0, window: self.in_use }
    }

    fn notice(&mut self, _: Time, notice: &Notice) {
        match notice {
            Notice::Ack(ack) => self.ack(ack.is_marked()),
            Notice::Becn => self.ack(true),
            Notice::Restart => *self = BinaryFeedback::with(self.params.clone()),
            Notice::Timer => {}
        }
    }

    fn sent(&mut self, sent: &Sent) {
        self.in_use = self.current;
        self.filled |= sent.in_flight >= self.current;
    }
}

#[cfg(test)]
mod tests;
