//! The specification of a job.

use std::sync::Arc;

use becalm_engine::Time;
use becalm_workload::Program;

use crate::ids::{FlowId, NodeId};
use crate::network::link::Rate;

/// A job: a program whose ranks run on hosts.
#[derive(Clone, Debug)]
pub struct JobSpec {
    /// The program.
    pub program: Arc<Program>,
    /// Start time.
    pub start: Time,
    /// The host of each rank.
    pub hosts: Vec<NodeId>,
    /// The pairs of ranks on different hosts that exchange messages, as (sender, receiver) in ascending
    /// order.
    pub pairs: Vec<(u32, u32)>,
    /// The flow of the first pair. The other pairs' flows follow in order. Jobs' flows come after all others.
    pub first_flow: FlowId,
    /// Time that a rank needs for a send or a receive.
    pub overhead: Time,
    /// Additional time per byte, in picoseconds.
    pub overhead_per_byte: f64,
    /// Latency of a message between ranks on one host, in addition to the time for its bytes.
    pub local_latency: Time,
    /// Rate at which the messages of a pair of ranks on one host are copied, one at a time; `None` for no
    /// delay.
    pub local_rate: Option<Rate>,
    /// Whether to record the times of all operations.
    pub record: bool,
}
