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
    /// Its start.
    pub start: Time,
    /// The host of every rank.
    pub hosts: Vec<NodeId>,
    /// The pairs of ranks on different hosts that exchange messages: the sender and the receiver, in rising order.
    pub pairs: Vec<(u32, u32)>,
    /// The flow of the first pair; the others follow. The flows of jobs come after all others.
    pub first_flow: FlowId,
    /// Time that a rank works on a send or a receive.
    pub overhead: Time,
    /// Picoseconds that it works on each byte, beyond that.
    pub overhead_per_byte: f64,
    /// Time that a message between ranks of one host takes, beyond that of its bytes.
    pub local_latency: Time,
    /// Rate at which messages of a pair of ranks on one host are copied, one after the other; `None`: in no time.
    pub local_rate: Option<Rate>,
    /// Whether the times of all operations are recorded.
    pub record: bool,
}
