//! Programs of ranks in files: GOAL schedules and Chakra execution traces.

use std::path::Path;
use std::sync::Arc;

use becalm_schema::field::refuse;
use becalm_schema::{Errors, Field, Node};
use becalm_workload::chakra::{self, Gathered, Trace};
use becalm_workload::{Mistakes, Program, Reading, goal};
use serde_json::json;

use crate::sections::files;

/// Length of the longest file, in bytes.
const LONGEST: u64 = 1 << 30;
/// Largest number of ranks in a trace.
const MOST_RANKS: usize = 1 << 20;
/// Approximate memory for an operation or an edge of a schedule, in bytes.
const LINE: u64 = 150;
/// Keywords for the meaning of an all-gather's size.
const MEANINGS: [(&str, Gathered); 2] = [("part", Gathered::Part), ("whole", Gathered::Whole)];
/// Extensions of the files of a trace.
const ENDINGS: [&str; 4] = ["et", "et.gz", "json", "json.gz"];

/// A program and its GOAL text. The text is the program's value in a resolved scenario.
#[derive(Clone, Debug)]
pub struct Schedule {
    text: String,
    /// The program.
    pub program: Arc<Program>,
    /// Warnings about contents of the files that may be unintended.
    pub warnings: Vec<String>,
}

impl PartialEq for Schedule {
    fn eq(&self, other: &Schedule) -> bool {
        self.text == other.text
    }
}

impl Schedule {
    fn parse(text: String, file: &str) -> Result<Schedule, Mistakes> {
        let Reading { program, warnings } = goal::parse(&text, file)?;
        Ok(Schedule { text, program: Arc::new(program), warnings })
    }

    /// The schedule of a table `{text = "num_ranks ..."}`.
    fn of_text(node: &Node, errors: &Errors) -> Option<Result<Schedule, Mistakes>> {
        let [(key, value)] = node.entries()? else { return None };
        let text = value.text().filter(|_| key == "text")?;
        Some(fits(text, "text", errors).and_then(|()| Schedule::parse(text.to_string(), "text")))
    }

    /// The schedule of a program that was not read from text.
    fn written(read: Reading, file: &str) -> Result<Schedule, Mistakes> {
        let written = Schedule::parse(goal::write(&read.program), file)?;
        Ok(Schedule { warnings: read.warnings, ..written })
    }
}

fn broken(file: &str) -> impl Fn(String) -> Mistakes {
    move |problem| Mistakes::one(file, None, problem)
}

/// Memory available for files, in bytes.
fn memory(errors: &Errors) -> u64 {
    errors.memory.unwrap_or(u64::MAX)
}

/// Checks that the program of a text fits into memory. Each line is an operation or an edge.
fn fits(text: &str, file: &str, errors: &Errors) -> Result<(), Mistakes> {
    let (lines, most) = (text.bytes().filter(|&byte| byte == b'\n').count() as u64, memory(errors));
    let needed = 2 * text.len() as u64 + LINE * lines;
    if needed <= most {
        return Ok(());
    }
    let problem =
        format!("{lines} lines need {needed} bytes of memory, more than {most}; allow more with --max-memory");
    Err(broken(file)(problem))
}

/// A GOAL schedule: the path of its file, relative to the scenario's folder, or `{text = "..."}`.
#[derive(Clone, Debug, PartialEq)]
pub struct Goal(pub Schedule);

/// A Chakra execution trace. It is given as the path of its files without `.RANK.et`, relative to the scenario's
/// folder; as a table with this path and the meaning of an all-gather's size; or as `{text = "..."}` with the
/// equivalent GOAL schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct Chakra(pub Schedule);

/// The schedule in the file at a path.
fn goal_file(node: &Node, errors: &Errors) -> Option<Result<Schedule, Mistakes>> {
    let path = node.text()?;
    let read = || {
        let bytes = files::read_bytes(path, LONGEST, errors).map_err(broken(path))?;
        if goal::is_compiled(&bytes) {
            return Schedule::written(goal::read_compiled(&bytes, path)?, path);
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            broken(path)(format!("is neither UTF-8 text nor a schedule compiled by LogGOPSim's txt2bin: {error}"))
        })?;
        fits(&text, path, errors)?;
        Schedule::parse(text, path)
    };
    Some(read())
}

/// The schedule of a trace, given as a path or as a table with a path.
fn chakra_files(node: &Node, errors: &Errors) -> Option<Result<Schedule, Mistakes>> {
    let part = Gathered::Part;
    let (path, gathered) = match node.entries() {
        None => (node.text()?, part),
        Some([(files, path)]) if files == "files" => (path.text()?, part),
        Some(entries) => {
            let of = |key: &str| entries.iter().find(|(name, _)| name == key)?.1.text();
            let meaning =
                MEANINGS.iter().find(|(word, _)| of("all_gather") == Some(word)).filter(|_| entries.len() == 2);
            (of("files")?, meaning?.1)
        }
    };
    Some(traces(path, gathered, errors))
}

/// The file with a rank's trace, if it exists.
fn trace_file(path: &str, rank: usize, errors: &Errors) -> Option<String> {
    let names = ENDINGS.map(|ending| format!("{path}.{rank}.{ending}"));
    names.into_iter().find(|name| files::path(name, errors).exists())
}

/// The trace in the files `PATH.0.et`, `PATH.1.et` and so on, or with `.json`. Each may have the additional extension `.gz`.
fn traces(path: &str, gathered: Gathered, errors: &Errors) -> Result<Schedule, Mistakes> {
    if cfg!(target_family = "wasm") {
        return Err(broken(path)("cannot be read: a web page has no access to files".to_string()));
    }
    let (mut traces, mut left) = (Vec::new(), memory(errors));
    while let Some(name) = trace_file(path, traces.len(), errors) {
        if traces.len() == MOST_RANKS {
            return Err(broken(path)(format!(
                "has more than {MOST_RANKS} files, one for each rank; valid: fewer ranks"
            )));
        }
        let bytes = files::read_bytes(&name, LONGEST.min(left), errors).map_err(broken(&name))?;
        let shown = Path::new(&name).file_name().map_or(name.clone(), |name| name.to_string_lossy().into_owned());
        let trace = Trace::read(&bytes, &shown, left)?;
        left = left.saturating_sub(trace.size());
        traces.push(trace);
    }
    if traces.is_empty() {
        return Err(broken(path)(format!("there is no file {path}.0.et or {path}.0.json")));
    }
    Schedule::written(chakra::program(&traces, path, gathered)?, path)
}

macro_rules! field {
    ($name:ident, $file:ident, $expects:literal, $forms:expr) => {
        impl Field for $name {
            fn expects() -> String {
                $expects.to_string()
            }

            fn read(node: &Node, errors: &mut Errors) -> Option<$name> {
                match $file(node, errors).or_else(|| Schedule::of_text(node, errors)) {
                    None => refuse(node, errors),
                    Some(Ok(schedule)) => Some($name(schedule)),
                    Some(Err(mistakes)) => {
                        mistakes.to_string().lines().for_each(|mistake| errors.add(node, mistake, ""));
                        None
                    }
                }
            }

            fn to_json(&self) -> serde_json::Value {
                json!({"text": self.0.text})
            }

            fn json_schema() -> serde_json::Value {
                let text = json!({
                    "type": "object",
                    "properties": {"text": {"type": "string"}},
                    "required": ["text"],
                    "additionalProperties": false,
                });
                let mut forms = vec![json!({"type": "string"}), text];
                forms.extend($forms);
                json!({ "oneOf": forms })
            }
        }
    };
}

field!(Goal, goal_file, "the path of a file with a GOAL schedule, such as \"all_reduce.goal\"", []);
field!(
    Chakra,
    chakra_files,
    "the path of a Chakra execution trace without \".RANK.et\", such as \"traces/resnet\", or a table {files = PATH, \
     all_gather = \"part\" or \"whole\"}",
    [json!({
        "type": "object",
        "properties": {"files": {"type": "string"}, "all_gather": {"enum": MEANINGS.map(|(word, _)| word)}},
        "required": ["files"],
        "additionalProperties": false,
    })]
);
