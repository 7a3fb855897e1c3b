//! The tables of jobs, and the runs of each job without other traffic.

use becalm_engine::{Stop, Time};
use becalm_external::Faults;
use becalm_fabric::FabricError;
use becalm_metrics::{Table, schema};
use becalm_schema::Located;
use becalm_workload::{Action, Rank, Span};

use super::timeline::Clock;
use crate::assemble::Traffic;
use crate::resolve::Job;
use crate::scenario::Scenario;
use crate::sections::jobs::Job as Section;
use becalm_model::{Model, Whole};

/// Number of steps in a run of a job without other traffic. The progress function is called after each.
const STEPS: u64 = 100;

/// The outcome of a job.
struct Outcome<'a> {
    name: &'a str,
    job: &'a Job,
    start: Time,
    /// `None` if it has not ended.
    end: Option<Time>,
    ranks: Vec<&'a Rank>,
    /// Duration of the job without other traffic, if it ended.
    alone: Option<Time>,
}

impl Scenario {
    fn job(&self, number: usize) -> &Job {
        self.plan.jobs[number].as_ref().expect("checked")
    }

    /// The duration of every job without other traffic, from separate runs. A job's value is `None` if it
    /// does not end in time, or has no other traffic anyway. Returns `None` if `go_on` returns `false`.
    pub(super) fn jobs_alone(
        &self,
        replication: u32,
        threads: usize,
        faults: &Faults,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Vec<Option<Time>>>, FabricError> {
        let others = self.sections.flows.len() + self.sections.jobs.len() > 1;
        let mut alone = Vec::new();
        for (number, job) in self.sections.jobs.iter().enumerate() {
            if !others || !*job.alone {
                alone.push(None);
                continue;
            }
            let model = self.simulator(replication, threads, Traffic::Job(number), faults)?;
            let Some(run) = self.run_job(model, go_on) else { return Ok(None) };
            let ranks = (0..self.job(number).program.ranks()).map(|rank| run.rank(0, rank));
            alone.push(ended(ranks).map(|end| end.since(*job.start)));
        }
        Ok(Some(alone))
    }

    /// Runs until all ranks are done or the scenario ends.
    fn run_job(&self, mut model: Model, go_on: &mut dyn FnMut() -> bool) -> Option<Whole> {
        let duration = *self.sections.run.duration;
        let step = Time(duration.0.div_ceil(STEPS).max(1));
        let mut until = Time::ZERO;
        while until < duration && model.open_ranks() > 0 {
            until = (until + step).min(duration);
            match becalm_model::run(&mut model, until, &mut |_| true) {
                Some(Stop::Idle) | None => break,
                Some(Stop::Time | Stop::Events | Stop::Halt) => {}
            }
            if !go_on() {
                return None;
            }
        }
        Some(model.join().model)
    }
}

/// The time at which the last of these ranks ended; `None` if any has not ended.
fn ended<'a>(mut ranks: impl Iterator<Item = &'a Rank>) -> Option<Time> {
    ranks.try_fold(Time::ZERO, |latest, rank| rank.is_done().then(|| latest.max(rank.ended())))
}

/// Checks that no job still waits when no events are left.
pub(super) fn check_stuck(scenario: &Scenario, model: &Whole) -> Result<(), FabricError> {
    for (number, section) in scenario.sections.jobs.iter().enumerate() {
        let program = &scenario.job(number).program;
        let ranks = || (0..program.ranks()).map(|rank| model.rank(number, rank));
        if ranks().all(Rank::is_done) {
            continue;
        }
        if let Some(stuck) = ranks().filter(|rank| !rank.is_done()).find_map(|rank| rank.stuck(program)) {
            return Err(FabricError::Stuck { job: section.name.to_string(), stuck });
        }
    }
    Ok(())
}

/// The tables `jobs` and `ranks`, and `ops` if operations are recorded; none without jobs.
pub(super) fn tables(scenario: &Scenario, model: &Whole, clock: &Clock, alone: &[Option<Time>]) -> Vec<Table> {
    let outcome = |(number, section): (usize, &'_ Located<Section>)| {
        let job = scenario.job(number);
        let ranks: Vec<&Rank> = (0..job.program.ranks()).map(|rank| model.rank(number, rank)).collect();
        let (start, end) = (*section.start, ended(ranks.iter().copied()).map(|end| clock.of(end)));
        Outcome { name: &scenario.sections.jobs[number].name, job, start, end, ranks, alone: alone[number] }
    };
    let outcomes: Vec<Outcome<'_>> = scenario.sections.jobs.iter().enumerate().map(outcome).collect();
    if outcomes.is_empty() {
        return Vec::new();
    }
    let mut tables = vec![jobs(scenario, &outcomes), ranks(scenario, clock, &outcomes)];
    if scenario.sections.jobs.iter().any(|job| *job.record_ops) {
        tables.push(ops(clock, &outcomes));
    }
    tables
}

fn seconds(time: Option<Time>) -> f64 {
    time.map_or(f64::NAN, Time::as_secs)
}

fn jobs(scenario: &Scenario, outcomes: &[Outcome<'_>]) -> Table {
    let column = |value: &dyn Fn(&Outcome<'_>) -> f64| outcomes.iter().map(value).collect::<Vec<_>>();
    let duration = |outcome: &Outcome<'_>| seconds(outcome.end.map(|end| end.since(outcome.start)));
    let share = |outcome: &Outcome<'_>, part: fn(&Rank) -> Time| {
        let sum: f64 = outcome.ranks.iter().map(|rank| part(rank).as_secs()).sum();
        sum / outcome.ranks.len() as f64 / duration(outcome)
    };
    let bus: Vec<f64> = scenario
        .sections
        .jobs
        .iter()
        .zip(outcomes)
        .map(|(job, outcome)| {
            let times = f64::from(*job.repeat);
            let time = duration(outcome) / times - job.compute.as_secs();
            let Some(collective) = job.collective.as_ref() else {
                // A rank sends what the factors of nccl-tests say: 2(p-1)/p of its vector around a ring, and (p-1)/p of it
                // in an all-to-all of equal parts.
                let sent = outcome.job.most_sent as f64 / times;
                return if sent > 0.0 { sent / time } else { f64::NAN };
            };
            let collective = collective.lowered(1);
            let factor = collective.bus_factor(outcome.job.group);
            if factor > 0.0 { factor * collective.bytes() as f64 / time } else { f64::NAN }
        })
        .collect();
    Table::new(&schema::JOBS)
        .with("job", outcomes.iter().map(|outcome| outcome.name.to_string()).collect::<Vec<_>>())
        .with("ranks", outcomes.iter().map(|outcome| outcome.ranks.len() as u64).collect::<Vec<_>>())
        .with("start", column(&|outcome| outcome.start.as_secs()))
        .with("end", column(&|outcome| seconds(outcome.end)))
        .with("time", column(&duration))
        .with("time_alone", column(&|outcome| seconds(outcome.alone)))
        .with("slowdown", column(&|outcome| duration(outcome) / seconds(outcome.alone)))
        .with("compute_share", column(&|outcome| share(outcome, Rank::calculated)))
        .with("wait_share", column(&|outcome| 1.0 - share(outcome, Rank::worked)))
        .with("bus_bandwidth", bus)
}

fn ranks(scenario: &Scenario, clock: &Clock, outcomes: &[Outcome<'_>]) -> Table {
    let rows = || {
        outcomes
            .iter()
            .flat_map(|outcome| outcome.ranks.iter().zip(&outcome.job.hosts).enumerate().map(move |row| (outcome, row)))
    };
    let time = |value: &dyn Fn(&Outcome<'_>, &Rank) -> Option<Time>| {
        rows().map(|(outcome, (_, (rank, _)))| seconds(value(outcome, rank))).collect::<Vec<_>>()
    };
    let end = |rank: &Rank| rank.is_done().then(|| clock.of(rank.ended()));
    Table::new(&schema::RANKS)
        .with("job", rows().map(|(outcome, _)| outcome.name.to_string()).collect::<Vec<_>>())
        .with("rank", rows().map(|(_, (rank, _))| rank as u64).collect::<Vec<_>>())
        .with("host", rows().map(|(_, (_, (_, host)))| scenario.network.name(*host).to_string()).collect::<Vec<_>>())
        .with("end", time(&|_, rank| end(rank)))
        .with("compute", time(&|_, rank| Some(rank.calculated())))
        .with("overhead", time(&|_, rank| Some(rank.worked().since(rank.calculated()))))
        .with("wait", time(&|outcome, rank| Some(end(rank)?.since(outcome.start).since(rank.worked()))))
}

/// The table `ops`: every operation of the jobs with `record_ops`.
fn ops(clock: &Clock, outcomes: &[Outcome<'_>]) -> Table {
    let rows: Vec<(&Outcome<'_>, u32, u32, Span)> = outcomes
        .iter()
        .flat_map(|outcome| {
            let ranks = (0u32..).zip(&outcome.ranks);
            ranks.flat_map(move |(rank, state)| {
                (0u32..).zip(state.spans()).map(move |(op, span)| (outcome, rank, op, *span))
            })
        })
        .collect();
    let action = |(outcome, rank, op, _): &(&Outcome<'_>, u32, u32, Span)| {
        let program = &outcome.job.program;
        program.op(program.of_rank(*rank).start + op).action
    };
    let kind = |action| match action {
        Action::Calc { .. } => "calc",
        Action::Send { .. } => "send",
        Action::Recv { .. } => "recv",
    };
    let bytes = |action| match action {
        Action::Calc { .. } => 0,
        Action::Send { bytes, .. } | Action::Recv { bytes, .. } => bytes,
    };
    let peer = |action| match action {
        Action::Send { to: peer, .. } | Action::Recv { from: Some(peer), .. } => f64::from(peer),
        Action::Calc { .. } | Action::Recv { .. } => f64::NAN,
    };
    let time = |time: Time| if time == Time::MAX { f64::NAN } else { clock.of(time).as_secs() };
    Table::new(&schema::OPS)
        .with("job", rows.iter().map(|row| row.0.name.to_string()).collect::<Vec<_>>())
        .with("rank", rows.iter().map(|row| u64::from(row.1)).collect::<Vec<_>>())
        .with("op", rows.iter().map(|row| u64::from(row.2)).collect::<Vec<_>>())
        .with("kind", rows.iter().map(|row| kind(action(row)).to_string()).collect::<Vec<_>>())
        .with("peer", rows.iter().map(|row| peer(action(row))).collect::<Vec<_>>())
        .with("bytes", rows.iter().map(|row| bytes(action(row))).collect::<Vec<_>>())
        .with("start", rows.iter().map(|row| time(row.3.start)).collect::<Vec<_>>())
        .with("end", rows.iter().map(|row| time(row.3.end)).collect::<Vec<_>>())
}
