//! Counters and observations of a run.

use becalm_engine::Time;
use becalm_fabric::{FlowId, FlowView, Headroom, PortCounters};
use becalm_metrics::{Frames, Paces, Series, Snapshot, Watch};

use crate::scenario::Scenario;
use becalm_model::Model;

/// All counters at one time.
pub(crate) struct Counters {
    pub time: Time,
    pub flows: Vec<FlowView>,
    pub links: Vec<PortCounters>,
    /// Time in which each link's output has waited for credit.
    pub stalls: Vec<Time>,
    /// The headroom of the buffer behind each link and virtual lane, where it has any; empty with credit.
    pub headrooms: Vec<Option<Headroom>>,
}

impl Counters {
    /// The counters of a model at this time.
    pub fn of(scenario: &Scenario, model: &Model) -> Counters {
        let (links, time) = (&scenario.network.links, model.work().time);
        let pfc = scenario.sections.switch.flow_control.pfc().is_some();
        let lanes = 0..if pfc { scenario.sections.vls() } else { 0 };
        let headrooms = links.iter().flat_map(|link| lanes.clone().map(|vl| model.headroom(link.to, vl)));
        Counters {
            time,
            flows: (0..scenario.plan.flows.len() as u32).map(|i| model.flow(FlowId(i))).collect(),
            links: links.iter().map(|link| model.port(link.from)).collect(),
            stalls: links.iter().map(|link| model.observer(link.from.node).stalls.time(link.from, time)).collect(),
            headrooms: headrooms.collect(),
        }
    }
}

/// The observations of a run.
pub(crate) struct Observed<'a> {
    pub watch: &'a Watch,
    /// The links that series follow, as places in the list of links.
    pub followed: &'a [usize],
    pub series: Series,
    pub paces: Paces,
    pub snapshots: Vec<Snapshot>,
    pub frames: Frames,
}
