//! Scenarios for tests.

use becalm_metrics::{Data, Table};
use becalm_scenario::{Results, Scenario};

/// Parses a valid scenario.
pub fn scenario(text: &str) -> Scenario {
    Scenario::parse(text, "test.toml").unwrap_or_else(|errors| panic!("{errors}"))
}

/// Three hosts on one switch, with further sections.
pub fn single(run: &str, flows: &str) -> String {
    format!(
        r#"
        [run]
        {run}
        [topology.edges]
        hosts = ["a", "b", "c"]
        switches = ["S"]
        cables = [{{between = ["a", "S"]}}, {{between = ["b", "S"]}}, {{between = ["c", "S"]}}]
        {flows}
        "#
    )
}

/// A flow that always sends.
pub const GREEDY: &str = r#"
        [[flows]]
        name = "f"
        from = ["a"]
        to = ["b"]
"#;

/// Results of the first replication.
pub fn run(text: &str) -> Results {
    scenario(text).run(0, 1, &mut |_| true).unwrap()
}

/// A table of the results.
pub fn table<'a>(results: &'a Results, name: &str) -> &'a Table {
    results.tables.iter().find(|table| table.name == name).unwrap()
}

/// A column of numbers.
pub fn numbers(results: &Results, name: &str, column: &str) -> Vec<f64> {
    match table(results, name).column(column).unwrap() {
        Data::F64(values) => values.clone(),
        Data::U64(values) => values.iter().map(|&value| value as f64).collect(),
        Data::Text(_) | Data::Names(_) | Data::Bytes(_) => panic!("{column} holds no numbers"),
    }
}

/// A column of names.
pub fn names(results: &Results, name: &str, column: &str) -> Vec<String> {
    match table(results, name).column(column).unwrap() {
        Data::Text(values) => values.clone(),
        Data::Names(names) => names.iter().map(str::to_string).collect(),
        _ => panic!("{column} is no text"),
    }
}
