//! Broken input: each reader quickly returns a value or errors, without a panic.
//!
//! By default, each target runs for two seconds from a fixed seed. With `FUZZ_SECONDS=600`, which `make fuzz` sets, it
//! runs longer and with new seeds. `tests/fuzz/corpus` contains the inputs that exposed faults.

mod corrupt;
mod targets;
mod workloads;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use cpu_time::ThreadTime;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};

/// Default time of each target.
const MOMENT: Duration = Duration::from_secs(2);
/// Number of cases between two checks of the time.
const BATCH: u32 = 50;
/// Limit on processor time per input; a slower reader counts as hanging.
const LONGEST: Duration = Duration::from_secs(5);

/// Passes corrupted seeds to a target until the time is over, and prints their number.
pub fn fuzz(name: &str, seeds: &[String], words: &[&'static str], target: fn(&str) -> Result<(), String>) {
    let given = std::env::var("FUZZ_SECONDS").ok().map(|text| text.parse().expect("FUZZ_SECONDS is a number"));
    let budget = given.map_or(MOMENT, Duration::from_secs_f64);
    let fresh = given.map_or(0, |_| SystemTime::UNIX_EPOCH.elapsed().unwrap().as_nanos() as u64);
    let corpus = corpus().join(name);
    let mut count = 0u64;
    for text in kept(&corpus).iter().chain(seeds) {
        timed(target, text).unwrap_or_else(|problem| panic!("{name}: {problem}:\n{text}"));
        count += 1;
    }
    let begin = Instant::now();
    let strategy = corrupt::broken(seeds.to_vec(), words.to_vec());
    for batch in 0u64.. {
        if begin.elapsed() >= budget {
            break;
        }
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&fresh.to_le_bytes());
        seed[8..16].copy_from_slice(&batch.to_le_bytes());
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
        let config = Config { cases: BATCH, failure_persistence: None, max_shrink_time: 20_000, ..Config::default() };
        let outcome = TestRunner::new_with_rng(config, rng)
            .run(&strategy, |text| timed(target, &text).map_err(TestCaseError::fail));
        if let Err(proptest::test_runner::TestError::Fail(problem, text)) = outcome {
            std::fs::create_dir_all(&corpus).unwrap();
            std::fs::write(corpus.join(format!("found-{fresh:x}-{batch}.txt")), &text).unwrap();
            panic!("{name}: {problem}; kept in {}:\n{text}", corpus.display());
        }
        count += u64::from(BATCH);
    }
    println!("fuzz {name}: {count} inputs in {:.0} s", begin.elapsed().as_secs_f64());
}

/// Calls a target, and fails if it is too slow. Panics propagate to the runner, which shrinks the input.
fn timed(target: fn(&str) -> Result<(), String>, text: &str) -> Result<(), String> {
    let begin = ThreadTime::now();
    target(text)?;
    match begin.elapsed() {
        time if time > LONGEST => Err(format!("took {time:?}")),
        _ => Ok(()),
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn corpus() -> PathBuf {
    root().join("tests/fuzz/corpus")
}

/// Texts of the files in a folder, ordered by name.
fn kept(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()).collect();
    paths.sort();
    paths.iter().map(|path| String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned()).collect()
}
