//! Sorting of an inbox: a counting sort into short buckets of time, followed by insertion sort.

use crate::key::Entry;
use crate::time::Time;

/// Largest number of buckets, limited by one byte.
const BUCKETS: usize = 256;
/// Largest number of entries that are sorted only by insertion.
const FEW: usize = 12;
/// Largest number of entries in a bucket before insertion is too slow.
const CROWD: u32 = 32;

/// Scratch space of [`sort`].
#[derive(Debug)]
pub(crate) struct Scratch {
    words: Vec<u64>,
    ends: Box<[u32; BUCKETS]>,
}

impl Default for Scratch {
    fn default() -> Self {
        Scratch { words: Vec::new(), ends: Box::new([0; BUCKETS]) }
    }
}

/// Fills `order` with the sorted indices of entries with times from `start` to `end`, earliest first. The index is in
/// the low half of each word.
pub(crate) fn sort<E: Copy>(
    entries: &[Entry<E>],
    (start, end): (Time, Time),
    order: &mut Vec<u64>,
    scratch: &mut Scratch,
) {
    // The high half of a word is the time since the start, truncated to 32 bits if the span is long.
    let bits = u64::BITS - (end.0 - start.0).leading_zeros();
    let cut = bits.saturating_sub(32);
    let word = |(entry, place): (&Entry<E>, u64)| (entry.time.0 - start.0) >> cut << 32 | place;
    order.clear();
    if entries.len() <= FEW {
        order.extend(entries.iter().zip(0u64..).map(word));
        return insert(entries, order);
    }
    // Sorting a few entries within a bucket takes as long as summing many bucket counts.
    let buckets = (entries.len() / 2).next_power_of_two().min(BUCKETS);
    let shift = 32 + (bits - cut).saturating_sub(buckets.trailing_zeros());
    let bucket = |word: u64| usize::from((word >> shift) as u8);
    let ends = &mut scratch.ends;
    ends[..buckets].fill(0);
    scratch.words.clear();
    scratch.words.extend(entries.iter().zip(0u64..).map(|entry| {
        let word = word(entry);
        ends[bucket(word)] += 1;
        word
    }));
    let (mut sum, mut most) = (0, 0);
    for end in &mut ends[..buckets] {
        most = most.max(*end);
        sum += std::mem::replace(end, sum);
    }
    order.extend_from_slice(&scratch.words);
    if most > CROWD {
        return order.sort_unstable_by(|&a, &b| entry(entries, b).cmp(entry(entries, a)));
    }
    for &word in &scratch.words {
        let end = &mut ends[bucket(word)];
        order[*end as usize] = word;
        *end += 1;
    }
    insert(entries, order);
}

#[inline]
fn entry<E>(entries: &[Entry<E>], word: u64) -> &Entry<E> {
    &entries[word as u32 as usize]
}

/// Sorts words that are nearly in order.
fn insert<E: Copy>(entries: &[Entry<E>], order: &mut [u64]) {
    for i in 1..order.len() {
        let word = order[i];
        if !is_later(entries, order[i - 1], word) {
            continue;
        }
        let mut at = i;
        while at > 0 && is_later(entries, order[at - 1], word) {
            order[at] = order[at - 1];
            at -= 1;
        }
        order[at] = word;
    }
}

#[inline]
fn is_later<E: Copy>(entries: &[Entry<E>], a: u64, b: u64) -> bool {
    if (a ^ b) >> 32 != 0 {
        return a > b;
    }
    // The later of two entries compares as smaller.
    entry(entries, a) < entry(entries, b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Key;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn entries_are_in_the_order_of_time_and_key(
            span in prop::sample::select(vec![1u64, 7, 1_000, 1_000_000, 1 << 50]),
            start in 0u64..1 << 40,
            seeds in prop::collection::vec((any::<u64>(), 0u32..20), 0..600),
        ) {
            let entry = |(i, &(seed, target)): (usize, &(u64, u32))| {
                Entry { time: Time(start + seed % span), key: Key::new(target, 0, i as u64, 0), event: () }
            };
            let entries: Vec<_> = seeds.iter().enumerate().map(entry).collect();
            let mut order = vec![9];
            let mut scratch = Scratch { words: vec![3], ends: Box::new([7; BUCKETS]) };
            sort(&entries, (Time(start), Time(start + span - 1)), &mut order, &mut scratch);
            let sorted: Vec<_> = order.iter().map(|&word| entries[word as u32 as usize]).collect();
            let mut expected = entries;
            expected.sort_by(|a, b| b.cmp(a));
            prop_assert_eq!(sorted, expected);
        }
    }
}
