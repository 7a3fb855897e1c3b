//! Measures one scenario.

use std::process::Command;
use std::time::Instant;

use becalm_scenario::Scenario;
use cpu_time::ProcessTime;
use serde::{Deserialize, Serialize};

use crate::scenarios::Bench;

/// The figures of one scenario. Seconds are processor time (user and system) of all threads.
#[derive(Serialize, Deserialize)]
pub struct Figures {
    pub scenario: String,
    pub hosts: u64,
    /// Number of cables. Each connects a pair of ports.
    pub port_pairs: u64,
    pub threads: usize,
    pub packet_hops: u64,
    pub events: u64,
    /// Set-up: from the file's text to a run at time zero.
    pub set_up_seconds: f64,
    /// Run: from time zero to the result tables.
    pub cpu_seconds: f64,
    /// Wall time of the same period.
    pub wall_seconds: f64,
    pub packet_hops_per_core_second: f64,
    pub events_per_packet_hop: f64,
    pub ns_per_event: f64,
    /// Growth of the resident set during the set-up, if the system reports it (Linux).
    pub idle_memory_bytes: Option<u64>,
    pub idle_bytes_per_host: Option<u64>,
    pub idle_bytes_per_port_pair: Option<u64>,
    /// The largest resident set, including results.
    pub peak_memory_bytes: Option<u64>,
    pub fingerprint: String,
}

/// Settings of a measurement.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    pub runs: u32,
    pub threads: usize,
    /// Changes of the scenario, as `POINTER=VALUE` with a JSON pointer to a string in the resolved scenario.
    pub changes: Vec<String>,
}

impl Settings {
    fn arguments(&self) -> Vec<String> {
        let mut arguments =
            vec!["--here".to_string(), format!("--runs={}", self.runs), format!("--threads={}", self.threads)];
        arguments.extend(self.changes.iter().map(|change| format!("--set={change}")));
        arguments
    }

    /// The command that measures a scenario in a separate process of this program: `before ... program ...`.
    pub fn command(&self, before: &[String], name: &str) -> Result<Command, String> {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut command = match before {
            [] => Command::new(&program),
            [first, rest @ ..] => {
                let mut command = Command::new(first);
                command.args(rest).arg(&program);
                command
            }
        };
        command.args(self.arguments()).arg(name);
        Ok(command)
    }
}

/// Measures a scenario in a separate process, so that the memory is only its own.
pub fn measure_apart(bench: &Bench, settings: &Settings) -> Result<Figures, String> {
    let output = settings.command(&[], bench.name)?.output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())
}

/// Runs a scenario several times. The run with the least processor time counts, because other load can only
/// slow a run down. Memory is measured in the first run, which no earlier run can affect.
pub fn measure(bench: &Bench, settings: &Settings) -> Result<Figures, String> {
    let mut best = run(bench, settings)?;
    for _ in 1..settings.runs {
        let next = run(bench, settings)?;
        best.set_up_seconds = best.set_up_seconds.min(next.set_up_seconds);
        if next.cpu_seconds < best.cpu_seconds {
            best.wall_seconds = next.wall_seconds;
            best.set_rates(next.cpu_seconds);
        }
    }
    Ok(best)
}

fn run(bench: &Bench, settings: &Settings) -> Result<Figures, String> {
    let before = memory("VmRSS:");
    let cpu = ProcessTime::now();
    let scenario = read(bench, &settings.changes)?;
    let threads = scenario.allowed_threads(settings.threads);
    let run = scenario.prepare(0, threads).map_err(|error| error.to_string())?;
    let set_up_seconds = cpu.elapsed().as_secs_f64();
    let idle = memory("VmRSS:").zip(before).map(|(after, before)| after.saturating_sub(before));
    let (cpu, wall) = (ProcessTime::now(), Instant::now());
    let results = run.run(&mut |_| true).map_err(|error| error.to_string())?;
    let (cpu_seconds, wall_seconds) = (cpu.elapsed().as_secs_f64(), wall.elapsed().as_secs_f64());
    let hosts = u64::from(scenario.topology().host_count());
    let port_pairs = scenario.topology().cables().len() as u64;
    let mut figures = Figures {
        scenario: bench.name.to_string(),
        hosts,
        port_pairs,
        threads,
        packet_hops: results.packet_hops,
        events: results.events,
        set_up_seconds,
        cpu_seconds,
        wall_seconds,
        packet_hops_per_core_second: 0.0,
        events_per_packet_hop: results.events as f64 / results.packet_hops as f64,
        ns_per_event: 0.0,
        idle_memory_bytes: idle,
        idle_bytes_per_host: idle.map(|bytes| bytes / hosts),
        idle_bytes_per_port_pair: idle.map(|bytes| bytes / port_pairs),
        peak_memory_bytes: memory("VmHWM:"),
        fingerprint: format!("{:016x}", results.fingerprint),
    };
    figures.set_rates(cpu_seconds);
    Ok(figures)
}

impl Figures {
    fn set_rates(&mut self, cpu_seconds: f64) {
        self.cpu_seconds = cpu_seconds;
        self.packet_hops_per_core_second = self.packet_hops as f64 / cpu_seconds;
        self.ns_per_event = cpu_seconds * 1e9 / self.events as f64;
    }
}

/// The change that sets another duration.
pub fn duration(text: &str) -> String {
    format!("/run/duration={text}")
}

/// The scenario, with the changes.
fn read(bench: &Bench, changes: &[String]) -> Result<Scenario, String> {
    let scenario = Scenario::parse(bench.text, bench.name).map_err(|mistakes| mistakes.to_string())?;
    if changes.is_empty() {
        return Ok(scenario);
    }
    let mut values = scenario.resolved();
    for change in changes {
        let (pointer, value) = change.split_once('=').ok_or_else(|| format!("{change}: must be POINTER=VALUE"))?;
        let place = values.pointer_mut(pointer).ok_or_else(|| format!("{pointer}: no such value"))?;
        *place = value.into();
    }
    Scenario::from_json(&values, bench.name).map_err(|mistakes| mistakes.to_string())
}

/// A line of this process's status, in bytes.
fn memory(key: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with(key))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}
