//! Compares instructions and cache misses per packet-hop, counted by callgrind, with committed figures.
//!
//! Unlike a time, a count does not depend on the load of the machine. Only the run itself is counted, without
//! the set-up and the tables. The count of a shorter run is subtracted from that of a longer run. The
//! difference covers the time between their ends, when queues and lists have reached their usual sizes. The
//! cache is simulated, and so is the same on every machine.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::measure::{Figures, Settings, duration};
use crate::scenarios::find;

/// A scenario, the start and end of the counted period, and changes that move the events of interest near its
/// start.
struct Counted {
    name: &'static str,
    span: [&'static str; 2],
    changes: &'static [&'static str],
}

const COUNTED: [Counted; 7] = [
    Counted { name: "dumbbell", span: ["10 ms", "30 ms"], changes: &[] },
    Counted { name: "perm128", span: ["50 us", "100 us"], changes: &[] },
    Counted { name: "hot128_cc", span: ["50 us", "100 us"], changes: &[] },
    Counted { name: "clos128_0.5", span: ["1 ms", "1.5 ms"], changes: &[] },
    Counted { name: "pfister128", span: ["200 us", "400 us"], changes: &["/flows/1/start=20 us"] },
    Counted { name: "pfc128", span: ["100 us", "150 us"], changes: &[] },
    Counted { name: "job128", span: ["60 us", "90 us"], changes: &[] },
];
/// The function whose instructions count, with its callees.
const MEASURED: &str = "*becalm_scenario::run::course::Course::advance*";
/// The simulated caches: size, associativity and bytes per line. The last cache represents a core's
/// second-level cache.
const CACHES: [&str; 4] = ["--cache-sim=yes", "--I1=32768,8,64", "--D1=32768,8,64", "--LL=1048576,16,64"];
/// Relative growth above which the check fails.
const TOLERANCES: Counts = Counts { instructions: 0.05, misses: 0.1 };
/// Absolute growth that is always accepted. Misses depend slightly on where the system's library allocates
/// memory.
const NOISE: Counts = Counts { instructions: 0.0, misses: 1.0 };

/// Figures per packet-hop.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Counts {
    instructions: f64,
    /// Loads and stores that miss the first-level data cache.
    misses: f64,
}

/// The committed figures.
#[derive(Serialize, Deserialize)]
struct Known {
    /// The compiler of the committed figures. Another compiler may lead to different figures.
    rustc: String,
    per_packet_hop: BTreeMap<String, Counts>,
}

/// Compares counts with the figures in a file, or rewrites the file.
///
/// # Errors
/// Figures that grew too much, or the reason that counting failed.
pub fn check(file: &Path, write: bool) -> Result<(), String> {
    let mut counted = BTreeMap::new();
    for scene in &COUNTED {
        let [(before, hops_before), (after, hops)] = [count(scene, scene.span[0])?, count(scene, scene.span[1])?];
        let hops = (hops - hops_before) as f64;
        let each = |value: fn(&Counts) -> f64, digits: f64| {
            ((value(&after) - value(&before)) / hops * digits).round() / digits
        };
        let counts = Counts { instructions: each(|c| c.instructions, 10.0), misses: each(|c| c.misses, 100.0) };
        counted.insert(scene.name.to_string(), counts);
    }
    if write {
        let known = Known { rustc: rustc(), per_packet_hop: counted };
        let text = serde_json::to_string_pretty(&known).expect("plain numbers") + "\n";
        return std::fs::write(file, text).map_err(|error| format!("{}: {error}", file.display()));
    }
    let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let known: Known = serde_json::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))?;
    compare(&known, &counted)
}

fn compare(known: &Known, counted: &BTreeMap<String, Counts>) -> Result<(), String> {
    let mut worse = Vec::new();
    for (name, now) in counted {
        let Some(before) = known.per_packet_hop.get(name) else {
            return Err(format!("{name}: has no committed figure; `make guard-write` writes them"));
        };
        for (what, now, before, tolerance, noise) in [
            ("instructions", now.instructions, before.instructions, TOLERANCES.instructions, NOISE.instructions),
            ("misses", now.misses, before.misses, TOLERANCES.misses, NOISE.misses),
        ] {
            let growth = now / before - 1.0;
            println!("{name:<12} {now:8.2} {what} per packet-hop, {before:.2} committed: {:+.1}%", growth * 100.0);
            if growth > tolerance && now - before > noise {
                worse.push(format!("{name} needs over {:.0}% more {what} than committed", tolerance * 100.0));
            }
        }
    }
    if worse.is_empty() {
        return Ok(());
    }
    let compilers = match rustc() {
        now if now == known.rustc => String::new(),
        now => format!(" (committed with {}, now {now})", known.rustc),
    };
    Err(format!(
        "{}{compilers}; make it faster, or explain the growth in the commit and update the figures with \
         `make guard-write`",
        worse.join(", ")
    ))
}

/// Counts and packet-hops of a scenario from time zero.
fn count(scene: &Counted, until: &str) -> Result<(Counts, u64), String> {
    let name = scene.name;
    let bench = find(name).ok_or_else(|| format!("no such scenario: {name}"))?;
    let changes = scene.changes.iter().map(|change| change.to_string()).chain([duration(until)]).collect();
    let settings = Settings { runs: 1, threads: 1, changes };
    let toggle = format!("--toggle-collect={MEASURED}");
    let callgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", &toggle];
    let before: Vec<String> = callgrind.iter().chain(&CACHES).map(|argument| argument.to_string()).collect();
    // Where the stack begins depends on the environment, and misses on where it begins.
    let path = std::env::var_os("PATH").unwrap_or_default();
    let output = settings.command(&before, bench.name)?.env_clear().env("PATH", path).output();
    let output = output.map_err(|error| format!("valgrind: {error} (Debian: apt install valgrind)"))?;
    let printed = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("{name}: {printed}"));
    }
    let figures: Figures = serde_json::from_slice(&output.stdout).map_err(|error| format!("{name}: {error}"))?;
    let counts = collected(&printed).ok_or_else(|| format!("{name}: callgrind counted nothing:\n{printed}"))?;
    Ok((counts, figures.packet_hops))
}

/// The counts in the lines `==1== Events    : Ir Dr ...` and `==1== Collected : 123 45 ...`.
fn collected(printed: &str) -> Option<Counts> {
    let words = |title: &str| {
        let line = printed.lines().find(|line| line.contains(title))?;
        Some(line.rsplit(':').next()?.split_whitespace())
    };
    let counts: BTreeMap<&str, f64> = words("Events    :")?
        .zip(words("Collected :")?)
        .map(|(event, count)| Some((event, count.parse().ok()?)))
        .collect::<Option<_>>()?;
    let of = |event| counts.get(event).copied();
    let counts = Counts { instructions: of("Ir")?, misses: of("D1mr")? + of("D1mw")? };
    (counts.instructions > 0.0).then_some(counts)
}

fn rustc() -> String {
    let output = std::process::Command::new("rustc").arg("--version").output();
    output.map_or_else(|_| "unknown".to_string(), |output| String::from_utf8_lossy(&output.stdout).trim().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(instructions: f64, misses: f64) -> BTreeMap<String, Counts> {
        BTreeMap::from([("dumbbell".to_string(), Counts { instructions, misses })])
    }

    #[test]
    fn only_growth_beyond_the_tolerance_fails() {
        let known = Known { rustc: rustc(), per_packet_hop: figures(400.0, 20.0) };
        for (instructions, misses) in [(100.0, 5.0), (400.0, 20.0), (419.9, 21.9)] {
            assert_eq!(compare(&known, &figures(instructions, misses)), Ok(()));
        }
        let why = |instructions, misses| compare(&known, &figures(instructions, misses)).unwrap_err();
        assert!(why(420.1, 20.0).starts_with("dumbbell needs over 5% more instructions than committed;"));
        assert!(why(400.0, 22.1).starts_with("dumbbell needs over 10% more misses than committed;"));
        let few = Known { rustc: rustc(), per_packet_hop: figures(400.0, 2.0) };
        assert_eq!(compare(&few, &figures(400.0, 2.9)), Ok(()), "memory addresses differ between machines");
        assert!(compare(&few, &figures(400.0, 3.1)).is_err());
        let other = Known { rustc: "rustc 0".to_string(), ..known };
        assert!(compare(&other, &figures(500.0, 1.0)).is_err_and(|why| why.contains("committed with rustc 0")));
        assert!(compare(&other, &BTreeMap::from([("new".to_string(), TOLERANCES)])).is_err());
    }

    #[test]
    fn the_counts_are_read_from_what_callgrind_prints() {
        let printed = "==7== Events    : Ir Dr D1mr D1mw\n==7== Collected : 1234 500 7 2\n";
        assert_eq!(collected(printed), Some(Counts { instructions: 1234.0, misses: 9.0 }));
        assert_eq!(collected("==7== Events    : Ir D1mr D1mw\n==7== Collected : 0 0 0\n"), None);
        assert_eq!(collected("==7== Events    : Ir\n==7== Collected : 12\n"), None);
        assert_eq!(collected("==7== no\n"), None);
    }
}
