//! The contents of a trace, and the fabric that records it.

use becalm_control::{Echoing, Marking, Responding};
use becalm_engine::Time;
use becalm_fabric::Fabric;
use becalm_metrics::calls::{Heard, MarkerCall, ResponseCall};
use becalm_metrics::recorder::Recorder;

/// The contents of a trace; `None` means everything.
#[derive(Clone, Debug)]
pub struct TraceSpec {
    /// Numbers of flows, in the order of the table `flows`.
    pub flows: Option<Vec<u32>>,
    /// Numbers of links, in the order of the table `links`.
    pub links: Option<Vec<u32>>,
    /// If set, calls of schemes are traced from time zero: calls of the flows' responses, and of the markers
    /// of these switches. Switches are indices into the list of switches.
    pub calls: Option<Vec<u32>>,
    /// Start time.
    pub from: Time,
    /// End time of the trace and of the run.
    pub until: Time,
    /// Maximum number of rows in each table.
    pub most: usize,
}

/// The model of a traced run.
pub(super) type Traced = Fabric<Heard<Responding, ResponseCall>, Heard<Marking, MarkerCall>, Echoing, Recorder>;
