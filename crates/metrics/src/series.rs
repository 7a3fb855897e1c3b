//! Rates over time, in a sliding window.

use becalm_engine::Time;

/// Cumulative byte counters read at fixed steps, and the resulting rates.
///
/// The rate at a time is the growth of a counter over a window centred on that time, divided by the window's length. At
/// the start and end of the run, the window and its length are truncated. Between two steps, counters are interpolated
/// linearly.
#[derive(Clone, Debug)]
pub struct Series {
    window: Time,
    width: usize,
    times: Vec<Time>,
    /// One row of `width` counters per time.
    bytes: Vec<u64>,
}

impl Series {
    /// A series of `width` counters, with a window of this length.
    pub fn new(window: Time, width: usize) -> Series {
        Series { window, width, times: Vec::new(), bytes: Vec::new() }
    }

    /// Adds the counters at a time later than the previous one.
    pub fn push(&mut self, time: Time, bytes: impl IntoIterator<Item = u64>) {
        self.times.push(time);
        self.bytes.extend(bytes);
        debug_assert_eq!(self.bytes.len(), self.times.len() * self.width);
    }

    /// Moves the last counters to `end`, and removes those that were read later, apart from them.
    pub fn end_at(&mut self, end: Time) {
        if self.times.last().is_none_or(|&last| last <= end) {
            return;
        }
        let last = self.bytes.split_off(self.bytes.len() - self.width);
        let kept = self.times.partition_point(|&time| time < end);
        self.times.truncate(kept);
        self.bytes.truncate(kept * self.width);
        self.push(end, last);
    }

    /// The times at which counters were read.
    pub fn times(&self) -> &[Time] {
        &self.times
    }

    /// The rate of one counter at every time, in bytes per second; NaN if only one time was read.
    pub fn rates(&self, counter: usize) -> Vec<f64> {
        let (Some(&first), Some(&last)) = (self.times.first(), self.times.last()) else { return Vec::new() };
        let half = Time(self.window.as_ps() / 2);
        let mut low = Cursor { series: self, counter, step: 0 };
        let mut high = Cursor { series: self, counter, step: 0 };
        self.times
            .iter()
            .map(|&time| {
                let (start, end) = (time.since(half).max(first), time.saturating_add(half).min(last));
                (high.at(end) - low.at(start)) / end.since(start).as_secs()
            })
            .collect()
    }
}

/// Reads a counter at nondecreasing times.
struct Cursor<'a> {
    series: &'a Series,
    counter: usize,
    step: usize,
}

impl Cursor<'_> {
    fn at(&mut self, time: Time) -> f64 {
        let times = &self.series.times;
        while self.step + 1 < times.len() && times[self.step + 1] <= time {
            self.step += 1;
        }
        let value = |step: usize| self.series.bytes[step * self.series.width + self.counter] as f64;
        if self.step + 1 == times.len() {
            return value(self.step);
        }
        let span = times[self.step + 1].since(times[self.step]).as_ps() as f64;
        let share = time.since(times[self.step]).as_ps() as f64 / span;
        value(self.step) + share * (value(self.step + 1) - value(self.step))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(window_us: u64) -> Series {
        let mut series = Series::new(Time::from_us(window_us), 2);
        for (us, bytes) in [(0, 0), (1, 100), (2, 400), (3, 400), (4, 600)] {
            series.push(Time::from_us(us), [7, bytes]);
        }
        series
    }

    fn close(rates: &[f64], expected: &[f64]) {
        assert_eq!(rates.len(), expected.len());
        for (rate, expected) in rates.iter().zip(expected) {
            assert!((rate - expected).abs() < 1e-3, "{rates:?}");
        }
    }

    #[test]
    fn windows_are_centred_and_cut_at_the_ends() {
        close(&series(2).rates(1), &[100e6, 200e6, 150e6, 100e6, 200e6]);
        close(&series(2).rates(0), &[0.0; 5]);
    }

    #[test]
    fn counters_are_interpolated_where_the_window_ends_between_two_steps() {
        close(&series(1).rates(1), &[100e6, 200e6, 150e6, 100e6, 200e6]);
        close(&series(3).rates(1), &[250e6 / 1.5, 400e6 / 2.5, 450e6 / 3.0, 350e6 / 2.5, 200e6 / 1.5]);
    }

    #[test]
    fn a_window_longer_than_the_run_gives_the_mean() {
        close(&series(100).rates(1), &[150e6; 5]);
    }
}
