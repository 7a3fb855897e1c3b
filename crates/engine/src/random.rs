//! Independent random streams that are the same on every machine.
//!
//! A stream is identified by (seed, entity, purpose), so adding a host or a new use of randomness does not shift the
//! numbers of other entities. Transcendental functions come from `libm`, since the platforms' own differ in the last
//! bit.

use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::time::Time;

/// A good 64-bit mix of two words: every input bit changes about half of the output bits.
///
/// The finalizer of SplitMix64, applied to a sum with the golden ratio.
pub const fn mix(a: u64, b: u64) -> u64 {
    let mut z = a.wrapping_add(b.wrapping_mul(0x9E37_79B9_7F4A_7C15)).wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// One stream of random numbers.
#[derive(Clone, Debug)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream of one entity for one purpose in a run with this seed.
    pub fn new(seed: u64, entity: u64, purpose: u64) -> Stream {
        Stream(Xoshiro256PlusPlus::seed_from_u64(mix(mix(seed, entity), purpose)))
    }

    /// A number in [0, 1), in steps of 2^-53.
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// An integer in `0..n`, uniformly distributed. `n` must be positive.
    pub fn below(&mut self, n: u32) -> u32 {
        self.0.random_range(0..n)
    }

    /// An exponentially distributed number with mean 1.
    pub fn standard_exponential(&mut self) -> f64 {
        -libm::log(1.0 - self.unit())
    }

    /// An exponentially distributed span with this mean, at least 1 ps.
    pub fn exponential(&mut self, mean: Time) -> Time {
        mean.scaled(self.standard_exponential()).max(Time(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_depends_on_seed_entity_and_purpose_and_on_nothing_else() {
        let first = |seed, entity, purpose| Stream::new(seed, entity, purpose).unit();
        assert_eq!(first(1, 2, 3), first(1, 2, 3));
        for other in [first(2, 2, 3), first(1, 3, 3), first(1, 2, 4), first(1, 3, 2)] {
            assert_ne!(first(1, 2, 3), other);
        }
    }

    #[test]
    fn exponential_spans_have_the_mean_and_the_variance_of_their_law() {
        let mut stream = Stream::new(7, 0, 0);
        let mean = Time::from_us(10);
        let n = 200_000;
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..n {
            let x = stream.exponential(mean).as_secs() / mean.as_secs();
            sum += x;
            squares += x * x;
        }
        let (m, v) = (sum / n as f64, squares / n as f64 - (sum / n as f64).powi(2));
        assert!((m - 1.0).abs() < 0.01, "mean {m}");
        assert!((v - 1.0).abs() < 0.03, "variance {v}");
    }

    #[test]
    fn integers_below_n_are_even() {
        let mut stream = Stream::new(1, 1, 1);
        let mut counts = [0u32; 7];
        for _ in 0..70_000 {
            counts[stream.below(7) as usize] += 1;
        }
        assert!(counts.iter().all(|&c| (9_600..10_400).contains(&c)), "{counts:?}");
    }
}
