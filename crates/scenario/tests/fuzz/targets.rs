//! Readers of scenarios and of their values.

use std::time::{Duration, Instant};

use becalm_fabric::FabricError;
use becalm_scenario::{RunError, Scenario};
use becalm_schema::{Errors, Origin};

use crate::{fuzz, kept, root};

/// Largest memory estimate of scenarios that are also run.
const SMALL: u64 = 200 << 20;
/// One of this many scenarios is run; all scenarios are built.
const RUN_ONE_OF: usize = 16;
/// Limit on the wall time of a run.
const RUN: Duration = Duration::from_millis(20);

/// Names of sections, keys and choices.
const KEYS: [&str; 42] = [
    "run",
    "duration",
    "warmup",
    "seed",
    "replications",
    "topology",
    "dumbbell",
    "clos",
    "tree",
    "fat_tree",
    "edges",
    "levels",
    "children",
    "parallel",
    "routes",
    "switch",
    "vls",
    "buffer",
    "arbiter",
    "oldest_first",
    "round_robin",
    "marking",
    "ibta",
    "response",
    "lipd",
    "aimd",
    "table",
    "steps",
    "echo",
    "flows",
    "from",
    "to",
    "pattern",
    "all_to_all",
    "connections",
    "traffic",
    "poisson",
    "batch",
    "observe",
    "snapshots",
    "frames",
    "spans",
];

/// Ready scenarios, and inputs from the corpus.
fn seeds() -> Vec<String> {
    let mut seeds = kept(&root().join("scenarios"));
    seeds.extend(kept(&root().join("tests/fuzz/corpus/scenario")));
    assert!(seeds.len() >= 5);
    // Long texts would dominate the corrupted inputs, and are slow.
    seeds.retain(|text| text.len() < 20_000);
    seeds
}

fn described(errors: &Errors) -> Result<(), String> {
    let lines = errors.to_string();
    match errors.is_empty() || lines.is_empty() || lines.len() > 50_000_000 {
        true => Err(format!("{} errors in {} bytes", errors.list.len(), lines.len())),
        false => Ok(()),
    }
}

/// Checks that a scenario can be written, read again and estimated, and that a small scenario can run.
fn check(scenario: &Scenario, text: &str) -> Result<(), String> {
    let resolved = scenario.resolved();
    let again = Scenario::from_json(&resolved, "again.toml").map_err(|errors| format!("read again: {errors}"))?;
    if again.resolved() != resolved {
        return Err("means something else when it is read again".to_string());
    }
    let estimate = scenario.memory_estimate();
    if estimate.total() > SMALL {
        return Ok(());
    }
    let _ = scenario.summary();
    // Runs are slower than all other steps, and are not the subject of this test.
    if !text.len().is_multiple_of(RUN_ONE_OF) {
        return scenario.prepare(0, 1).map(drop).map_err(|error| format!("cannot be built: {error}"));
    }
    let begin = Instant::now();
    match scenario.run(0, 1, &mut |_| begin.elapsed() < RUN) {
        Ok(_) | Err(RunError::Interrupted | RunError::Fabric(FabricError::Deadlock { .. })) => Ok(()),
        Err(error) => Err(format!("a scenario without mistakes: {error}")),
    }
}

fn scenario(text: &str) -> Result<(), String> {
    match Scenario::parse(text, "broken.toml") {
        Ok(scenario) => check(&scenario, text),
        Err(errors) => described(&errors),
    }
}

#[test]
fn scenarios() {
    fuzz("scenario", &seeds(), &KEYS, scenario);
}

#[test]
fn keys_that_options_have_set() {
    fn target(text: &str) -> Result<(), String> {
        // The first line of the input contains the keys, and the rest is a scenario.
        let (keys, text) = text.split_once('\n').unwrap_or((text, ""));
        let origin = |key: &str| Origin { key: key.to_string(), option: format!("--set {key}=1") };
        match Scenario::parse_changed(text, "broken.toml", keys.split_whitespace().map(origin).collect(), None) {
            Ok(scenario) => check(&scenario, text),
            Err(errors) => described(&errors),
        }
    }
    let with_keys =
        |text: String| format!("run.seed flows[0].from flows[1].traffic switch topology.dumbbell.remote\n{text}");
    let seeds: Vec<String> = seeds().into_iter().map(with_keys).collect();
    fuzz("changed_keys", &seeds, &KEYS, target);
}

#[test]
fn documents() {
    fn target(text: &str) -> Result<(), String> {
        let mut errors = Errors::new("broken.toml");
        match becalm_schema::parse(text, &mut errors) {
            Some(node) => {
                let _ = node.show();
                Ok(())
            }
            None => described(&errors),
        }
    }
    fuzz("document", &seeds(), &KEYS, target);
}

#[test]
fn names_and_quantities() {
    fn target(text: &str) -> Result<(), String> {
        for line in text.lines() {
            let names = becalm_schema::names::expand(line);
            let first = names.as_ref().ok().and_then(|names| names.first());
            if first.is_some_and(|name| !becalm_schema::names::covers(line, name)) {
                return Err(format!("`{line}` does not cover its first name"));
            }
            let amounts = [becalm_schema::seconds(line), becalm_schema::bytes(line)];
            if amounts.into_iter().flatten().any(|amount| !amount.is_finite()) {
                return Err(format!("`{line}` is not finite"));
            }
            let _ = becalm_schema::did_you_mean(line, &KEYS);
        }
        Ok(())
    }
    let seeds = ["B1..B10\nH0..H7\nh-1-0..h-1-1\nBC\n*\n", "40 ns\n2.5 ms\n1e-3 s\n4 packets\n64 KiB\n1.5MiB\n"];
    let words = ["..", "B", "KiB", "ns", "s", " ", "e", "H00..H09", "9999999999999999999999"];
    fuzz("names_and_quantities", &seeds.map(str::to_string), &words, target);
}
