//! `[jobs.step]`: a step of training.

use becalm_engine::{Stream, Time};
use becalm_schema::Conflict;
use becalm_workload as workload;

use crate::sections::loads::Experts;
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
    /// Layers with a mixture of experts. In each pass of a microbatch, every rank sends its tokens to their experts (dispatch)
    /// before it computes, and the results come back after it (combination). The experts are distributed over the replicas
    /// in consecutive blocks of equal size; ranks of the same stage and tensor-parallel part share them.
    pub struct StepExperts {
        /// Number of experts of a layer.
        pub count: u32; ""; 1..=1 << 20,
        /// Number of tokens of each rank in a microbatch.
        pub tokens: u32; ""; 1..=1 << 24,
        /// Number of experts to which each token goes.
        pub top: u32 = 1; ""; 1..=1 << 10,
        /// Number of layers with experts in a stage. Their tokens are sent together.
        pub layers: u32 = 1; ""; 1..=1 << 10,
        /// Size of a token on its way to an expert.
        pub token: Payload,
        /// Size of an expert's result for a token; `token` if left out.
        pub result: Option<Payload> = None,
        /// As in `[jobs.all_to_all_v.experts]`.
        pub zipf: f64 = 0.0; ""; 0.0..=10.0,
    }
}

impl StepExperts {
    /// The bytes that ranks exchange in a pass, with this number of replicas.
    ///
    /// # Errors
    /// The reason why this number is not possible.
    fn lowered(&self, replicas: u32, random: &mut Stream) -> Result<workload::ExpertBytes, String> {
        if replicas == 1 || !self.count.is_multiple_of(replicas) {
            return Err(format!(
                "must have a multiple of data = {replicas} experts (at least 2 replicas), not {}",
                self.count
            ));
        }
        let &StepExperts { count, tokens, top, token, zipf, .. } = self;
        let experts = Experts { count, tokens, top, token, zipf, back: false };
        let to = experts.tokens_to(replicas, random);
        let bytes = |each: Payload| to.iter().map(|tokens| tokens * u64::from(self.layers) * each.0).collect();
        Ok(workload::ExpertBytes { dispatch: bytes(token), combine: bytes(self.result.unwrap_or(token)) })
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
        /// Layers with a mixture of experts; none if left out.
        pub experts: Option<StepExperts> = None,
        /// Largest share by which a computation takes longer than given. Each one draws its own, from 0 to this share.
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
    ///
    /// # Errors
    /// The reason why its experts do not suit its replicas.
    pub(crate) fn lowered(&self, reduction_per_byte: f64, random: &mut Stream) -> Result<workload::Training, String> {
        let experts = self.experts.as_ref().map(|experts| experts.lowered(self.data, random)).transpose()?;
        Ok(workload::Training {
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
            experts,
            reduction_per_byte,
        })
    }
}
