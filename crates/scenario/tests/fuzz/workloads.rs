//! Readers of size distributions, schedules and traces.

use std::fmt::Write;
use std::path::Path;

use becalm_scenario::sections::measured;
use becalm_workload::chakra::{self, Gathered, Trace};
use becalm_workload::{Mistakes, Reading, goal};

use crate::{fuzz, kept, root};

/// Largest size of messages about mistakes in bytes.
const LONGEST_MESSAGE: usize = 100_000;

fn message(mistakes: &Mistakes) -> Result<(), String> {
    let message = mistakes.to_string();
    match message.is_empty() || message.len() > LONGEST_MESSAGE {
        true => Err(format!("mistakes in {} bytes", message.len())),
        false => Ok(()),
    }
}

#[test]
fn sizes() {
    fn target(text: &str) -> Result<(), String> {
        match measured::parse(text, "broken.txt") {
            Ok(cdf) if cdf.mean() > 0.0 && cdf.mean().is_finite() && cdf.mean_pieces(1000.0, 1000).is_finite() => {
                Ok(())
            }
            Ok(cdf) => Err(format!("mean {}", cdf.mean())),
            Err(mistakes) if mistakes.is_empty() => Err("no mistake is reported".to_string()),
            Err(_) => Ok(()),
        }
    }
    let folder = root().join("tests/data/sizes");
    fuzz("sizes", &kept(&folder), &["100", "0 0", "#", ",", "\t", "1e9", "1073741824"], target);
}

#[test]
fn goal_schedules() {
    fn target(text: &str) -> Result<(), String> {
        match goal::parse(text, "broken.goal") {
            Ok(Reading { program, .. }) => {
                let again = goal::parse(&goal::write(&program), "again.goal").map_err(|error| error.to_string())?;
                let _ = program.check();
                if again.program == program {
                    Ok(())
                } else {
                    Err("is another program when it is read again".to_string())
                }
            }
            Err(mistakes) => message(&mistakes),
        }
    }
    let words = [
        "calc",
        "send",
        "recv",
        "b to",
        "from",
        "requires",
        "irequires",
        "rank",
        "num_ranks",
        "{",
        "}",
        "tag",
        "cpu",
        "-1",
        "//",
        "/*",
        "*/",
        ":",
    ];
    let mut seeds = kept(&root().join("tests/data/goal"));
    seeds.extend(kept(&root().join("tests/data/goal/broken")));
    fuzz("goal", &seeds, &words, target);
}

/// A file as hexadecimal digits, which can be corrupted like text.
fn hexadecimal(path: &Path) -> String {
    std::fs::read(path).unwrap().iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x} ").unwrap();
        text
    })
}

#[test]
fn compiled_schedules() {
    fn target(text: &str) -> Result<(), String> {
        match goal::read_compiled(&broken_bytes(text), "broken.bin") {
            Ok(read) => {
                let _ = read.program.check();
                Ok(())
            }
            Err(mistakes) => message(&mistakes),
        }
    }
    let folder = root().join("tests/data/goal/compiled");
    fuzz("compiled", &of_folder(&folder), &["00", "01", "7f 10 00 00", "ff ff ff ff", "ff ff ff 7f"], target);
}

/// Bytes encoded by hexadecimal digits.
fn broken_bytes(text: &str) -> Vec<u8> {
    text.split_whitespace().map(|word| u8::from_str_radix(word, 16).unwrap_or(0xff)).collect()
}

/// Files of a folder as hexadecimal digits.
fn of_folder(folder: &Path) -> Vec<String> {
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| hexadecimal(path)).collect()
}

#[test]
fn chakra_traces() {
    fn target(text: &str) -> Result<(), String> {
        let trace = match Trace::read(&broken_bytes(text), "broken.et", 1 << 30) {
            Ok(trace) => trace,
            Err(mistakes) => return message(&mistakes),
        };
        match chakra::program(&[trace.clone(), trace], "broken", Gathered::Part) {
            Ok(read) => {
                let _ = read.program.check();
                Ok(())
            }
            Err(mistakes) => message(&mistakes),
        }
    }
    let seeds = of_folder(&root().join("tests/data/chakra"));
    fuzz("chakra", &seeds, &["00", "0a", "18 07", "ff", "80 80 80 80 01", "52", "1f 8b"], target);
}
