//! Quantiles of integers, from counts in buckets whose width grows with the number.
//!
//! The buckets are those of an HDR histogram. Only the range between the smallest and the largest bucket in use is
//! stored, since one flow's latencies are close together and every flow has a histogram. The first few numbers are
//! stored as a list of buckets, since most flows have no more numbers in all-to-all traffic.

/// Number of buckets allocated together.
const CHUNK: u32 = 16;
/// Number of values stored as a list of buckets, which fill one cache line.
const FEW: usize = 16;

/// Counts of numbers. Numbers below 2 to the `bits + 1` are counted exactly. Larger numbers are counted in 2 to the
/// `bits` buckets between consecutive powers of two.
#[derive(Clone, Debug)]
pub(crate) struct Quantiles {
    bits: u8,
    /// Whether counts per bucket are stored; otherwise, the buckets of a few numbers are stored.
    counted: bool,
    /// The bucket of the first count.
    first: u32,
    counts: Vec<u32>,
}

impl Quantiles {
    /// Empty counts, with quantiles within one part in 2 to the `bits`.
    pub fn new(bits: u8) -> Quantiles {
        Quantiles { bits, counted: false, first: 0, counts: Vec::new() }
    }

    /// Reads the count of a number's bucket, to load it into the cache.
    #[inline]
    pub fn peek(&self, value: u64) -> u32 {
        let counted = self.bucket(value).wrapping_sub(self.first) as usize;
        let place = if self.counted { counted } else { self.counts.len().wrapping_sub(1) };
        self.counts.get(place).copied().unwrap_or(0)
    }

    /// Counts a number.
    #[inline]
    pub fn add(&mut self, value: u64) {
        self.add_to(self.bucket(value), 1);
    }

    /// Adds the counts of another histogram with the same number of bits.
    pub fn join(&mut self, other: &Quantiles) {
        debug_assert_eq!(self.bits, other.bits);
        for (bucket, count) in other.buckets() {
            self.add_to(bucket, count);
        }
    }

    /// The buckets in use, lowest first, with their counts; a few numbers are listed one by one.
    fn buckets(&self) -> Vec<(u32, u32)> {
        if self.counted {
            return (self.first..).zip(self.counts.iter().copied()).filter(|(_, count)| *count > 0).collect();
        }
        let mut few: Vec<(u32, u32)> = self.counts.iter().map(|&bucket| (bucket, 1)).collect();
        few.sort_unstable();
        few
    }

    /// The largest number of the bucket in which the given share of `total` counts is reached; `None` without counts.
    pub fn quantile(&self, share: f64, total: u64) -> Option<u64> {
        let wanted = ((share * total as f64).ceil() as u64).max(1);
        let mut reached = 0;
        let found = self.buckets().into_iter().find(|(_, count)| {
            reached += u64::from(*count);
            reached >= wanted
        });
        found.map(|(bucket, _)| self.largest(bucket))
    }

    /// Nonempty ranges of numbers, lowest first, with each range's smallest and largest number and its count. There are
    /// 2 to the `bits` ranges between consecutive powers of two, or fewer if fewer buckets are stored.
    pub fn ranges(&self, bits: u8) -> Vec<(u64, u64, u64)> {
        let coarse = Quantiles::new(bits.min(self.bits));
        let mut ranges: Vec<(u32, u64)> = Vec::new();
        for (bucket, count) in self.buckets() {
            let range = coarse.bucket(self.largest(bucket));
            match ranges.last_mut() {
                Some((last, sum)) if *last == range => *sum += u64::from(count),
                _ => ranges.push((range, u64::from(count))),
            }
        }
        let low = |range: u32| range.checked_sub(1).map_or(0, |before| coarse.largest(before) + 1);
        ranges.into_iter().map(|(range, count)| (low(range), coarse.largest(range), count)).collect()
    }

    #[inline]
    fn add_to(&mut self, bucket: u32, count: u32) {
        if !self.counted {
            if count == 1 && self.counts.len() < FEW {
                return self.add_to_few(bucket);
            }
            self.count_few();
        }
        if bucket.wrapping_sub(self.first) as usize >= self.counts.len() {
            self.make_room(bucket);
        }
        let own = &mut self.counts[(bucket - self.first) as usize];
        *own = own.saturating_add(count);
    }

    fn add_to_few(&mut self, bucket: u32) {
        if self.counts.is_empty() {
            self.counts.reserve_exact(FEW);
        }
        self.counts.push(bucket);
    }

    /// Converts the stored list of buckets to counts.
    #[cold]
    fn count_few(&mut self) {
        self.counted = true;
        for bucket in std::mem::take(&mut self.counts) {
            self.add_to(bucket, 1);
        }
    }

    #[cold]
    fn make_room(&mut self, bucket: u32) {
        let (old, end) = (self.first, self.first + self.counts.len() as u32);
        let (low, high) = (bucket / CHUNK * CHUNK, (bucket / CHUNK + 1) * CHUNK);
        // Grow existing counts by a quarter more than needed, since growing copies them.
        let more = self.counts.len() as u32 / 4 / CHUNK * CHUNK;
        let (low, high) = match self.counts.is_empty() {
            true => (low, high),
            false if low < old => (low.saturating_sub(more), end),
            false => (old, high + more),
        };
        let mut counts = vec![0; (high - low) as usize];
        counts[(old.max(low) - low) as usize..][..self.counts.len()].copy_from_slice(&self.counts);
        (self.first, self.counts) = (low, counts);
    }

    /// The bucket of a number.
    #[inline]
    pub fn bucket(&self, value: u64) -> u32 {
        let exact = u32::from(self.bits) + 1;
        let shift = 64 - exact - (value | ((1 << exact) - 1)).leading_zeros();
        (shift << self.bits) + (value >> shift) as u32
    }

    /// The largest number of a bucket.
    pub fn largest(&self, bucket: u32) -> u64 {
        let shift = (bucket >> self.bits).saturating_sub(1);
        ((u64::from(bucket - (shift << self.bits)) + 1) << shift) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::Histogram;

    /// Numbers of all sizes, from a simple congruence.
    fn numbers(n: u64) -> impl Iterator<Item = u64> {
        let mut state = 1u64;
        (0..n).map(move |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 20) >> (state % 40)).max(1)
        })
    }

    #[test]
    fn quantiles_are_those_of_an_hdr_histogram() {
        for (digits, bits) in [(1, 4), (2, 7), (3, 10)] {
            let mut histogram = Histogram::<u32>::new(digits).expect("valid");
            let mut quantiles = Quantiles::new(bits);
            for (total, value) in (1..).zip(numbers(2000)) {
                histogram.record(value).expect("grows");
                quantiles.add(value);
                for share in [1e-9, 0.01, 0.5, 0.99, 1.0] {
                    let expected = histogram.value_at_quantile(share);
                    assert_eq!(quantiles.quantile(share, total), Some(expected), "{digits} digits, {total}, {share}");
                }
            }
        }
    }

    #[test]
    fn ranges_hold_what_was_counted() {
        let mut quantiles = Quantiles::new(10);
        let values: Vec<u64> = numbers(2000).collect();
        values.iter().for_each(|&value| quantiles.add(value));
        let ranges = quantiles.ranges(4);
        assert!(ranges.windows(2).all(|pair| pair[0].1 < pair[1].0), "{ranges:?}");
        for &(low, high, count) in &ranges {
            assert_eq!(values.iter().filter(|&&value| (low..=high).contains(&value)).count() as u64, count);
            assert!((high - low) * 16 <= low.max(16), "{low} to {high}");
        }
        assert_eq!(ranges.iter().map(|range| range.2).sum::<u64>(), 2000);
        assert_eq!(Quantiles::new(4).ranges(4), []);
    }

    #[test]
    fn joined_counts_are_those_of_one() {
        let (mut one, mut even, mut odd) = (Quantiles::new(4), Quantiles::new(4), Quantiles::new(4));
        for value in numbers(1000) {
            one.add(value);
            if value % 2 == 0 { even.add(value) } else { odd.add(value) }
        }
        even.join(&odd);
        even.join(&Quantiles::new(4));
        for percent in 1..=100 {
            let share = f64::from(percent) / 100.0;
            assert_eq!(even.quantile(share, 1000), one.quantile(share, 1000));
        }
    }

    #[test]
    fn near_numbers_take_little_room() {
        let mut quantiles = Quantiles::new(7);
        (20_000..24_000).for_each(|value| quantiles.add(value));
        assert!(quantiles.counts.len() <= 48, "{}", quantiles.counts.len());
        assert_eq!(Quantiles::new(7).quantile(0.5, 0), None);
    }
}
