//! Schedules between ranks at doubling or halving distances.

use super::steps::Steps;
use crate::operation::share;

/// Treatment of numbers of ranks that are not a power of two. Of the first `2 extra` ranks, each even rank sends its
/// vector to the next rank, and receives the result at the end.
struct Fold {
    extra: u32,
    power: u32,
}

impl Fold {
    fn new(ranks: u32) -> Fold {
        let power = 1 << ranks.ilog2();
        Fold { extra: ranks - power, power }
    }

    /// The rank that is the `i`-th participant in the schedule for a power of two.
    fn rank(&self, i: u32) -> u32 {
        if i < self.extra { 2 * i + 1 } else { i + self.extra }
    }

    fn give(&self, bytes: u64, steps: &mut Steps) {
        let tag = steps.next_tag();
        for rank in (0..2 * self.extra).step_by(2) {
            steps.step(rank, tag, Some((rank + 1, bytes)), None, false);
            steps.step(rank + 1, tag, None, Some((rank, bytes)), true);
        }
    }

    fn take_back(&self, bytes: u64, steps: &mut Steps) {
        let tag = steps.next_tag();
        for rank in (0..2 * self.extra).step_by(2) {
            steps.step(rank, tag, None, Some((rank + 1, bytes)), false);
            steps.step(rank + 1, tag, Some((rank, bytes)), None, false);
        }
    }
}

/// In step `k`, every rank `r` exchanges the entire vector with rank `r xor 2^k`.
pub(super) fn all_reduce(bytes: u64, steps: &mut Steps) {
    let fold = Fold::new(steps.ranks());
    fold.give(bytes, steps);
    for distance in (0..fold.power.ilog2()).map(|k| 1 << k) {
        let tag = steps.next_tag();
        for i in 0..fold.power {
            let other = (fold.rank(i ^ distance), bytes);
            steps.step(fold.rank(i), tag, Some(other), Some(other), true);
        }
    }
    fold.take_back(bytes, steps);
}

/// A reduce-scatter with halving vectors, then an all-gather with doubling vectors.
pub(super) fn halving_doubling(bytes: u64, steps: &mut Steps) {
    let fold = Fold::new(steps.ranks());
    fold.give(bytes, steps);
    halve(bytes, &fold, steps);
    double(bytes, &fold, steps);
    fold.take_back(bytes, steps);
}

/// The reduce-scatter of [`halving_doubling`], for a power-of-two number of ranks.
pub(super) fn halving(bytes: u64, steps: &mut Steps) {
    halve(bytes, &Fold::new(steps.ranks()), steps);
}

/// The all-gather of [`halving_doubling`], for a power-of-two number of ranks.
pub(super) fn all_gather(bytes: u64, steps: &mut Steps) {
    double(bytes, &Fold::new(steps.ranks()), steps);
}

/// The bytes of `count` of the `power` parts of a vector, starting with part `first`.
fn parts(bytes: u64, power: u32, first: u32, count: u32) -> u64 {
    let end = |part: u32| (u128::from(bytes) * u128::from(part) / u128::from(power)) as u64;
    end(first + count) - end(first)
}

/// A reduce-scatter, in which ranks exchange halves of their data at halving distances.
fn halve(bytes: u64, fold: &Fold, steps: &mut Steps) {
    for distance in (0..fold.power.ilog2()).rev().map(|k| 1 << k) {
        exchange(bytes, distance, true, fold, steps);
    }
}

/// An all-gather, in which ranks exchange all of their data at doubling distances.
fn double(bytes: u64, fold: &Fold, steps: &mut Steps) {
    for distance in (0..fold.power.ilog2()).map(|k| 1 << k) {
        exchange(bytes, distance, false, fold, steps);
    }
}

/// Exchanges blocks of `distance` parts. Each rank sends the other rank's block if it `reduces`, and otherwise its own.
fn exchange(bytes: u64, distance: u32, reduces: bool, fold: &Fold, steps: &mut Steps) {
    let tag = steps.next_tag();
    for i in 0..fold.power {
        let (own, other) = (i & !(distance - 1), (i ^ distance) & !(distance - 1));
        let (sent, received) = if reduces { (other, own) } else { (own, other) };
        let size = |first| parts(bytes, fold.power, first, distance);
        let rank = fold.rank(i ^ distance);
        steps.step(fold.rank(i), tag, Some((rank, size(sent))), Some((rank, size(received))), reduces);
    }
}

/// As [`halving_doubling`], but the nearest ranks exchange the largest halves. With ranks placed node by node, most bytes
/// stay within a node.
pub(super) fn near_halving_doubling(bytes: u64, steps: &mut Steps) {
    let fold = Fold::new(steps.ranks());
    fold.give(bytes, steps);
    let distances = || (0..fold.power.ilog2()).map(|k| 1 << k);
    distances().for_each(|distance| exchange_near(bytes, distance, true, &fold, steps));
    distances().rev().for_each(|distance| exchange_near(bytes, distance, false, &fold, steps));
    fold.take_back(bytes, steps);
}

/// Exchanges the parts whose numbers agree with a rank's number in the bits up to that of `distance`. Each rank sends the
/// other rank's parts if it `reduces`, and otherwise its own.
fn exchange_near(bytes: u64, distance: u32, reduces: bool, fold: &Fold, steps: &mut Steps) {
    let tag = steps.next_tag();
    let stride = 2 * distance;
    let size = |first| (first..fold.power).step_by(stride as usize).map(|part| share(bytes, part, fold.power)).sum();
    let sizes: Vec<u64> = (0..stride).map(size).collect();
    for i in 0..fold.power {
        let (own, other) = (sizes[(i % stride) as usize], sizes[((i ^ distance) % stride) as usize]);
        let (sent, received) = if reduces { (other, own) } else { (own, other) };
        let rank = fold.rank(i ^ distance);
        steps.step(fold.rank(i), tag, Some((rank, sent)), Some((rank, received)), reduces);
    }
}

/// In step `k`, every rank `r` sends its parts, but no more than are still missing, to rank `r - 2^k` (Bruck).
pub(super) fn bruck_gather(bytes: u64, steps: &mut Steps) {
    let p = steps.ranks();
    for distance in (0..p.next_power_of_two().ilog2()).map(|k| 1 << k) {
        let (tag, count) = (steps.next_tag(), distance.min(p - distance));
        for rank in 0..p {
            let from = (rank + distance) % p;
            let send = ((rank + p - distance) % p, steps.parts(bytes, rank, count));
            let recv = (from, steps.parts(bytes, from, count));
            steps.step(rank, tag, Some(send), Some(recv), false);
        }
    }
}
