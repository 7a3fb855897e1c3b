//! What a trace contains, and the fabric that records it.

use becalm_control::{Echoing, Marking, Responding};
use becalm_engine::Time;
use becalm_fabric::Fabric;
use becalm_metrics::calls::{Heard, MarkerCall, ResponseCall};
use becalm_metrics::recorder::Recorder;

/// What is traced; `None` stands for everything.
#[derive(Clone, Debug)]
pub struct TraceSpec {
    /// Numbers of flows, in the order of the table `flows`.
    pub flows: Option<Vec<u32>>,
    /// Numbers of links, in the order of the table `links`.
    pub links: Option<Vec<u32>>,
    /// If set, calls of schemes are traced from time zero: those of the flows' responses, and those of the markers of
    /// these switches, given by their places among the switches.
    pub calls: Option<Vec<u32>>,
    /// Start.
    pub from: Time,
    /// End; the run ends there.
    pub until: Time,
    /// Maximum number of rows in each table.
    pub most: usize,
}

/// The model of a traced run.
pub(super) type Traced = Fabric<Heard<Responding, ResponseCall>, Heard<Marking, MarkerCall>, Echoing, Recorder>;
