//! Collective operations as programs.
//!
//! Source of the schedules: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication
//! operations in MPICH", IJHPCA 19(1), 2005. Source of the double binary tree: P. Sanders, J. Speck, J. L.
//! Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan", Parallel Computing 35(12),
//! 2009.
//!
//! - `counts` counts the operations of a schedule in advance.
//! - `steps` adds sends and receives of all ranks, step by step. `rings`, `doubling`, `trees`, `hierarchy` and `personal` contain
//!   the schedules.

mod counts;
mod doubling;
mod hierarchy;
mod personal;
mod rings;
mod steps;
mod trees;

use becalm_engine::Time;

use crate::builder::Builder;
use crate::error::ProgramError;
use crate::operation::share;
use crate::program::{Form, Program};
use crate::regular::{Pattern, Phase, Regular};
pub(crate) use personal::at_once_among;
pub(crate) use rings::all_reduce_of;
pub(crate) use steps::Steps;

/// The algorithm of an all-reduce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllReduce {
    /// Reduce-scatter and all-gather around a ring.
    Ring,
    /// Exchanges of the entire vector at doubling distances.
    RecursiveDoubling,
    /// Reduce-scatter with halving vectors, then all-gather with doubling vectors (Rabenseifner).
    HalvingDoubling,
    /// Two binary trees. Each carries half of the vector, in this number of chunks.
    DoubleBinaryTree(u32),
    /// As [`AllReduce::HalvingDoubling`], but the nearest ranks exchange the largest halves.
    NearHalvingDoubling,
    /// One ring for each channel, which leave a node by different NICs (NCCL).
    Rings(Channels),
    /// For each channel, two binary trees of nodes and chains within them, in this number of chunks (NCCL).
    NodeTrees(Channels, u32),
    /// A reduce-scatter within every node, an all-reduce between the nodes, and an all-gather within every node, with this
    /// number of overlapping pieces; and the number of ranks on each node.
    Hierarchical(u32, u32),
}

/// The channels of a collective operation on nodes with several GPUs. Each carries an equal share of the vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Channels {
    /// Number of channels.
    pub count: u32,
    /// Number of ranks on each node. Consecutive ranks share a node.
    pub per_node: u32,
}

impl Channels {
    /// Adds the same schedule for the ring of each channel.
    fn rings(self, bytes: u64, steps: &mut Steps, mut add: impl FnMut(&[u32], u64, &mut Steps)) {
        steps.branches(self.count, |channel, steps| {
            let ring = rings::ring_of(channel, self.count, self.per_node, steps.ranks());
            add(&ring, share(bytes, channel, self.count), steps);
        });
    }

    fn suit(self, ranks: u32) -> Result<(), String> {
        let Channels { count, per_node } = self;
        if count > per_node {
            return Err(format!("needs at most {per_node} channels, the number of ranks on each node, not {count}"));
        }
        whole_nodes(per_node, ranks)
    }
}

fn whole_nodes(per_node: u32, ranks: u32) -> Result<(), String> {
    match ranks % per_node {
        0 => Ok(()),
        _ => Err(format!("needs whole nodes of {per_node} ranks each, not {ranks} ranks")),
    }
}

/// The algorithm of an all-gather.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllGather {
    /// Round a ring.
    Ring,
    /// At doubling distances; the number of ranks must be a power of two.
    RecursiveDoubling,
    /// At doubling distances, for any number of ranks.
    Bruck,
    /// One ring for each channel.
    Rings(Channels),
}

/// The algorithm of a reduce-scatter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReduceScatter {
    /// Round a ring.
    Ring,
    /// At halving distances; the number of ranks must be a power of two.
    RecursiveHalving,
    /// One ring for each channel.
    Rings(Channels),
}

/// The algorithm of an all-to-all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllToAll {
    /// Every rank sends to all others at once.
    Linear,
    /// Every rank exchanges data with one other rank per step.
    Pairwise,
    /// A logarithmic number of steps, at doubling distances.
    Bruck,
}

/// The algorithm of a broadcast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broadcast {
    /// Along a binomial tree.
    Binomial,
    /// A scatter along a binomial tree, then an all-gather around a ring.
    ScatterAllGather,
}

/// A collective operation. Bytes are the size of one rank's vector. For an all-gather and an all-to-all, they are one
/// rank's total.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collective {
    /// No rank continues before all ranks have arrived (dissemination).
    Barrier,
    /// Sends the vector of rank 0 to all ranks.
    Broadcast(Broadcast, u64),
    /// Sends the sum of all vectors to rank 0, along a binomial tree.
    Reduce(u64),
    /// Sends the sum of all vectors to all ranks.
    AllReduce(AllReduce, u64),
    /// Sends every rank's part of a vector to all ranks.
    AllGather(AllGather, u64),
    /// Sends a part of the sum of all vectors to each rank.
    ReduceScatter(ReduceScatter, u64),
    /// Sends a part of every rank's vector to every other rank.
    AllToAll(AllToAll, u64),
}

/// The repetitions of a collective operation, and the computations between them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Repetition {
    /// Number of repetitions.
    pub times: u32,
    /// Computation time of every rank before each repetition.
    pub compute: Time,
    /// Time for the reduction of a byte, in picoseconds.
    pub reduction_per_byte: f64,
}

/// The program of an all-to-all in which `size` is the bytes from one rank to another, all sent at once. Empty messages
/// are not sent.
///
/// # Errors
/// [`ProgramError::NoRanks`] or [`ProgramError::TooLong`].
pub fn all_to_all_v(
    ranks: u32,
    size: impl Fn(u32, u32) -> u64,
    repetition: &Repetition,
) -> Result<Program, ProgramError> {
    let mut steps = Steps::new(Builder::new(ranks), repetition.reduction_per_byte);
    for _ in 0..repetition.times {
        steps.compute(repetition.compute);
        personal::at_once(&size, &mut steps);
    }
    steps.into_builder().build()
}

/// The program in which each group of ranks executes a program of its own. Other ranks do nothing. The groups must not share
/// ranks.
///
/// # Errors
/// [`ProgramError::NoRanks`] or [`ProgramError::TooLong`].
pub fn in_groups<'a>(
    ranks: u32,
    groups: impl IntoIterator<Item = (&'a [u32], &'a Program)>,
) -> Result<Program, ProgramError> {
    let mut builder = Builder::new(ranks);
    for (members, program) in groups {
        builder.insert(program, members, |op| op);
    }
    builder.build()
}

impl Collective {
    /// Checks that the algorithm supports this number of ranks.
    ///
    /// # Errors
    /// The reason why the number is not supported.
    pub fn suits(&self, ranks: u32) -> Result<(), String> {
        let power = matches!(
            self,
            Collective::AllGather(AllGather::RecursiveDoubling, _)
                | Collective::ReduceScatter(ReduceScatter::RecursiveHalving, _)
        );
        match ranks {
            0 | 1 => Err(format!("needs at least 2 ranks, not {ranks}")),
            _ if power && !ranks.is_power_of_two() => Err(format!("needs a power-of-two number of ranks, not {ranks}")),
            _ => self.suits_nodes(ranks),
        }
    }

    fn suits_nodes(&self, ranks: u32) -> Result<(), String> {
        match *self {
            Collective::AllReduce(AllReduce::Rings(channels) | AllReduce::NodeTrees(channels, _), _)
            | Collective::AllGather(AllGather::Rings(channels), _)
            | Collective::ReduceScatter(ReduceScatter::Rings(channels), _) => channels.suit(ranks),
            Collective::AllReduce(AllReduce::Hierarchical(_, per_node), _) => {
                if per_node < 2 || per_node >= ranks {
                    return Err(format!("needs several nodes with several ranks each, not {per_node} of {ranks}"));
                }
                whole_nodes(per_node, ranks)
            }
            _ => Ok(()),
        }
    }

    /// The program with this number of ranks. If every rank executes the same steps, operations are made when they are
    /// needed.
    ///
    /// # Errors
    /// [`ProgramError::NoRanks`] or [`ProgramError::LongCollective`].
    pub fn program(&self, ranks: u32, repetition: &Repetition) -> Result<Program, ProgramError> {
        self.fits(ranks, repetition).map_err(ProgramError::LongCollective)?;
        let regular = self.phases(ranks, repetition).and_then(|phases| Regular::new(ranks, repetition.times, phases));
        regular.map_or_else(|| self.listed(ranks, repetition), |regular| Ok(Form::Regular(regular).into()))
    }

    /// The phases of a repetition; `None` if ranks do not all execute the same steps.
    pub(crate) fn phases(&self, ranks: u32, repetition: &Repetition) -> Option<Vec<Phase>> {
        if ranks < 2 || repetition.times == 0 {
            return None;
        }
        let adding = |phase: Phase| phase.adding(repetition.reduction_per_byte, ranks);
        let ring = |own, bytes| Phase::new(Pattern::Ring { own }, bytes, ranks);
        let exchanges = match *self {
            Collective::AllReduce(AllReduce::Ring, bytes) => vec![adding(ring(0, bytes))?, ring(1, bytes)],
            Collective::AllGather(AllGather::Ring, bytes) => vec![ring(0, bytes)],
            Collective::ReduceScatter(ReduceScatter::Ring, bytes) => vec![adding(ring(0, bytes))?],
            Collective::AllToAll(AllToAll::Linear, bytes) => vec![Phase::new(Pattern::Linear, bytes, ranks)],
            Collective::AllToAll(AllToAll::Pairwise, bytes) => vec![Phase::new(Pattern::Pairwise, bytes, ranks)],
            _ => return None,
        };
        let compute = Phase::new(Pattern::Compute(repetition.compute), 0, ranks);
        let computes = (repetition.compute > Time::ZERO).then_some(compute);
        Some(computes.into_iter().chain(exchanges).collect())
    }

    /// The program with this number of ranks, as a list of operations.
    ///
    /// # Errors
    /// [`ProgramError::NoRanks`] or [`ProgramError::LongCollective`].
    pub fn listed(&self, ranks: u32, repetition: &Repetition) -> Result<Program, ProgramError> {
        if ranks == 0 {
            return Err(ProgramError::NoRanks);
        }
        self.fits_list(ranks, repetition).map_err(ProgramError::LongCollective)?;
        let mut steps = Steps::new(Builder::new(ranks), repetition.reduction_per_byte);
        for _ in 0..repetition.times {
            steps.compute(repetition.compute);
            self.add_to(&mut steps);
        }
        steps.into_builder().build()
    }

    fn add_to(&self, steps: &mut Steps) {
        match *self {
            Collective::Barrier => personal::dissemination(steps),
            Collective::Broadcast(Broadcast::Binomial, bytes) => trees::broadcast(bytes, steps),
            Collective::Broadcast(Broadcast::ScatterAllGather, bytes) => {
                trees::scatter(bytes, steps);
                rings::all_gather(bytes, 0, steps);
            }
            Collective::Reduce(bytes) => trees::reduce(bytes, steps),
            Collective::AllReduce(AllReduce::Ring, bytes) => {
                rings::reduce_scatter(bytes, steps);
                rings::all_gather(bytes, 1, steps);
            }
            Collective::AllReduce(AllReduce::RecursiveDoubling, bytes) => doubling::all_reduce(bytes, steps),
            Collective::AllReduce(AllReduce::HalvingDoubling, bytes) => doubling::halving_doubling(bytes, steps),
            Collective::AllReduce(AllReduce::DoubleBinaryTree(pieces), bytes) => trees::double(bytes, pieces, steps),
            Collective::AllReduce(AllReduce::NearHalvingDoubling, bytes) => {
                doubling::near_halving_doubling(bytes, steps);
            }
            Collective::AllReduce(AllReduce::Rings(channels), bytes) => {
                channels.rings(bytes, steps, |ring, bytes, steps| {
                    rings::all_reduce_of(ring, bytes, steps);
                })
            }
            Collective::AllReduce(AllReduce::NodeTrees(Channels { count, per_node }, pieces), bytes) => {
                steps.branches(count, |channel, steps| {
                    let share = share(bytes, channel, count);
                    trees::double_of_nodes(share, per_node, pieces, (channel, count), steps);
                });
            }
            Collective::AllReduce(AllReduce::Hierarchical(pieces, per_node), bytes) => {
                hierarchy::all_reduce(bytes, per_node, pieces, steps);
            }
            Collective::AllGather(AllGather::Rings(channels), bytes) => {
                channels.rings(bytes, steps, |ring, bytes, steps| {
                    rings::round(ring, bytes, 0, false, steps);
                })
            }
            Collective::ReduceScatter(ReduceScatter::Rings(channels), bytes) => {
                channels.rings(bytes, steps, |ring, bytes, steps| rings::round(ring, bytes, 0, true, steps));
            }
            Collective::AllGather(AllGather::Ring, bytes) => rings::all_gather(bytes, 0, steps),
            Collective::AllGather(AllGather::RecursiveDoubling, bytes) => doubling::all_gather(bytes, steps),
            Collective::AllGather(AllGather::Bruck, bytes) => doubling::bruck_gather(bytes, steps),
            Collective::ReduceScatter(ReduceScatter::Ring, bytes) => rings::reduce_scatter(bytes, steps),
            Collective::ReduceScatter(ReduceScatter::RecursiveHalving, bytes) => doubling::halving(bytes, steps),
            Collective::AllToAll(AllToAll::Linear, bytes) => personal::linear(bytes, steps),
            Collective::AllToAll(AllToAll::Pairwise, bytes) => personal::pairwise(bytes, steps),
            Collective::AllToAll(AllToAll::Bruck, bytes) => personal::bruck(bytes, steps),
        }
    }

    /// Bytes of a vector; 0 for a barrier.
    pub fn bytes(&self) -> u64 {
        match *self {
            Collective::Barrier => 0,
            Collective::Broadcast(_, bytes)
            | Collective::Reduce(bytes)
            | Collective::AllReduce(_, bytes)
            | Collective::AllGather(_, bytes)
            | Collective::ReduceScatter(_, bytes)
            | Collective::AllToAll(_, bytes) => bytes,
        }
    }

    /// The factor between `bytes / time` and the bus bandwidth of nccl-tests (see its doc/PERFORMANCE.md).
    /// For any number of ranks, the link rate is an upper bound of the bus bandwidth.
    pub fn bus_factor(&self, ranks: u32) -> f64 {
        let p = f64::from(ranks);
        match self {
            Collective::Barrier => 0.0,
            Collective::Broadcast(..) | Collective::Reduce(_) => 1.0,
            Collective::AllReduce(..) => 2.0 * (p - 1.0) / p,
            Collective::AllGather(..) | Collective::ReduceScatter(..) | Collective::AllToAll(..) => (p - 1.0) / p,
        }
    }
}
