//! Schedules along trees.

use std::collections::VecDeque;

use crate::operation::OpId;

use super::steps::Steps;

/// The distances from a rank to its children in a binomial tree: the powers of two below its lowest bit or,
/// for rank 0, below the number of ranks.
fn children(rank: u32, ranks: u32) -> impl DoubleEndedIterator<Item = u32> {
    let below = if rank == 0 { ranks.next_power_of_two().ilog2() } else { rank.trailing_zeros() };
    (0..below).map(|k| 1 << k).filter(move |bit| rank + bit < ranks)
}

/// The parent of a rank other than 0.
fn parent(rank: u32) -> u32 {
    rank & (rank - 1)
}

/// A broadcast from rank 0 along a binomial tree, with the largest branch first.
pub(super) fn broadcast(bytes: u64, steps: &mut Steps) {
    let (p, tag) = (steps.ranks(), steps.next_tag());
    for rank in 0..p {
        if rank > 0 {
            steps.step(rank, tag, None, Some((parent(rank), bytes)), false);
        }
        for child in children(rank, p).rev() {
            steps.step(rank, tag, Some((rank + child, bytes)), None, false);
        }
    }
}

/// Like a broadcast, but every rank gets only the parts of its branch.
pub(super) fn scatter(bytes: u64, steps: &mut Steps) {
    let (p, tag) = (steps.ranks(), steps.next_tag());
    let branch = |rank: u32, steps: &Steps| steps.parts(bytes, rank, (1 << rank.trailing_zeros()).min(p - rank));
    for rank in 0..p {
        if rank > 0 {
            steps.step(rank, tag, None, Some((parent(rank), branch(rank, steps))), false);
        }
        for child in children(rank, p).rev() {
            steps.step(rank, tag, Some((rank + child, branch(rank + child, steps))), None, false);
        }
    }
}

/// A reduction to rank 0 along a binomial tree, with the smallest branch first.
pub(super) fn reduce(bytes: u64, steps: &mut Steps) {
    let (p, tag) = (steps.ranks(), steps.next_tag());
    for rank in 0..p {
        for child in children(rank, p) {
            steps.step(rank, tag, None, Some((rank + child, bytes)), true);
        }
        if rank > 0 {
            steps.step(rank, tag, Some((parent(rank), bytes)), None, false);
        }
    }
}

/// The parent of a rank other than 0 in a binary tree whose inner nodes, except the root, are even.
fn binary_parent(rank: u32, ranks: u32) -> u32 {
    let bit = rank & rank.wrapping_neg();
    let up = (rank ^ bit) | bit << 1;
    if up < ranks { up } else { rank ^ bit }
}

/// The parent of each rank in one of two binary trees. Except for the root of one tree, no rank has children
/// in both.
fn parents(second: bool, p: u32) -> Vec<Option<u32>> {
    let other = |rank: u32| match (second, p % 2) {
        (false, _) => rank,
        (true, 0) => p - 1 - rank,
        (true, _) => (rank + p - 1) % p,
    };
    let back = |rank: u32| match (second, p % 2) {
        (false, _) => rank,
        (true, 0) => p - 1 - rank,
        (true, _) => (rank + 1) % p,
    };
    (0..p).map(|rank| Some(other(rank)).filter(|&own| own > 0).map(|own| back(binary_parent(own, p)))).collect()
}

/// An all-reduce along two binary trees. Each tree carries half of the vector, in pipelined chunks.
pub(super) fn double(bytes: u64, pieces: u32, steps: &mut Steps) {
    let p = steps.ranks();
    pipeline(&[(parents(false, p), bytes / 2), (parents(true, p), bytes - bytes / 2)], pieces, None, steps);
}

/// An all-reduce along two binary trees of nodes, with a chain of the GPUs in each node, as the trees of NCCL. The chain
/// of a channel begins at the GPU by whose NIC the channel leaves the node.
pub(super) fn double_of_nodes(
    bytes: u64,
    per_node: u32,
    pieces: u32,
    (channel, channels): (u32, u32),
    steps: &mut Steps,
) {
    let head = channel * per_node / channels;
    let tree = |second: bool| {
        let nodes = parents(second, steps.ranks() / per_node);
        let parent = |rank: u32| match (rank % per_node + per_node - head) % per_node {
            0 => nodes[(rank / per_node) as usize].map(|node| node * per_node + head),
            _ => Some(rank / per_node * per_node + (rank % per_node + per_node - 1) % per_node),
        };
        (0..steps.ranks()).map(parent).collect::<Vec<_>>()
    };
    let trees = [(tree(false), bytes / 2), (tree(true), bytes - bytes / 2)];
    // Enough for a chunk on every edge of the longest way up and down.
    let depth = (steps.ranks() / per_node).next_power_of_two().ilog2() + per_node - 1;
    pipeline(&trees, pieces, Some(2 * depth as usize), steps);
}

/// For each rank, its last operations of a kind: at most as many as may be open at the same time.
struct Open {
    most: Option<usize>,
    last: Vec<VecDeque<OpId>>,
}

impl Open {
    fn new(ranks: u32, most: Option<usize>) -> Open {
        Open { most, last: vec![VecDeque::new(); ranks as usize] }
    }

    /// The operations after which the next one may follow, if its data are there after `have`.
    fn after(&mut self, rank: u32, have: &[OpId]) -> Vec<OpId> {
        let last = &mut self.last[rank as usize];
        let old = if Some(last.len()) == self.most { last.pop_front() } else { None };
        have.iter().copied().chain(old).collect()
    }

    fn push(&mut self, rank: u32, op: OpId) {
        if self.most.is_some() {
            self.last[rank as usize].push_back(op);
        }
    }
}

/// All-reduces along trees, each with its share of the vector, in pipelined chunks.
///
/// With `ahead`, a rank hands a chunk to its adapter only when its last one for the same neighbour has left, and a leaf of
/// a tree is at most this number of chunks ahead of the sums that it gets back. Channels share adapters; without these
/// limits, which the buffers of NCCL's channels set, the chunks that a rank forwards for one channel would wait behind
/// all of its own chunks for another.
fn pipeline(trees: &[(Vec<Option<u32>>, u64)], pieces: u32, ahead: Option<usize>, steps: &mut Steps) {
    let p = steps.ranks();
    let begin: Vec<Vec<OpId>> = (0..p).map(|rank| steps.last(rank)).collect();
    let mut done: Vec<Vec<OpId>> = vec![Vec::new(); p as usize];
    let piece =
        |half: u64, i: u32| half * u64::from(i + 1) / u64::from(pieces) - half * u64::from(i) / u64::from(pieces);
    let with_children = |(parents, half): &(Vec<Option<u32>>, u64)| {
        let mut children: Vec<Vec<u32>> = vec![Vec::new(); p as usize];
        for (rank, parent) in (0u32..).zip(parents) {
            parent.iter().for_each(|&parent| children[parent as usize].push(rank));
        }
        (parents.clone(), children, *half)
    };
    let trees: Vec<_> = trees.iter().map(with_children).collect();
    let one = ahead.map(|_| 1);
    let mut open: Vec<[Open; 3]> =
        trees.iter().map(|_| [Open::new(p, one), Open::new(p, one), Open::new(p, ahead)]).collect();
    for i in 0..pieces {
        for ((parents, children, half), [ups, downs, rounds]) in trees.iter().zip(&mut open) {
            let (up, down, size) = (steps.next_tag(), steps.next_tag(), piece(*half, i));
            for rank in 0..p {
                let children = &children[rank as usize];
                let start = &begin[rank as usize];
                let sums = children.iter().map(|&child| steps.receive(rank, up, (child, size), start, true));
                let mut have: Vec<OpId> = sums.collect();
                if have.is_empty() {
                    // A leaf of the tree.
                    have = rounds.after(rank, start);
                }
                if let Some(parent) = parents[rank as usize] {
                    let op = steps.send(rank, up, (parent, size), &ups.after(rank, &have));
                    ups.push(rank, op);
                    done[rank as usize].push(op);
                    let op = steps.receive(rank, down, (parent, size), start, false);
                    if children.is_empty() {
                        rounds.push(rank, op);
                    }
                    have = vec![op];
                }
                done[rank as usize].extend(&have);
                for &child in children {
                    let op = steps.send(rank, down, (child, size), &downs.after(child, &have));
                    downs.push(child, op);
                    done[rank as usize].push(op);
                }
            }
        }
    }
    for (rank, done) in (0..p).zip(done) {
        steps.set_last(rank, done);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_nodes_of_one_tree_are_leaves_of_the_other() {
        for p in 2..70 {
            let trees = [parents(false, p), parents(true, p)];
            let inner = |tree: &[Option<u32>], rank| tree.contains(&Some(rank));
            for rank in 0..p {
                let both = trees.iter().filter(|tree| inner(tree, rank) && tree[rank as usize].is_some()).count();
                assert!(both <= 1, "rank {rank} of {p} is an inner node twice");
            }
            for tree in &trees {
                assert_eq!(tree.iter().filter(|parent| parent.is_none()).count(), 1);
                assert!((0..p).all(|rank| tree.iter().filter(|&&parent| parent == Some(rank)).count() <= 2));
                let depth =
                    |mut rank: u32| (0..).take_while(|_| tree[rank as usize].map(|up| rank = up).is_some()).count();
                let deepest = (0..p).map(depth).max().unwrap();
                assert!(deepest <= p.next_power_of_two().ilog2() as usize, "{deepest} of {p}");
            }
        }
    }
}
