//! The model of a run, with the times and counters of a run that leaves nothing out.

use becalm_engine::{Simulator, Stop, Time, Work};
use becalm_fabric::{FlowId, FlowView, PortCounters};
use becalm_model::{Model, Whole};

use super::steady::Steady;
use crate::scenario::Scenario;

/// Simulated times, and what was left out before each.
///
/// Without anything left out, the times of a run are simulated times.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock {
    /// Simulated times at which something was left out, and the sum up to each.
    left_out: Vec<(Time, Time)>,
}

impl Clock {
    /// The sum of all times that were left out.
    pub fn left_out(&self) -> Time {
        self.left_out.last().map_or(Time::ZERO, |&(_, sum)| sum)
    }

    /// The time of the run at the present simulated time.
    fn now(&self, simulated: Time) -> Time {
        simulated.saturating_add(self.left_out())
    }

    /// The time of the run at an earlier simulated time. What was left out at a simulated time follows its events.
    pub fn of(&self, simulated: Time) -> Time {
        let after = self.left_out.partition_point(|&(at, _)| at < simulated);
        let sum = after.checked_sub(1).map_or(Time::ZERO, |last| self.left_out[last].1);
        simulated.saturating_add(sum)
    }

    fn leave_out(&mut self, simulated: Time, time: Time) {
        let sum = self.left_out() + time;
        match self.left_out.last_mut() {
            Some(last) if last.0 == simulated => last.1 = sum,
            _ => self.left_out.push((simulated, sum)),
        }
    }
}

/// A model with the times and counters of its run.
pub(super) struct Timeline {
    pub model: Model,
    pub clock: Clock,
    steady: Option<Steady>,
}

impl Timeline {
    pub fn new(scenario: &Scenario, model: Model) -> Timeline {
        Timeline { model, clock: Clock::default(), steady: Steady::new(scenario) }
    }

    /// The time of the run.
    pub fn now(&self) -> Time {
        self.clock.now(self.simulated())
    }

    /// Simulated time, which observers count in.
    pub fn simulated(&self) -> Time {
        self.model.work().time
    }

    /// A time of the run that no event has passed so far.
    pub fn reached(&self) -> Time {
        self.clock.now(self.model.reached())
    }

    pub fn work(&self) -> Work {
        Work { time: self.now(), ..self.model.work() }
    }

    /// Time at which [`Timeline::measure`] is due.
    pub fn next_measure(&self) -> Option<Time> {
        let steady = self.steady.as_ref()?;
        Some(self.now().saturating_add(steady.until_measure(self.simulated())))
    }

    /// Compares the rates of all flows with earlier ones.
    pub fn measure(&mut self, scenario: &Scenario) {
        if let Some(steady) = &mut self.steady {
            steady.measure(scenario, &self.model);
        }
    }

    /// Measures from now on, as the flows or what is counted have changed.
    pub fn restart(&mut self) {
        if let Some(steady) = &mut self.steady {
            steady.restart(self.model.work().time);
        }
    }

    /// Handles all events up to and including a time of the run, or leaves them out; see [`becalm_model::run`]. Events of
    /// this time may be pending even if the run is there, after an interruption.
    pub fn run(&mut self, until: Time, go_on: &mut dyn FnMut(&Work) -> bool) -> Option<Stop> {
        self.leave_out(until);
        let before = self.clock.left_out();
        let now = |work: &Work| Work { time: work.time.saturating_add(before), ..*work };
        becalm_model::run(&mut self.model, until.since(before), &mut |work| go_on(&now(work)))
    }

    fn leave_out(&mut self, until: Time) {
        let (now, simulated) = (self.now(), self.simulated());
        let Some(steady) = &mut self.steady else { return };
        let time = steady.can_leave_out().min(until.since(now));
        if time > Time::ZERO {
            steady.leave_out(time, &mut self.model);
            self.clock.leave_out(simulated, time);
        }
    }

    /// The counters of a flow.
    pub fn flow(&self, id: FlowId) -> FlowView {
        let view = self.model.flow(id);
        let Some(steady) = &self.steady else { return view };
        let (left_out, payload) = steady.of_flow(id);
        FlowView {
            sent_packets: view.sent_packets + left_out.packets,
            sent_bytes: view.sent_bytes + left_out.bytes,
            delivered_packets: view.delivered_packets + left_out.packets,
            delivered_bytes: view.delivered_bytes + left_out.bytes,
            delivered_payload: view.delivered_payload + payload,
            ..view
        }
    }

    fn bytes_left_out(&self, id: FlowId) -> u64 {
        self.steady.as_ref().map_or(0, |steady| steady.of_flow(id).0.bytes)
    }

    /// Bytes of a flow's data packets delivered so far.
    pub fn delivered_bytes(&self, id: FlowId) -> u64 {
        self.model.delivered_bytes(id) + self.bytes_left_out(id)
    }

    /// Bytes of a flow's data packets sent so far.
    pub fn sent_bytes(&self, id: FlowId) -> u64 {
        self.model.sent_bytes(id) + self.bytes_left_out(id)
    }

    /// The counters of a link's sending port, and the time for which it has waited for credit.
    pub fn link(&self, scenario: &Scenario, link: usize) -> (PortCounters, Time) {
        let port = scenario.network.links[link].from;
        let (counters, simulated) = (self.model.port(port), self.simulated());
        let stalled = self.model.observer(port.node).stalls.time(port, simulated);
        let Some(steady) = &self.steady else { return (counters, stalled) };
        let more = steady.of_link(link);
        let (packets, bytes) = (counters.packets + more.packets, counters.bytes + more.bytes);
        (PortCounters { packets, bytes, ..counters }, stalled + more.stalled)
    }

    /// Joins the parts of the model. What hosts would have received is added to their counts.
    pub fn join(self) -> (Simulator<Whole>, Clock) {
        let mut whole = self.model.join();
        let hosts = self.steady.map_or(Vec::new(), Steady::into_hosts);
        for (host, count) in hosts.into_iter().enumerate() {
            whole.model.observer.hosts.add(host, count.packets, count.bytes);
        }
        (whole, self.clock)
    }
}
