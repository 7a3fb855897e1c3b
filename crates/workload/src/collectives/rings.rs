//! Schedules around a ring, in which every rank sends to the next rank.

use super::steps::Steps;

/// In step `k`, every rank `r` sends part `r - k` to the next rank, which adds the part to its own. At the end, rank
/// `r` has the sum of part `r + 1`.
pub(super) fn reduce_scatter(bytes: u64, steps: &mut Steps) {
    round(bytes, 0, true, steps);
}

/// In step `k`, every rank `r` sends part `r + own - k` to the next rank. `own` is the offset of a rank's initial part
/// from its number.
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
