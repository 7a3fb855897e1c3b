//! What a change did: the difference between two runs of the same traffic.

use becalm_scenario::Scenario;
use serde_json::{Value, json};

use crate::tables::Tables;
use crate::words::{number, seconds, share};

/// Smallest change that counts, as a natural logarithm; `NOTICED` of `becalm.analysis.limits`.
const NOTICED: f64 = 0.05;
/// The same for latencies; `SHORTER` of `becalm.analysis.limits`.
const SHORTER: f64 = 0.4;
/// Smallest change of the largest share of paused time; `LEAST_ROOT` of `becalm.analysis.limits`.
const PAUSED: f64 = 0.05;
/// Largest number of changes that a sentence names, of each sign.
const MOST: usize = 3;

/// The outcome of a run, as far as it is compared with that of another run.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    duration: f64,
    /// Name and time of each job; NaN if it has not ended.
    jobs: Vec<(String, f64)>,
    /// Name and rate of each group, jobs included.
    groups: Vec<(String, f64)>,
    /// Largest share of the window for which a link was paused; NaN without pauses.
    paused: f64,
    /// Largest 99th percentile of latency of a group.
    latency: f64,
}

/// The difference between two runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Mean natural logarithm of the gains of all jobs and groups, 0 if it is not noticeable; small for shorter pauses
    /// or latencies only.
    pub score: f64,
    /// The noticeable changes, largest first.
    pub changes: Vec<Change>,
}

/// A change of one job or group.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Natural logarithm of the gain: above 0 if the second run is better.
    pub gain: f64,
    /// The change in words.
    pub text: String,
}

impl Outcome {
    /// The outcome that a replication's tables show.
    pub fn new(scenario: &Scenario, tables: &Tables) -> Outcome {
        let pairs = |table: &str, name: &str, value: &str| {
            tables.text(table, name).iter().cloned().zip(tables.numbers(table, value)).collect()
        };
        let largest = |table: &str, column: &str| {
            let values = tables.numbers(table, column).into_iter();
            values.filter(|value| value.is_finite()).fold(f64::NAN, f64::max)
        };
        Outcome {
            duration: (*scenario.sections().run.duration).as_secs(),
            jobs: pairs("jobs", "job", "time"),
            groups: pairs("groups", "group", "rate"),
            paused: largest("pauses", "paused_share"),
            latency: largest("groups", "latency_p99"),
        }
    }

    /// The outcome as JSON; NaN is null.
    pub fn json(&self) -> Value {
        json!({
            "duration": self.duration, "jobs": self.jobs, "groups": self.groups,
            "paused": self.paused, "latency": self.latency,
        })
    }

    /// The outcome that [`Outcome::json`] wrote; None if it is something else.
    pub fn read(value: &Value) -> Option<Outcome> {
        let real = |value: &Value| if value.is_null() { Some(f64::NAN) } else { value.as_f64() };
        let pairs = |name: &str| {
            let rows = value[name].as_array()?.iter();
            rows.map(|row| Some((row[0].as_str()?.to_string(), real(&row[1])?))).collect::<Option<Vec<_>>>()
        };
        Some(Outcome {
            duration: real(&value["duration"])?,
            jobs: pairs("jobs")?,
            groups: pairs("groups")?,
            paused: real(&value["paused"])?,
            latency: real(&value["latency"])?,
        })
    }
}

/// The difference between two runs of the same traffic.
///
/// Jobs count by their times, and groups of flows by their throughput. If neither changes noticeably, the longest pause
/// and the longest latency count.
pub fn difference(before: &Outcome, after: &Outcome) -> Difference {
    let rates: Vec<Change> = jobs(before, after).chain(groups(before, after)).collect();
    let sum = |changes: &[Change]| changes.iter().map(|change| change.gain).sum::<f64>();
    let mean = sum(&rates) / rates.len().max(1) as f64;
    let mut changes: Vec<Change> = rates.into_iter().filter(|change| change.gain.abs() >= NOTICED).collect();
    if changes.is_empty() {
        changes.extend(paused(before, after).into_iter().chain(latency(before, after)));
        return Difference { score: sum(&changes), changes };
    }
    changes.sort_by(|a, b| b.gain.abs().total_cmp(&a.gain.abs()));
    // What one job gains and another loses is no gain.
    Difference { score: if mean.abs() >= NOTICED / 2.0 { mean } else { 0.0 }, changes }
}

impl Difference {
    /// What a change did, in one sentence with the change as its subject.
    pub fn sentence(&self, subject: &str) -> String {
        let listed = |better: bool| {
            let counting = self.changes.iter().filter(|change| (change.gain > 0.0) == better).take(MOST);
            counting.map(|change| change.text.as_str()).collect::<Vec<_>>().join("; ")
        };
        match (listed(true), listed(false)) {
            (better, worse) if better.is_empty() && worse.is_empty() => {
                format!("{subject} changes no rate and no time by 5% or more.")
            }
            (better, worse) if worse.is_empty() => format!("{subject} helps: {better}."),
            (better, worse) if better.is_empty() => format!("{subject} harms: {worse}."),
            (better, worse) => format!("{subject} helps: {better}; the cost: {worse}."),
        }
    }
}

fn jobs(before: &Outcome, after: &Outcome) -> impl Iterator<Item = Change> {
    let longest = before.duration;
    before.jobs.iter().zip(&after.jobs).filter_map(move |((name, one), (_, other))| {
        let (gain, text) = match (one.is_finite(), other.is_finite()) {
            (true, true) => ((one / other).ln(), format!("takes {} instead of {}", seconds(*other), seconds(*one))),
            (false, true) => (
                (longest / other).ln().max(NOTICED),
                format!("takes {} instead of not ending within {}", seconds(*other), seconds(longest)),
            ),
            (true, false) => {
                (-(longest / one).ln().max(1.0), format!("does not end, instead of taking {}", seconds(*one)))
            }
            (false, false) => return None,
        };
        Some(Change { gain, text: format!("job {name} {text}") })
    })
}

/// Throughput of groups of flows, and of jobs that end in neither run.
fn groups(before: &Outcome, after: &Outcome) -> impl Iterator<Item = Change> {
    let ended = move |name: &str| {
        [before, after].iter().any(|run| run.jobs.iter().any(|job| job.0 == name && job.1.is_finite()))
    };
    before
        .groups
        .iter()
        .zip(&after.groups)
        .filter(move |((name, one), (_, other))| !ended(name) && one.max(*other) > 0.0)
        .map(|((name, one), (_, other))| {
            // A group that delivered nothing gains a large but finite factor.
            let least = 1e-3 * one.max(*other);
            let text = format!("{name} delivers {} instead of {}", number(*other, "B/s"), number(*one, "B/s"));
            Change { gain: (other.max(least) / one.max(least)).ln(), text }
        })
}

fn paused(before: &Outcome, after: &Outcome) -> Option<Change> {
    let (one, other) = (before.paused, after.paused);
    let text = || format!("the most paused link is paused for {} of the time instead of {}", share(other), share(one));
    ((one - other).abs() >= PAUSED).then(|| Change { gain: (one - other) / 10.0, text: text() })
}

fn latency(before: &Outcome, after: &Outcome) -> Option<Change> {
    let (one, other) = (before.latency, after.latency);
    let text = || format!("the 99th percentile of latency is {} instead of {}", seconds(other), seconds(one));
    let gain = (one / other).ln();
    (one > 0.0 && other > 0.0 && gain.abs() >= SHORTER).then(|| Change { gain: gain / 100.0, text: text() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(jobs: &[(&str, f64)], groups: &[(&str, f64)], paused: f64, latency: f64) -> Outcome {
        let owned = |pairs: &[(&str, f64)]| pairs.iter().map(|&(name, value)| (name.to_string(), value)).collect();
        Outcome { duration: 0.01, jobs: owned(jobs), groups: owned(groups), paused, latency }
    }

    #[test]
    fn what_some_gain_and_others_lose_is_said_of_both() {
        let before = outcome(&[("train", 5e-3)], &[("incast", 9.65e9), ("train", 1e9)], f64::NAN, 1e-6);
        let after = outcome(&[("train", 4e-3)], &[("incast", 3.7e9), ("train", 2e9)], f64::NAN, 1e-6);
        let found = difference(&before, &after);
        // The rate of a job that ends only repeats its time.
        let gains = [(3.7e9_f64 / 9.65e9).ln(), (5e-3_f64 / 4e-3).ln()];
        assert_eq!(found.changes.iter().map(|change| change.gain).collect::<Vec<_>>(), gains);
        assert!((found.score - (gains[0] + gains[1]) / 2.0).abs() < 1e-12);
        assert_eq!(
            found.sentence("Control"),
            "Control helps: job train takes 4.00 ms instead of 5.00 ms; the cost: incast delivers 3.70 GB/s instead \
             of 9.65 GB/s."
        );
    }

    #[test]
    fn a_change_counts_from_a_twentieth() {
        let run = |rate: f64| outcome(&[], &[("a", rate)], f64::NAN, f64::NAN);
        let said = |rate: f64| difference(&run(1e9), &run(rate)).sentence("It");
        assert_eq!(said(1.05e9), "It changes no rate and no time by 5% or more.");
        assert_eq!(said(1.052e9), "It helps: a delivers 1.05 GB/s instead of 1.00 GB/s.");
        assert_eq!(said(0.0), "It harms: a delivers 0.00 B/s instead of 1.00 GB/s.");
    }

    #[test]
    fn pauses_and_latencies_count_only_without_other_changes() {
        let run = |rate: f64, latency: f64| outcome(&[], &[("a", rate)], 0.5, latency);
        let shorter = difference(&run(1e9, 44e-6), &run(1e9, 2e-6));
        assert_eq!(shorter.sentence("It"), "It helps: the 99th percentile of latency is 2.00 us instead of 44.0 us.");
        assert_eq!(difference(&run(1e9, 44e-6), &run(2e9, 2e-6)).changes.len(), 1);
        assert_eq!(difference(&run(1e9, 1.49e-6), &run(1e9, 1e-6)).changes.len(), 0);
    }

    #[test]
    fn a_job_that_ends_in_one_run_only_is_the_largest_change() {
        let run = |time: f64| outcome(&[("j", time)], &[("j", 1e9)], f64::NAN, f64::NAN);
        let said = |one: f64, other: f64| difference(&run(one), &run(other)).sentence("It");
        assert_eq!(said(f64::NAN, 9.9e-3), "It helps: job j takes 9.90 ms instead of not ending within 10.0 ms.");
        assert_eq!(said(9.9e-3, f64::NAN), "It harms: job j does not end, instead of taking 9.90 ms.");
        assert_eq!(said(f64::NAN, f64::NAN), "It changes no rate and no time by 5% or more.");
    }

    #[test]
    fn an_outcome_is_read_as_it_was_written() {
        let one = outcome(&[("j", f64::NAN)], &[("a", 0.5)], f64::NAN, 1e-6);
        let again = Outcome::read(&serde_json::from_str(&one.json().to_string()).unwrap()).unwrap();
        assert_eq!(format!("{again:?}"), format!("{one:?}"));
        assert_eq!(Outcome::read(&json!({"duration": 1})), None);
    }
}
