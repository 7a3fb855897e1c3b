//! From a checked scenario to results: the run and its tables.
//!
//! `counters`: counters and observations; `film`: frames; `window`: the measured window; `tables`, `messages`, `pauses`,
//! `jobs`, `congestion`: the tables made from them.

mod congestion;
mod counters;
mod film;
mod jobs;
mod messages;
mod pauses;
mod tables;
mod window;

use std::collections::HashSet;

use becalm_engine::{Simulator, Stop, Time, Work, order};
use becalm_fabric::{FabricError, FlowId};
use becalm_metrics::{Paces, Series, Snapshot, Table};
use becalm_model::{Model, Whole};
use thiserror::Error;

use crate::assemble::Traffic;
use crate::resolve::{ALL, Link};
use crate::scenario::Scenario;
use crate::sections::run::End;
use counters::{Counters, Observed};
use film::Film;

/// A property that is checked where switches choose paths so that it holds.
const ORDER: &str = "flows kept their order";
/// Properties checked at the end of every successful run.
const GUARDS: [&str; 4] = ["no packet was lost", CREDITS, ORDER, "no deadlock"];
/// The one on credit, and that with PFC in its place.
const CREDITS: &str = "credits were conserved";
const PAUSES: &str = "no buffer overflowed, and senders obeyed their pauses";

/// The progress of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Simulated time.
    pub time: Time,
    /// Simulated time at the end of the run.
    pub duration: Time,
    /// Events handled.
    pub events: u64,
    /// Packets that have crossed a link.
    pub packet_hops: u64,
}

/// The results of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Results {
    /// `flows`, `groups`, `latencies`, `links`, `buffers`, `hosts`, `tree`, `victims`, `series`; `paces`, `snapshots`,
    /// `frames`, `frames_groups`, `queues`, `spans`, `pauses`, `completion`, `completion_by_size`, `completion_times` and
    /// `messages` where they are observed; `jobs`, `ranks` and `ops` where there are any.
    pub tables: Vec<Table>,
    /// Equal for two runs that agree packet by packet.
    pub fingerprint: u64,
    /// Simulated time at the end.
    pub end: Time,
    /// Events handled.
    pub events: u64,
    /// Packets that crossed a link.
    pub packet_hops: u64,
    /// Rules of the model that were checked at the end and held.
    pub guards: Vec<String>,
}

/// A run at time zero.
pub struct Prepared<'a> {
    scenario: &'a Scenario,
    model: Model,
    replication: u32,
    threads: usize,
}

/// Why a run gives no results.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum RunError {
    /// The fabric cannot continue.
    #[error(transparent)]
    Fabric(#[from] FabricError),
    /// The progress function asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl Scenario {
    /// Runs one replication on up to `threads` threads; `replication` counts from 0 and moves the seed. The number of
    /// threads changes only the time that it takes.
    ///
    /// `progress` is called every few thousand events, often many times in a millisecond: a run has no clock, so a caller
    /// that wants to hear less often leaves calls out. When it answers `false`, the run ends.
    ///
    /// # Errors
    /// [`RunError::Fabric`] for a deadlock or too little headroom, [`RunError::Interrupted`] when `progress` answered `false`.
    pub fn run(
        &self,
        replication: u32,
        threads: usize,
        progress: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<Results, RunError> {
        self.prepare(replication, threads)?.run(progress)
    }

    /// Sets up a run of one replication on up to `threads` threads, at time zero.
    ///
    /// # Errors
    /// [`RunError::Fabric`] for a flow without a route to its destination.
    pub fn prepare(&self, replication: u32, threads: usize) -> Result<Prepared<'_>, RunError> {
        let model = self.simulator(replication, threads, Traffic::All)?;
        Ok(Prepared { scenario: self, model, replication, threads })
    }

    /// The links that series follow, as places in the list of links.
    fn followed(&self) -> Vec<usize> {
        let (links, names) = (&self.network.links, &self.sections.observe.links);
        let named: HashSet<&str> = names.iter().map(|name| name.as_str()).collect();
        let all = named.contains(ALL);
        let wanted = |link: &Link| all || named.contains(link.name.as_str());
        (0..links.len()).filter(|&i| wanted(&links[i])).collect()
    }

    /// Number of groups, links and flows that series follow.
    pub(crate) fn series_width(&self) -> usize {
        self.plan.groups.len() + self.followed().len() + self.followed_flows()
    }

    fn followed_flows(&self) -> usize {
        if *self.sections.observe.flows { self.plan.flows.len() } else { 0 }
    }
}

impl Prepared<'_> {
    /// Runs to the end; see [`Scenario::run`].
    ///
    /// # Errors
    /// Those of [`Scenario::run`].
    pub fn run(self, progress: &mut dyn FnMut(&Progress) -> bool) -> Result<Results, RunError> {
        let Prepared { scenario, model, replication, threads } = self;
        let followed = scenario.followed();
        let width = scenario.series_width();
        let series = Series::new(*scenario.sections.observe.window, width);
        let mut run = Running {
            scenario,
            model,
            series,
            paces: Paces::default(),
            snapshots: Vec::new(),
            film: Film::new(scenario),
            followed: &followed,
            progress,
            duration: *scenario.sections.run.duration,
            drained: false,
            idle: false,
        };
        let before = run.measure()?;
        let after = Counters::of(scenario, &run.model);
        let Running { model, series, paces, snapshots, film, drained, idle, progress, .. } = run;
        let mut whole = model.join();
        whole.model.settle(whole.now());
        check_guards(&whole)?;
        let under_way = whole.model.packets_in_flight();
        let before =
            before.ok_or_else(|| FabricError::Guard(format!("{under_way} packets are under way and nothing moves")))?;
        let last = whole.model.observer.hosts.last_arrival();
        let after = if drained && last > before.time { Counters { time: last, ..after } } else { after };
        if idle {
            jobs::check_stuck(scenario, &whole.model)?;
        }
        let end = Progress {
            time: after.time,
            duration: *scenario.sections.run.duration,
            events: whole.events(),
            packet_hops: whole.model.packet_hops(),
        };
        let alone = scenario.jobs_alone(replication, threads, &mut || progress(&end))?.ok_or(RunError::Interrupted)?;
        let (watch, frames) = (&whole.model.observer, film.done());
        let observed = Observed { watch, followed: &followed, series, paces, snapshots, frames };
        let mut all = tables::all(scenario, observed, scenario.seed(replication), &before, &after);
        all.extend(jobs::tables(scenario, &whole.model, &alone));
        Ok(Results {
            tables: all,
            end: after.time,
            fingerprint: whole.model.observer.fingerprint.value(),
            events: whole.events(),
            packet_hops: whole.model.packet_hops(),
            guards: guards(scenario),
        })
    }
}

/// The properties that were checked.
fn guards(scenario: &Scenario) -> Vec<String> {
    let ordered = scenario.sections.switch.paths.config().keeps_order();
    let pfc = scenario.sections.switch.flow_control.pfc().is_some();
    let guards = GUARDS.into_iter().filter(|&guard| ordered || guard != ORDER);
    guards.map(|guard| if pfc && guard == CREDITS { PAUSES } else { guard }.to_string()).collect()
}

fn check_guards(run: &Simulator<Whole>) -> Result<(), RunError> {
    run.model.deadlock(run.now()).map_or(Ok(()), |deadlock| Err(RunError::from(deadlock)))?;
    Ok(run.model.check(&run.agenda)?)
}

/// A run in progress.
struct Running<'a> {
    scenario: &'a Scenario,
    model: Model,
    series: Series,
    paces: Paces,
    snapshots: Vec<Snapshot>,
    film: Film<'a>,
    followed: &'a [usize],
    progress: &'a mut dyn FnMut(&Progress) -> bool,
    duration: Time,
    /// Whether everything was delivered before that.
    drained: bool,
    /// Whether nothing was left to happen.
    idle: bool,
}

impl Running<'_> {
    /// Runs to the end, taking samples on the way. Gives the counters at the start of the measured window; nothing if
    /// packets are under way and nothing moves any more.
    // Not inlined, so that a profiler can tell the run from its set-up and its tables.
    #[inline(never)]
    fn measure(&mut self) -> Result<Option<Counters>, RunError> {
        let (warmup, step) = (self.scenario.measured_from(), *self.scenario.sections.observe.step);
        let mut before = None;
        let mut sample = Time::ZERO;
        let mut snapshots: Vec<Time> = self.scenario.sections.observe.snapshots.iter().map(|time| **time).collect();
        order::sort_by(&mut snapshots, |a, b| b.cmp(a));
        loop {
            let mut target = sample.min(self.duration);
            if let Some(&next) = snapshots.last() {
                target = target.min(next);
            }
            if let Some(next) = self.film.next() {
                target = target.min(next);
            }
            if before.is_none() {
                target = target.min(warmup);
            }
            self.idle = self.advance(target)? == Stop::Idle;
            self.model.overflow().map_or(Ok(()), Err)?;
            if self.idle && self.model.packets_in_flight() > 0 {
                return Ok(None);
            }
            if before.is_none() && target == warmup {
                before = Some(Counters::of(self.scenario, &self.model));
            }
            while snapshots.pop_if(|time| *time == target).is_some() {
                self.take_snapshot(target);
            }
            if self.film.next() == Some(target) {
                self.film.take(target, &self.model);
            }
            // Not at snapshots and frames: what is recorded must not move the end.
            let at_stop = target == sample || target == warmup;
            if target == sample || target == self.duration {
                self.sample(target);
                sample = sample.saturating_add(step);
            }
            let ended = at_stop && before.is_some() && self.scenario.has_ended(&self.model, target);
            self.drained = ended && *self.scenario.sections.run.end == End::Delivered;
            if ended || target == self.duration {
                return Ok(before);
            }
        }
    }

    fn advance(&mut self, until: Time) -> Result<Stop, RunError> {
        // No event precedes time zero; the first events belong to the first step.
        if until == Time::ZERO {
            return Ok(Stop::Time);
        }
        let (duration, progress) = (self.duration, &mut self.progress);
        let mut report = |work: &Work| {
            progress(&Progress { time: work.time, duration, events: work.events, packet_hops: work.work })
        };
        becalm_model::run(&mut self.model, until, &mut report).ok_or(RunError::Interrupted)
    }

    /// Notes the bytes of groups, links and flows, in this order.
    fn sample(&mut self, time: Time) {
        let model = &self.model;
        let bytes = |i: u32| model.flow(FlowId(i)).delivered_bytes;
        let groups = self.scenario.plan.groups.iter().map(|flows| flows.clone().map(bytes).sum());
        let links = self.followed.iter().map(|&i| model.port(self.scenario.network.links[i].from).bytes);
        let flows = (0..self.scenario.followed_flows() as u32).map(bytes);
        self.series.push(time, groups.chain(links).chain(flows));
        if *self.scenario.sections.observe.paces {
            self.sample_paces(time);
        }
    }

    fn take_snapshot(&mut self, time: Time) {
        for (link, ends) in self.scenario.network.links.iter().enumerate() {
            for vl in 0..*self.scenario.sections.switch.vls as u8 {
                let occupancy = self.model.standing(ends.to, vl).occupancy;
                let waiting = self.model.standing(ends.from, vl).waiting;
                let role = self.model.observer(ends.from.node).tree.role(ends.from, vl);
                self.snapshots.push(Snapshot { time, link, vl, occupancy, waiting, role });
            }
        }
    }

    fn sample_paces(&mut self, time: Time) {
        let model = &self.model;
        let plan = &self.scenario.plan;
        let largest = self.scenario.sections.packet.full();
        for (group, flows) in (0u32..).zip(&plan.groups) {
            let pace = |i: u32| {
                let transmission = self.scenario.network.rates[plan.flows[i as usize].source.index()].time_of(largest);
                (model.flow(FlowId(i)).pace, transmission)
            };
            self.paces.push(time, group, flows.clone().map(pace));
        }
    }
}
