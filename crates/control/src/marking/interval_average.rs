//! The queue length averaged over fixed intervals.
//!
//! # What it does
//! Time is divided into intervals of equal length. An arriving packet is marked if the average number of packets in the
//! queue over the last complete interval, including the one in transmission, is at least a threshold.
//!
//! # Source
//! K. K. Ramakrishnan, R. Jain, "A Binary Feedback Scheme for Congestion Avoidance in Computer Networks", ACM
//! Transactions on Computer Systems 8(2), 1990, section 4.1. The authors tried this filter but did not adopt it, since
//! signals were consistent only "when the interval is close to the round-trip delay".
//!
//! # Parameters
//! - `interval`: length of an interval.
//! - `threshold`: the smallest average at which arrivals are marked.
//!
//! # Departures from the source
//! - There is one queue per output and virtual lane.
//! - Intervals are consecutive, starting at time 0; the paper does not say whether they slide.
//! - ACKs and congestion notification packets count in the queue but are never marked.

use becalm_engine::Time;

use super::filter::{Area, Filter, Filtered};

becalm_schema::table! {
    /// An arriving packet is marked if the average queue over the last complete interval has reached a threshold.
    pub struct Params {
        /// Length of an interval.
        pub interval: Time = Time::from_us(100); ""; Time(1)..,
        /// Average queue length from which arrivals are marked.
        pub threshold: f64 = 1.0; "packets"; 0.001..=1e6,
    }
}

/// The marker.
pub type IntervalAverage = Filtered<Intervals>;

/// The last complete interval and the current one.
#[derive(Clone, Debug)]
pub struct Intervals {
    interval: Time,
    /// Smallest integral over an interval, in packets times picoseconds, at which arrivals are marked.
    threshold: f64,
    current: Area,
    /// When the current interval ends.
    end: Time,
    /// Integral over the last complete interval, in packets times picoseconds.
    last: u128,
}

impl Intervals {
    fn advance(&mut self, now: Time) {
        if now >= self.end {
            self.close();
        }
        if now >= self.end {
            // The queue has not changed during the complete intervals since then.
            let whole = now.since(self.end).as_ps() / self.interval.as_ps();
            self.current.advance(self.end + self.interval * whole);
            self.end += self.interval * whole;
            self.current.area = u128::from(self.current.packets) * u128::from(self.interval.as_ps());
            self.close();
        }
        self.current.advance(now);
    }

    /// Ends the current interval and begins the next one.
    fn close(&mut self) {
        self.current.advance(self.end);
        self.last = std::mem::take(&mut self.current.area);
        self.end += self.interval;
    }
}

impl Filter for Intervals {
    type Params = Params;

    fn new(params: &Params) -> Intervals {
        let threshold = params.threshold * params.interval.as_ps() as f64;
        Intervals { interval: params.interval, threshold, current: Area::default(), end: params.interval, last: 0 }
    }

    fn arrives(&mut self, now: Time) -> bool {
        self.advance(now);
        self.current.packets += 1;
        self.last as f64 >= self.threshold
    }

    fn leaves(&mut self, now: Time) {
        self.advance(now);
        self.current.leaves(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marking::filter::tests::verdicts;

    #[test]
    fn uses_the_last_complete_interval() {
        let params = |threshold| Params { interval: Time::from_us(10), threshold };
        // Packets in the queue: one from 0, two from 4 to 8, one until 33, none until 47, one until 48.
        let steps = [
            (0, true),
            (4, true),
            (8, false),
            (10, true),
            (10, false),
            (15, true),
            (15, false),
            (33, false),
            (47, true),
            (48, false),
            (55, true),
        ];
        // The last interval's averages that arrivals find: none, none, 1.4, 1.4, then 0.3 (from 30 to 40), then 0.1.
        assert_eq!(verdicts::<Intervals>(&params(1.4), &steps), [false, false, true, true, false, false]);
        assert_eq!(verdicts::<Intervals>(&params(0.3), &steps), [false, false, true, true, true, false]);
        assert_eq!(verdicts::<Intervals>(&params(0.1), &steps), [false, false, true, true, true, true]);
    }

    #[test]
    fn an_interval_without_events_has_the_length_of_its_queue() {
        let params = |threshold| Params { interval: Time::from_us(10), threshold };
        let steps = [(3, true), (4, true), (75, true), (76, true), (80, true)];
        assert_eq!(verdicts::<Intervals>(&params(2.0), &steps), [false, false, true, true, true]);
        // Packets in the queue: 2 for 5, 3 for 1, 4 for 4. The interval from 70 to 80 averages 2.9.
        assert_eq!(verdicts::<Intervals>(&params(2.9), &steps), [false, false, false, false, true]);
    }
}
