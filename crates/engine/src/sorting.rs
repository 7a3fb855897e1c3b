//! Sorting of an inbox: a counting sort into short buckets of time, then insertion.

use crate::key::Entry;
use crate::time::Time;

/// Most buckets.
const BUCKETS: usize = 256;
/// Entries that are sorted by insertion alone.
const FEW: usize = 12;
/// Entries in a bucket beyond which insertion would take too long.
const CROWD: u32 = 32;

/// Scratch space of [`sort`].
pub(crate) type Ends = [u32; BUCKETS];

/// Fills `order` with the places of entries that happen at `end` or before, earliest first: the place in the low half of
/// each word.
pub(crate) fn sort<E: Copy>(entries: &[Entry<E>], end: Time, order: &mut Vec<u64>, ends: &mut Ends) {
    order.clear();
    let Some(start) = entries.iter().map(|entry| entry.time.0).min() else { return };
    // The high half of a word is the time since the first entry, cut to 32 bits where the span is long.
    let bits = u64::BITS - (end.0 - start).leading_zeros();
    let cut = bits.saturating_sub(32);
    let word = |(entry, place): (&Entry<E>, u64)| (entry.time.0 - start) >> cut << 32 | place;
    let words = entries.iter().zip(0u64..).map(word);
    if entries.len() <= FEW {
        order.extend(words);
        return insert(entries, order);
    }
    let buckets = entries.len().next_power_of_two().min(BUCKETS);
    let shift = 32 + (bits - cut).saturating_sub(buckets.trailing_zeros());
    let ends = &mut ends[..buckets];
    ends.fill(0);
    words.clone().for_each(|word| ends[(word >> shift) as usize] += 1);
    if ends.iter().any(|&count| count > CROWD) {
        order.extend(words);
        return order.sort_unstable_by(|&a, &b| entry(entries, b).cmp(entry(entries, a)));
    }
    let mut sum = 0;
    for end in ends.iter_mut() {
        sum += std::mem::replace(end, sum);
    }
    order.resize(entries.len(), 0);
    for word in words {
        let end = &mut ends[(word >> shift) as usize];
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
    match (a >> 32).cmp(&(b >> 32)) {
        // The later of two entries is the smaller one.
        std::cmp::Ordering::Equal => entry(entries, a) < entry(entries, b),
        unequal => unequal.is_gt(),
    }
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
            sort(&entries, Time(start + span - 1), &mut order, &mut [7; BUCKETS]);
            let sorted: Vec<_> = order.iter().map(|&word| entries[word as u32 as usize]).collect();
            let mut expected = entries;
            expected.sort_by(|a, b| b.cmp(a));
            prop_assert_eq!(sorted, expected);
        }
    }
}
