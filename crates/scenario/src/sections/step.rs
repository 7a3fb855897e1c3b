//! `[jobs.step]`: a step of training.

use becalm_engine::Time;
use becalm_schema::Conflict;
use becalm_workload as workload;

use crate::sections::quantities::Payload;

becalm_schema::words! {
    /// The order of forward and backward passes in a pipeline.
    pub enum PipelineSchedule {
        /// As few forward passes as possible before each backward pass (1F1B).
        OneForwardOneBackward = "1f1b",
        /// All forward passes, then all backward passes.
        GPipe = "gpipe",
    }
}

becalm_schema::table! {
    /// Bytes that ranks exchange in a step of training.
    pub struct StepBytes {
        /// Vector that the tensor-parallel ranks of a stage all-reduce after each pass of a microbatch, for all layers of the
        /// stage together.
        pub tensor: Payload = Payload(0),
        /// Message of a rank to the next stage after each forward pass, and to the stage before after each backward pass.
        pub pipeline: Payload = Payload(0),
        /// Gradients of a rank, which the replicas all-reduce at the end of the step.
        pub data: Payload = Payload(0),
    }
}

becalm_schema::table! {
    /// Ranks that compute slowly.
    pub struct Slow {
        /// Numbers of the ranks.
        pub ranks: Vec<u32>,
        /// Factor by which their computations take longer.
        pub factor: f64; ""; 1.0..=1000.0,
    }
}

becalm_schema::table! {
    /// A step of training a model with tensor, pipeline and data parallelism, as in Megatron-LM. All collective operations
    /// of the step go around rings.
    ///
    /// The ranks are numbered by tensor-parallel part, then by replica, then by stage. A step ends when all replicas have
    /// the sum of the gradients.
    pub struct Step {
        /// Number of ranks that divide each layer.
        pub tensor: u32 = 1; ""; 1..=1 << 16,
        /// Number of pipeline stages.
        pub pipeline: u32 = 1; ""; 1..=1 << 16,
        /// Number of replicas.
        pub data: u32 = 1; ""; 1..=1 << 16,
        /// Number of microbatches of each replica in a step.
        pub microbatches: u32 = 1; ""; 1..=1 << 16,
        /// Order of passes.
        pub schedule: PipelineSchedule = PipelineSchedule::OneForwardOneBackward,
        /// Computation time of a rank for the forward pass of a microbatch.
        pub forward: Time,
        /// Computation time of a rank for the backward pass of a microbatch.
        pub backward: Time,
        /// Bytes that ranks exchange.
        pub bytes: StepBytes = StepBytes::default(),
        /// Largest share by which a computation takes longer than given. Each computation of each rank draws its own, from
        /// 0 to this share, by `run.seed`.
        pub skew: f64 = 0.0; ""; 0.0..=100.0,
        /// Ranks that compute slowly.
        pub slow: Vec<Slow> = Vec::new(),
    }
    check Step::check;
}

impl Step {
    /// Reports bytes of a dimension that has only one rank.
    fn check(&self) -> Result<(), Conflict> {
        let alone = [
            ("bytes.tensor", self.bytes.tensor, self.tensor),
            ("bytes.pipeline", self.bytes.pipeline, self.pipeline),
            ("bytes.data", self.bytes.data, self.data),
        ];
        for (key, bytes, ranks) in alone {
            Conflict::unless(bytes.0 == 0 || ranks > 1, key, || {
                let name = key.trim_start_matches("bytes.");
                format!("does nothing with {name} = 1")
            })?;
        }
        let unknown = self.slow.iter().flat_map(|slow| &slow.ranks).find(|&&rank| u64::from(rank) >= self.ranks());
        Conflict::unless(unknown.is_none(), "slow", || {
            let (rank, last) = (unknown.unwrap_or(&0), self.ranks() - 1);
            format!("there is no rank {rank}; the ranks are 0 to {last}")
        })
    }

    /// Number of ranks.
    pub(crate) fn ranks(&self) -> u64 {
        [self.tensor, self.pipeline, self.data].into_iter().map(u64::from).product()
    }

    /// The factor by which computations of a rank take longer, without the skew.
    pub(crate) fn slowness(&self, rank: u32) -> f64 {
        let of_rank = self.slow.iter().filter(|slow| slow.ranks.contains(&rank));
        of_rank.map(|slow| slow.factor).product()
    }

    /// The step as [`becalm_workload`] represents it.
    pub(crate) fn lowered(&self, reduction_per_byte: f64) -> workload::Training {
        workload::Training {
            tensor: self.tensor,
            pipeline: self.pipeline,
            data: self.data,
            microbatches: self.microbatches,
            schedule: match self.schedule {
                PipelineSchedule::GPipe => workload::Schedule::GPipe,
                PipelineSchedule::OneForwardOneBackward => workload::Schedule::OneForwardOneBackward,
            },
            forward: self.forward,
            backward: self.backward,
            tensor_bytes: self.bytes.tensor.0,
            pipeline_bytes: self.bytes.pipeline.0,
            data_bytes: self.bytes.data.0,
            reduction_per_byte,
        }
    }
}
