//! All-reduce in three phases: within every node, between the nodes on each rail, and within every node again.

use super::rings::{all_reduce_of, round};
use super::steps::{Ends, Steps};
use crate::operation::share;

/// A local reduce-scatter, an all-reduce on every rail, and a local all-gather, all around rings. The vector has `pieces`
/// pieces. Each phase handles one piece after the other, so the phases of different pieces overlap.
pub(super) fn all_reduce(bytes: u64, per_node: u32, pieces: u32, steps: &mut Steps) {
    let nodes = steps.ranks() / per_node;
    let mut before: [Option<Ends>; 3] = [None, None, None];
    let begin = steps.ends();
    for i in 0..pieces {
        let size = share(bytes, i, pieces);
        steps.set_ends(begin.clone());
        for (phase, before) in before.iter_mut().enumerate() {
            // The first phase of a later piece waits for the piece before instead of the start.
            match before.take() {
                Some(ends) if phase == 0 => steps.set_ends(ends),
                Some(ends) => steps.also_after(ends),
                None => {}
            }
            match phase {
                1 => (0..per_node).for_each(|gpu| {
                    let rail: Vec<u32> = (0..nodes).map(|node| node * per_node + gpu).collect();
                    all_reduce_of(&rail, share(size, (gpu + 1) % per_node, per_node), steps);
                }),
                _ => (0..nodes).for_each(|node| {
                    let local: Vec<u32> = (node * per_node..(node + 1) * per_node).collect();
                    round(&local, size, u32::from(phase > 0), phase == 0, steps);
                }),
            }
            *before = Some(steps.ends());
        }
    }
}
