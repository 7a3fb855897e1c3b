//! Errors of the fabric.

use becalm_workload::Stuck;
use thiserror::Error;

/// An error of the fabric.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum FabricError {
    /// No route exists.
    #[error("host `{destination}` cannot be reached from host `{source_host}`: no forwarding entry leads there")]
    Unreachable {
        /// Name of the sending host.
        source_host: String,
        /// Name of the receiving host.
        destination: String,
    },
    /// A route loops and never arrives.
    #[error("packets from `{source_host}` to `{destination}` loop through switch `{switch}`")]
    RoutingLoop {
        /// Name of the sending host.
        source_host: String,
        /// Name of the receiving host.
        destination: String,
        /// A switch on the cycle.
        switch: String,
    },
    /// Every buffer in a cycle waits for space in the next one.
    #[error(
        "deadlock at {time}: {stopped} of {flows} flows stopped; cycle of buffers, each of which waits for space in \
         the next: {}",
        cycle.join(" -> ")
    )]
    Deadlock {
        /// Time at which the deadlock was found.
        time: String,
        /// Number of flows with data packets that never move again.
        stopped: usize,
        /// Number of all flows.
        flows: usize,
        /// The buffers, as `switch[port]`; the first is repeated at the end.
        cycle: Vec<String>,
    },
    /// The headroom of a buffer is too small: a packet that arrived after the pause did not fit.
    #[error(
        "headroom of {buffer}, VL {vl}, is too small: it is {given} B, but at least {needed} B is needed; \
         {sum} B is always enough"
    )]
    Overflow {
        /// The buffer, as `switch[port]`.
        buffer: String,
        /// Virtual lane.
        vl: usize,
        /// Bytes of headroom that the buffer has.
        given: u32,
        /// Maximum headroom needed so far, in bytes.
        needed: u32,
        /// Sufficient headroom in bytes, calculated from rate, delays and packet sizes.
        sum: u32,
    },
    /// A job waits forever.
    #[error("job `{job}` cannot end: {stuck}")]
    Stuck {
        /// Name of the job.
        job: String,
        /// An operation that never ends.
        stuck: Stuck,
    },
    /// An invariant of the model was violated: a bug in becalm, not in the scenario.
    #[error("an invariant of the model was violated: {0}")]
    Guard(String),
}
