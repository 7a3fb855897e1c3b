//! The possible contents of scenarios, as data for lists and generated pages.

use becalm_control::{Companions, Echoing, Marking, Responding, SchemeDoc};
use becalm_metrics::schema::{ColumnSchema, RESULTS, TableSchema};
use becalm_schema::{Choice, Field, FieldDoc, OptionDoc, Table};
use serde_json::{Value, json};

use crate::sections::Sections;
use crate::sections::adapter::Adapter;
use crate::sections::changes::Change;
use crate::sections::collective::Collective;
use crate::sections::faults::{Fault, Kind};
use crate::sections::flow_control::{FlowControl, Thresholds, Watchdog};
use crate::sections::flows::{Group, Traffic};
use crate::sections::jobs::{Job, Operation};
use crate::sections::loads::{AllToAllV, Experts};
use crate::sections::nodes::Nodes;
use crate::sections::observe::Observe;
use crate::sections::packet::Packet;
use crate::sections::paths::PathLaw;
use crate::sections::pattern::Pattern;
use crate::sections::run::Run;
use crate::sections::step::{Slow, Step, StepBytes, StepExperts};
use crate::sections::switch::{Arbiter, Switch};
use crate::sections::topology::TopologyChoice;

/// All choices in a scenario, and the keys of its sections.
///
/// The result is an object with the lists `marking`, `echo`, `response`, `topologies`, `traffic`, `patterns`,
/// `collectives`, `arbiters`, `paths`, `faults`, `flow_controls`, `thresholds` and `sections`. Each entry has `name`, `doc`
/// (Markdown with a summary as the first paragraph) and `parameters`. Each parameter has `name`, `kind`, `unit`,
/// `default`, `required`, `range` and `help`. A response also has `companions`, the marking and the echo that it is meant
/// for, or null.
pub fn catalogue() -> Value {
    json!({
        "marking": schemes(Marking::docs()),
        "echo": schemes(Echoing::docs()),
        "response": responses(),
        "topologies": options::<TopologyChoice>(),
        "traffic": options::<Traffic>(),
        "patterns": options::<Pattern>(),
        "collectives": options::<Collective>(),
        "arbiters": options::<Arbiter>(),
        "paths": options::<PathLaw>(),
        "faults": options::<Kind>(),
        "flow_controls": options::<FlowControl>(),
        "thresholds": options::<Thresholds>(),
        "sections": [
            section::<Run>("run"),
            section::<Nodes>("nodes"),
            section::<Switch>("switch"),
            section::<Adapter>("adapter"),
            section::<Packet>("packet"),
            section::<Group>("flows"),
            section::<Job>("jobs"),
            section::<Operation>("jobs.ops"),
            section::<AllToAllV>("jobs.all_to_all_v"),
            section::<Experts>("jobs.all_to_all_v.experts"),
            section::<Step>("jobs.step"),
            section::<StepBytes>("jobs.step.bytes"),
            section::<StepExperts>("jobs.step.experts"),
            section::<Slow>("jobs.step.slow"),
            section::<Change>("changes"),
            section::<Fault>("faults"),
            section::<Watchdog>("switch.flow_control.pfc.watchdog"),
            section::<Observe>("observe"),
        ],
    })
}

/// The declaration of every result table, with `name`, `rows` (the meaning of a row), `asked_by` (the setting that
/// requests the table), `over_time`, `rank` (the column that orders the rows on a page) and `columns`. Each column has
/// `name`, `kind`, `unit` and `meaning`.
pub fn result_schema() -> Value {
    let column =
        |c: &ColumnSchema| json!({"name": c.name, "kind": c.kind.name(), "unit": c.unit, "meaning": c.meaning});
    let table = |table: &&TableSchema| {
        json!({
            "name": table.name,
            "rows": table.rows,
            "asked_by": table.asked_by,
            "over_time": table.over_time,
            "rank": table.rank,
            "columns": table.all_columns().map(column).collect::<Vec<_>>(),
        })
    };
    RESULTS.iter().map(table).collect()
}

/// The JSON Schema of a scenario.
pub fn json_schema() -> Value {
    let mut schema = Sections::json_schema();
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("becalm scenario");
    schema
}

fn entry(name: &str, doc: &str, parameters: &[FieldDoc]) -> Value {
    json!({"name": name, "doc": doc, "parameters": parameters.iter().map(FieldDoc::to_json).collect::<Value>()})
}

fn options<T: Choice>() -> Value {
    T::options().iter().map(|option: &OptionDoc| entry(option.name, &option.doc, &option.fields)).collect()
}

fn section<T: Table>(name: &str) -> Value {
    entry(name, &T::doc(), &T::fields())
}

/// The responses, with their companions.
fn responses() -> Value {
    let mut entries = schemes(Responding::docs());
    for (entry, companions) in entries.as_array_mut().into_iter().flatten().zip(Responding::all_companions()) {
        entry["companions"] = companions.map_or(Value::Null, Companions::to_json);
    }
    entries
}

/// The summary of each scheme, followed by the sections of its page.
fn schemes(docs: Vec<SchemeDoc>) -> Value {
    let doc = |scheme: &SchemeDoc| {
        let sections = scheme.page.split_once("\n\n").map_or("", |(_, sections)| sections);
        format!("{}\n\n{sections}", scheme.summary)
    };
    docs.iter().map(|scheme| entry(scheme.name, &doc(scheme), &scheme.parameters)).collect()
}
