//! Binary feedback: a window that moves by the majority of the marks of a window (DECbit).
//!
//! # What it does
//! The source counts ACKs. After as many as the previous window and the current one together, it looks at the last
//! ones, as many as the current window, and forgets the others: they answer packets that were sent before the last
//! change. If the share of marked ones is at least a cutoff, the window is multiplied by a factor below 1, otherwise it
//! grows by an increment. The window is a real number of at least 1; rounded to the nearest integer, it is the number
//! of packets that may be under way.
//!
//! An ACK lets the next packet go before the window changes. So a whole previous window is under way when a change
//! begins, the skipped ACKs answer exactly that, and those that count answer the first packets of the current window.
//! Decisions at every ACK skip none, and have effect at once.
//!
//! A window that has grown does not grow again until it has been filled: before that the source, not the network, is the
//! bottleneck. It is filled when, after a packet, as many packets are under way as it allows.
//!
//! # Source
//! K. K. Ramakrishnan, R. Jain, "A Binary Feedback Scheme for Congestion Avoidance in Computer Networks", ACM
//! Transactions on Computer Systems 8(2), 1990: section 2 for the policy, section 5 for its parts and the variants that
//! were tried, section 6.3.2 for sources that are the bottleneck.
//!
//! # Parameters
//! - `initial`: packets; the window at the start.
//! - `largest`: packets, or `"unlimited"`; the window never exceeds it.
//! - `cutoff`: share of the ACKs that are looked at; the paper uses 0.5.
//! - `increase`: packets; the paper uses 1.
//! - `decrease`: `{multiplicative = {factor = 0.875}}`, with a factor of 0.01 to 0.999, or `{additive = {by = 1}}`,
//!   with 0.01 to 1000 packets, which the paper finds unfair (Fig. 7).
//! - `decide`: `"two_windows"`, or `"every_ack"`, by that ACK alone, which the paper finds to oscillate (Fig. 4).
//! - `arithmetic`: `"real"`, or `"integer"`, where the window is cut to an integer after every change, which can be
//!   unfair (section 5.4).
//!
//! # Departures from the source
//! - The first decision falls after one window of ACKs: there is no previous window to wait for.
//! - A congestion notification packet counts as a marked ACK.
//! - A flow that begins again after a pause begins with the initial window.

use becalm_engine::Time;
use becalm_fabric::policy::{Notice, Pace, Response, Sent};
use becalm_schema::Conflict;

use super::window::Window;
use crate::scheme::ResponseScheme;

becalm_schema::words! {
    /// When the window changes.
    pub enum Decide {
        /// After the ACKs of the previous window and of the current one, by the latter.
        TwoWindows = "two_windows",
        /// At every ACK, by that ACK.
        EveryAck = "every_ack",
    }
}

becalm_schema::words! {
    /// Numbers that a window can be.
    pub enum Arithmetic {
        /// Real numbers, rounded for use.
        Real = "real",
        /// Integers: every change is rounded down.
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
        /// How many.
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
    /// If most ACKs of a window are marked, the window shrinks by a factor, otherwise it grows by one packet.
    pub struct Params {
        /// The window at the start.
        pub initial: f64 = 1.0; "packets"; 1.0..=1e6,
        /// The window never exceeds it.
        pub largest: Window = Window::UNLIMITED; "packets",
        /// Share of marked ACKs from which on the window shrinks.
        pub cutoff: f64 = 0.5; "of the ACKs"; 0.001..=1.0,
        /// By how much the window grows.
        pub increase: f64 = 1.0; "packets"; 0.01..=1000.0,
        /// How the window shrinks.
        pub decrease: Decrease = Decrease::Multiplicative(Multiplicative::default()),
        /// When the window changes.
        pub decide: Decide = Decide::TwoWindows,
        /// Numbers that a window can be.
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
        let grows = self.arithmetic == Arithmetic::Real || self.increase >= 1.0;
        Conflict::unless(grows, "increase", || "must be at least 1 with integer arithmetic".to_string())
    }

    /// The nearest window that is allowed.
    fn allowed(&self, window: f64) -> f64 {
        let window = if self.arithmetic == Arithmetic::Integer { window.trunc() } else { window };
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
    params: Params,
    window: f64,
    /// The window in packets.
    current: u32,
    /// The window before.
    previous: u32,
    /// The window for the next packet: after a decision still the one before.
    in_use: u32,
    /// ACKs since the last decision.
    acks: u32,
    /// Marked ones among those that count.
    marked: u32,
    /// Whether the last change was an increase.
    increased: bool,
    /// Whether the window has been filled since the last decision.
    filled: bool,
}

impl ResponseScheme for BinaryFeedback {
    type Params = Params;

    fn new(params: &Params) -> BinaryFeedback {
        let window = params.allowed(params.initial);
        let current = window.round() as u32;
        BinaryFeedback {
            params: params.clone(),
            window,
            current,
            previous: 0,
            in_use: current,
            acks: 0,
            marked: 0,
            increased: false,
            filled: false,
        }
    }

    fn moves_window(_: &Params) -> bool {
        true
    }
}

impl BinaryFeedback {
    /// Skipped ACKs, and those that count after them.
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
        let congested = f64::from(self.marked) >= self.params.cutoff * f64::from(counted);
        self.decide(congested);
        (self.acks, self.marked, self.filled) = (0, 0, false);
    }

    fn decide(&mut self, congested: bool) {
        if congested {
            self.window = self.params.allowed(self.params.decreased(self.window));
            self.increased = false;
        } else if !self.increased || self.filled {
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
            Notice::Restart => *self = BinaryFeedback::new(&self.params),
            Notice::Timer => {}
        }
    }

    fn sent(&mut self, sent: &Sent) {
        self.in_use = self.current;
        self.filled |= sent.in_flight >= self.current;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    fn packet(in_flight: u32) -> Sent {
        Sent { now: Time::ZERO, bytes: 1, in_flight }
    }

    /// The windows of a source that always fills them, after each of these ACKs (`1` for a marked one).
    fn windows(params: Params, acks: &str) -> Vec<u32> {
        let mut response = BinaryFeedback::new(&params);
        let window = |ack: char| {
            response.notice(Time::ZERO, &Notice::ack(ack == '1'));
            // The packet that the ACK lets go, then those that a larger window does.
            (0..2).for_each(|_| response.sent(&packet(response.pace().window)));
            response.pace().window
        };
        acks.chars().filter(|ack| *ack != ' ').map(window).collect()
    }

    fn from(initial: f64) -> Params {
        Params { initial, ..Params::default() }
    }

    #[test]
    fn decides_after_the_previous_window_and_the_current_one() {
        // Windows of 1, 2, 3: decisions after 1, 1 + 2, 2 + 3 ACKs.
        assert_eq!(windows(Params::default(), "0 000 00000 0"), [2, 2, 2, 3, 3, 3, 3, 3, 4, 4]);
    }

    #[test]
    fn only_the_last_acks_count_and_half_of_them_decide() {
        // A window of 2 after one of 1: the first ACK is passed over.
        assert_eq!(windows(Params::default(), "0 100"), [2, 2, 2, 3]);
        assert_eq!(windows(Params::default(), "0 101"), [2, 2, 2, 2], "2 x 0.875 = 1.75, rounded to 2");
        assert_eq!(windows(Params::default(), "0 010"), [2, 2, 2, 2]);
        let strict = Params { cutoff: 0.51, ..Params::default() };
        assert_eq!(windows(strict, "0 010"), [2, 2, 2, 3]);
    }

    /// The windows of a source that always fills them, whose packets come back in order. A packet is marked or not by
    /// how many changes there have been, how many packets were sent between the last one and itself, and the window.
    fn windows_in_a_loop(params: &Params, packets: usize, marked: impl Fn(usize, u32, u32) -> bool) -> Vec<u32> {
        let mut response = BinaryFeedback::new(params);
        let (mut under_way, mut windows, mut sent) = (VecDeque::new(), vec![response.pace().window], 0);
        for _ in 0..packets {
            while under_way.len() < response.pace().window as usize {
                let window = response.pace().window;
                under_way.push_back(marked(windows.len() - 1, sent, window));
                sent += 1;
                response.sent(&packet(under_way.len() as u32));
                if response.pace().window != window {
                    windows.push(response.pace().window);
                    sent = 0;
                }
            }
            let marked = under_way.pop_front().expect("a window is at least one packet");
            response.notice(Time::ZERO, &Notice::ack(marked));
        }
        windows
    }

    #[test]
    fn looks_at_exactly_the_first_packets_of_the_current_window() {
        let up_and_down = [20, 21, 18, 19, 17, 18, 16, 17];
        // After every other change the first packets are marked, as many as the window, and no others: only they count.
        let all = Params { cutoff: 1.0, ..from(20.0) };
        let windows = windows_in_a_loop(&all, 300, |change, sent, window| change % 2 == 1 && sent < window);
        assert_eq!(windows[..8], up_and_down);
        // After every other change all packets are marked, after the rest those beyond the first: they do not count.
        let any = Params { cutoff: 0.001, ..from(20.0) };
        let windows = windows_in_a_loop(&any, 300, |change, sent, window| change % 2 == 1 || sent >= window);
        assert_eq!(windows[..8], up_and_down);
    }

    #[test]
    fn a_change_begins_after_the_packet_that_the_ack_lets_go() {
        let mut response = BinaryFeedback::new(&from(2.0));
        for _ in 0..2 {
            response.sent(&packet(2));
            response.notice(Time::ZERO, &Notice::ack(false));
        }
        assert_eq!(response.pace().window, 2);
        let mut silent = response.clone();
        response.sent(&packet(2));
        assert_eq!(response.pace().window, 3);
        silent.notice(Time::ZERO, &Notice::ack(false));
        assert_eq!(silent.pace().window, 3, "or after that ACK's, if none was there to go");
    }

    #[test]
    fn the_window_is_real_and_rounded_for_use() {
        // 8, then 7, 6.125, 5.359, 4.689: decisions after 8, 8 + 7, 7 + 6, 6 + 5 marked ACKs.
        let windows = windows(from(8.0), &"1".repeat(8 + 15 + 13 + 11));
        assert_eq!([7, 22, 35, 46].map(|ack| windows[ack]), [7, 6, 5, 5]);
    }

    #[test]
    fn never_falls_below_one_packet() {
        assert!(windows(from(3.0), &"1".repeat(100)).ends_with(&[1; 50]));
        let additive = Params { decrease: Decrease::Additive(Additive { by: 5.0 }), ..from(3.0) };
        assert_eq!(windows(additive, "111 1111"), [3, 3, 1, 1, 1, 1, 1]);
    }

    #[test]
    fn decides_at_every_ack_if_told_to() {
        let params = Params { decide: Decide::EveryAck, ..from(4.0) };
        // 5, 6, 5.25, 4.59, 5.59
        assert_eq!(windows(params.clone(), "00110"), [5, 6, 5, 5, 6]);
        let mut response = BinaryFeedback::new(&params);
        response.notice(Time::ZERO, &Notice::ack(false));
        assert_eq!(response.pace().window, 5, "at once");
    }

    #[test]
    fn integers_are_cut() {
        // The example of section 5.4 with a factor of 0.8: 10 and 6 come down to 8 and 4.
        let params = |initial| Params {
            arithmetic: Arithmetic::Integer,
            decrease: Decrease::Multiplicative(Multiplicative { factor: 0.8 }),
            ..from(initial)
        };
        assert_eq!(windows(params(10.0), &"1".repeat(10))[9], 8);
        assert_eq!(windows(params(6.0), &"1".repeat(6))[5], 4);
    }

    #[test]
    fn grows_no_more_until_it_has_been_filled() {
        let mut response = BinaryFeedback::new(&from(4.0));
        let mut acks = |in_flight: u32, n: u32| {
            for _ in 0..n {
                response.notice(Time::ZERO, &Notice::ack(false));
                response.sent(&packet(in_flight));
            }
            response.pace().window
        };
        assert_eq!(acks(3, 4), 5, "there was no increase that could have been used");
        assert_eq!(acks(4, 9), 5, "4 + 5 ACKs, never 5 under way");
        assert_eq!(acks(4, 10), 5);
        assert_eq!(acks(5, 10), 6);
    }

    #[test]
    fn keeps_to_the_largest_window() {
        let params = Params { largest: Window(3), ..from(2.0) };
        assert_eq!(windows(params, &"0".repeat(50))[49], 3);
        let wrong = becalm_schema::read::<Params>("largest = 3\ninitial = 4", "f.toml").unwrap_err();
        assert_eq!(wrong.to_string(), "f.toml:2: initial = 4: must be at most largest = 3");
    }
}
