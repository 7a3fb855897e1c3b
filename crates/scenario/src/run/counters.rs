//! Counters and observations of a run.

use becalm_engine::Time;
use becalm_fabric::{FlowView, PortCounters};
use becalm_metrics::{Paces, Series, Snapshot, Watch};

/// All counters at one time.
pub(crate) struct Counters {
    pub time: Time,
    pub flows: Vec<FlowView>,
    pub links: Vec<PortCounters>,
}

/// The observations of a run.
pub(crate) struct Observed<'a> {
    pub watch: &'a Watch,
    /// The links that series follow, as places in the list of links.
    pub followed: &'a [usize],
    pub series: Series,
    pub paces: Paces,
    pub snapshots: Vec<Snapshot>,
}
