//! Schedules in which every rank has separate data for every other rank: all-to-all and barrier.

use super::steps::Steps;
use crate::operation::share;

/// In step `k`, every rank `r` sends an empty message to rank `r + 2^k`.
pub(super) fn dissemination(steps: &mut Steps) {
    let p = steps.ranks();
    for distance in (0..p.next_power_of_two().ilog2()).map(|k| 1 << k) {
        let tag = steps.next_tag();
        for rank in 0..p {
            let (to, from) = ((rank + distance) % p, (rank + p - distance) % p);
            steps.step(rank, tag, Some((to, 0)), Some((from, 0)), false);
        }
    }
}

/// Every rank sends all messages at once, in order of distance.
pub(super) fn linear(bytes: u64, steps: &mut Steps) {
    let p = steps.ranks();
    exchange(|_, to| Some(share(bytes, to, p)), steps);
}

/// As [`linear`], with messages of these sizes and without empty ones.
pub(super) fn at_once(size: impl Fn(u32, u32) -> u64, steps: &mut Steps) {
    exchange(|from, to| Some(size(from, to)).filter(|&bytes| bytes > 0), steps);
}

/// As [`at_once`], among these ranks. `size` refers to their places in the list.
pub(crate) fn at_once_among(group: &[u32], size: impl Fn(u32, u32) -> u64, steps: &mut Steps) {
    exchange_among(group, |from, to| Some(size(from, to)).filter(|&bytes| bytes > 0), steps);
}

fn exchange(size: impl Fn(u32, u32) -> Option<u64>, steps: &mut Steps) {
    let everyone: Vec<u32> = (0..steps.ranks()).collect();
    exchange_among(&everyone, size, steps);
}

fn exchange_among(group: &[u32], size: impl Fn(u32, u32) -> Option<u64>, steps: &mut Steps) {
    let (p, tag) = (group.len() as u32, steps.next_tag());
    let at = |place: u32| group[place as usize];
    for place in 0..p {
        let last = steps.last(at(place));
        let mut done = Vec::with_capacity(2 * p as usize);
        for k in 1..p {
            let (to, from) = ((place + k) % p, (place + p - k) % p);
            let received =
                size(from, place).map(|bytes| steps.receive(at(place), tag, (at(from), bytes), &last, false));
            done.extend(received);
            done.extend(size(place, to).map(|bytes| steps.send(at(place), tag, (at(to), bytes), &last)));
        }
        steps.set_last(at(place), done);
    }
}

/// In step `k`, every rank `r` sends to rank `r + k` and receives from rank `r - k`.
pub(super) fn pairwise(bytes: u64, steps: &mut Steps) {
    let p = steps.ranks();
    for k in 1..p {
        let tag = steps.next_tag();
        for rank in 0..p {
            let (to, from) = ((rank + k) % p, (rank + p - k) % p);
            let (send, recv) = ((to, steps.parts(bytes, to, 1)), (from, steps.parts(bytes, rank, 1)));
            steps.step(rank, tag, Some(send), Some(recv), false);
        }
    }
}

/// In step `k`, every rank `r` sends to rank `r + 2^k` the data for which bit `k` of the distance is set.
pub(super) fn bruck(bytes: u64, steps: &mut Steps) {
    let p = steps.ranks();
    for distance in (0..p.next_power_of_two().ilog2()).map(|k| 1 << k) {
        let tag = steps.next_tag();
        let blocks = (0..p).filter(|i| i & distance != 0).count() as u64;
        let sent = blocks * (bytes / u64::from(p));
        for rank in 0..p {
            let (to, from) = ((rank + distance) % p, (rank + p - distance) % p);
            steps.step(rank, tag, Some((to, sent)), Some((from, sent)), false);
        }
    }
}
