//! All errors are reported together, under the user's names, and without panics.

use becalm_scenario::Scenario;

use crate::bad::{GOOD, complaint};

#[test]
fn all_errors_at_once() {
    let text =
        GOOD.replace("rmin = 0.00390625", "rmin = -1").replace("[\"BC\"]", "[\"BD\"]").replace("remote", "remot");
    insta::assert_snapshot!(complaint(&text));
}

#[test]
fn a_value_out_of_its_range_hides_no_other_error() {
    let text = GOOD
        .replace("stagger", "sl = 99\nstop = \"0 s\"\nstagger")
        .replace("[\"BC\"]", "[\"BD\"]")
        .replace("buffer =", "vls = 99\nservice = \"exponential\"\nbuffer =")
        .replace("\"10 ms\"", "\"10 ms\"\nwarmup = \"20 ms\"\nreplications = 0");
    insta::assert_snapshot!(complaint(&text));
}

#[test]
fn an_option_is_named_in_place_of_the_file() {
    let origin = |key: &str| becalm_schema::Origin { key: key.to_string(), option: format!("--set {key}=...") };
    let text = GOOD.replace("4 packets", "4 packts").replace("[\"BC\"]", "[\"BD\"]");
    let wrong =
        Scenario::parse_changed(&text, "good.toml", vec![origin("switch.buffer")], None).unwrap_err().to_string();
    assert!(wrong.contains("--set switch.buffer=...: must be a number of packets, slots or bytes"), "{wrong}");
    assert!(wrong.contains("good.toml:19: flows[0].to[0] = \"BD\": there is no host"), "{wrong}");
}

#[test]
fn no_text_makes_it_panic() {
    // Each value is broken separately, and then all values together.
    let broken = |line: &str| line.split_once(" = ").map_or(line.to_string(), |(key, _)| format!("{key} = -1"));
    for damaged in 0..GOOD.lines().count() {
        let lines =
            GOOD.lines().enumerate().map(|(i, line)| if i == damaged { broken(line) } else { line.to_string() });
        let _ = Scenario::parse(&lines.collect::<Vec<_>>().join("\n"), "broken.toml");
    }
    let _ = Scenario::parse(&GOOD.lines().map(broken).collect::<Vec<_>>().join("\n"), "broken.toml");
    for end in 0..GOOD.len() {
        let _ = Scenario::parse(&GOOD[..end], "cut.toml");
    }
    for (line, _) in GOOD.lines().enumerate() {
        let without: Vec<&str> = GOOD.lines().enumerate().filter(|(i, _)| *i != line).map(|(_, text)| text).collect();
        let _ = Scenario::parse(&without.join("\n"), "cut.toml");
    }
}
