//! Collective operations as programs.
//!
//! Source of the schedules: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations in
//! MPICH", IJHPCA 19(1), 2005; the double binary tree: P. Sanders, J. Speck, J. L. Träff, "Two-tree algorithms for full
//! bandwidth broadcast, reduction and scan", Parallel Computing 35(12), 2009.
//!
//! - `steps`: sends and receives of all ranks, step by step. `rings`, `doubling`, `trees`, `personal`: the schedules.

mod doubling;
mod personal;
mod rings;
mod steps;
mod trees;

use becalm_engine::Time;

use crate::builder::Builder;
use crate::error::ProgramError;
use crate::program::Program;
use steps::Steps;

/// How an all-reduce goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllReduce {
    /// Reduce-scatter and all-gather round a ring.
    Ring,
    /// Exchanges of the whole vector with ranks at doubling distances.
    RecursiveDoubling,
    /// Reduce-scatter with halving, all-gather with doubling vectors (Rabenseifner).
    HalvingDoubling,
    /// Two binary trees with half of the vector each, in this many pieces.
    DoubleBinaryTree(u32),
}

/// How an all-gather goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllGather {
    /// Round a ring.
    Ring,
    /// With ranks at doubling distances; needs a power of two of ranks.
    RecursiveDoubling,
    /// To ranks at doubling distances, for any number of ranks.
    Bruck,
}

/// How a reduce-scatter goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReduceScatter {
    /// Round a ring.
    Ring,
    /// With ranks at halving distances; needs a power of two of ranks.
    RecursiveHalving,
}

/// How an all-to-all goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllToAll {
    /// All messages at once.
    Linear,
    /// With one rank after the other.
    Pairwise,
    /// In few steps with ranks at doubling distances.
    Bruck,
}

/// How a broadcast goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broadcast {
    /// Along a binomial tree.
    Binomial,
    /// A scatter along a binomial tree, then an all-gather round a ring.
    ScatterAllGather,
}

/// A collective operation. Bytes are the vector of one rank; of an all-gather and an all-to-all, the total of one rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collective {
    /// No rank goes on before all have come (dissemination).
    Barrier,
    /// One rank's vector to all.
    Broadcast(Broadcast, u64),
    /// The sum of all vectors to one rank, along a binomial tree.
    Reduce(u64),
    /// The sum of all vectors to all ranks.
    AllReduce(AllReduce, u64),
    /// Everybody's part of a vector to all ranks.
    AllGather(AllGather, u64),
    /// A part of the sum of all vectors to each rank.
    ReduceScatter(ReduceScatter, u64),
    /// A part of every rank's vector to every other one.
    AllToAll(AllToAll, u64),
}

/// How often a collective is done, and what is computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Repetition {
    /// How often.
    pub times: u32,
    /// What every rank computes before each.
    pub compute: Time,
    /// Picoseconds that the reduction of a byte takes.
    pub reduction_per_byte: f64,
}

impl Collective {
    /// Checks that this number of ranks suits the algorithm.
    ///
    /// # Errors
    /// The reason why it does not.
    pub fn suits(&self, ranks: u32) -> Result<(), String> {
        let power = matches!(
            self,
            Collective::AllGather(AllGather::RecursiveDoubling, _)
                | Collective::ReduceScatter(ReduceScatter::RecursiveHalving, _)
        );
        match ranks {
            0 | 1 => Err(format!("needs at least 2 ranks, not {ranks}")),
            _ if power && !ranks.is_power_of_two() => Err(format!("needs a power of two of ranks, not {ranks}")),
            _ => Ok(()),
        }
    }

    /// The program of this many ranks.
    ///
    /// # Errors
    /// [`ProgramError::NoRanks`] or [`ProgramError::TooLong`].
    pub fn program(&self, ranks: u32, repetition: &Repetition) -> Result<Program, ProgramError> {
        if ranks == 0 {
            return Err(ProgramError::NoRanks);
        }
        let mut steps = Steps::new(Builder::new(ranks), repetition.reduction_per_byte);
        for _ in 0..repetition.times {
            steps.compute(repetition.compute);
            self.add_to(&mut steps);
            if steps.is_too_long() {
                return Err(ProgramError::TooLong);
            }
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

    /// The factor from `bytes / time` to the bus bandwidth of nccl-tests (doc/PERFORMANCE.md there), which the rate of a
    /// link bounds whatever the number of ranks.
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
