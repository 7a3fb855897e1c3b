//! Programs of ranks in files: GOAL schedules and Chakra execution traces.

use std::path::Path;
use std::sync::Arc;

use becalm_schema::field::refuse;
use becalm_schema::{Errors, Field, Node, Value};
use becalm_workload::chakra::{self, Trace};
use becalm_workload::{Mistakes, Program, goal};
use serde_json::json;

use crate::sections::files;

/// Longest file, in bytes.
const LONGEST: u64 = 1 << 30;
/// Most ranks of a trace.
const MOST_RANKS: usize = 1 << 20;
/// Endings of the files of a trace.
const ENDINGS: [&str; 2] = ["et", "et.gz"];

/// A program and its GOAL text, which is the value of a scenario that has been read.
#[derive(Clone, Debug)]
pub struct Schedule {
    text: String,
    /// The program.
    pub program: Arc<Program>,
}

impl PartialEq for Schedule {
    fn eq(&self, other: &Schedule) -> bool {
        self.text == other.text
    }
}

impl Schedule {
    fn parse(text: String, file: &str) -> Result<Schedule, Mistakes> {
        let program = Arc::new(goal::parse(&text, file)?);
        Ok(Schedule { text, program })
    }

    /// The schedule of a table `{text = "num_ranks ..."}`.
    fn of_text(node: &Node) -> Option<Result<Schedule, Mistakes>> {
        let [(key, value)] = node.entries()? else { return None };
        let text = value.text().filter(|_| key == "text")?;
        Some(Schedule::parse(text.to_string(), "text"))
    }

    fn read(
        node: &Node,
        errors: &mut Errors,
        file: fn(&str, &Errors) -> Result<Schedule, Mistakes>,
    ) -> Option<Schedule> {
        let read = match &node.value {
            Value::Text(path) => Some(file(path, errors)),
            _ => Schedule::of_text(node),
        };
        match read? {
            Ok(schedule) => Some(schedule),
            Err(mistakes) => {
                mistakes.to_string().lines().for_each(|mistake| errors.add(node, mistake, ""));
                None
            }
        }
    }
}

fn broken(file: &str) -> impl Fn(String) -> Mistakes {
    move |problem| Mistakes::one(file, None, problem)
}

/// A GOAL schedule: the path of its file, from the scenario's folder, or `{text = "..."}`.
#[derive(Clone, Debug, PartialEq)]
pub struct Goal(pub Schedule);

/// A Chakra execution trace: the path of its files without `.RANK.et`, from the scenario's folder, or `{text = "..."}` with
/// the GOAL schedule that it means.
#[derive(Clone, Debug, PartialEq)]
pub struct Chakra(pub Schedule);

fn goal_file(path: &str, errors: &Errors) -> Result<Schedule, Mistakes> {
    Schedule::parse(files::read(path, LONGEST, errors).map_err(broken(path))?, path)
}

/// The trace in the files `PATH.0.et`, `PATH.1.et` and so on, some of which may end in `.gz`.
fn chakra_files(path: &str, errors: &Errors) -> Result<Schedule, Mistakes> {
    if cfg!(target_family = "wasm") {
        return Err(broken(path)("cannot be read: a page in the browser reads no files".to_string()));
    }
    let mut traces = Vec::new();
    while traces.len() < MOST_RANKS {
        let names = ENDINGS.map(|ending| format!("{path}.{}.{ending}", traces.len()));
        let Some(name) = names.iter().find(|name| files::path(name, errors).exists()) else { break };
        let bytes = files::read_bytes(name, LONGEST, errors).map_err(broken(name))?;
        let shown = Path::new(name).file_name().map_or(name.clone(), |name| name.to_string_lossy().into_owned());
        traces.push(Trace::read(&bytes, &shown)?);
    }
    if traces.is_empty() {
        return Err(broken(path)(format!("there is no file {path}.0.et")));
    }
    Schedule::parse(goal::write(&chakra::program(&traces, path)?), path)
}

macro_rules! field {
    ($name:ident, $file:ident, $expects:literal) => {
        impl Field for $name {
            fn expects() -> String {
                $expects.to_string()
            }

            fn read(node: &Node, errors: &mut Errors) -> Option<$name> {
                let before = errors.list.len();
                match Schedule::read(node, errors, $file) {
                    Some(schedule) => Some($name(schedule)),
                    None if errors.list.len() > before => None,
                    None => refuse(node, errors),
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
                json!({"oneOf": [{"type": "string"}, text]})
            }
        }
    };
}

field!(Goal, goal_file, "the path of a file with a GOAL schedule, such as \"all_reduce.goal\"");
field!(Chakra, chakra_files, "the path of a Chakra execution trace without \".RANK.et\", such as \"traces/resnet\"");
