//! The specification of a job.

use std::sync::Arc;

use becalm_engine::Time;
use becalm_workload::{Channel, Program};

use crate::ids::{FlowId, NodeId};
use crate::network::link::Rate;

/// A job: a program whose ranks run on hosts.
#[derive(Clone, Debug)]
pub struct JobSpec {
    /// The program.
    pub program: Arc<Program>,
    /// Start time.
    pub start: Time,
    /// The host of each rank. A rank of a node with several adapters has the first of them.
    pub hosts: Vec<NodeId>,
    /// Hosts that one thread must handle, because they are adapters of one node.
    pub together: Vec<(NodeId, NodeId)>,
    /// The channels of the program that cross the fabric, in ascending order.
    pub channels: Arc<[Channel]>,
    /// The flow of the first channel. The other channels' flows follow in order. Jobs' flows come after all others.
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
    /// Index of a [steady](crate::policy::Response::is_steady) response that all flows of all jobs have, each with a pacer
    /// of its own. Their state is then made when they first carry a message. It must be the last response, and every other
    /// flow must have the response of the same number.
    pub steady: Option<u32>,
}
