//! Measured size distributions.

use std::fmt;

use becalm_engine::Stream;

/// A size distribution, given by points of its cumulative distribution function, with linear interpolation between
/// them.
#[derive(Clone, Debug, PartialEq)]
pub struct Cdf {
    /// Sizes in bytes, each with the percentage of sizes up to it.
    points: Vec<(f64, f64)>,
    mean: f64,
}

/// The reason that points do not form a cumulative distribution function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CdfError {
    /// There are fewer than two points.
    TooFew,
    /// The first percentage is not 0.
    Begin,
    /// The last percentage is not 100.
    End,
    /// A size or a percentage is below the previous one, or both are equal. Contains the point's index.
    Falls(usize),
    /// The mean is below 1 B.
    Empty,
}

impl fmt::Display for CdfError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CdfError::TooFew => "has fewer than two points",
            CdfError::Begin => "must begin at 0%, as in `0 0`",
            CdfError::End => "must end at 100%",
            CdfError::Falls(_) => "must increase the size or the percentage, and decrease neither",
            CdfError::Empty => "has a mean below 1 B",
        })
    }
}

impl Cdf {
    /// Creates a distribution from points: sizes in bytes, each with the percentage of sizes up to it, from 0
    /// to 100.
    ///
    /// # Errors
    /// [`CdfError`], for the first invalid point.
    pub fn new(points: Vec<(f64, f64)>) -> Result<Cdf, CdfError> {
        let (Some(first), Some(last)) = (points.first(), points.last()) else { return Err(CdfError::TooFew) };
        if points.len() < 2 {
            return Err(CdfError::TooFew);
        }
        let falls = |pair: &[(f64, f64)]| pair[1].0 < pair[0].0 || pair[1].1 < pair[0].1 || pair[1] == pair[0];
        if let Some(at) = points.windows(2).position(falls) {
            return Err(CdfError::Falls(at + 1));
        }
        if first.1 != 0.0 {
            return Err(CdfError::Begin);
        }
        if last.1 != 100.0 {
            return Err(CdfError::End);
        }
        let area: f64 = points.windows(2).map(|pair| (pair[1].1 - pair[0].1) * (pair[0].0 + pair[1].0)).sum();
        let mean = area / 200.0;
        if mean >= 1.0 { Ok(Cdf { points, mean }) } else { Err(CdfError::Empty) }
    }

    /// The points, as sizes in bytes and percentages.
    pub fn points(&self) -> &[(f64, f64)] {
        &self.points
    }

    /// Mean size in bytes.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// The mean rounded to a whole number of bytes, which identifies the unscaled distribution.
    pub fn whole_mean(&self) -> u64 {
        self.mean.round().max(1.0) as u64
    }

    /// Largest size in bytes.
    pub fn largest(&self) -> f64 {
        self.points.last().map_or(0.0, |last| last.0)
    }

    /// The size at or below which the given share of sizes lies. The share is from 0 to 1.
    pub fn quantile(&self, share: f64) -> f64 {
        let percent = 100.0 * share;
        let after = self.points.partition_point(|point| point.1 <= percent).clamp(1, self.points.len() - 1);
        let ((low, from), (high, to)) = (self.points[after - 1], self.points[after]);
        if to > from { low + (high - low) * ((percent - from) / (to - from)).min(1.0) } else { high }
    }

    /// The share of sizes above `bytes`.
    pub fn exceeds(&self, bytes: f64) -> f64 {
        let after = self.points.partition_point(|point| point.0 <= bytes);
        match after {
            0 => 1.0,
            n if n == self.points.len() => 0.0,
            n => {
                let ((low, from), (high, to)) = (self.points[n - 1], self.points[n]);
                1.0 - (from + (to - from) * (bytes - low) / (high - low)) / 100.0
            }
        }
    }

    /// Mean number of packets per message, if packets carry at most `most` bytes and messages have this mean
    /// size.
    pub fn mean_pieces(&self, most: f64, mean: u64) -> f64 {
        let piece = most / self.scale(mean);
        // The integral over the number of packets, from 0.
        let area = |bytes: f64| {
            let whole = (bytes / piece).floor();
            piece * whole * (whole + 1.0) / 2.0 + (whole + 1.0) * (bytes - whole * piece)
        };
        let segment = |pair: &[(f64, f64)]| {
            let ((low, from), (high, to)) = (pair[0], pair[1]);
            let pieces =
                if high > low { (area(high) - area(low)) / (high - low) } else { (low / piece).ceil().max(1.0) };
            (to - from) / 100.0 * pieces
        };
        self.points.windows(2).map(segment).sum()
    }

    /// The factor that scales all sizes to this mean.
    pub fn scale(&self, mean: u64) -> f64 {
        if mean == self.whole_mean() { 1.0 } else { mean as f64 / self.mean }
    }

    /// Samples a size with this mean, rounded to the nearest byte and at least 1 B.
    pub fn draw(&self, mean: u64, random: &mut Stream) -> u64 {
        (self.quantile(random.unit()) * self.scale(mean)).round().max(1.0) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cdf(points: &[(f64, f64)]) -> Result<Cdf, CdfError> {
        Cdf::new(points.to_vec())
    }

    #[test]
    fn quantiles_and_tails_are_inverse() {
        // A quarter of the sizes are exactly 100 B, and none lie between 100 and 300 B.
        let sizes = cdf(&[(0.0, 0.0), (100.0, 50.0), (100.0, 75.0), (300.0, 75.0), (500.0, 100.0)]).unwrap();
        assert_eq!(sizes.mean(), 0.5 * 50.0 + 0.25 * 100.0 + 0.25 * 400.0);
        for (share, bytes) in [(0.0, 0.0), (0.25, 50.0), (0.6, 100.0), (0.75, 300.0), (0.875, 400.0), (1.0, 500.0)] {
            assert_eq!(sizes.quantile(share), bytes, "{share}");
        }
        for (bytes, share) in [(0.0, 1.0), (50.0, 0.75), (100.0, 0.25), (200.0, 0.25), (400.0, 0.125), (500.0, 0.0)] {
            assert_eq!(sizes.exceeds(bytes), share, "{bytes}");
        }
        assert_eq!(sizes.largest(), 500.0);
    }

    #[test]
    fn a_mean_scales_all_sizes_and_its_own_none() {
        let sizes = cdf(&[(0.0, 0.0), (101.0, 100.0)]).unwrap();
        assert_eq!((sizes.whole_mean(), sizes.scale(51)), (51, 1.0));
        assert!((sizes.scale(505) - 10.0).abs() < 1e-12);
    }

    #[test]
    fn pieces_are_counted_as_they_are_cut() {
        let sizes = cdf(&[(0.0, 0.0), (100.0, 50.0), (100.0, 75.0), (300.0, 75.0), (500.0, 100.0)]).unwrap();
        for piece in [1.0, 7.0, 30.0, 100.0, 450.0, 1000.0] {
            let tails: f64 = (0..=500).map(|k| sizes.exceeds(f64::from(k) * piece)).sum();
            let pieces = sizes.mean_pieces(piece, sizes.whole_mean());
            assert!((pieces - tails).abs() < 1e-9, "{piece}: {pieces}, {tails}");
        }
        // Doubling all sizes is equivalent to halving the packet size.
        let twice = sizes.mean_pieces(60.0, 2 * sizes.whole_mean());
        assert!((twice - sizes.mean_pieces(30.0, sizes.whole_mean())).abs() < 0.01, "{twice}");
    }

    #[test]
    fn wrong_points_are_refused() {
        for (points, error) in [
            (&[][..], CdfError::TooFew),
            (&[(0.0, 0.0)], CdfError::TooFew),
            (&[(1.0, 0.1), (2.0, 100.0)], CdfError::Begin),
            (&[(1.0, 0.0), (2.0, 90.0)], CdfError::End),
            (&[(1.0, 0.0), (0.5, 50.0), (2.0, 100.0)], CdfError::Falls(1)),
            (&[(1.0, 0.0), (1.5, 50.0), (2.0, 40.0), (3.0, 100.0)], CdfError::Falls(2)),
            (&[(1.0, 0.0), (1.0, 0.0), (2.0, 100.0)], CdfError::Falls(1)),
            (&[(0.0, 0.0), (0.0, 100.0)], CdfError::Empty),
        ] {
            assert_eq!(cdf(points), Err(error), "{points:?}");
        }
    }
}
