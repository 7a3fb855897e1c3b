//! A step of training a model whose layers are divided among tensor-parallel ranks, pipeline stages and data-parallel
//! replicas.
//!
//! Source: D. Narayanan et al., "Efficient large-scale language model training on GPU clusters using Megatron-LM", SC 2021:
//! the order of ranks (tensor, then data, then pipeline) and the schedules of the pipeline. Without waits, a step takes
//! `(microbatches + stages - 1)` times a forward and a backward pass with their all-reduces, and the all-reduce of
//! gradients.

use becalm_engine::Time;

use crate::builder::Builder;
use crate::collectives::{Steps, all_reduce_of, at_once_among};
use crate::error::ProgramError;
use crate::program::Program;

/// The order of forward and backward passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// All forward passes, then all backward passes.
    GPipe,
    /// As few forward passes as possible before each backward pass.
    OneForwardOneBackward,
}

/// The bytes that experts receive. The experts of a layer are distributed over the replicas of a tensor-parallel part.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpertBytes {
    /// Bytes that every rank sends to the experts of each replica in a pass, for all layers of a stage together.
    pub dispatch: Vec<u64>,
    /// Bytes that come back from each replica.
    pub combine: Vec<u64>,
}

/// A step of training.
#[derive(Clone, Debug, PartialEq)]
pub struct Training {
    /// Number of ranks that divide each layer.
    pub tensor: u32,
    /// Number of pipeline stages.
    pub pipeline: u32,
    /// Number of replicas.
    pub data: u32,
    /// Number of microbatches of each replica.
    pub microbatches: u32,
    /// The order of passes.
    pub schedule: Schedule,
    /// Computation time of a stage for the forward pass of a microbatch.
    pub forward: Time,
    /// Computation time of a stage for the backward pass of a microbatch.
    pub backward: Time,
    /// Bytes that the ranks of a layer all-reduce in each pass.
    pub tensor_bytes: u64,
    /// Bytes that a rank sends to the next stage, or to the stage before, in each pass.
    pub pipeline_bytes: u64,
    /// Bytes of a rank's gradients, which replicas all-reduce at the end.
    pub data_bytes: u64,
    /// Tokens of a mixture of experts, if the model has one.
    pub experts: Option<ExpertBytes>,
    /// Time for the reduction of a byte, in picoseconds.
    pub reduction_per_byte: f64,
}

/// Passes of a microbatch, both numbered from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pass {
    Forward(u32),
    Backward(u32),
}

impl Training {
    /// Number of ranks.
    pub fn ranks(&self) -> u64 {
        [self.tensor, self.pipeline, self.data].into_iter().map(u64::from).product()
    }

    /// Number of operations of a program with this number of steps, or a little more.
    pub fn operations(&self, times: u32) -> u64 {
        let [tensor, data, passes] = [self.tensor, self.data, 2 * self.microbatches].map(u64::from);
        let ring = |ranks: u64| 5 * 2 * (ranks - 1);
        // Dispatch and combination: a send and a receive for every other replica.
        let experts = if self.experts.is_some() { 4 * data } else { 0 };
        self.ranks().saturating_mul(passes * (3 + ring(tensor) + experts) + ring(data)).saturating_mul(times.into())
    }

    /// The program with this number of steps, one after the other. `slowness` is the factor by which a rank's computations
    /// take longer; it is called for every computation.
    ///
    /// # Errors
    /// [`ProgramError::NoRanks`] or [`ProgramError::TooLong`].
    pub fn program(&self, times: u32, mut slowness: impl FnMut(u32) -> f64) -> Result<Program, ProgramError> {
        let mut steps = Steps::new(Builder::new(self.ranks() as u32), self.reduction_per_byte);
        for _ in 0..times {
            let first = steps.reserve_tags(2 * self.pipeline * self.microbatches);
            for stage in 0..self.pipeline {
                for pass in self.passes(stage) {
                    self.pass(stage, pass, first, &mut slowness, &mut steps);
                }
            }
            self.reduce_gradients(&mut steps);
        }
        steps.into_builder().build()
    }

    fn rank(&self, stage: u32, replica: u32, part: u32) -> u32 {
        (stage * self.data + replica) * self.tensor + part
    }

    /// The passes of a stage in their order.
    fn passes(&self, stage: u32) -> Vec<Pass> {
        let early = match self.schedule {
            Schedule::GPipe => self.microbatches,
            Schedule::OneForwardOneBackward => (self.pipeline - 1 - stage).min(self.microbatches),
        };
        let mut passes: Vec<Pass> = (0..early).map(Pass::Forward).collect();
        for i in 0..self.microbatches {
            passes.extend((early + i < self.microbatches).then_some(Pass::Forward(early + i)));
            passes.push(Pass::Backward(i));
        }
        passes
    }

    /// Adds a pass of a stage. The ranks do not wait until the result has left.
    fn pass(&self, stage: u32, pass: Pass, first_tag: u32, slowness: &mut impl FnMut(u32) -> f64, steps: &mut Steps) {
        let last = self.pipeline - 1;
        let (time, before, after) = match pass {
            Pass::Forward(_) => (self.forward, stage.checked_sub(1), (stage < last).then_some(stage + 1)),
            Pass::Backward(_) => (self.backward, (stage < last).then_some(stage + 1), stage.checked_sub(1)),
        };
        // A tag names the microbatch and the receiving stage.
        let tag = |stage: u32| match pass {
            Pass::Forward(i) => first_tag + i * self.pipeline + stage,
            Pass::Backward(i) => first_tag + (self.microbatches + i) * self.pipeline + stage,
        };
        let group = |replica: u32| (0..self.tensor).map(move |part| (part, self.rank(stage, replica, part)));
        if let Some(other) = before {
            for (replica, (part, rank)) in
                (0..self.data).flat_map(|replica| group(replica).map(move |of| (replica, of)))
            {
                let from = (self.rank(other, replica, part), self.pipeline_bytes);
                steps.step(rank, tag(stage), None, Some(from), false);
            }
        }
        self.exchange(stage, |experts, _, to| experts.dispatch[to as usize], steps);
        for (_, rank) in (0..self.data).flat_map(group) {
            steps.compute_on(rank, time.scaled(slowness(rank)));
        }
        self.exchange(stage, |experts, from, _| experts.combine[from as usize], steps);
        for replica in 0..self.data {
            let ranks: Vec<u32> = group(replica).map(|(_, rank)| rank).collect();
            if self.tensor_bytes > 0 {
                all_reduce_of(&ranks, self.tensor_bytes, steps);
            }
            for (part, &rank) in (0u32..).zip(&ranks) {
                if let Some(other) = after {
                    let to = (self.rank(other, replica, part), self.pipeline_bytes);
                    let done = steps.last(rank);
                    steps.send(rank, tag(other), to, &done);
                }
            }
        }
    }

    /// Adds an all-to-all among the replicas of each part of a stage, if the model has experts. `size` is the bytes from one
    /// replica to another.
    fn exchange(&self, stage: u32, size: fn(&ExpertBytes, u32, u32) -> u64, steps: &mut Steps) {
        let Some(experts) = &self.experts else { return };
        for part in 0..self.tensor {
            let replicas: Vec<u32> = (0..self.data).map(|replica| self.rank(stage, replica, part)).collect();
            at_once_among(&replicas, |from, to| size(experts, from, to), steps);
        }
    }

    fn reduce_gradients(&self, steps: &mut Steps) {
        if self.data_bytes == 0 {
            return;
        }
        for stage in 0..self.pipeline {
            for part in 0..self.tensor {
                let replicas: Vec<u32> = (0..self.data).map(|replica| self.rank(stage, replica, part)).collect();
                all_reduce_of(&replicas, self.data_bytes, steps);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loggops::LogGops;

    const STEP: Training = Training {
        tensor: 2,
        pipeline: 4,
        data: 2,
        microbatches: 6,
        schedule: Schedule::GPipe,
        forward: Time::from_us(10),
        backward: Time::from_us(20),
        tensor_bytes: 2000,
        pipeline_bytes: 100,
        data_bytes: 8000,
        experts: None,
        reduction_per_byte: 0.0,
    };

    fn time(step: &Training, slowness: impl FnMut(u32) -> f64) -> Time {
        let program = step.program(1, slowness).unwrap();
        assert!(program.len() as u64 <= step.operations(1), "{} of {}", program.len(), step.operations(1));
        LogGops::FREE.ends(&program).unwrap().into_iter().max().unwrap()
    }

    #[test]
    fn a_step_has_the_bubble_of_its_pipeline() {
        for schedule in [Schedule::GPipe, Schedule::OneForwardOneBackward] {
            let step = Training { schedule, ..STEP };
            assert_eq!(time(&step, |_| 1.0), Time::from_us((6 + 4 - 1) * 30));
        }
        let alone = Training { pipeline: 1, data: 1, tensor: 1, ..STEP };
        assert_eq!(time(&alone, |_| 1.0), Time::from_us(6 * 30));
    }

    #[test]
    fn a_slow_rank_delays_all() {
        let slow = |rank| if rank == 5 { 1.5 } else { 1.0 };
        // Its stage takes 45 us for each microbatch, and the other stages' passes of one microbatch come in addition.
        assert_eq!(time(&STEP, slow), Time::from_us(6 * 45 + 3 * 30));
    }

    #[test]
    fn experts_exchange_tokens_among_replicas_in_each_pass() {
        let experts = ExpertBytes { dispatch: vec![300, 100], combine: vec![600, 200] };
        let step = Training { experts: Some(experts), ..STEP };
        assert_eq!(time(&step, |_| 1.0), time(&STEP, |_| 1.0));
        let (plain, program) = (STEP.program(1, |_| 1.0).unwrap(), step.program(1, |_| 1.0).unwrap());
        // Part 0 of stage 1 in both replicas: 12 passes, tokens to the other replica and results from this one.
        let more = |from, to| program.bytes(from, to) - plain.bytes(from, to);
        assert_eq!((more(4, 6), more(6, 4)), (12 * (100 + 600), 12 * (300 + 200)));
        assert_eq!((more(4, 5), more(4, 8)), (0, 0));
    }

    #[test]
    fn bytes_are_those_of_the_three_dimensions() {
        let program = STEP.program(2, |_| 1.0).unwrap();
        // Two of the ranks of stage 1, replica 0.
        let sent = |to| program.bytes(4, to);
        let (passes, passed) = (2 * 2 * 6, 2 * 6 * 100);
        assert_eq!((sent(5), sent(8), sent(0), sent(6)), (passes * 2000, passed, passed, 2 * 8000));
    }
}
