//! Schedules around a ring, in which every rank sends to the next rank.

use super::steps::Steps;
use crate::operation::share;

/// In step `k`, every rank `r` sends part `r - k` to the next rank, which adds the part to its own. At the end, rank
/// `r` has the sum of part `r + 1`.
pub(super) fn reduce_scatter(bytes: u64, steps: &mut Steps) {
    round(&everyone(steps), bytes, 0, true, steps);
}

/// In step `k`, every rank `r` sends part `r + own - k` to the next rank. `own` is the offset of a rank's initial part
/// from its number.
pub(super) fn all_gather(bytes: u64, own: u32, steps: &mut Steps) {
    round(&everyone(steps), bytes, own, false, steps);
}

/// A reduce-scatter and an all-gather around the ring of these ranks.
pub(crate) fn all_reduce_of(ring: &[u32], bytes: u64, steps: &mut Steps) {
    round(ring, bytes, 0, true, steps);
    round(ring, bytes, 1, false, steps);
}

/// The ranks of a ring that leaves every node by another GPU than the ring of another channel, as the rings of NCCL do.
///
/// The ring passes through the GPUs of even nodes upwards and through those of odd nodes downwards. It therefore enters
/// each node on the rail on which it has left the node before; between the last node and the first, this requires an even
/// number of nodes.
pub(super) fn ring_of(channel: u32, channels: u32, per_node: u32, ranks: u32) -> Vec<u32> {
    let exit = channel * per_node / channels;
    let local = |node: u32, i: u32| match node % 2 {
        0 => (exit + 1 + i) % per_node,
        _ => (exit + per_node - i) % per_node,
    };
    let node = |node: u32| (0..per_node).map(move |i| node * per_node + local(node, i));
    (0..ranks / per_node).flat_map(node).collect()
}

/// Goes around a ring of ranks, once. The vector has one part for each of them; `own` and `reduces` are as in
/// [`all_gather`] and [`reduce_scatter`], with positions in the ring as numbers.
pub(super) fn round(ring: &[u32], bytes: u64, own: u32, reduces: bool, steps: &mut Steps) {
    let p = ring.len() as u32;
    let rank = |position: u32| ring[(position % p) as usize];
    for k in 0..p - 1 {
        let tag = steps.next_tag();
        for position in 0..p {
            let part = (position + own + p - k) % p;
            let send = (rank(position + 1), share(bytes, part, p));
            let recv = (rank(position + p - 1), share(bytes, (part + p - 1) % p, p));
            steps.step(rank(position), tag, Some(send), Some(recv), reduces);
        }
    }
}

fn everyone(steps: &Steps) -> Vec<u32> {
    (0..steps.ranks()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_use_every_nic_once_and_stay_on_a_rail() {
        for (nodes, gpus) in [(2, 8), (4, 4), (6, 2), (1, 4), (4, 1)] {
            let mut exits = vec![0; (nodes * gpus) as usize];
            for channel in 0..gpus {
                let ring = ring_of(channel, gpus, gpus, nodes * gpus);
                let mut ranks = ring.clone();
                ranks.sort_unstable();
                assert_eq!(ranks, (0..nodes * gpus).collect::<Vec<_>>());
                let next = ring.iter().cycle().skip(1);
                for (&a, &b) in ring.iter().zip(next).filter(|(a, b)| **a / gpus != **b / gpus) {
                    assert_eq!(a % gpus, b % gpus, "{a} to {b}");
                    exits[a as usize] += 1;
                }
            }
            assert!(nodes == 1 || exits.iter().all(|&exits| exits == 1), "{exits:?}");
        }
    }
}
