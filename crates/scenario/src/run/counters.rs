//! Counters and observations of a run.

use becalm_engine::Time;
use becalm_fabric::{FlowId, FlowView, Headroom, PortCounters};
use becalm_metrics::{Frames, Paces, Series, Snapshot, Watch};

use super::timeline::Timeline;
use crate::scenario::Scenario;

/// The counters of a flow that tables need. They are stored for all flows at the start and at the end of the
/// window.
pub(crate) struct FlowCounters {
    pub sent_packets: u64,
    pub delivered_packets: u64,
    pub delivered_bytes: u64,
    pub delivered_marked: u64,
    pub disordered_packets: u64,
    pub messages_delivered: u64,
    pub posted_bytes: u64,
    pub posted_messages: u64,
    pub dropped_messages: u64,
    /// Total time with endless data, up to the last change of this state.
    greedy_time: Time,
    /// Start of the current period with endless data, if any.
    greedy_since: Option<Time>,
}

impl FlowCounters {
    /// The counters before the run.
    const ZERO: FlowCounters = FlowCounters {
        sent_packets: 0,
        delivered_packets: 0,
        delivered_bytes: 0,
        delivered_marked: 0,
        disordered_packets: 0,
        messages_delivered: 0,
        posted_bytes: 0,
        posted_messages: 0,
        dropped_messages: 0,
        greedy_time: Time::ZERO,
        greedy_since: None,
    };

    /// Total time with endless data, up to now.
    pub fn greedy_until(&self, now: Time) -> Time {
        self.greedy_time + self.greedy_since.map_or(Time::ZERO, |since| now.since(since))
    }
}

impl From<FlowView> for FlowCounters {
    fn from(flow: FlowView) -> FlowCounters {
        FlowCounters {
            sent_packets: flow.sent_packets,
            delivered_packets: flow.delivered_packets,
            delivered_bytes: flow.delivered_bytes,
            delivered_marked: flow.delivered_marked,
            disordered_packets: flow.disordered_packets,
            messages_delivered: flow.messages_delivered,
            posted_bytes: flow.posted_bytes,
            posted_messages: flow.posted_messages,
            dropped_messages: flow.dropped_messages,
            greedy_time: flow.greedy_time,
            greedy_since: flow.greedy_since,
        }
    }
}

/// All counters at one point in time.
pub(crate) struct Counters {
    pub time: Time,
    /// The time of observers, which lacks what was left out.
    pub simulated: Time,
    /// Empty before the run, when all are zero.
    pub flows: Vec<FlowCounters>,
    pub links: Vec<PortCounters>,
    /// Time for which each link's output has waited for credit.
    pub stalls: Vec<Time>,
    /// The headroom of the buffer at the end of each link and virtual lane, if it has any; empty with
    /// credits.
    pub headrooms: Vec<Option<Headroom>>,
}

impl Counters {
    /// The counters of a run at this time.
    pub fn of(scenario: &Scenario, timeline: &Timeline) -> Counters {
        let flows = 0..scenario.plan.flows.len() as u32;
        Counters {
            flows: flows.map(|i| timeline.flow(FlowId(i)).into()).collect(),
            ..Counters::of_links(scenario, timeline)
        }
    }

    /// The counters at the start of the measured window.
    pub fn at_start(scenario: &Scenario, timeline: &Timeline) -> Counters {
        match timeline.now() {
            Time::ZERO => Counters::of_links(scenario, timeline),
            _ => Counters::of(scenario, timeline),
        }
    }

    fn of_links(scenario: &Scenario, timeline: &Timeline) -> Counters {
        let (links, time) = (&scenario.network.links, timeline.now());
        let pfc = scenario.sections.switch.flow_control.pfc().is_some();
        let lanes = 0..if pfc { scenario.sections.vls() } else { 0 };
        let headrooms = links.iter().flat_map(|link| lanes.clone().map(|vl| timeline.model.headroom(link.to, vl)));
        let headrooms = headrooms.collect();
        let (ports, stalls) = (0..links.len()).map(|link| timeline.link(scenario, link)).unzip();
        Counters { time, simulated: timeline.simulated(), flows: Vec::new(), links: ports, stalls, headrooms }
    }
}

impl Counters {
    /// The time that observers counted from here to later counters.
    pub fn simulated_until(&self, after: &Counters) -> Time {
        after.simulated.since(self.simulated)
    }

    /// The counters of all flows at this and at a later time.
    pub fn flows_until<'a>(
        &'a self,
        after: &'a Counters,
    ) -> impl Iterator<Item = (&'a FlowCounters, &'a FlowCounters)> {
        let before = |i: usize| self.flows.get(i).unwrap_or(&FlowCounters::ZERO);
        after.flows.iter().enumerate().map(move |(i, after)| (before(i), after))
    }
}

/// The observations of a run.
pub(crate) struct Observed<'a> {
    pub watch: &'a Watch,
    /// The links that series record, as indices into the list of links.
    pub followed: &'a [usize],
    pub series: Series,
    pub paces: Paces,
    pub snapshots: Vec<Snapshot>,
    pub frames: Frames,
}
