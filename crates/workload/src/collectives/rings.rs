//! Schedules round a ring: every rank sends to the next one.

use super::steps::Steps;

/// Step `k`: part `r - k` goes to the next rank, which adds it to its own. Then rank `r` has the sum of part `r + 1`.
pub(super) fn reduce_scatter(bytes: u64, steps: &mut Steps) {
    round(bytes, 0, true, steps);
}

/// Step `k`: part `r + own - k` goes to the next rank; `own` is where a rank's first part lies from its own number.
pub(super) fn all_gather(bytes: u64, own: u32, steps: &mut Steps) {
    round(bytes, own, false, steps);
}

fn round(bytes: u64, own: u32, reduces: bool, steps: &mut Steps) {
    let p = steps.ranks();
    for k in 0..p - 1 {
        let tag = steps.next_tag();
        for rank in 0..p {
            let part = (rank + own + p - k) % p;
            let send = ((rank + 1) % p, steps.parts(bytes, part, 1));
            let recv = ((rank + p - 1) % p, steps.parts(bytes, (part + p - 1) % p, 1));
            steps.step(rank, tag, Some(send), Some(recv), reduces);
        }
    }
}
