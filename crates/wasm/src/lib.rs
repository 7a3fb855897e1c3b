//! The core for a web page. It reads texts and returns JSON and payloads, without clocks, files or threads.
//!
//! - [`check`]: the mistakes in a scenario, or its properties that need no run.
//! - [`run`]: a run. Its payload is the same as in a report.
//! - [`versus`]: what a change did, in a sentence.
//! - [`version`]: the version of becalm. The catalogue of scenario contents is part of the page, because its
//!   texts would be a quarter of the module.
//! - `abi`: the same functions for a WebAssembly module. This is the only file with `unsafe`.
//!
//! All errors are values that a page can show. A panic is reported to the page before the module stops.

mod abi;

use std::hash::{DefaultHasher, Hash, Hasher};

use becalm_report::{Options, Outcome, Run, difference, payload};
use becalm_scenario::{Progress, RunError, Scenario};
use becalm_schema::{self as schema, Choice, Errors, Node, parse};
use serde_json::{Value, json};

/// The name of the text in messages.
const FILE: &str = "scenario";
/// Largest number of mistakes in a report. A text that is not a scenario has thousands.
const MOST_MISTAKES: usize = 50;

/// Checks a scenario. Returns the JSON `{"mistakes": [{"line", "key", "text"}]}`, or
///
/// - `summary`: values that need no run, from `Scenario::summary`,
/// - `replications`: the number of requested runs,
/// - `schemes`: the names of the marking, echo and response,
/// - `packet_hops`: the estimated packet-hops of a replication,
/// - `memory`: the minimum memory in bytes,
/// - `controlled`: whether the scenario has congestion control,
/// - `bare`: a hash that differs between scenarios unless only their congestion control differs.
pub fn check(text: &str) -> Value {
    let scenario = match Scenario::parse(text, FILE) {
        Ok(scenario) => scenario.recorded(),
        Err(errors) => return mistakes(&errors),
    };
    let sections = scenario.sections();
    json!({
        "summary": scenario.summary(),
        "replications": scenario.replications(),
        "schemes": {
            "marking": sections.marking.name(),
            "echo": sections.echo.name(),
            "response": sections.response.name(),
        },
        "packet_hops": scenario.work_estimate(),
        "memory": scenario.memory_estimate().total(),
        "controlled": scenario.is_controlled(),
        "bare": bare(text, scenario.kept_window().0),
    })
}

/// Runs one replication of a scenario, with or without its congestion control.
///
/// Returns JSON and an uncompressed payload. The JSON is `{"fingerprint", "packet_hops", "events", "end"}`,
/// with the end in seconds. Without a payload, it is `{"mistakes": [...]}` as in [`check`], or
/// `{"failed": "..."}`.
pub fn run(
    text: &str,
    replication: u32,
    control: bool,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> (Value, Vec<u8>) {
    let scenario = match Scenario::parse(text, FILE) {
        Ok(scenario) => scenario.recorded(),
        Err(errors) => return (mistakes(&errors), Vec::new()),
    };
    let scenario = if control { scenario } else { scenario.without_control() };
    let results = match scenario.run(replication, 1, progress) {
        Ok(results) => results,
        Err(RunError::Interrupted) => return (json!({"failed": "stopped"}), Vec::new()),
        Err(error) => {
            return (json!({"failed": error.to_string()}), Vec::new());
        }
    };
    let fingerprint = format!("{:016x}", results.fingerprint);
    let reply = json!({
        "fingerprint": fingerprint,
        "packet_hops": results.packet_hops,
        "events": results.events,
        "end": results.end.as_secs(),
    });
    let run = Run {
        replication,
        fingerprint,
        packet_hops: results.packet_hops,
        stopped: None,
        tables: results.tables.into(),
    };
    let options = Options { all: true, ..Options::default() };
    (reply, payload(&scenario, &[run], &about(), options).bytes)
}

/// What a change did, in a sentence; `text` is JSON with the outcomes of two runs from their payloads, and the subject:
/// `{"before": ..., "after": ..., "subject": "..."}`. Empty for anything else.
pub fn versus(text: &str) -> String {
    let given: Value = serde_json::from_str(text).unwrap_or_default();
    let of = |name: &str| Outcome::read(&given[name]);
    match (of("before"), of("after"), given["subject"].as_str()) {
        (Some(before), Some(after), Some(subject)) => difference(&before, &after).sentence(subject),
        _ => String::new(),
    }
}

/// The version of becalm.
pub fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

fn mistakes(errors: &Errors) -> Value {
    let one = |error: &becalm_schema::Error| json!({"line": error.line, "key": error.key, "text": error.to_string()});
    let listed: Vec<Value> = errors.list.iter().take(MOST_MISTAKES).map(one).collect();
    json!({"mistakes": listed, "more": errors.list.len().saturating_sub(MOST_MISTAKES)})
}

/// A hash of a valid text without its congestion control, and of the window that stays.
// The hash is of the text, not of the values: the code that writes every type as JSON would be 5% of the
// module.
fn bare(text: &str, window: u32) -> String {
    let mut hasher = DefaultHasher::new();
    window.hash(&mut hasher);
    if let Some(root) = parse(text, &mut Errors::new(FILE)) {
        hash(&root, &mut hasher);
    }
    format!("{:016x}", hasher.finish())
}

fn hash(node: &Node, hasher: &mut DefaultHasher) {
    let key = node.key.as_str();
    let of_group = (key.starts_with("flows[") || key.starts_with("jobs[")) && key.ends_with("].response");
    if of_group || ["marking", "echo", "response"].contains(&key) {
        return;
    }
    key.hash(hasher);
    match &node.value {
        schema::Value::Text(text) | schema::Value::Other(text) => text.hash(hasher),
        schema::Value::Integer(integer) => integer.hash(hasher),
        schema::Value::Float(float) => float.to_bits().hash(hasher),
        schema::Value::Bool(truth) => truth.hash(hasher),
        schema::Value::List(items) => items.iter().for_each(|item| hash(item, hasher)),
        schema::Value::Table(entries) => entries.iter().for_each(|(_, node)| hash(node, hasher)),
    }
}

/// Empty texts for a page's header. The playground writes its own header.
fn about() -> Value {
    json!({
        "title": "", "facts": [], "notes": [], "diagnosis": [], "scenario": "", "parameters": [],
        "again": {"file": "", "commands": [], "note": ""}, "provenance": [],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "[run]\nduration = \"1 ms\"\n[topology.dumbbell]\nremote = 2\nlocal = 2\n\
        [marking.input_triggered]\n[response.lipd]\n[[flows]]\nname = \"f\"\nfrom = [\"B1..B2\"]\nto = [\"BC\"]\n";

    #[test]
    fn mistakes_have_their_lines_and_what_would_be_valid() {
        let reply = check(&TEXT.replace("remote", "remot"));
        assert_eq!(reply["mistakes"][0]["line"], 4);
        let text = reply["mistakes"][0]["text"].as_str().unwrap();
        assert!(text.contains("did you mean `remote`"), "{text}");
        let nothing = check("");
        assert!(!nothing["mistakes"].as_array().unwrap().is_empty());
        assert_eq!(run("]", 0, true, &mut |_| true).0["mistakes"][0]["line"], 1);
    }

    #[test]
    fn a_check_tells_what_a_run_will_take() {
        let reply = check(TEXT);
        assert_eq!((&reply["summary"]["hosts"], &reply["controlled"]), (&json!(7), &json!(true)));
        let hops = run(TEXT, 0, true, &mut |_| true).0["packet_hops"].as_f64().unwrap();
        assert!((reply["packet_hops"].as_f64().unwrap() / hops - 1.0).abs() < 0.5);
        assert_eq!(reply["schemes"], json!({"marking": "input_triggered", "echo": "ack", "response": "lipd"}));
        let other = check(&TEXT.replace("lipd", "aimd"));
        assert_eq!(reply["bare"], other["bare"]);
        let of_group = check(&format!("{}response.aimd = {{}}\n", TEXT.replace("[response.lipd]\n", "")));
        let unlimited = check(&TEXT.replace("[marking.input_triggered]\n[response.lipd]\n", ""));
        assert_eq!((&of_group["bare"], &of_group["controlled"]), (&unlimited["bare"], &json!(true)));
        assert_ne!(reply["bare"], check(&TEXT.replace("1 ms", "2 ms"))["bare"]);
        assert_ne!(reply["bare"], check(&TEXT.replace("lipd]", "lipd]\nwindow = 4"))["bare"]);
        let plain = TEXT.replace("[marking.input_triggered]\n[response.lipd]\n", "[response.none]\nwindow = 1\n");
        assert_eq!((&check(&plain)["controlled"], &check(&plain)["bare"]), (&json!(false), &reply["bare"]));
    }

    #[test]
    fn a_run_has_the_fingerprint_of_its_scenario_and_a_payload() {
        let scenario = Scenario::parse(TEXT, FILE).unwrap();
        let native = scenario.run(0, 1, &mut |_| true).unwrap().fingerprint;
        let (reply, payload) = run(TEXT, 0, true, &mut |_| true);
        assert_eq!(reply["fingerprint"], format!("{native:016x}"));
        let length = u64::from_le_bytes(payload[..8].try_into().unwrap()) as usize;
        let header: Value = serde_json::from_slice(&payload[8..8 + length]).unwrap();
        assert_eq!(header["runs"][0]["fingerprint"], reply["fingerprint"]);
        let frames = header["runs"][0]["frames"]["times"].as_array().unwrap().len();
        assert!((50..=100).contains(&frames), "{frames} frames");
        let wide = TEXT.replace("lipd]", "lipd]\nwindow = 16");
        let [with, without] = [true, false].map(|control| run(&wide, 0, control, &mut |_| true).0);
        assert_ne!(with["fingerprint"], without["fingerprint"]);
    }

    #[test]
    fn outcomes_of_two_payloads_become_a_sentence() {
        let outcome = |control: bool| {
            let payload = run(TEXT, 0, control, &mut |_| true).1;
            let length = u64::from_le_bytes(payload[..8].try_into().unwrap()) as usize;
            let header: Value = serde_json::from_slice(&payload[8..8 + length]).unwrap();
            header["runs"][0]["outcome"].clone()
        };
        let given = json!({"before": outcome(false), "after": outcome(true), "subject": "Control"});
        assert!(versus(&given.to_string()).starts_with("Control "), "{}", versus(&given.to_string()));
        assert_eq!((versus("]"), versus("{}")), (String::new(), String::new()));
    }

    #[test]
    fn a_run_can_be_stopped() {
        assert_eq!(run(TEXT, 0, true, &mut |_| false).0, json!({"failed": "stopped"}));
    }
}
