//! The timer of IBTA congestion control, driven by an adapter's clock.

use becalm_engine::Time;

becalm_schema::words! {
    /// When the timers of flows expire.
    pub enum Phase {
        /// Timers expire at different times.
        Random = "random",
        /// All timers expire at the same times, counted from the beginning of the run.
        Zero = "zero",
    }
}

becalm_schema::words! {
    /// The flows that share a timer.
    pub enum TimerScope {
        /// The flows of the same host and service level.
        Sl = "sl",
        /// None: each flow has a separate timer.
        Flow = "flow",
    }
}

/// The clock that drives a timer: two random numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    /// Time of the first expiry as a fraction of the period: at least 0, less than 1. Timers without phases ignore it.
    pub phase: f64,
    /// Error of the clock as a share of the largest error, from -1 for fast to 1 for slow.
    pub error: f64,
}

/// A periodic timer.
#[derive(Clone, Debug)]
pub(crate) struct Timer {
    phase: Phase,
    /// Largest error of the clock, as a factor.
    error: f64,
    /// Time between two expiries; zero for never.
    period: Time,
    /// Time by which the timer started before the run; less than a period.
    ahead: Time,
    /// Number of expiries so far.
    expiries: u64,
}

impl Timer {
    /// A timer with an accurate clock that first expires after one period.
    pub fn new(period: Time, phase: Phase, error_ppm: f64) -> Timer {
        Timer { phase, error: error_ppm * 1e-6, period, ahead: Time::ZERO, expiries: 0 }
    }

    /// Sets the clock, before the run begins.
    pub fn run_by(&mut self, clock: Clock) {
        self.period = self.period.scaled(1.0 + self.error * clock.error);
        if self.phase == Phase::Random && self.period > Time::ZERO {
            self.ahead = self.period.scaled(1.0 - clock.phase).min(self.period - Time(1));
        }
    }

    /// Advances to `now`; returns the number of expiries since the last call.
    pub fn advance(&mut self, now: Time) -> u64 {
        let Some(expiries) = now.0.saturating_add(self.ahead.0).checked_div(self.period.0) else { return 0 };
        let new = expiries.saturating_sub(self.expiries);
        self.expiries += new;
        new
    }

    /// Time of the next expiry, if there is one.
    pub fn next(&self) -> Option<Time> {
        (self.period > Time::ZERO).then(|| self.period * (self.expiries + 1) - self.ahead)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The time of the first expiry, and the time between the first and the second.
    fn expiries(phase: Phase, clock: Clock) -> (Time, Time) {
        let mut timer = Timer::new(Time::from_us(10), phase, 1000.0);
        timer.run_by(clock);
        assert_eq!(timer.advance(Time::ZERO), 0);
        let first = timer.next().unwrap();
        assert_eq!((timer.advance(first - Time(1)), timer.advance(first), timer.advance(first)), (0, 1, 0));
        (first, timer.next().unwrap() - first)
    }

    #[test]
    fn a_clock_sets_the_phase_and_makes_the_timer_faster_or_slower() {
        let period = Time::from_us(10);
        assert_eq!(expiries(Phase::Random, Clock { phase: 0.25, error: 0.0 }), (Time::from_ns(2500), period));
        assert_eq!(expiries(Phase::Random, Clock { phase: 0.0, error: 0.0 }), (Time(1), period));
        assert_eq!(expiries(Phase::Random, Clock { phase: 0.5, error: 1.0 }).1, period.scaled(1.001));
        let fast = period.scaled(0.999);
        assert_eq!(expiries(Phase::Zero, Clock { phase: 0.25, error: -1.0 }), (fast, fast));
    }

    #[test]
    fn a_period_of_zero_never_ends() {
        let mut timer = Timer::new(Time::ZERO, Phase::Random, 100.0);
        timer.run_by(Clock { phase: 0.7, error: 0.3 });
        assert_eq!((timer.advance(Time::MAX), timer.next()), (0, None));
    }
}
