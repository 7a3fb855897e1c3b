//! A resolved scenario is equivalent to the original.

use becalm_scenario::Scenario;

use crate::scenes::scenario;

const TEXT: &str = r#"
[run]
duration = "3 ms"
warmup = "1 us"
[topology.edges]
hosts = ["a", "h1..h3"]
switches = ["S"]
rate = "13 Gb/s"
cables = [{between = ["a", "S"], delay = "5 ns"}, {between = ["h1..h3", "S"]}]
[switch]
buffer = "64 KiB"
vls = 2
[marking.input_output_triggered]
[response.aimd]
initial = 0.5
[[flows]]
name = "x"
from = ["*"]
to = ["h1..h2"]
[[flows]]
name = "y"
from = ["a"]
to = ["h3"]
stop = "1 ms"
sl = 1
traffic.poisson = {load = 0.25}
response.none = {}
"#;

#[test]
fn feeding_it_back_gives_the_same_scenario() {
    let first = scenario(TEXT);
    let resolved = first.resolved();
    let second = Scenario::from_json(&resolved, "resolved").unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(first.sections(), second.sections());
    assert_eq!(resolved, second.resolved());
    let run = |scenario: &Scenario| scenario.run(0, 1, &mut |_| true).unwrap().fingerprint;
    assert_eq!(run(&first), run(&second));
}

#[test]
fn every_value_is_there_defaults_included() {
    let resolved = scenario(TEXT).resolved();
    insta::assert_snapshot!(serde_json::to_string_pretty(&resolved).unwrap());
}

#[test]
fn a_default_response_that_no_group_uses_may_be_written() {
    let own = TEXT
        .replace("[response.aimd]\ninitial = 0.5\n", "")
        .replace("to = [\"h1..h2\"]", "to = [\"h1..h2\"]\nresponse.aimd = {}");
    let resolved = scenario(&own).resolved();
    let again = Scenario::from_json(&resolved, "resolved").unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(resolved, again.resolved());
}
