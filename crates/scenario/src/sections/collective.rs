//! `[jobs.collective]`: collective operations.

use becalm_schema::{Choice, Conflict, Field};
use becalm_workload::Collective as Lowered;
use becalm_workload::collectives::{self, Channels};

use crate::sections::quantities::Payload;

becalm_schema::words! {
    /// The algorithm of an all-reduce.
    pub enum AllReduceAlgorithm {
        /// Reduce-scatter and all-gather around a ring.
        Ring = "ring",
        /// Exchanges of the entire vector at doubling distances.
        RecursiveDoubling = "recursive_doubling",
        /// Reduce-scatter with halving vectors, then all-gather with doubling vectors (Rabenseifner).
        HalvingDoubling = "halving_doubling",
        /// As `"halving_doubling"`, but the nearest ranks exchange the largest halves, so that most bytes stay within a node.
        HalvingDoublingNear = "halving_doubling_near",
        /// Two binary trees. Each carries half of the vector in chunks.
        DoubleBinaryTree = "double_binary_tree",
        /// A reduce-scatter within every node, an all-reduce on each rail, and an all-gather within every node, all around
        /// rings.
        Hierarchical = "hierarchical",
    }
}

becalm_schema::words! {
    /// The algorithm of an all-gather.
    pub enum AllGatherAlgorithm {
        /// Around a ring.
        Ring = "ring",
        /// At doubling distances; the number of ranks must be a power of two.
        RecursiveDoubling = "recursive_doubling",
        /// At doubling distances, for any number of ranks.
        Bruck = "bruck",
    }
}

becalm_schema::words! {
    /// The algorithm of a reduce-scatter.
    pub enum ReduceScatterAlgorithm {
        /// Around a ring.
        Ring = "ring",
        /// At halving distances; the number of ranks must be a power of two.
        RecursiveHalving = "recursive_halving",
    }
}

becalm_schema::words! {
    /// The algorithm of an all-to-all.
    pub enum AllToAllAlgorithm {
        /// Every rank sends to all others at once.
        Linear = "linear",
        /// Every rank exchanges data with one other rank per step.
        Pairwise = "pairwise",
        /// A logarithmic number of steps, at doubling distances.
        Bruck = "bruck",
    }
}

becalm_schema::words! {
    /// The algorithm of a broadcast.
    pub enum BroadcastAlgorithm {
        /// Along a binomial tree.
        Binomial = "binomial",
        /// A scatter along a binomial tree, then an all-gather around a ring.
        ScatterAllGather = "scatter_all_gather",
    }
}

becalm_schema::table! {
    /// A barrier with the dissemination algorithm. No rank continues before all ranks have arrived.
    pub struct Barrier {}
}

becalm_schema::table! {
    /// Sends the vector of rank 0 to all ranks.
    pub struct Broadcast {
        /// Size of the vector.
        pub bytes: Payload,
        /// The algorithm.
        pub algorithm: BroadcastAlgorithm = BroadcastAlgorithm::Binomial,
    }
}

becalm_schema::table! {
    /// Sends the sum of all vectors to rank 0, along a binomial tree.
    pub struct Reduce {
        /// Size of each rank's vector.
        pub bytes: Payload,
    }
}

becalm_schema::table! {
    /// Sends the sum of all vectors to all ranks.
    pub struct AllReduce {
        /// Size of each rank's vector.
        pub bytes: Payload,
        /// The algorithm.
        pub algorithm: AllReduceAlgorithm = AllReduceAlgorithm::Ring,
        /// Number of chunks of each half of the vector in a double binary tree, and of pieces of a hierarchical
        /// all-reduce whose phases overlap.
        pub pieces: u32 = 8; ""; 1..=1024,
        /// Number of channels of a job on nodes, each with an equal share of the vector. The rings of channels leave a node
        /// by different NICs. Double binary trees then connect nodes, with a chain of the GPUs within each node.
        pub channels: u32 = 1; ""; 1..=64,
    }
    check AllReduce::check;
}

impl AllReduce {
    fn check(&self) -> Result<(), Conflict> {
        let divides = matches!(self.algorithm, AllReduceAlgorithm::Ring | AllReduceAlgorithm::DoubleBinaryTree);
        channels(self.channels, divides)
    }
}

fn channels(channels: u32, divides: bool) -> Result<(), Conflict> {
    Conflict::unless(divides || channels == 1, "channels", || "does nothing with this algorithm".to_string())
}

becalm_schema::table! {
    /// Sends every rank's part of a vector to all ranks.
    pub struct AllGather {
        /// Size of the entire vector.
        pub bytes: Payload,
        /// The algorithm.
        pub algorithm: AllGatherAlgorithm = AllGatherAlgorithm::Ring,
        /// Number of channels of a job on nodes. Their rings leave a node by different NICs.
        pub channels: u32 = 1; ""; 1..=64,
    }
    check AllGather::check;
}

impl AllGather {
    fn check(&self) -> Result<(), Conflict> {
        channels(self.channels, self.algorithm == AllGatherAlgorithm::Ring)
    }
}

becalm_schema::table! {
    /// Sends a part of the sum of all vectors to each rank.
    pub struct ReduceScatter {
        /// Size of each rank's vector.
        pub bytes: Payload,
        /// The algorithm.
        pub algorithm: ReduceScatterAlgorithm = ReduceScatterAlgorithm::Ring,
        /// Number of channels of a job on nodes. Their rings leave a node by different NICs.
        pub channels: u32 = 1; ""; 1..=64,
    }
    check ReduceScatter::check;
}

impl ReduceScatter {
    fn check(&self) -> Result<(), Conflict> {
        channels(self.channels, self.algorithm == ReduceScatterAlgorithm::Ring)
    }
}

becalm_schema::table! {
    /// Sends a part of every rank's vector to every other rank.
    pub struct AllToAll {
        /// Size of each rank's vector, including the rank's own part.
        pub bytes: Payload,
        /// The algorithm.
        pub algorithm: AllToAllAlgorithm = AllToAllAlgorithm::Pairwise,
    }
}

becalm_schema::choice! {
    /// A collective operation.
    pub enum Collective {
        /// No rank continues before all ranks have arrived.
        Barrier(Barrier) = "barrier",
        /// Sends one rank's vector to all ranks.
        Broadcast(Broadcast) = "broadcast",
        /// Sends the sum to one rank.
        Reduce(Reduce) = "reduce",
        /// Sends the sum to all ranks.
        AllReduce(AllReduce) = "all_reduce",
        /// Sends every rank's part to all ranks.
        AllGather(AllGather) = "all_gather",
        /// Sends a part of the sum to each rank.
        ReduceScatter(ReduceScatter) = "reduce_scatter",
        /// Sends different data from every rank to every other rank.
        AllToAll(AllToAll) = "all_to_all",
    }
}

impl Collective {
    /// The words of the algorithms with which the operation passes a test; empty if it has only one algorithm.
    pub(crate) fn algorithms(&self, per_node: u32, passes: impl Fn(&Lowered) -> bool) -> Vec<&'static str> {
        let words = match self {
            Collective::Barrier(_) | Collective::Reduce(_) => &[],
            Collective::Broadcast(_) => BroadcastAlgorithm::WORDS,
            Collective::AllReduce(_) => AllReduceAlgorithm::WORDS,
            Collective::AllGather(_) => AllGatherAlgorithm::WORDS,
            Collective::ReduceScatter(_) => ReduceScatterAlgorithm::WORDS,
            Collective::AllToAll(_) => AllToAllAlgorithm::WORDS,
        };
        let with = |word: &str| {
            let mut json = self.to_json();
            json[self.name()]["algorithm"] = word.into();
            // Channels divide only some algorithms.
            becalm_schema::read_json::<Collective>(&json, "").ok().map(|other| other.lowered(per_node))
        };
        words.iter().copied().filter(|word| with(word).is_some_and(|other| passes(&other))).collect()
    }

    /// The operation as [`becalm_workload`] represents it, with this number of ranks on each node.
    pub(crate) fn lowered(&self, per_node: u32) -> Lowered {
        let over = |count: u32| Channels { count, per_node };
        match self {
            Collective::Barrier(_) => Lowered::Barrier,
            Collective::Broadcast(p) => {
                let algorithm = match p.algorithm {
                    BroadcastAlgorithm::Binomial => collectives::Broadcast::Binomial,
                    BroadcastAlgorithm::ScatterAllGather => collectives::Broadcast::ScatterAllGather,
                };
                Lowered::Broadcast(algorithm, p.bytes.0)
            }
            Collective::Reduce(p) => Lowered::Reduce(p.bytes.0),
            Collective::AllReduce(p) => {
                let algorithm = match p.algorithm {
                    AllReduceAlgorithm::Ring if p.channels > 1 => collectives::AllReduce::Rings(over(p.channels)),
                    AllReduceAlgorithm::DoubleBinaryTree if p.channels > 1 => {
                        collectives::AllReduce::NodeTrees(over(p.channels), p.pieces)
                    }
                    AllReduceAlgorithm::HalvingDoublingNear => collectives::AllReduce::NearHalvingDoubling,
                    AllReduceAlgorithm::Hierarchical => collectives::AllReduce::Hierarchical(p.pieces, per_node),
                    AllReduceAlgorithm::Ring => collectives::AllReduce::Ring,
                    AllReduceAlgorithm::RecursiveDoubling => collectives::AllReduce::RecursiveDoubling,
                    AllReduceAlgorithm::HalvingDoubling => collectives::AllReduce::HalvingDoubling,
                    AllReduceAlgorithm::DoubleBinaryTree => collectives::AllReduce::DoubleBinaryTree(p.pieces),
                };
                Lowered::AllReduce(algorithm, p.bytes.0)
            }
            Collective::AllGather(p) => {
                let algorithm = match p.algorithm {
                    AllGatherAlgorithm::Ring if p.channels > 1 => collectives::AllGather::Rings(over(p.channels)),
                    AllGatherAlgorithm::Ring => collectives::AllGather::Ring,
                    AllGatherAlgorithm::RecursiveDoubling => collectives::AllGather::RecursiveDoubling,
                    AllGatherAlgorithm::Bruck => collectives::AllGather::Bruck,
                };
                Lowered::AllGather(algorithm, p.bytes.0)
            }
            Collective::ReduceScatter(p) => {
                let algorithm = match p.algorithm {
                    ReduceScatterAlgorithm::Ring if p.channels > 1 => {
                        collectives::ReduceScatter::Rings(over(p.channels))
                    }
                    ReduceScatterAlgorithm::Ring => collectives::ReduceScatter::Ring,
                    ReduceScatterAlgorithm::RecursiveHalving => collectives::ReduceScatter::RecursiveHalving,
                };
                Lowered::ReduceScatter(algorithm, p.bytes.0)
            }
            Collective::AllToAll(p) => {
                let algorithm = match p.algorithm {
                    AllToAllAlgorithm::Linear => collectives::AllToAll::Linear,
                    AllToAllAlgorithm::Pairwise => collectives::AllToAll::Pairwise,
                    AllToAllAlgorithm::Bruck => collectives::AllToAll::Bruck,
                };
                Lowered::AllToAll(algorithm, p.bytes.0)
            }
        }
    }
}
