//! A golden table of all marking policies and responses under the same overload.
//!
//! The numbers are not claims. They show the effects of changes to the model.

use std::fmt::Write;

use becalm_control::{MarkingParams, ResponseParams};
use becalm_schema::Choice;

use crate::scenes::{numbers, run};

fn scene(buffer: u32, marking: &str, response: &str) -> String {
    format!(
        r#"
        response.{response}
        [run]
        duration = "12 ms"
        warmup = "4 ms"
        [topology.dumbbell]
        remote = 8
        local = 8
        [switch]
        buffer = "{buffer} slots"
        arbiter.oldest_first.max_bypass = 4
        [marking.{marking}]
        [[flows]]
        name = "local"
        from = ["B1..B8"]
        to = ["BC"]
        [[flows]]
        name = "remote"
        from = ["A1..A8"]
        to = ["BC"]
        [[flows]]
        name = "victim"
        from = ["AV"]
        to = ["BV"]
        [observe]
        links = []
        "#
    )
}

#[test]
fn shares_by_policy_response_and_buffer() {
    let mut text = format!("{:24} {:8} {:>6}   local remote victim\n", "marking", "response", "buffer");
    // A scenario cannot contain the code of external schemes.
    let inside = |names: &[&'static str]| names.iter().copied().filter(|name| *name != "external").collect::<Vec<_>>();
    for marking in inside(MarkingParams::NAMES) {
        for response in inside(ResponseParams::NAMES) {
            // Responses that require marks are invalid without marking.
            let needs_marks = !["none", "fixed", "timely", "swift", "hpcc"].contains(&response);
            if marking == "none" && needs_marks {
                continue;
            }
            let response_text = match response {
                "fixed" => "fixed.rate = 0.15".to_string(),
                "table" => {
                    "table.steps = [[1, 1, 0], [3, 8, 0], [5, 4, 1], [5, 3, 2], [5, 2, 3], [5, 2, 4]]".to_string()
                }
                other => format!("{other} = {{}}"),
            };
            for buffer in [2, 4, 16] {
                let results = run(&scene(buffer, marking, &response_text));
                let shares = numbers(&results, "groups", "share");
                write!(text, "{marking:24} {response:8} {buffer:>6}  ").unwrap();
                writeln!(text, " {:>6.3} {:>6.3} {:>6.3}", shares[0], shares[1], shares[2]).unwrap();
            }
        }
    }
    insta::assert_snapshot!(text);
}
