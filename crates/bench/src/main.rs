//! Packet-hops per core-second on fixed scenarios.
//!
//! A packet-hop is one packet that crosses one link; host links, ACKs and CNPs count. Every scenario runs in a process
//! of its own, so that its peak memory is its own, and several times; the fastest run by processor time is reported,
//! since whatever else the machine does can only make a run slower.

use std::io::Write;
use std::process::{Command, ExitCode};
use std::time::Instant;

use becalm_scenario::Scenario;
use clap::Parser;
use cpu_time::ProcessTime;
use serde::{Deserialize, Serialize};

/// The text of a scenario: one or more files of `scenarios`, one after the other.
macro_rules! text {
    ($($file:literal),+) => { concat!($(include_str!(concat!("../scenarios/", $file, ".toml")), "\n"),+) };
}

const SCENARIOS: [(&str, &str); 13] = [
    ("dumbbell", text!("dumbbell")),
    ("clos128_0.5", text!("clos128_0.5")),
    ("clos128_0.9", text!("clos128_0.9")),
    ("perm128", text!("perm128")),
    ("perm128_cc", text!("perm128", "cc128")),
    ("hot128", text!("hot128")),
    ("hot128_cc", text!("hot128", "cc128")),
    ("incast128", text!("incast128")),
    ("incast128_cc", text!("incast128", "cc128_incast")),
    ("perm1024", text!("perm1024")),
    ("perm1024_cc", text!("perm1024", "cc1024")),
    ("hot1024", text!("hot1024")),
    ("hot1024_cc", text!("hot1024", "cc1024")),
];

/// Packet-hops per core-second on fixed scenarios.
#[derive(Parser)]
#[command(name = "becalm-bench")]
struct Arguments {
    /// The scenarios to run; all if none is named.
    #[arg(value_parser = clap::builder::PossibleValuesParser::new(SCENARIOS.map(|(name, _)| name)))]
    names: Vec<String>,
    /// Runs of each scenario, of which the fastest counts.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// One JSON object per scenario instead of a table.
    #[arg(long)]
    json: bool,
    /// Runs one scenario in this process and prints its figures as JSON.
    #[arg(long, hide = true)]
    here: bool,
}

/// The figures of one scenario.
#[derive(Serialize, Deserialize)]
struct Figures {
    scenario: String,
    packet_hops: u64,
    events: u64,
    cpu_seconds: f64,
    set_up_seconds: f64,
    packet_hops_per_core_second: f64,
    events_per_packet_hop: f64,
    ns_per_event: f64,
    peak_memory_bytes: Option<u64>,
    fingerprint: String,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let chosen =
        SCENARIOS.iter().filter(|(name, _)| arguments.names.is_empty() || arguments.names.iter().any(|n| n == name));
    if !arguments.json && !arguments.here {
        print_header();
    }
    for (name, text) in chosen {
        let figures =
            if arguments.here { Ok(measure(name, text, arguments.runs)) } else { measure_apart(name, arguments.runs) };
        let figures = match figures {
            Ok(figures) => figures,
            Err(error) => {
                eprintln!("{name}: {error}");
                return ExitCode::FAILURE;
            }
        };
        if arguments.json || arguments.here {
            println!("{}", serde_json::to_string(&figures).expect("plain numbers"));
        } else {
            print_row(&figures);
        }
    }
    ExitCode::SUCCESS
}

/// Measures a scenario in a process of its own.
fn measure_apart(name: &str, runs: u32) -> Result<Figures, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new(program).args(["--here", "--runs", &runs.to_string(), name]).output();
    let output = output.map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())
}

/// Runs a scenario several times and keeps the fastest.
fn measure(name: &str, text: &str, runs: u32) -> Figures {
    (0..runs).map(|_| run(name, text)).min_by(|a, b| a.cpu_seconds.total_cmp(&b.cpu_seconds)).expect("at least one run")
}

/// Processor time of the run includes setting up, measuring and the tables of results: what a user waits for.
fn run(name: &str, text: &str) -> Figures {
    let start = Instant::now();
    let scenario = Scenario::parse(text, name).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let set_up_seconds = start.elapsed().as_secs_f64();
    let cpu = ProcessTime::now();
    let results = scenario.run(0, 1, &mut |_| true).unwrap_or_else(|error| panic!("{error}"));
    let cpu_seconds = cpu.elapsed().as_secs_f64();
    Figures {
        scenario: name.to_string(),
        packet_hops: results.packet_hops,
        events: results.events,
        cpu_seconds,
        set_up_seconds,
        packet_hops_per_core_second: results.packet_hops as f64 / cpu_seconds,
        events_per_packet_hop: results.events as f64 / results.packet_hops as f64,
        ns_per_event: cpu_seconds * 1e9 / results.events as f64,
        peak_memory_bytes: peak_memory(),
        fingerprint: format!("{:016x}", results.fingerprint),
    }
}

/// The largest resident set of this process so far, where the system tells (Linux).
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}

fn print_header() {
    println!(
        "{:<14} {:>14} {:>16} {:>12} {:>10} {:>12}",
        "scenario", "packet-hops", "M packet-hops/s", "events/hop", "ns/event", "memory (MB)"
    );
}

fn print_row(f: &Figures) {
    let memory = f.peak_memory_bytes.map_or("-".to_string(), |bytes| format!("{:.1}", bytes as f64 / 1e6));
    println!(
        "{:<14} {:>14} {:>16.2} {:>12.3} {:>10.1} {:>12}",
        f.scenario,
        f.packet_hops,
        f.packet_hops_per_core_second / 1e6,
        f.events_per_packet_hop,
        f.ns_per_event,
        memory
    );
    let _ = std::io::stdout().flush();
}
