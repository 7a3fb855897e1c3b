//! Running a scenario.

use std::time::{Duration, Instant};

use becalm_engine::{Simulator, Stop, Time};
use becalm_fabric::{FabricError, FlowId, FlowView, PortCounters, Rate};
use becalm_metrics::{Paces, Series, Table};
use thiserror::Error;

use crate::assemble::Model;
use crate::links::{Link, links};
use crate::plan::host_rates;
use crate::scenario::Scenario;
use crate::tables;

/// Events between two looks at the clock on the wall: a few milliseconds.
const EVENTS_AT_ONCE: u64 = 10_000;
/// Wall time between two calls of the progress function.
const PROGRESS_EVERY: Duration = Duration::from_millis(50);
/// What holds at the end of a run that gave results.
const GUARDS: [&str; 4] = ["no packet was lost", "credits were conserved", "flows kept their order", "no deadlock"];

/// How far a run is.
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

/// What a run gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Results {
    /// `flows`, `groups`, `links`, `buffers`, `hosts`, `tree`, `victims`, `series`, and `paces` where they are observed.
    pub tables: Vec<Table>,
    /// Equal for two runs that did the same, packet by packet.
    pub fingerprint: u64,
    /// Events handled.
    pub events: u64,
    /// Packets that crossed a link.
    pub packet_hops: u64,
    /// Rules of the model that were checked at the end, and held.
    pub guards: Vec<String>,
}

/// Why a run gives no results.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum RunError {
    /// The fabric cannot go on.
    #[error(transparent)]
    Fabric(#[from] FabricError),
    /// The progress function asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl Scenario {
    /// Runs one replication; `replication` counts from 0 and moves the seed.
    ///
    /// `progress` is called about every 50 ms of wall time; when it answers `false`, the run ends.
    ///
    /// # Errors
    /// [`RunError::Fabric`] for a deadlock, [`RunError::Interrupted`] when `progress` answered `false`.
    pub fn run(&self, replication: u32, progress: &mut dyn FnMut(&Progress) -> bool) -> Result<Results, RunError> {
        let links = links(&self.topology);
        let simulator = self.simulator(replication)?;
        let followed = self.followed(&links);
        let width = self.plan.groups.len() + followed.len() + self.followed_flows();
        let series = Series::new(self.sections.observe.window, width);
        let mut run = Running {
            scenario: self,
            simulator,
            series,
            paces: Paces::default(),
            links: &links,
            followed: &followed,
            progress,
            rates: host_rates(&self.topology),
            duration: self.sections.run.duration,
            reported: Instant::now(),
        };
        let before = run.measure()?;
        run.check_guards()?;
        let after = run.counters();
        Ok(Results {
            tables: tables::all(&run, &before, &after),
            fingerprint: run.simulator.model.observer.fingerprint.value(),
            events: run.simulator.events(),
            packet_hops: run.simulator.model.packet_hops(),
            guards: GUARDS.map(str::to_string).to_vec(),
        })
    }

    /// The links that series follow, as places in the list of links.
    fn followed(&self, links: &[Link]) -> Vec<usize> {
        let names = &self.sections.observe.links;
        let wanted = |link: &Link| names.iter().any(|name| name == "*" || *name == link.name);
        (0..links.len()).filter(|&i| wanted(&links[i])).collect()
    }

    fn followed_flows(&self) -> usize {
        if self.sections.observe.flows { self.plan.flows.len() } else { 0 }
    }
}

/// All counters at one time.
pub(crate) struct Counters {
    pub time: Time,
    pub flows: Vec<FlowView>,
    pub links: Vec<PortCounters>,
}

/// A run on its way.
pub(crate) struct Running<'a> {
    pub scenario: &'a Scenario,
    pub simulator: Simulator<Model>,
    pub series: Series,
    pub paces: Paces,
    pub links: &'a [Link],
    pub followed: &'a [usize],
    progress: &'a mut dyn FnMut(&Progress) -> bool,
    /// Of every host's link.
    rates: Vec<Rate>,
    duration: Time,
    reported: Instant,
}

impl Running<'_> {
    /// Runs to the end, taking samples on the way. Gives the counters at the start of the measured window.
    fn measure(&mut self) -> Result<Counters, RunError> {
        let (warmup, step) = (self.scenario.sections.run.warmup, self.scenario.sections.observe.step);
        let mut before = None;
        let mut sample = Time::ZERO;
        loop {
            let mut target = sample.min(self.duration);
            if before.is_none() {
                target = target.min(warmup);
            }
            self.advance(target)?;
            if before.is_none() && target == warmup {
                before = Some(self.counters());
            }
            if target == sample || target == self.duration {
                self.sample(target);
                sample = sample.saturating_add(step);
            }
            if target == self.duration {
                return Ok(before.expect("the warm-up ends before the run"));
            }
        }
    }

    fn advance(&mut self, until: Time) -> Result<(), RunError> {
        // At time zero nothing has happened yet; the first events belong to the first step.
        if until == Time::ZERO {
            return Ok(());
        }
        loop {
            let stop = self.simulator.run(until, EVENTS_AT_ONCE);
            self.report()?;
            match stop {
                Stop::Events => {}
                Stop::Time => return Ok(()),
                Stop::Idle => return self.check_idle(),
            }
        }
    }

    fn report(&mut self) -> Result<(), RunError> {
        if self.reported.elapsed() < PROGRESS_EVERY {
            return Ok(());
        }
        self.reported = Instant::now();
        let now = Progress {
            time: self.simulator.now(),
            duration: self.duration,
            events: self.simulator.events(),
            packet_hops: self.simulator.model.packet_hops(),
        };
        if (self.progress)(&now) { Ok(()) } else { Err(RunError::Interrupted) }
    }

    /// When nothing is pending, nothing may be under way.
    fn check_idle(&self) -> Result<(), RunError> {
        match self.simulator.model.packets_in_flight() {
            0 => Ok(()),
            n => {
                self.check_deadlock()?;
                Err(FabricError::Guard(format!("{n} packets are under way and nothing moves")).into())
            }
        }
    }

    fn check_deadlock(&self) -> Result<(), RunError> {
        self.simulator.model.deadlock(self.simulator.now()).map_or(Ok(()), |deadlock| Err(deadlock.into()))
    }

    fn check_guards(&self) -> Result<(), RunError> {
        self.check_deadlock()?;
        Ok(self.simulator.model.check(&self.simulator.agenda)?)
    }

    fn flows(&self) -> impl Iterator<Item = FlowView> {
        (0..self.scenario.plan.flows.len() as u32).map(|i| self.simulator.model.flow(FlowId(i)))
    }

    fn counters(&self) -> Counters {
        Counters {
            time: self.simulator.now(),
            flows: self.flows().collect(),
            links: self.links.iter().map(|link| self.simulator.model.port(link.from)).collect(),
        }
    }

    /// Notes the bytes of groups, links and flows, in this order.
    fn sample(&mut self, time: Time) {
        let model = &self.simulator.model;
        let bytes = |i: u32| model.flow(FlowId(i)).delivered_bytes;
        let groups = self.scenario.plan.groups.iter().map(|flows| flows.clone().map(bytes).sum());
        let links = self.followed.iter().map(|&i| model.port(self.links[i].from).bytes);
        let flows = (0..self.scenario.followed_flows() as u32).map(bytes);
        self.series.push(time, groups.chain(links).chain(flows));
        if self.scenario.sections.observe.paces {
            self.sample_paces(time);
        }
    }

    fn sample_paces(&mut self, time: Time) {
        let model = &self.simulator.model;
        let plan = &self.scenario.plan;
        let largest = self.scenario.sections.packet.full();
        for (group, flows) in (0u32..).zip(&plan.groups) {
            let pace = |i: u32| {
                let transmission = self.rates[plan.flows[i as usize].source.index()].time_of(largest);
                (model.flow(FlowId(i)).pace.gap, transmission)
            };
            self.paces.push(time, group, flows.clone().map(pace));
        }
    }
}
