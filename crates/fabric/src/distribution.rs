//! Distributions of quantities around their means.

use std::sync::Arc;

use becalm_engine::{Stream, Time};

use crate::cdf::Cdf;

/// The distribution of a quantity around its mean, as a factor of the mean.
#[derive(Clone, Debug, PartialEq)]
pub enum Distribution {
    /// Always the mean.
    Fixed,
    /// Exponentially distributed.
    Exponential,
    /// The mean of `shape` exponentially distributed numbers. Its variance is 1 / `shape`.
    Erlang {
        /// At least 1.
        shape: u32,
    },
    /// Uniform between 1 - `spread` and 1 + `spread`. Its variance is `spread`^2 / 3.
    Uniform {
        /// Greater than 0 and at most 1.
        spread: f64,
    },
    /// A measured distribution.
    Measured(Arc<Cdf>),
}

impl Distribution {
    /// Samples a time with this mean, rounded to the nearest picosecond and at least 1 ps.
    pub fn span(&self, mean: Time, random: &mut Stream) -> Time {
        match *self {
            Distribution::Fixed => mean,
            Distribution::Exponential => random.exponential(mean),
            Distribution::Erlang { shape } => {
                let sum: f64 = (0..shape).map(|_| random.standard_exponential()).sum();
                mean.scaled(sum / f64::from(shape)).max(Time(1))
            }
            Distribution::Uniform { spread } => mean.scaled(1.0 + spread * (2.0 * random.unit() - 1.0)).max(Time(1)),
            Distribution::Measured(ref cdf) => mean.scaled(cdf.quantile(random.unit()) / cdf.mean()).max(Time(1)),
        }
    }

    /// Samples a size with this mean, rounded to the nearest byte. Unless the distribution is fixed, the size is at
    /// least 1 B. If the mean is the measured distribution's own mean, sizes are as measured.
    pub fn size(&self, mean: u64, random: &mut Stream) -> u64 {
        match self {
            Distribution::Measured(cdf) => cdf.draw(mean, random),
            law => law.span(Time(mean), random).0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_have_the_mean_and_the_variance_of_their_law() {
        let distributions = [
            (Distribution::Fixed, 0.0),
            (Distribution::Exponential, 1.0),
            (Distribution::Erlang { shape: 4 }, 0.25),
            (Distribution::Uniform { spread: 0.5 }, 1.0 / 12.0),
            // Uniform between 0 and 2.
            (Distribution::Measured(Arc::new(Cdf::new(vec![(0.0, 0.0), (200.0, 100.0)]).unwrap())), 1.0 / 3.0),
        ];
        let (mean, n) = (Time::from_us(10), 200_000);
        for (distribution, variance) in distributions {
            let mut random = Stream::new(3, 0, 0);
            let draws = (0..n).map(|_| distribution.span(mean, &mut random).as_secs() / mean.as_secs());
            let (sum, squares) = draws.fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
            let found = sum / f64::from(n);
            // Three standard errors for the mean, 3% for the variance.
            assert!(
                (found - 1.0).abs() <= 3.0 * (variance / f64::from(n)).sqrt() + 1e-12,
                "{distribution:?}: mean {found}"
            );
            let found = squares / f64::from(n) - found * found;
            assert!((found - variance).abs() <= 0.03 * variance + 1e-12, "{distribution:?}: variance {found}");
        }
    }

    #[test]
    fn uniform_draws_keep_to_their_interval() {
        let mut random = Stream::new(1, 0, 0);
        let distribution = Distribution::Uniform { spread: 0.25 };
        let sizes: Vec<u64> = (0..10_000).map(|_| distribution.size(1000, &mut random)).collect();
        assert!(sizes.iter().all(|size| (750..=1250).contains(size)));
        assert!(sizes.iter().any(|&size| size < 760) && sizes.iter().any(|&size| size > 1240));
    }
}
