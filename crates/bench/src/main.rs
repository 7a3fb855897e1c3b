//! Packet-hops per core-second on fixed scenarios.
//!
//! A packet-hop is one packet that crosses one link. Host links, ACKs and CNPs count.
//!
//! - `scenarios`: the scenarios, from files in `scenarios/`.
//! - `measure`: measures one of them in a separate process.
//! - `guard`: compares instructions and cache misses per packet-hop with committed figures.

mod guard;
mod measure;
mod scenarios;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

use crate::measure::{Figures, Settings, duration, measure, measure_apart};
use crate::scenarios::{Bench, SCENARIOS};

/// Packet-hops per core-second on fixed scenarios.
#[derive(Parser)]
#[command(name = "becalm-bench")]
struct Arguments {
    /// Scenarios to run; the default ones if none is named.
    #[arg(value_parser = clap::builder::PossibleValuesParser::new(SCENARIOS.map(|bench| bench.name)))]
    names: Vec<String>,
    /// Runs all scenarios.
    #[arg(long, conflicts_with = "names")]
    all: bool,
    /// Number of runs of each scenario. The fastest run counts.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Largest number of threads of a run; fewer if they would mainly synchronize, as in `becalm run`.
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Simulated time instead of the scenarios' own, such as "30 us".
    #[arg(long)]
    duration: Option<String>,
    /// A changed value of the scenarios: a JSON pointer to a string in the resolved scenario, and the new
    /// string.
    #[arg(long, value_name = "POINTER=VALUE")]
    set: Vec<String>,
    /// Prints one JSON object per scenario instead of a table.
    #[arg(long)]
    json: bool,
    /// Prints the text of the scenarios without a run.
    #[arg(long, conflicts_with = "json")]
    show: bool,
    /// Only compares instructions and cache misses per packet-hop with those in this file.
    #[arg(long, conflicts_with = "names")]
    guard: Option<PathBuf>,
    /// Rewrites the file of `--guard`.
    #[arg(long, requires = "guard")]
    write: bool,
    /// Runs one scenario in this process and prints its figures as JSON.
    #[arg(long, hide = true)]
    here: bool,
}

impl Arguments {
    fn chosen(&self) -> impl Iterator<Item = &'static Bench> {
        let wanted = |bench: &&Bench| match self.names.as_slice() {
            [] => self.all || bench.usual,
            names => names.iter().any(|name| name == bench.name),
        };
        SCENARIOS.iter().filter(wanted)
    }
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), String> {
    if let Some(file) = &arguments.guard {
        return guard::check(file, arguments.write);
    }
    if arguments.show {
        arguments.chosen().for_each(|bench| print!("{}", bench.text));
        return Ok(());
    }
    let changes =
        arguments.duration.as_deref().map(duration).into_iter().chain(arguments.set.iter().cloned()).collect();
    let settings = Settings { runs: arguments.runs, threads: arguments.threads, changes };
    if !arguments.json && !arguments.here {
        print_header();
    }
    for bench in arguments.chosen() {
        let figures = if arguments.here { measure(bench, &settings) } else { measure_apart(bench, &settings) };
        let figures = figures.map_err(|error| format!("{}: {error}", bench.name))?;
        if arguments.json || arguments.here {
            println!("{}", serde_json::to_string(&figures).expect("plain numbers"));
        } else {
            print_row(&figures);
        }
    }
    Ok(())
}

fn print_header() {
    println!(
        "{:<13} {:>12} {:>8} {:>10} {:>8} {:>10} {:>10} {:>10} {:>10}",
        "scenario", "packet-hops", "M hops/s", "events/hop", "ns/event", "set-up (s)", "B/host", "B/pair", "peak (MB)"
    );
}

fn print_row(f: &Figures) {
    let shown = |value: Option<u64>| value.map_or("-".to_string(), |value| value.to_string());
    println!(
        "{:<13} {:>12} {:>8.2} {:>10.3} {:>8.1} {:>10.3} {:>10} {:>10} {:>10.1}",
        f.scenario,
        f.packet_hops,
        f.packet_hops_per_core_second / 1e6,
        f.events_per_packet_hop,
        f.ns_per_event,
        f.set_up_seconds,
        shown(f.idle_bytes_per_host),
        shown(f.idle_bytes_per_port_pair),
        f.peak_memory_bytes.unwrap_or(0) as f64 / 1e6
    );
    let _ = std::io::stdout().flush();
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_scenario::Scenario;

    #[test]
    fn all_scenarios_are_right() {
        for bench in SCENARIOS.iter().filter(|bench| bench.name != "tree65536") {
            Scenario::parse(bench.text, bench.name).unwrap_or_else(|mistakes| panic!("{mistakes}"));
        }
    }

    #[test]
    fn a_short_run_has_figures() {
        let bench = scenarios::find("perm128_cc").expect("there is one");
        let settings = Settings { runs: 2, threads: 1, changes: vec![duration("20 us")] };
        let figures = measure(bench, &settings).expect("it runs");
        assert_eq!((figures.hosts, figures.port_pairs), (128, 384));
        assert!(figures.packet_hops > 10_000 && figures.packet_hops_per_core_second > 0.0);
        for (change, message) in [
            (duration("20"), "perm128_cc: run.duration"),
            ("/run/length=20 us".to_string(), "/run/length: no such value"),
            ("20 us".to_string(), "20 us: must be POINTER=VALUE"),
        ] {
            let wrong = measure(bench, &Settings { changes: vec![change], ..settings.clone() }).err();
            assert!(wrong.as_ref().is_some_and(|wrong| wrong.starts_with(message)), "{wrong:?}");
        }
    }
}
