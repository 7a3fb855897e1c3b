//! Sorting outside the event loop. The standard library's sort is compiled for every type, and would make up a tenth of
//! the core that a web page downloads. There, one sort is compiled for all types, which is two to five times as slow.

use std::cmp::Ordering;

/// Sorts; items that compare as equal keep their order.
pub fn sort_by<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    if cfg!(target_family = "wasm") { sort_by_places(items, compare) } else { items.sort_by(compare) }
}

/// Sorts by a key; items with the same key keep their order.
pub fn sort_by_key<T, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    sort_by(items, |a, b| key(a).cmp(&key(b)));
}

/// Sorts and removes duplicates.
pub fn sort_and_dedup<T: PartialEq>(items: &mut Vec<T>, compare: impl Fn(&T, &T) -> Ordering) {
    sort_by(items, compare);
    items.dedup();
}

fn sort_by_places<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    let order = ordered(items.len(), &|a, b| compare(&items[a], &items[b]));
    arrange(order, &mut |a, b| items.swap(a, b));
}

/// Indices of items in sorted order.
fn ordered(count: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|&a, &b| compare(a, b));
    order
}

/// Moves items to their positions, cycle by cycle.
fn arrange(mut order: Vec<usize>, swap: &mut dyn FnMut(usize, usize)) {
    for start in 0..order.len() {
        let mut at = start;
        while order[at] != start {
            let next = order[at];
            swap(at, next);
            order[at] = at;
            at = next;
        }
        order[at] = at;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn items_are_sorted_as_by_the_standard_library(keys in prop::collection::vec(0u8..20, 0..100)) {
            let mut items: Vec<_> = keys.into_iter().zip(0..).collect();
            let mut expected = items.clone();
            expected.sort_by_key(|(key, _)| *key);
            let mut by_places = items.clone();
            sort_by_key(&mut items, |(key, _)| *key);
            sort_by_places(&mut by_places, |(a, _), (b, _)| a.cmp(b));
            prop_assert_eq!(&items, &expected);
            prop_assert_eq!(&by_places, &expected);
            let mut keys: Vec<u8> = expected.iter().rev().map(|(key, _)| *key).collect();
            let mut once: Vec<u8> = expected.iter().map(|(key, _)| *key).collect();
            once.dedup();
            sort_and_dedup(&mut keys, Ord::cmp);
            prop_assert_eq!(keys, once);
        }
    }
}
