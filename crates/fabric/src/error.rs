//! Errors of the fabric.

use becalm_workload::Stuck;
use thiserror::Error;

/// An error of the fabric.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum FabricError {
    /// No route.
    #[error("host `{destination}` cannot be reached from host `{source_host}`: no forwarding entry leads there")]
    Unreachable {
        /// Name of the sending host.
        source_host: String,
        /// Name of the receiving host.
        destination: String,
    },
    /// A route that never arrives.
    #[error("packets from `{source_host}` to `{destination}` go in a cycle through switch `{switch}`")]
    RoutingLoop {
        /// Name of the sending host.
        source_host: String,
        /// Name of the receiving host.
        destination: String,
        /// A switch on the cycle.
        switch: String,
    },
    /// Every buffer of a cycle waits for room in the next one.
    #[error("deadlock at {time}: each of these buffers waits for room in the next: {}", cycle.join(" -> "))]
    Deadlock {
        /// When it was found.
        time: String,
        /// The buffers, as `switch[port]`, the first one again at the end.
        cycle: Vec<String>,
    },
    /// A buffer whose headroom is too small: a packet that came after the pause had no room.
    #[error(
        "headroom of {buffer}, VL {vl} is too small: {given} B are given, {needed} B were needed so far; \
         {sum} B are always enough"
    )]
    Overflow {
        /// The buffer, as `switch[port]`.
        buffer: String,
        /// Virtual lane.
        vl: usize,
        /// Bytes that it has.
        given: u32,
        /// Most bytes that were needed.
        needed: u32,
        /// Bytes that follow from rate, delays and packet sizes.
        sum: u32,
    },
    /// A job waits for ever.
    #[error("job `{job}` cannot end: {stuck}")]
    Stuck {
        /// Its name.
        job: String,
        /// An operation that never ends.
        stuck: Stuck,
    },
    /// A guard of the model failed: a bug in becalm, not in the scenario.
    #[error("the model broke its own rule: {0}")]
    Guard(String),
}
