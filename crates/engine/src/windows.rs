//! Windows: consecutive equal spans of time, starting at time zero.

use crate::time::Time;

/// log2 of the value that represents one window in [`Windows::per_ps`].
const ONE: u32 = 63;

/// Windows, numbered from 0 and no longer than a given span.
///
/// The number of a window is computed by multiplication instead of division, so a window may be a picosecond shorter
/// than the span.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Windows {
    /// Windows per picosecond, times `2^ONE`, rounded up.
    per_ps: u64,
}

impl Windows {
    /// Windows no longer than `longest`, which must not be zero.
    pub fn new(longest: Time) -> Windows {
        Windows { per_ps: (1u64 << ONE).div_ceil(longest.0) }
    }

    /// The number of the window that contains a time. Times at least `longest` apart are in different windows.
    #[inline]
    pub fn of(self, time: Time) -> u64 {
        ((u128::from(time.0) * u128::from(self.per_ps)) >> ONE) as u64
    }

    /// The first time of a window.
    pub fn start(self, window: u64) -> Time {
        Time(((u128::from(window) << ONE).div_ceil(u128::from(self.per_ps))) as u64)
    }

    /// The last time of a window, or [`Time::MAX`].
    pub fn end(self, window: u64) -> Time {
        let next = ((u128::from(window) + 1) << ONE).div_ceil(u128::from(self.per_ps));
        Time(u64::try_from(next - 1).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_time_is_in_one_window_and_no_window_is_too_long(span in 1u64..u64::MAX, time in any::<u64>(), short: bool) {
            let span = if short { span % 2_000_000 + 1 } else { span };
            let windows = Windows::new(Time(span));
            let window = windows.of(Time(time));
            prop_assert!(windows.start(window) <= Time(time) && Time(time) <= windows.end(window));
            prop_assert!(window == 0 || windows.of(Time(windows.start(window).0 - 1)) == window - 1);
            prop_assert!(window == 0 || windows.end(window - 1) < Time(time));
            if let Some(later) = time.checked_add(span) {
                prop_assert!(windows.of(Time(later)) > window);
            }
            prop_assert!(window == 0 || windows.end(window).0 - windows.end(window - 1).0 <= span);
        }
    }

    #[test]
    fn windows_are_as_long_as_the_span_or_a_picosecond_shorter() {
        for span in [1, 2, 3, 40_000, 1_000_000] {
            let windows = Windows::new(Time(span));
            for window in 1..50 {
                let length = windows.end(window).0 - windows.end(window - 1).0;
                assert!(length == span || length + 1 == span, "{length} of {span}");
            }
        }
    }
}
