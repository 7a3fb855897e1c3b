//! The queue length averaged over regeneration cycles (DECbit).
//!
//! # What it does
//! A regeneration cycle of a queue is a busy period and the idle period after it. If a packet arrives at the moment
//! when the last packet leaves, the busy period continues. An arriving packet is marked if the average number of
//! packets in the queue, including the one in transmission, over the last complete cycle and the current one so far, is
//! at least a threshold. The average of a queue that has been busy for a long time mainly reflects the current cycle.
//!
//! # Source
//! K. K. Ramakrishnan, R. Jain, "A Binary Feedback Scheme for Congestion Avoidance in Computer Networks", ACM
//! Transactions on Computer Systems 8(2), 1990, sections 2 and 4.1: the interval of the average "is the last (busy +
//! idle) cycle time plus the busy period of the current cycle".
//!
//! # Parameters
//! - `threshold`: the smallest average at which arrivals are marked; 1 in the paper.
//! - `width`: distance between two thresholds, with `threshold` in the middle. If it is above 0, arrivals are marked
//!   from the moment when the average has risen to the higher one until it has fallen to the lower one (section 4).
//! - `over`: with `"last"`, only the last complete cycle counts.
//!
//! # Departures from the source
//! - There is one queue per output and virtual lane; the paper models a router as one queue.
//! - The first packet is not marked. During the first cycle, the average covers only that cycle.
//! - ACKs and congestion notification packets count in the queue but are never marked.

use becalm_engine::Time;
use becalm_schema::Conflict;

use super::filter::{Area, Filter, Filtered};

becalm_schema::words! {
    /// Cycles that the average covers.
    pub enum Over {
        /// The last complete cycle and the current one so far.
        LastAndCurrent = "last_and_current",
        /// The last complete cycle.
        Last = "last",
    }
}

becalm_schema::table! {
    /// An arriving packet is marked if the average queue over the last cycle and the current busy period has reached a
    /// threshold.
    pub struct Params {
        /// Average queue length from which arrivals are marked.
        pub threshold: f64 = 1.0; "packets"; 0.001..=1e6,
        /// Distance between the thresholds at which marking begins and ends, with `threshold` in the middle.
        pub width: f64 = 0.0; "packets"; 0.0..=1e6,
        /// Cycles that the average covers.
        pub over: Over = Over::LastAndCurrent,
    }
    check Params::check;
}

impl Params {
    fn check(&self) -> Result<(), Conflict> {
        let most = 2.0 * self.threshold;
        Conflict::unless(self.width <= most, "width", || format!("must be at most {most}, twice the threshold"))
    }
}

/// The marker.
pub type RegenerationCycle = Filtered<Cycles>;

/// The last cycle and the current one.
#[derive(Clone, Debug)]
pub struct Cycles {
    params: Params,
    current: Area,
    /// When the current cycle began; `None` before the first packet.
    began: Option<Time>,
    /// When the last cycle began, and its integral in packets times picoseconds.
    last: (Time, u128),
    /// Whether arrivals are marked.
    congested: bool,
}

impl Cycles {
    /// Integral in packets times picoseconds, and the time by which to divide it.
    fn average_over(&self, now: Time) -> (u128, Time) {
        let (start, area) = self.last;
        match self.params.over {
            Over::LastAndCurrent => (area + self.current.area, now.since(start)),
            Over::Last => (area, self.began.unwrap_or(start).since(start)),
        }
    }

    /// Ends the current cycle at the start of a busy period.
    fn regenerate(&mut self, now: Time) {
        self.last = self.began.map_or((now, 0), |began| (began, self.current.area));
        self.began = Some(now);
        self.current.area = 0;
    }
}

impl Filter for Cycles {
    type Params = Params;

    fn new(params: &Params) -> Cycles {
        Cycles {
            params: params.clone(),
            current: Area::default(),
            began: None,
            last: (Time::ZERO, 0),
            congested: false,
        }
    }

    fn arrives(&mut self, now: Time) -> bool {
        let idle = self.current.packets == 0 && now > self.current.since;
        self.current.advance(now);
        if idle || self.began.is_none() {
            self.regenerate(now);
        }
        self.current.packets += 1;
        let (area, time) = self.average_over(now);
        let reaches = |threshold: f64| area as f64 >= threshold * time.as_ps() as f64;
        let half = self.params.width / 2.0;
        // With a width of 0, only the first condition can apply.
        let (high, low) = (self.params.threshold + half, self.params.threshold - half);
        let stays = self.congested && half > 0.0 && area as f64 > low * time.as_ps() as f64;
        self.congested = time.as_ps() > 0 && (reaches(high) || stays);
        self.congested
    }

    fn leaves(&mut self, now: Time) {
        self.current.leaves(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marking::filter::tests::verdicts;

    const IN: bool = true;
    const OUT: bool = false;

    fn marks(threshold: f64, steps: &[(u64, bool)]) -> Vec<bool> {
        verdicts::<Cycles>(&Params { threshold, ..Params::default() }, steps)
    }

    #[test]
    fn averages_over_the_last_cycle_and_the_current_one() {
        // The first cycle lasts from 0 to 10: one packet for 2, two for 2, one for 2, none for 4, an area of 8. Then
        // one packet for 2 makes 10 of 12 at the next arrival. Then two for 8 make 26 of 20. Then one for 1, until all
        // have left. The cycle that begins at 25 includes the previous one in its average: 2 + 16 + 1 of 15.
        let steps = [
            (0, IN),
            (2, IN),
            (4, OUT),
            (6, OUT),
            (10, IN),
            (12, IN),
            (20, IN),
            (20, OUT),
            (20, OUT),
            (21, OUT),
            (25, IN),
        ];
        // The averages that arrivals find: none, 2/2, 8/10, 10/12, 26/20, 19/15.
        assert_eq!(marks(1.0, &steps), [false, true, false, false, true, true]);
        assert_eq!(marks(0.81, &steps), [false, true, false, true, true, true]);
        assert_eq!(marks(1.28, &steps), [false, false, false, false, true, false]);
    }

    #[test]
    fn with_a_width_marking_lasts_until_the_average_has_fallen() {
        // As above: averages of none, 1, 0.8, 0.83, 1.3 and 1.27 packets.
        let steps = [
            (0, IN),
            (2, IN),
            (4, OUT),
            (6, OUT),
            (10, IN),
            (12, IN),
            (20, IN),
            (20, OUT),
            (20, OUT),
            (21, OUT),
            (25, IN),
        ];
        let marks = |threshold, width| verdicts::<Cycles>(&Params { threshold, width, ..Params::default() }, &steps);
        assert_eq!(marks(0.9, 0.18), [false, true, false, false, true, true], "from 0.99 until 0.81");
        assert_eq!(marks(0.85, 0.3), [false, true, true, true, true, true], "from 1 until 0.7");
        let wrong = becalm_schema::read::<Params>("width = 3", "f.toml").unwrap_err();
        assert_eq!(wrong.to_string(), "f.toml:1: width = 3: must be at most 2, twice the threshold");
    }

    #[test]
    fn the_last_cycle_alone_holds_for_all_of_the_next_one() {
        // 8 of 10 in the first cycle; then 19 of 15.
        let steps =
            [(0, IN), (2, IN), (4, OUT), (6, OUT), (10, IN), (12, IN), (20, IN), (20, OUT), (20, OUT), (21, OUT)];
        let steps = [&steps[..], &[(25, IN), (26, IN)]].concat();
        let marks =
            |threshold| verdicts::<Cycles>(&Params { threshold, over: Over::Last, ..Params::default() }, &steps);
        assert_eq!(marks(1.0), [false, false, false, false, false, true, true]);
        assert_eq!(marks(0.8), [false, false, true, true, true, true, true]);
    }

    #[test]
    fn a_cycle_before_the_last_one_is_forgotten() {
        let mut steps = vec![(0, IN), (0, IN), (0, IN), (0, IN), (9, OUT), (9, OUT), (9, OUT), (9, OUT)];
        steps.extend([(10, IN), (11, OUT), (20, IN), (21, OUT), (30, IN), (31, OUT)]);
        let marks = marks(1.0, &steps);
        // At the start of the second cycle, 36 of 10. At the start of the third, 1 of 10.
        assert_eq!(marks[4..], [true, false, false]);
    }

    #[test]
    fn a_train_of_packets_without_a_gap_is_one_busy_period() {
        // Four packets, each arriving as the previous one leaves, then an equally long pause; twice.
        let train = |at: u64| (0..4).flat_map(move |i| [(at + 10 * i, IN), (at + 10 * (i + 1), OUT)]);
        let mut steps: Vec<_> = train(0).chain(train(80)).collect();
        steps.sort_by_key(|&(time, arrives)| (time, arrives));
        let first = [false, true, true, true];
        // At the second train's first packet 40 of 80, at its last 70 of 110.
        assert_eq!(marks(1.0, &steps), [first, [false; 4]].concat());
        assert_eq!(marks(0.63, &steps), [first, [false, false, false, true]].concat());
    }

    #[test]
    fn even_arrivals_are_marked_from_full_load_on() {
        let stream = |service: u64| {
            let packets = (0..50).flat_map(|i| [(10 * i, IN), (10 * i + service, OUT)]);
            let mut steps: Vec<_> = packets.collect();
            // At equal times, departures precede arrivals.
            steps.sort_by_key(|&(time, arrives)| (time, arrives));
            marks(1.0, &steps)
        };
        assert!(stream(9).iter().all(|marked| !marked), "below full load");
        assert!(stream(10)[1..].iter().all(|marked| *marked), "at full load");
    }
}
