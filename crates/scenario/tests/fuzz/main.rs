//! Broken input: every reader gives a value or errors, soon, and without a panic.
//!
//! By default each target takes a moment and begins with the same seed. `FUZZ_SECONDS=600` gives it more time and
//! fresh seeds; `make fuzz` does. What was found stays in `tests/fuzz/corpus`.

mod corrupt;
mod targets;
mod workloads;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use cpu_time::ThreadTime;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};

/// Time of each target where nothing else is said.
const MOMENT: Duration = Duration::from_secs(2);
/// Cases between two looks at the clock.
const BATCH: u32 = 50;
/// Longest processor time for one input: a reader that takes longer hangs.
const LONGEST: Duration = Duration::from_secs(5);

/// Spoils seeds, hands them to a target until the time is over, and prints how many there were.
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

/// Calls a target; one that takes too long has failed. A panic goes on to the runner, which shrinks the input.
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

/// The texts of a folder, in the order of their names.
fn kept(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()).collect();
    paths.sort();
    paths.iter().map(|path| String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned()).collect()
}
