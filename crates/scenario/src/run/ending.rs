//! The end of a run that ends with its jobs.

use std::ops::Range;

use becalm_engine::Time;
use becalm_fabric::FlowId;

use super::timeline::Timeline;
use crate::scenario::Scenario;
use crate::sections::run::End;

/// The jobs may end soon if they need less than this share of the time that has passed.
const NEAR: f64 = 1.0 / 64.0;

/// The largest relative error of a packet's rounded transmission time, which is at least 1 ps.
const ROUNDING: f64 = 0.01;

/// Keeps a run from passing the end of its jobs.
///
/// A model that halts after its jobs handles events in the order of their times, which takes longer in a large fabric.
/// As long as the jobs cannot end soon, the run therefore advances in stages that end before they can.
#[derive(Default)]
pub(super) struct Ending {
    /// For each node, the payload of all messages that its ranks send to other hosts.
    bytes: Vec<u64>,
    /// The flows of these messages.
    flows: Range<u32>,
    /// Whether the run may still pass the end of its jobs.
    advances_in_stages: bool,
}

impl Ending {
    pub fn new(scenario: &Scenario) -> Ending {
        if *scenario.sections.run.end != End::Jobs {
            return Ending::default();
        }
        let plan = &scenario.plan;
        let mut bytes = vec![0; scenario.network.topology.nodes().len()];
        for job in plan.jobs.iter().flatten() {
            for (channel, sent) in job.crossing() {
                bytes[job.ends[channel].0.index()] += sent.bytes * sent.count;
            }
        }
        let first = plan.groups.get(scenario.sections.flows.len()).map_or(0, |flows| flows.start);
        Ending { bytes, flows: first..plan.flows.len() as u32, advances_in_stages: true }
    }

    /// A time that the run can reach without passing the end of its jobs. If they may end soon, this is
    /// [`Time::MAX`], and the model halts at their end.
    pub fn limit(&mut self, scenario: &Scenario, timeline: &mut Timeline) -> Time {
        if !self.advances_in_stages {
            return Time::MAX;
        }
        let (now, ahead) = (timeline.now(), self.ahead(scenario, timeline));
        if ahead <= now.scaled(NEAR) {
            self.advances_in_stages = false;
            timeline.model.halt_after_jobs(true);
            return Time::MAX;
        }
        now.saturating_add(ahead)
    }

    /// A time that the jobs need at least. Every byte of their messages must leave its host.
    fn ahead(&self, scenario: &Scenario, timeline: &Timeline) -> Time {
        // A link may become faster, and another adapter may send a message instead.
        if !scenario.sections.changes.is_empty() || !scenario.sections.faults.is_empty() {
            return Time::ZERO;
        }
        let mut left = self.bytes.clone();
        for flow in self.flows.clone() {
            let left = &mut left[scenario.plan.flows[flow as usize].source.index()];
            // Without the headers, less would have been sent.
            *left = left.saturating_sub(timeline.sent_bytes(FlowId(flow)));
        }
        let rates = scenario.network.rates.iter().map(|rate| rate.bytes_per_second());
        let seconds = left.iter().zip(rates).map(|(&bytes, rate)| bytes as f64 / rate);
        // The times of packets are rounded, by less than this.
        Time::from_secs(seconds.fold(0.0, f64::max) * (1.0 - ROUNDING))
    }
}
