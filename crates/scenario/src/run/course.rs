//! A run in progress. It advances in steps and ends with results.

use becalm_control::Responding;
use becalm_control::response::external::External;
use becalm_engine::{Stop, Time, Work, order};
use becalm_external::Faults;
use becalm_fabric::policy::Pace;
use becalm_fabric::{FabricError, FlowId, FlowView};
use becalm_metrics::{Paces, Series, Snapshot, Table};

use super::counters::{Counters, FlowCounts, Observed};
use super::ending::Ending;
use super::film::Film;
use super::timeline::Timeline;
use super::{Progress, Results, RunError, Stopper, check_guards, faults, guards, jobs, storms, tables};
use crate::assemble::Traffic;
use crate::scenario::Scenario;
use crate::sections::run::End;

/// A run in progress, without its scenario. Pass the same scenario to every method.
pub struct Course {
    timeline: Timeline,
    faults: Faults,
    replication: u32,
    threads: usize,
    series: Series,
    paces: Paces,
    snapshots: Vec<Snapshot>,
    /// Times of future snapshots, the next one last.
    to_shoot: Vec<Time>,
    film: Film,
    followed: Vec<usize>,
    /// Time of the next sample.
    sample: Time,
    /// The counters at the start of the measured window.
    before: Option<Counters>,
    ending: Ending,
    stopper: Stopper,
    /// When the run ends: at the duration of the scenario, or earlier if a [`Stopper`] has stopped it.
    last: Time,
    stopped: bool,
    /// Whether everything was delivered before the end of the scenario.
    drained: bool,
    /// Whether no events were left.
    idle: bool,
    /// Whether packets are in flight but none can move.
    stuck: bool,
    ended: bool,
}

impl Course {
    /// A run at time zero.
    ///
    /// # Errors
    /// Those of [`Scenario::prepare`].
    pub fn new(scenario: &Scenario, replication: u32, threads: usize) -> Result<Course, RunError> {
        if let Some(name) = scenario.unprovided() {
            return Err(RunError::Unprovided(name.to_string()));
        }
        let faults = Faults::default();
        let model = scenario.simulator(replication, threads, Traffic::All, &faults)?;
        let mut to_shoot: Vec<Time> = scenario.sections.observe.snapshots.iter().map(|time| **time).collect();
        order::sort_by(&mut to_shoot, |a, b| b.cmp(a));
        let course = Course {
            timeline: Timeline::new(scenario, model),
            faults,
            replication,
            threads,
            series: Series::new(*scenario.sections.observe.window, scenario.series_width()),
            paces: Paces::default(),
            snapshots: Vec::new(),
            to_shoot,
            film: Film::new(scenario),
            followed: scenario.followed(),
            sample: Time::ZERO,
            before: None,
            ending: Ending::new(scenario),
            stopper: Stopper::default(),
            last: *scenario.sections.run.duration,
            stopped: false,
            drained: false,
            idle: false,
            stuck: false,
            ended: false,
        };
        course.check(scenario)?;
        Ok(course)
    }

    /// Ends the run early on request.
    pub fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }

    /// Whether the run has ended.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// The time of the run so far.
    pub fn now(&self) -> Time {
        self.timeline.now()
    }

    /// The work so far: time, events and packet-hops.
    pub fn work(&self) -> Work {
        self.timeline.work()
    }

    /// The counters of a flow.
    pub fn flow(&self, flow: u32) -> FlowView {
        self.timeline.flow(FlowId(flow))
    }

    /// The tables `frames` and `frames_groups` so far.
    pub fn frames(&self, scenario: &Scenario) -> [Table; 2] {
        let groups: Vec<String> = scenario.sections.groups().map(|group| group.name.to_string()).collect();
        self.film.so_far().clone().tables(&groups)
    }

    /// Records the round-trip time of each flow from now on.
    pub fn note_rtts(&mut self) {
        self.timeline.model.note_rtts();
    }

    /// Sets the pace of a flow from now on, instead of its response. This applies to all flows that share the response.
    pub fn set_pace(&mut self, flow: u32, pace: Pace) {
        let due = Time(self.timeline.simulated().0 + 1);
        self.timeline.restart();
        self.timeline.model.set_response(FlowId(flow), Responding::External(External::steered(pace, due)), due);
    }

    /// The failure of a scheme, as an error.
    fn check(&self, scenario: &Scenario) -> Result<(), RunError> {
        self.faults.first().map_or(Ok(()), |failure| Err(scenario.explained(failure)))
    }

    /// Advances to `until` or to the end of the run, and takes the samples that are due. The size of the steps has no
    /// effect on events.
    ///
    /// # Errors
    /// Those of [`Scenario::run`].
    // Not inlined, so that a profiler can distinguish the run from its set-up and its tables.
    #[inline(never)]
    pub fn advance(
        &mut self,
        scenario: &Scenario,
        until: Time,
        progress: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<(), RunError> {
        let (warmup, step) = (scenario.measured_from(), *scenario.sections.observe.step);
        while !self.ended {
            let mut target = self.next_stop(scenario, warmup);
            let Some(stop) = self.run(scenario, target.min(until), progress)? else {
                self.stop()?;
                continue;
            };
            self.idle = stop == Stop::Idle;
            self.timeline.model.overflow().map_or(Ok(()), Err)?;
            if self.idle && self.timeline.model.packets_in_flight() > 0 && !self.timeline.model.is_held_up() {
                (self.stuck, self.ended) = (true, true);
                return Ok(());
            }
            if stop == Stop::Halt {
                self.timeline.model.halt_after_jobs(false);
                target = self.now();
            }
            if target > until {
                return Ok(());
            }
            self.observe(scenario, target, warmup, step);
        }
        Ok(())
    }

    /// Makes the present the end of the run: the run is the same as one with this duration.
    fn stop(&mut self) -> Result<(), RunError> {
        let now = self.timeline.reached().min(self.last);
        let begun = self.before.as_ref().is_some_and(|before| before.time < now);
        (self.last, self.stopped) = (now, true);
        if begun { Ok(()) } else { Err(RunError::Early(now)) }
    }

    /// The time of the next observation, or before it, to which the run can advance.
    fn next_stop(&mut self, scenario: &Scenario, warmup: Time) -> Time {
        let mut target = self.sample.min(self.last);
        target = target.min(self.ending.limit(scenario, &mut self.timeline));
        let last_job = scenario.last_job().filter(|&start| start > self.now());
        let warmup = self.before.is_none().then_some(warmup);
        let measure = self.timeline.next_measure();
        let stops = [self.to_shoot.last().copied(), self.film.next(), warmup, last_job, measure];
        stops.into_iter().flatten().fold(target, Time::min)
    }

    /// Takes the samples that are due at an observation time, and determines whether the run ends at this
    /// time.
    fn observe(&mut self, scenario: &Scenario, target: Time, warmup: Time, step: Time) {
        if self.before.is_none() && target == warmup {
            self.before = Some(Counters::at_start(scenario, &self.timeline));
            self.timeline.restart();
        }
        while self.to_shoot.pop_if(|time| *time == target).is_some() {
            self.take_snapshot(scenario, target);
        }
        if self.film.next() == Some(target) {
            self.film.take(scenario, target, &self.timeline);
        }
        if self.timeline.next_measure() == Some(target) {
            self.timeline.measure(scenario);
        }
        // Not at snapshots and frames: recordings must not change the end of the run.
        let is_step = [self.sample, warmup, self.last].contains(&target);
        let at_stop = *scenario.sections.run.end == End::Jobs || is_step;
        let ended = at_stop && self.before.is_some() && scenario.has_ended(&self.timeline.model, target);
        self.drained = ended && *scenario.sections.run.end == End::Delivered;
        self.ended = ended || target == self.last;
        if (target == self.sample || self.ended) && self.series.times().last() != Some(&target) {
            self.take_sample(scenario, target);
            self.sample = self.sample.saturating_add(step);
        }
        if self.ended {
            self.film.end(scenario, target, &self.timeline);
        }
    }

    /// Handles all events up to and including a time. Returns `None` if the run is to stop before that.
    fn run(
        &mut self,
        scenario: &Scenario,
        until: Time,
        progress: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<Option<Stop>, RunError> {
        // No event precedes time zero; the first events belong to the first step.
        if until == Time::ZERO {
            return Ok(Some(Stop::Time));
        }
        let (duration, faults) = (*scenario.sections.run.duration, &self.faults);
        let (stopper, stopped, mut interrupted) = (&self.stopper, self.stopped, false);
        let mut report = |work: &Work| {
            let now = Progress { time: work.time, duration, events: work.events, packet_hops: work.work };
            interrupted = interrupted || !progress(&now);
            !faults.any() && !interrupted && (stopped || !stopper.is_asked())
        };
        let stop = self.timeline.run(until, &mut report);
        self.check(scenario)?;
        if interrupted { Err(RunError::Interrupted) } else { Ok(stop) }
    }

    /// The results at the end of the run.
    ///
    /// # Errors
    /// Those of [`Scenario::run`].
    pub fn finish(self, scenario: &Scenario, progress: &mut dyn FnMut(&Progress) -> bool) -> Result<Results, RunError> {
        let mut after = Counters::at_end(scenario, &self.timeline);
        let counts = self.before.as_ref().map(|before| FlowCounts::since(before, scenario, &self.timeline));
        let Course { timeline, mut series, mut paces, mut snapshots, film, .. } = self;
        let Course { followed, drained, idle, stuck, before, faults: failures, stopped, .. } = self;
        let (mut whole, clock) = timeline.join();
        whole.model.settle(whole.now());
        check_guards(&whole)?;
        let under_way = whole.model.packets_in_flight();
        let (before, counts) = before
            .zip(counts)
            .filter(|_| !stuck)
            .ok_or_else(|| FabricError::Guard(format!("packets in flight that cannot move: {under_way}")))?;
        let last = whole.model.observer.hosts.last_arrival();
        let mut frames = film.done();
        let ended = clock.of(last);
        if drained && ended > before.time {
            (after.time, after.simulated) = (ended, last);
        }
        // Nothing was delivered later.
        series.end_at(after.time);
        paces.end_at(after.time);
        frames.end_at(after.time);
        snapshots.retain(|snapshot| snapshot.time <= after.time);
        if idle && !whole.model.is_held_up(whole.now()) {
            jobs::check_stuck(scenario, &whole.model)?;
        }
        let end = Progress {
            time: after.time,
            duration: *scenario.sections.run.duration,
            events: whole.events(),
            packet_hops: whole.model.packet_hops(),
        };
        let train_hops = whole.model.train_hops();
        let mut go_on = || !failures.any() && progress(&end);
        // Who stops a run does not wait for others.
        let alone = match stopped {
            true => Some(vec![None; scenario.sections.jobs.len()]),
            false => scenario.jobs_alone(self.replication, self.threads, &failures, &mut go_on)?,
        };
        failures.first().map_or(Ok(()), |failure| Err(scenario.explained(failure)))?;
        let alone = alone.ok_or(RunError::Interrupted)?;
        let mut others = jobs::tables(scenario, &whole.model, &clock, &alone);
        others.extend(faults::table(scenario, &whole.model, after.time));
        others.extend(storms::table(scenario, &whole.model, after.time));
        // With many flows, both the tables and the flows are large. Do not keep both at the same time.
        let watch = &whole.model.into_observer();
        let observed = Observed { watch, followed: &followed, series, paces, snapshots, frames };
        let time = after.time;
        let mut all = tables::all(scenario, observed, scenario.seed(self.replication), counts, (&before, &after));
        all.extend(others);
        Ok(Results {
            tables: all,
            end: time,
            stopped,
            fingerprint: watch.fingerprint.value(),
            events: end.events,
            packet_hops: end.packet_hops,
            train_hops,
            left_out: clock.left_out(),
            guards: guards(scenario),
        })
    }

    /// Records the bytes of groups, links and flows, in that order.
    fn take_sample(&mut self, scenario: &Scenario, time: Time) {
        let bytes = |i: u32| self.timeline.delivered_bytes(FlowId(i));
        let groups = scenario.plan.groups.iter().map(|flows| flows.clone().map(bytes).sum());
        let links = self.followed.iter().map(|&i| self.timeline.link(scenario, i).0.bytes);
        let flows = (0..scenario.followed_flows() as u32).map(bytes);
        self.series.push(time, groups.chain(links).chain(flows));
        if *scenario.sections.observe.paces {
            self.sample_paces(scenario, time);
        }
    }

    fn take_snapshot(&mut self, scenario: &Scenario, time: Time) {
        for (link, ends) in scenario.network.links.iter().enumerate() {
            for vl in 0..scenario.sections.vls() {
                let model = &self.timeline.model;
                let occupancy = model.standing(ends.to, vl).occupancy;
                let waiting = model.standing(ends.from, vl).waiting;
                let role = model.observer(ends.from.node).tree.role(ends.from, vl);
                self.snapshots.push(Snapshot { time, link, vl, occupancy, waiting, role });
            }
        }
    }

    fn sample_paces(&mut self, scenario: &Scenario, time: Time) {
        let model = &self.timeline.model;
        let plan = &scenario.plan;
        let largest = scenario.sections.packet.full();
        for (group, flows) in (0u32..).zip(&plan.groups) {
            let pace = |i: u32| {
                let transmission = scenario.network.rates[plan.flows[i as usize].source.index()].time_of(largest);
                (model.flow(FlowId(i)).pace, transmission)
            };
            self.paces.push(time, group, flows.clone().map(pace));
        }
    }
}
