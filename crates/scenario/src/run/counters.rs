//! Counters and observations of a run.

use becalm_engine::Time;
use becalm_fabric::{FlowId, FlowView, Headroom, PortCounters};
use becalm_metrics::{Frames, Paces, Series, Snapshot, Watch};

use super::timeline::Timeline;
use crate::scenario::Scenario;

/// The counters of a flow that tables need. They are stored for all flows at the start of the window.
#[derive(Clone, Copy)]
struct FlowCounters {
    sent_packets: u64,
    delivered_packets: u64,
    delivered_bytes: u64,
    delivered_marked: u64,
    disordered_packets: u64,
    messages_delivered: u64,
    posted_bytes: u64,
    dropped_messages: u64,
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
        dropped_messages: 0,
        greedy_time: Time::ZERO,
        greedy_since: None,
    };

    /// Total time with endless data in seconds, up to now.
    fn greedy_until(&self, now: Time) -> f64 {
        (self.greedy_time + self.greedy_since.map_or(Time::ZERO, |since| now.since(since))).as_secs()
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
            dropped_messages: flow.dropped_messages,
            greedy_time: flow.greedy_time,
            greedy_since: flow.greedy_since,
        }
    }
}

/// What every flow did in the measured window. Lists have one value for each flow.
///
/// With many flows, the lists are large. They become columns of tables without a copy.
#[derive(Default)]
pub(crate) struct FlowCounts {
    pub sent_packets: Vec<u64>,
    pub delivered_packets: Vec<u64>,
    pub delivered_bytes: Vec<u64>,
    pub messages: Vec<u64>,
    pub marked: Vec<u64>,
    pub out_of_order: Vec<u64>,
    pub dropped: Vec<u64>,
    pub posted_bytes: Vec<u64>,
    /// Time with endless data in seconds.
    pub greedy: Vec<f64>,
    /// Messages of each group that were posted but not delivered by the end, even if before the window.
    pub unfinished: Vec<u64>,
}

impl FlowCounts {
    /// What flows did since `before`.
    pub fn since(before: &Counters, scenario: &Scenario, timeline: &Timeline) -> FlowCounts {
        let flows = scenario.plan.flows.len();
        let mut counts = FlowCounts::with_room(flows);
        counts.unfinished = vec![0; scenario.plan.groups.len()];
        for (flow, planned) in scenario.plan.flows.iter().enumerate() {
            let view = timeline.flow(FlowId(flow as u32));
            let unfinished = view.posted_messages.saturating_sub(view.messages_delivered);
            counts.unfinished[planned.group as usize] += unfinished;
            let start = before.flows.get(flow).unwrap_or(&FlowCounters::ZERO);
            counts.push((start, before.time), (&view.into(), timeline.now()));
        }
        counts
    }

    fn with_room(flows: usize) -> FlowCounts {
        let counts = || Vec::with_capacity(flows);
        FlowCounts {
            sent_packets: counts(),
            delivered_packets: counts(),
            delivered_bytes: counts(),
            messages: counts(),
            marked: counts(),
            out_of_order: counts(),
            dropped: counts(),
            posted_bytes: counts(),
            greedy: Vec::with_capacity(flows),
            unfinished: Vec::new(),
        }
    }

    fn push(&mut self, (start, from): (&FlowCounters, Time), (end, until): (&FlowCounters, Time)) {
        self.sent_packets.push(end.sent_packets - start.sent_packets);
        self.delivered_packets.push(end.delivered_packets - start.delivered_packets);
        self.delivered_bytes.push(end.delivered_bytes - start.delivered_bytes);
        self.messages.push(end.messages_delivered - start.messages_delivered);
        self.marked.push(end.delivered_marked - start.delivered_marked);
        self.out_of_order.push(end.disordered_packets - start.disordered_packets);
        self.dropped.push(end.dropped_messages - start.dropped_messages);
        // A message that is posted again by another port no longer counts at its first.
        self.posted_bytes.push(end.posted_bytes.saturating_sub(start.posted_bytes));
        self.greedy.push(end.greedy_until(until) - start.greedy_until(from));
    }
}

/// All counters at one point in time.
pub(crate) struct Counters {
    pub time: Time,
    /// The time of observers, which lacks what was left out.
    pub simulated: Time,
    /// Those at the start of the window; empty before the run, when all are zero, and at the end.
    flows: Vec<FlowCounters>,
    pub links: Vec<PortCounters>,
    /// Time for which each link's output has waited for credit.
    pub stalls: Vec<Time>,
    /// The headroom of the buffer at the end of each link and virtual lane, if it has any; empty with
    /// credits.
    pub headrooms: Vec<Option<Headroom>>,
}

impl Counters {
    /// The counters at the start of the measured window.
    pub fn at_start(scenario: &Scenario, timeline: &Timeline) -> Counters {
        let flows = 0..if timeline.now() == Time::ZERO { 0 } else { scenario.plan.flows.len() as u32 };
        let flows = flows.map(|i| timeline.flow(FlowId(i)).into()).collect();
        Counters { flows, ..Counters::at_end(scenario, timeline) }
    }

    /// The counters at the end, without those of flows; see [`FlowCounts`].
    pub fn at_end(scenario: &Scenario, timeline: &Timeline) -> Counters {
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
