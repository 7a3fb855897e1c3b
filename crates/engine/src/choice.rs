//! The choice between one thread for all parts and one thread per part, by measured speed.
//!
//! Several threads are slower than one if windows contain few events, or if another program takes one of their cores:
//! then all wait for the thread that does not run. Both depend on the scene and on the machine, and change during a run.
//! So each way is tried for a millisecond now and then, and the faster one is used in between. The choice affects the
//! duration of a run, but not its results.

use std::time::{Duration, Instant};

/// Who handles the parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// One thread, one part after the other.
    Alone,
    /// One thread per part.
    Together,
}

/// Events handled, windows passed and time taken.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pace {
    pub events: u64,
    pub windows: u64,
    pub time: Duration,
}

impl Pace {
    /// Events per second.
    fn rate(&self) -> f64 {
        self.events as f64 / self.time.as_secs_f64().max(1e-9)
    }
}

/// When a mode is tried, and what it must gain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// Duration of a trial.
    pub trial: Duration,
    /// Time between two trials, after a trial that changed the choice. It doubles with each trial that does not.
    pub between: Duration,
    /// Events per window and part from which several threads are tried. With fewer, they would mainly synchronize.
    pub least_events: u64,
    /// Speedup from which several threads are used.
    pub least_gain: f64,
}

impl Default for Rules {
    fn default() -> Rules {
        let (trial, between) = (Duration::from_millis(1), Duration::from_millis(20));
        Rules { trial, between, least_events: 8, least_gain: 1.15 }
    }
}

/// Largest number of doublings for each mode. Other programs slow several threads down more than one.
const DOUBLINGS: [u32; 2] = [5, 3];

/// Least time between two trials, in multiples of the last one's duration: a trial lasts at least one window.
const SPARE: u32 = 20;

/// Number of windows that a stretch lasts at least: in the first, a part's state may be in another core's caches.
const LEAST_WINDOWS: u64 = 2;

/// A clock for one stretch, which is read rarely if windows are short.
#[derive(Debug)]
pub(crate) struct Clock {
    began: Instant,
    left: Duration,
    /// The next window at which to read the clock.
    next: u64,
}

impl Clock {
    pub fn new(left: Duration) -> Clock {
        Clock { began: Instant::now(), left, next: 1 }
    }

    pub fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// Whether the time is up, after this many windows.
    pub fn is_up(&mut self, windows: u64) -> bool {
        if windows < self.next {
            return false;
        }
        let elapsed = self.elapsed();
        let step = Duration::from_micros(50).as_nanos() * u128::from(windows) / elapsed.as_nanos().max(1);
        self.next = windows + (step as u64).clamp(1, 64);
        windows >= LEAST_WINDOWS && elapsed >= self.left
    }
}

/// The current choice.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    rules: Rules,
    parts: u64,
    mode: Mode,
    /// Whether this is a trial of the slower mode.
    trial: bool,
    /// Remaining time of the trial, or until the next one.
    left: Duration,
    /// Since the start of the trial, or the end of the last one.
    pace: Pace,
    /// Events per second of the better mode.
    rate: f64,
    /// Number of trials that have confirmed the choice.
    confirmed: u32,
}

impl Choice {
    pub fn new(parts: usize, rules: Rules) -> Choice {
        Choice {
            rules,
            parts: parts as u64,
            mode: Mode::Alone,
            trial: false,
            left: rules.trial,
            pace: Pace::default(),
            rate: 0.0,
            confirmed: 0,
        }
    }

    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Time until the mode may change.
    pub fn left(&self) -> Duration {
        self.left
    }

    /// Takes note of the progress in the current mode.
    pub fn note(&mut self, pace: Pace) {
        self.pace.events += pace.events;
        self.pace.windows += pace.windows;
        self.pace.time += pace.time;
        self.left = self.left.saturating_sub(pace.time);
        if self.left > Duration::ZERO {
            return;
        }
        let pace = std::mem::take(&mut self.pace);
        if self.trial { self.judge(&pace) } else { self.try_other(&pace) }
    }

    /// Tries the other mode, unless windows are too short for several threads.
    fn try_other(&mut self, pace: &Pace) {
        self.rate = pace.rate();
        if self.mode == Mode::Alone && pace.events < self.rules.least_events * self.parts * pace.windows {
            self.left = self.rules.between;
            return;
        }
        (self.mode, self.trial, self.left) = (self.other(), true, self.rules.trial);
    }

    /// Keeps the tried mode if it is faster.
    fn judge(&mut self, tried: &Pace) {
        let (alone, together) = match self.mode {
            Mode::Alone => (tried.rate(), self.rate),
            Mode::Together => (self.rate, tried.rate()),
        };
        let better = if together > self.rules.least_gain * alone { Mode::Together } else { Mode::Alone };
        self.confirmed = if better == self.mode { 0 } else { self.confirmed + 1 };
        let doublings = self.confirmed.min(DOUBLINGS[better as usize]);
        let left = (self.rules.between * (1 << doublings)).max(SPARE * tried.time);
        (self.mode, self.trial, self.left) = (better, false, left);
    }

    fn other(&self) -> Mode {
        match self.mode {
            Mode::Alone => Mode::Together,
            Mode::Together => Mode::Alone,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shares of the time and of the events in the mode `Together`, with these speeds in events per microsecond and
    /// this many events per window. Each call handles what fits in 300 us.
    fn shares(choice: &mut Choice, speeds: [u64; 2], per_window: u64, milliseconds: u64) -> f64 {
        let mut times = [0.0; 2];
        let mut left = Duration::from_millis(milliseconds);
        while left > Duration::ZERO {
            let time = choice.left().min(Duration::from_micros(300));
            let mode = choice.mode() as usize;
            let events = speeds[mode] * time.as_micros() as u64;
            choice.note(Pace { events, windows: events / per_window, time });
            times[mode] += time.as_secs_f64();
            left = left.saturating_sub(time);
        }
        times[1] / (times[0] + times[1])
    }

    #[test]
    fn the_faster_mode_is_used_nearly_always() {
        for (speeds, least, most) in [([10, 19], 0.95, 1.0), ([10, 2], 0.0, 0.01), ([10, 11], 0.0, 0.01)] {
            let share = shares(&mut Choice::new(2, Rules::default()), speeds, 500, 2_000);
            assert!((least..=most).contains(&share), "{speeds:?}: {share}");
        }
    }

    #[test]
    fn a_clock_is_read_once_in_many_short_windows() {
        let mut clock = Clock::new(Duration::from_secs(3_600));
        let reads = (1..100_000).filter(|&window| {
            let before = clock.next;
            assert!(!clock.is_up(window));
            clock.next != before
        });
        assert!((100_000 / 64..20_000).contains(&reads.count()));
        assert!(!Clock::new(Duration::ZERO).is_up(1) && Clock::new(Duration::ZERO).is_up(2));
    }

    #[test]
    fn short_windows_are_left_to_one_thread() {
        assert_eq!(shares(&mut Choice::new(2, Rules::default()), [10, 19], 15, 500), 0.0);
        assert!(shares(&mut Choice::new(2, Rules::default()), [10, 19], 17, 500) > 0.9);
    }

    #[test]
    fn the_choice_follows_the_load_of_the_machine() {
        let mut choice = Choice::new(2, Rules::default());
        assert!(shares(&mut choice, [10, 19], 500, 500) > 0.9);
        assert!(shares(&mut choice, [10, 3], 500, 1_000) < 0.15);
        assert!(shares(&mut choice, [10, 19], 500, 3_000) > 0.7);
    }
}
