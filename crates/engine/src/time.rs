//! Simulated time in integer picoseconds.

use std::fmt;
use std::ops::{Add, AddAssign, Mul, Sub};

/// A point in simulated time, or a span of time, in picoseconds.
///
/// The largest value, [`Time::MAX`], is 213 days and represents "never".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

impl Time {
    /// The start of every run.
    pub const ZERO: Time = Time(0);
    /// Never.
    pub const MAX: Time = Time(u64::MAX);

    /// A time of `ns` nanoseconds.
    pub const fn from_ns(ns: u64) -> Time {
        Time(ns * 1_000)
    }

    /// A time of `us` microseconds.
    pub const fn from_us(us: u64) -> Time {
        Time(us * 1_000_000)
    }

    /// A time of `ms` milliseconds.
    pub const fn from_ms(ms: u64) -> Time {
        Time(ms * 1_000_000_000)
    }

    /// `seconds` rounded to the nearest picosecond. Negative values and NaN become zero; too large values become `MAX`.
    pub fn from_secs(seconds: f64) -> Time {
        Time((seconds * 1e12).round() as u64)
    }

    /// Picoseconds.
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// Seconds, rounded to the nearest double.
    pub fn as_secs(self) -> f64 {
        self.0 as f64 / 1e12
    }

    /// `self - earlier`, or zero if `earlier` is later.
    pub const fn since(self, earlier: Time) -> Time {
        Time(self.0.saturating_sub(earlier.0))
    }

    /// The span multiplied by a non-negative factor, rounded to the nearest picosecond.
    #[inline]
    pub fn scaled(self, factor: f64) -> Time {
        // A cast truncates, which needs far fewer instructions than `round` on a processor without a rounding
        // instruction.
        Time((self.0 as f64 * factor + 0.5) as u64)
    }

    /// `self + span`, limited to [`Time::MAX`] on overflow.
    pub const fn saturating_add(self, span: Time) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl Add for Time {
    type Output = Time;
    fn add(self, other: Time) -> Time {
        Time(self.0 + other.0)
    }
}

impl AddAssign for Time {
    fn add_assign(&mut self, other: Time) {
        self.0 += other.0;
    }
}

impl Sub for Time {
    type Output = Time;
    fn sub(self, other: Time) -> Time {
        Time(self.0 - other.0)
    }
}

impl Mul<u64> for Time {
    type Output = Time;
    fn mul(self, n: u64) -> Time {
        Time(self.0 * n)
    }
}

impl fmt::Display for Time {
    /// Formats the value in the largest unit that keeps it exact: `40 ns`, `2.068 us`, `0 s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(u64, &str); 5] =
            [(1_000_000_000_000, "s"), (1_000_000_000, "ms"), (1_000_000, "us"), (1_000, "ns"), (1, "ps")];
        if *self == Time::MAX {
            return f.write_str("never");
        }
        let (ps, unit) = *UNITS.iter().find(|(ps, _)| self.0 >= *ps).unwrap_or(&UNITS[0]);
        let (whole, rest) = (self.0 / ps, self.0 % ps);
        if rest == 0 {
            return write!(f, "{whole} {unit}");
        }
        let digits = ps.ilog10() as usize;
        let fraction = format!("{rest:0digits$}");
        write!(f, "{whole}.{} {unit}", fraction.trim_end_matches('0'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn displays_in_the_largest_unit_without_losing_a_digit() {
        for (time, text) in [
            (Time::ZERO, "0 s"),
            (Time::from_ns(40), "40 ns"),
            (Time(2_068_000), "2.068 us"),
            (Time::from_ms(2), "2 ms"),
            (Time(1_000_000_000_001), "1.000000000001 s"),
            (Time::MAX, "never"),
        ] {
            assert_eq!(time.to_string(), text);
        }
    }

    #[test]
    fn scales_to_the_nearest_picosecond() {
        assert_eq!(Time(3).scaled(0.5), Time(2));
        assert_eq!(Time::from_us(2).scaled(255.0), Time::from_us(510));
        assert_eq!(Time::from_secs(1e-12), Time(1));
    }
}
