//! Frames of a run, which contain the state of all links at equal intervals.

use becalm_engine::Time;
use becalm_fabric::{FlowId, PortCounters};
use becalm_metrics::Frames;
use becalm_metrics::frames::State;

use super::timeline::Timeline;
use crate::resolve::Link;
use crate::scenario::Scenario;
use crate::sections::observe::FrameStep;
use becalm_model::Model;

/// Records the frames of a run.
pub(super) struct Film {
    frames: Frames,
    step: Option<Time>,
    /// Whether the interval doubles when there are too many frames.
    auto: bool,
    taken: u64,
    /// Whether nothing is left to record except the rest of the last frame.
    over: bool,
    last: Time,
    links: Vec<(PortCounters, Time)>,
    /// Delivered bytes, packets and marked packets of the groups.
    groups: Vec<[u64; 3]>,
}

impl Film {
    /// A recorder without frames.
    pub fn new(scenario: &Scenario) -> Film {
        let frames = *scenario.sections.observe.frames;
        let step = frames.map(|step| match step {
            FrameStep::Every(step) => step,
            FrameStep::Auto => first_step(scenario),
        });
        let links = if step.is_some() { scenario.network.links.len() } else { 0 };
        Film {
            frames: Frames::default(),
            step,
            auto: frames == Some(FrameStep::Auto),
            taken: 0,
            over: false,
            last: Time::ZERO,
            links: vec![(PortCounters::default(), Time::ZERO); links],
            groups: vec![[0; 3]; scenario.plan.groups.len()],
        }
    }

    /// The time of the next frame; `None` if no frames are requested.
    pub fn next(&self) -> Option<Time> {
        self.step.filter(|_| !self.over).map(|step| self.last.saturating_add(step))
    }

    /// Takes the next frame. Then merges every two frames and doubles the interval, if there are too many.
    pub fn take(&mut self, scenario: &Scenario, time: Time, timeline: &Timeline) {
        self.record(scenario, time, timeline);
        if !self.auto {
            return;
        }
        self.over = scenario.has_ended(&timeline.model, time);
        self.taken += 1;
        if self.taken == FrameStep::MOST {
            self.frames.merge_pairs(scenario.sections.vls().into(), self.groups.len());
            self.taken /= 2;
            self.step = self.step.map(|step| step + step);
        }
    }

    fn record(&mut self, scenario: &Scenario, time: Time, timeline: &Timeline) {
        let passed = time.since(self.last);
        let links = 0..scenario.network.links.len();
        let now: Vec<_> = links.map(|link| timeline.link(scenario, link)).collect();
        for vl in 0..scenario.sections.vls() {
            let links = scenario.network.links.iter().zip(self.links.iter().zip(&now));
            let states = links.map(|(link, (before, after))| state(&timeline.model, link, vl, before, after, passed));
            self.frames.push(time, vl, states);
        }
        for ((number, flows), before) in (0u32..).zip(&scenario.plan.groups).zip(&mut self.groups) {
            let views = flows.clone().map(|i| timeline.flow(FlowId(i)));
            let after = views.fold([0; 3], |[bytes, packets, marked], flow| {
                [bytes + flow.delivered_bytes, packets + flow.delivered_packets, marked + flow.delivered_marked]
            });
            let [bytes, packets, marked] = [0, 1, 2].map(|i| (after[i] - before[i]) as f64);
            self.frames.push_group(time, number, bytes / passed.as_secs(), marked / packets);
            *before = after;
        }
        (self.links, self.last) = (now, time);
    }

    /// Takes the last frame at the end of the run, if frames are requested.
    pub fn end(&mut self, scenario: &Scenario, time: Time, timeline: &Timeline) {
        if self.step.is_some() && time > self.last {
            self.record(scenario, time, timeline);
        }
    }

    /// The frames recorded so far.
    pub fn so_far(&self) -> &Frames {
        &self.frames
    }

    /// The recorded frames.
    pub fn done(self) -> Frames {
        self.frames
    }
}

/// The first interval if it doubles: the time of a packet on the fastest link.
fn first_step(scenario: &Scenario) -> Time {
    let packet = scenario.sections.packet.sizes().largest();
    let times = scenario.network.links.iter().map(|link| link.rate.time_of(packet));
    times.min().unwrap_or_default().max(Time(1))
}

fn state(
    model: &Model,
    link: &Link,
    vl: u8,
    (before, stalled_before): &(PortCounters, Time),
    (after, stalled_after): &(PortCounters, Time),
    passed: Time,
) -> State {
    let packets = (after.packets - before.packets).max(1) as f64;
    State {
        occupancy: model.standing(link.to, vl).occupancy,
        role: model.observer(link.from.node).tree.role(link.from, vl),
        busy: (after.bytes - before.bytes) as f64 / (link.rate.bytes_per_second() * passed.as_secs()),
        stalled: stalled_after.since(*stalled_before).as_secs() / passed.as_secs(),
        marked: (after.marked - before.marked) as f64 / packets,
    }
}
