//! Instructions per packet-hop, counted by callgrind and compared with committed figures.
//!
//! Unlike a time, a count does not depend on other work of the machine. Only the run itself is counted; not the set-up,
//! not the tables. A longer run less a shorter one is what happens between their ends, when queues have their usual
//! lengths and lists their full size.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::measure::{Figures, Manner};
use crate::scenarios::find;

/// Counted scenarios, and from when to when.
const COUNTED: [(&str, [&str; 2]); 3] =
    [("dumbbell", ["10 ms", "30 ms"]), ("perm128", ["50 us", "100 us"]), ("hot128_cc", ["50 us", "100 us"])];
/// The function whose instructions count, with its callees.
const MEASURED: &str = "*becalm_scenario::run::Running::measure*";
/// Growth that fails.
const TOLERANCE: f64 = 0.05;

/// The committed figures.
#[derive(Serialize, Deserialize)]
struct Known {
    /// The compiler of the committed figures; another one may give others.
    rustc: String,
    instructions_per_packet_hop: BTreeMap<String, f64>,
}

/// Compares with the figures of a file, or writes them anew.
///
/// # Errors
/// Figures that grew too much, or the reason why counting failed.
pub fn check(file: &Path, write: bool) -> Result<(), String> {
    let mut counted = BTreeMap::new();
    for (name, [from, to]) in COUNTED {
        let (before, after) = (count(name, from)?, count(name, to)?);
        let each = (after.0 - before.0) as f64 / (after.1 - before.1) as f64;
        counted.insert(name.to_string(), (each * 10.0).round() / 10.0);
    }
    if write {
        let known = Known { rustc: rustc(), instructions_per_packet_hop: counted };
        let text = serde_json::to_string_pretty(&known).expect("plain numbers") + "\n";
        return std::fs::write(file, text).map_err(|error| format!("{}: {error}", file.display()));
    }
    let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let known: Known = serde_json::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))?;
    compare(&known, &counted)
}

fn compare(known: &Known, counted: &BTreeMap<String, f64>) -> Result<(), String> {
    let mut slower = Vec::new();
    for (name, now) in counted {
        let Some(before) = known.instructions_per_packet_hop.get(name) else {
            return Err(format!("{name}: has no committed figure; `make guard-write` writes them"));
        };
        let growth = now / before - 1.0;
        println!("{name:<12} {now:8.1} instructions per packet-hop, {before:.1} committed: {:+.1}%", growth * 100.0);
        if growth > TOLERANCE {
            slower.push(name.as_str());
        }
    }
    if slower.is_empty() {
        return Ok(());
    }
    let compilers = match rustc() {
        now if now == known.rustc => String::new(),
        now => format!(" (committed with {}, now {now})", known.rustc),
    };
    Err(format!(
        "{} takes over {:.0}% more instructions than committed{compilers}; make it faster, or say in the commit what \
         the instructions are for and write the figures with `make guard-write`",
        slower.join(", "),
        TOLERANCE * 100.0
    ))
}

/// Instructions and packet-hops of a scenario from time zero on.
fn count(name: &str, duration: &str) -> Result<(u64, u64), String> {
    let bench = find(name).ok_or_else(|| format!("no such scenario: {name}"))?;
    let manner = Manner { runs: 1, threads: 1, duration: Some(duration.to_string()) };
    let toggle = format!("--toggle-collect={MEASURED}");
    let before = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", &toggle].map(str::to_string);
    let output = manner.command(&before, bench.name)?.output();
    let output = output.map_err(|error| format!("valgrind: {error} (Debian: apt install valgrind)"))?;
    let told = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("{name}: {told}"));
    }
    let figures: Figures = serde_json::from_slice(&output.stdout).map_err(|error| format!("{name}: {error}"))?;
    let instructions = collected(&told).ok_or_else(|| format!("{name}: callgrind counted nothing:\n{told}"))?;
    Ok((instructions, figures.packet_hops))
}

/// The number in the line `==1== Collected : 123`.
fn collected(told: &str) -> Option<u64> {
    let line = told.lines().find(|line| line.contains("Collected :"))?;
    line.rsplit(':').next()?.trim().parse().ok().filter(|&count| count > 0)
}

fn rustc() -> String {
    let output = std::process::Command::new("rustc").arg("--version").output();
    output.map_or_else(|_| "unknown".to_string(), |output| String::from_utf8_lossy(&output.stdout).trim().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(dumbbell: f64) -> BTreeMap<String, f64> {
        BTreeMap::from([("dumbbell".to_string(), dumbbell)])
    }

    #[test]
    fn only_growth_beyond_the_tolerance_fails() {
        let known = Known { rustc: rustc(), instructions_per_packet_hop: figures(400.0) };
        for fine in [100.0, 400.0, 419.9] {
            assert_eq!(compare(&known, &figures(fine)), Ok(()));
        }
        assert!(compare(&known, &figures(420.1)).is_err_and(|why| why.starts_with("dumbbell takes over 5% more")));
        let other = Known { rustc: "rustc 0".to_string(), ..known };
        assert!(compare(&other, &figures(500.0)).is_err_and(|why| why.contains("committed with rustc 0")));
        assert!(compare(&other, &BTreeMap::from([("new".to_string(), 1.0)])).is_err());
    }

    #[test]
    fn the_count_is_read_from_what_callgrind_tells() {
        assert_eq!(collected("==7== Events    : Ir\n==7== Collected : 1234\n"), Some(1234));
        assert_eq!(collected("==7== Collected : 0\n"), None);
        assert_eq!(collected("==7== no\n"), None);
    }
}
