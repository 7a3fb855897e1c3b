//! Tests of the event queue.

use super::*;
use crate::random::mix;
use proptest::prelude::*;

proptest! {
    /// Events pushed and popped in any mixture leave in the same order as from one large heap.
    #[test]
    fn pops_like_a_reference_heap(
        steps in prop::collection::vec((0u64..80_000_000, 0u32..50, 0u8..3, 0u16..4, any::<bool>()), 1..400),
    ) {
        let mut queue = Queue::default();
        let mut reference = BinaryHeap::new();
        let mut now = Time::ZERO;
        for (i, (span, target, kind, source, also_pop)) in steps.into_iter().enumerate() {
            let span = if i % 5 == 0 { span % 10_000 } else { span };
            let entry = Entry { time: now + Time(span), key: Key::new(target, kind, i as u64, source), event: i };
            queue.push(entry.time, entry.key, &entry.event);
            reference.push(entry);
            prop_assert_eq!(queue.len(), reference.len());
            if also_pop {
                let (a, b) = (queue.pop().unwrap(), reference.pop().unwrap());
                prop_assert_eq!(a.event, b.event);
                now = a.time;
            }
        }
        while let Some(expected) = reference.pop() {
            prop_assert_eq!(queue.pop().unwrap().event, expected.event);
        }
        prop_assert!(queue.is_empty());
    }
}

#[test]
fn order_holds_while_buckets_become_shorter_and_longer() {
    let mut queue = Queue::default();
    let mut reference = BinaryHeap::new();
    let (mut now, mut lengths) = (Time::ZERO, std::collections::BTreeSet::new());
    for i in 0..200_000u64 {
        // Crowded, then sparse, then crowded again.
        let reach = if (60_000..140_000).contains(&i) { 400_000_000 } else { 300_000 };
        for copy in 0..if i < 500 { 9 } else { 1 } {
            let time = now + Time(mix(i, copy) % reach);
            let entry = Entry { time, key: Key::new(0, 0, i, copy as u16), event: i };
            queue.push(entry.time, entry.key, &entry.event);
            reference.push(entry);
        }
        let (a, b) = (queue.pop().unwrap(), reference.pop().unwrap());
        assert_eq!((a.time, a.key), (b.time, b.key));
        now = a.time;
        lengths.insert(queue.bits);
    }
    assert_eq!(queue.len(), reference.len());
    assert!(lengths.first() < Some(&FIRST_BITS) && lengths.last() > Some(&FIRST_BITS), "{lengths:?}");
}

#[test]
fn a_crowd_at_one_time_leaves_in_its_order() {
    let (mut queue, mut reference) = (Queue::default(), BinaryHeap::new());
    let add = |queue: &mut Queue<u64>, reference: &mut BinaryHeap<Entry<u64>>, target: u64, time: u64| {
        let entry = Entry { time: Time(time), key: Key::new(target as u32, 0, 0, 0), event: target };
        queue.push(entry.time, entry.key, &entry.event);
        reference.push(entry);
    };
    // With this many, inserting each into a sorted list would take minutes.
    (0..400_000).for_each(|target| add(&mut queue, &mut reference, target, 0));
    assert!(queue.near.len() <= MOST_SORTED);
    for i in 0..1_000_000 {
        let Some(first) = reference.pop() else { break };
        assert_eq!(queue.len(), reference.len() + 1);
        assert_eq!(queue.pop().unwrap().event, first.event);
        if i < 100_000 {
            add(&mut queue, &mut reference, 500_000 + i, first.time.0 + mix(i, 0) % 3 * 1_000);
        }
    }
    assert!(queue.is_empty());
}

#[test]
fn pop_until_leaves_later_events_alone() {
    let mut queue = Queue::default();
    queue.push(Time::from_us(1), Key::new(0, 0, 0, 0), &1u64);
    queue.push(Time::from_ms(1), Key::new(0, 0, 0, 0), &2);
    assert_eq!(queue.pop_until(Time::from_us(1)).unwrap().event, 1u64);
    assert!(queue.pop_until(Time::from_us(999)).is_none());
    assert_eq!(queue.next_time(), Some(Time::from_ms(1)));
    queue.push(Time::from_us(2), Key::new(0, 0, 0, 0), &3);
    assert_eq!(queue.pop().unwrap().event, 3);
    assert_eq!(queue.pop().unwrap().event, 2);
    assert!(queue.pop().is_none());
}

#[test]
fn equal_times_leave_by_target_kind_tie_and_source() {
    let mut queue = Queue::default();
    let ranks = [(2, 0, 0, 0), (1, 1, 0, 0), (1, 0, 9, 0), (1, 0, 3, 7), (1, 0, 3, 2)];
    for (event, (target, kind, tie, source)) in (0u64..).zip(ranks) {
        queue.push(Time(5), Key::new(target, kind, tie, source), &event);
    }
    let order: Vec<_> = std::iter::from_fn(|| queue.pop()).map(|e| e.event).collect();
    assert_eq!(order, [4, 3, 2, 1, 0]);
}
