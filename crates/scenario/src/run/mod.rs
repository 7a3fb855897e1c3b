//! Runs of a checked scenario, and the result tables.
//!
//! - `course` is a run in progress. `timeline`: its times and counters. `steady`: what it leaves out. `counters`: counters
//!   and observations. `film`: frames. `window`: the measured window. `ending`: the end with the jobs. `offers`, `roots`,
//!   `parts`: the traffic that every flow offered, the roots that count, and the role of every flow in the congestion.
//!   `tables`, `messages`, `pauses`, `faults`, `storms`, `jobs`, `congestion`: the result tables.

mod congestion;
mod counters;
mod course;
mod ending;
mod faults;
mod film;
mod jobs;
mod messages;
mod offers;
mod outputs;
mod parts;
mod pauses;
mod roots;
mod steady;
mod storms;
mod tables;
mod timeline;
mod window;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use becalm_engine::{Simulator, Time};
use becalm_external::{Failure, Place};
use becalm_fabric::{FabricError, FaultKind};
use becalm_metrics::Table;
use becalm_model::Whole;
use thiserror::Error;

use crate::names::ALL;
use crate::resolve::Link;
use crate::scenario::Scenario;
use crate::sections::adapter::PortControl;

pub use course::Course;

/// A property that is checked only if the path selection of the switches guarantees it.
const ORDER: &str = "flows kept their order";
/// Properties checked at the end of every successful run.
const GUARDS: [&str; 4] = [LOSSLESS, CREDITS, ORDER, "no deadlock"];
/// The property for credits, and its replacement with PFC.
const CREDITS: &str = "credits were conserved";
/// The property that nothing was lost, and its replacement if a watchdog may lose packets.
const LOSSLESS: &str = "no packet was lost";
const LOST: &str = "no packet was lost but those that a watchdog discarded";
const PAUSES: &str = "no buffer overflowed, and senders obeyed their pauses";

/// The progress of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Simulated time.
    pub time: Time,
    /// Simulated time at the end of the run.
    pub duration: Time,
    /// Number of handled events.
    pub events: u64,
    /// Number of times that a packet has crossed a link.
    pub packet_hops: u64,
}

/// The results of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Results {
    /// `flows`, `groups`, `latencies`, `links`, `buffers`, `hosts`, `tree`, `victims` and `series`; if
    /// requested, `paces`, `snapshots`, `frames`, `frames_groups`, `queues`, `spans`, `pauses`, `completion`,
    /// `completion_by_size`, `completion_times` and `messages`; with faults, `faults`; with watchdogs, `storms`; with jobs, `jobs`, `ranks` and `ops`.
    pub tables: Vec<Table>,
    /// Fingerprint, which is equal for two runs that agree packet by packet.
    pub fingerprint: u64,
    /// Simulated time at the end.
    pub end: Time,
    /// Whether a [`Stopper`] ended the run before its time.
    pub stopped: bool,
    /// Number of handled events.
    pub events: u64,
    /// Number of times that a packet crossed a link.
    pub packet_hops: u64,
    /// Number of times that a train or a single packet crossed a link.
    pub train_hops: u64,
    /// Simulated time that was left out, because every flow kept its rate.
    pub left_out: Time,
    /// Rules of the model that were checked at the end and found to hold.
    pub guards: Vec<String>,
}

/// A request to end a run at the simulated time that it has reached. The results are those of a run with that duration.
#[derive(Clone, Debug, Default)]
pub struct Stopper(Arc<AtomicBool>);

impl Stopper {
    /// Asks the run to end.
    pub fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A run at time zero.
pub struct Prepared<'a> {
    scenario: &'a Scenario,
    course: Course,
}

/// The reason that a run has no results.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum RunError {
    /// The fabric cannot continue.
    #[error(transparent)]
    Fabric(#[from] FabricError),
    /// An external scheme failed.
    #[error("{0}")]
    Scheme(Failure),
    /// The code of an external scheme was not provided.
    #[error("the code of scheme `{0}` was not provided")]
    Unprovided(String),
    /// The progress function returned `false`.
    #[error("interrupted")]
    Interrupted,
    /// The run was stopped before its measured window.
    #[error("stopped at {0}, before the measured window begins: there are no results")]
    Early(Time),
}

impl Scenario {
    /// Runs one replication on up to `threads` threads. `replication` counts from 0 and is added to the seed.
    /// The number of threads affects only the duration of the computation.
    ///
    /// `progress` is called every few thousand events, often many times per millisecond. A caller that needs
    /// fewer reports must skip calls. If `progress` returns `false`, the run ends.
    ///
    /// # Errors
    /// [`RunError::Fabric`] for a deadlock or too little headroom, [`RunError::Interrupted`] if `progress` returned
    /// `false`.
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
    /// [`RunError::Fabric`] for a flow without a route to its destination. [`RunError::Unprovided`] and
    /// [`RunError::Scheme`] for an external scheme that is missing or fails when it starts.
    pub fn prepare(&self, replication: u32, threads: usize) -> Result<Prepared<'_>, RunError> {
        Ok(Prepared { scenario: self, course: Course::new(self, replication, threads)? })
    }

    /// The failure of an external scheme, with the name of the affected flow.
    pub(crate) fn explained(&self, mut failure: Failure) -> RunError {
        if let Place::Response(number) | Place::Flow(number) = failure.place
            && let Some(flow) = self.plan.flows.get(number as usize)
            && !(*self.sections.adapter.port_control == PortControl::Sl && matches!(failure.place, Place::Response(_)))
        {
            let name = |node| self.network.topology.node(node).name.as_str();
            let group = self.sections.group(flow.group).name;
            let (source, destination) = (name(flow.source), name(flow.destination));
            failure.place = Place::Named(format!("flow {number} ({group}: {source} -> {destination})"));
        }
        RunError::Scheme(failure)
    }

    /// The links that series record, as indices into the list of links.
    fn followed(&self) -> Vec<usize> {
        let (links, names) = (&self.network.links, &self.sections.observe.links);
        let named: HashSet<&str> = names.iter().map(|name| name.as_str()).collect();
        let all = named.contains(ALL);
        let wanted = |link: &Link| all || named.contains(link.name.as_str());
        (0..links.len()).filter(|&i| wanted(&links[i])).collect()
    }

    /// Number of groups, links and flows that series record.
    pub(crate) fn series_width(&self) -> usize {
        self.plan.groups.len() + self.followed().len() + self.followed_flows()
    }

    fn followed_flows(&self) -> usize {
        if *self.sections.observe.flows { self.plan.flows.len() } else { 0 }
    }
}

impl Prepared<'_> {
    /// Ends the run early on request.
    pub fn stopper(&self) -> Stopper {
        self.course.stopper()
    }

    /// Runs to the end; see [`Scenario::run`].
    ///
    /// # Errors
    /// Those of [`Scenario::run`].
    pub fn run(mut self, progress: &mut dyn FnMut(&Progress) -> bool) -> Result<Results, RunError> {
        self.course.advance(self.scenario, Time::MAX, progress)?;
        self.course.finish(self.scenario, progress)
    }
}

/// The properties that were checked.
fn guards(scenario: &Scenario) -> Vec<String> {
    let paths = &scenario.sections.switch.paths;
    // A flow may take another path while a link is down.
    let moves = paths.chooses() && scenario.plan.faults.iter().any(|each| each.fault.kind == FaultKind::LinkDown);
    let ordered = paths.config().keeps_order() && !moves;
    let control = scenario.sections.switch.flow_control.config();
    let loses = control.pfc().and_then(|pfc| pfc.watchdog).is_some_and(|dog| dog.loses());
    let named = |guard| match guard {
        CREDITS if control.pfc().is_some() => PAUSES,
        LOSSLESS if loses => LOST,
        _ => guard,
    };
    GUARDS.into_iter().filter(|&guard| ordered || guard != ORDER).map(|guard| named(guard).to_string()).collect()
}

fn check_guards(run: &Simulator<Whole>) -> Result<(), RunError> {
    run.model.deadlock(run.now()).map_or(Ok(()), |deadlock| Err(RunError::from(deadlock)))?;
    Ok(run.model.check(&run.agenda)?)
}
