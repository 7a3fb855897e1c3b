//! Two thresholds on the queue length, with hysteresis.
//!
//! # What it does
//! An arriving packet is marked if its output is in the congestion state. The state begins when the number of packets
//! in the queue, including the one in transmission, rises to a high threshold T2, and ends when the number falls to a
//! low threshold T1. With a width of 0, there is a single threshold. A packet is then marked if it finds at least that
//! many other packets in the queue.
//!
//! # Source
//! K. K. Ramakrishnan, R. Jain, "A Binary Feedback Scheme for Congestion Avoidance in Computer Networks", ACM
//! Transactions on Computer Systems 8(2), 1990, section 4 (Fig. 2), with T1 = C - H/2 and T2 = C + H/2. The authors
//! tried this filter but did not adopt it. By section 5.3, an arriving packet does not count itself.
//!
//! # Parameters
//! - `centre`: midpoint between the thresholds (C in the paper).
//! - `width`: distance between the thresholds (H in the paper); at most twice the centre.
//!
//! # Departures from the source
//! - There is one queue per output and virtual lane.
//! - ACKs and congestion notification packets count in the queue but are never marked.

use becalm_engine::Time;
use becalm_schema::Conflict;

use super::filter::{Filter, Filtered};

becalm_schema::table! {
    /// Once the queue has risen to a high threshold, arriving packets are marked until it has fallen to a low
    /// threshold.
    pub struct Params {
        /// The midpoint between the two thresholds.
        pub centre: f64 = 1.0; "packets"; 0.5..=1e6,
        /// The distance between the two thresholds.
        pub width: f64 = 0.0; "packets"; 0.0..=1e6,
    }
    check Params::check;
}

impl Params {
    fn check(&self) -> Result<(), Conflict> {
        let most = 2.0 * self.centre;
        Conflict::unless(self.width <= most, "width", || format!("must be at most {most}, twice the centre"))
    }
}

/// The marker.
pub type QueueHysteresis = Filtered<Hysteresis>;

/// Hysteresis of a queue length between two thresholds.
#[derive(Clone, Debug)]
pub struct Hysteresis {
    low: f64,
    high: f64,
    packets: u32,
    congested: bool,
}

impl Hysteresis {
    fn count(&mut self, packets: u32) {
        self.packets = packets;
        let length = f64::from(packets);
        // At a width of 0 the two conditions overlap, and the first one applies.
        self.congested = length >= self.high || (self.congested && length > self.low);
    }
}

impl Filter for Hysteresis {
    type Params = Params;

    fn new(params: &Params) -> Hysteresis {
        let half = params.width / 2.0;
        Hysteresis { low: params.centre - half, high: params.centre + half, packets: 0, congested: false }
    }

    fn arrives(&mut self, _: Time) -> bool {
        let congested = self.congested;
        self.count(self.packets + 1);
        congested
    }

    fn leaves(&mut self, _: Time) {
        self.count(self.packets.saturating_sub(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marking::filter::tests::verdicts;

    /// Four packets arrive, three leave, two arrive, all leave, one arrives. Verdicts depend on the packets found on
    /// arrival.
    fn marks(centre: f64, width: f64) -> Vec<bool> {
        let steps = [
            (0, true),
            (1, true),
            (2, true),
            (3, true),
            (4, false),
            (5, false),
            (6, false),
            (7, true),
            (8, true),
            (9, false),
            (10, false),
            (11, false),
            (12, true),
        ];
        verdicts::<Hysteresis>(&Params { centre, width }, &steps)
    }

    #[test]
    fn without_width_it_is_a_threshold_on_what_an_arrival_finds() {
        // Arrivals find 0, 1, 2, 3 packets; then 1, 2; then 0.
        assert_eq!(marks(1.0, 0.0), [false, true, true, true, true, true, false]);
        assert_eq!(marks(2.0, 0.0), [false, false, true, true, false, true, false]);
        assert_eq!(marks(2.5, 0.0), [false, false, false, true, false, false, false]);
    }

    #[test]
    fn with_width_the_state_lasts_until_the_low_threshold_is_reached() {
        // The queue falls from 3 to 1, which ends the state.
        assert_eq!(marks(2.0, 2.0), [false, false, false, true, false, false, false]);
        // The queue falls from 3 to 0.
        assert_eq!(marks(1.5, 3.0), [false, false, false, true, true, true, false]);
    }

    #[test]
    fn refuses_a_low_threshold_below_zero() {
        let wrong = becalm_schema::read::<Params>("centre = 1\nwidth = 3", "f.toml").unwrap_err();
        assert_eq!(wrong.to_string(), "f.toml:2: width = 3: must be at most 2, twice the centre");
    }
}
