//! Service levels of paths: their lanes, those of answers, and the levels that respond to congestion.

use becalm_scenario::{Results, RunError, Scenario};

use crate::scenes::{names, numbers};

/// A ring of five switches with one host each. All packets go clockwise, two hops far.
fn ring(more: &str, adapter: &str, switch: &str) -> String {
    let routes: Vec<String> = (0..5)
        .map(|at| {
            let to: Vec<String> = (1..5).map(|far| format!("\"h{}\"", (at + far) % 5)).collect();
            // The cables are listed from s0: the clockwise port of s0 is 0, of the others 1.
            format!("{{ switch = \"s{at}\", port = {}, to = [{}] }}", u8::from(at > 0), to.join(", "))
        })
        .collect();
    let connections: Vec<String> =
        (0..5).map(|at| format!("{{ from = \"h{at}\", to = \"h{}\" }}", (at + 2) % 5)).collect();
    format!(
        r#"
        [run]
        duration = "1 ms"
        [topology.edges]
        allow_cycles = true
        delay = "50 ns"
        hosts = ["h0..h4"]
        switches = ["s0..s4"]
        cables = [
            {{ between = ["s0", "s1"] }}, {{ between = ["s1", "s2"] }}, {{ between = ["s2", "s3"] }},
            {{ between = ["s3", "s4"] }}, {{ between = ["s4", "s0"] }},
            {{ between = ["h0", "s0"] }}, {{ between = ["h1", "s1"] }}, {{ between = ["h2", "s2"] }},
            {{ between = ["h3", "s3"] }}, {{ between = ["h4", "s4"] }},
        ]
        routes = [{}]
        [switch]
        buffer = "16 KiB"
        {switch}
        [adapter]
        {adapter}
        [[flows]]
        name = "far"
        connections = [{}]
        {more}
        "#,
        routes.join(", "),
        connections.join(", ")
    )
}

/// Paths that cross the cable from s4 to s0 have level 1.
const DATELINE: &str = r#"path_sl = [
    { from = ["h1"], to = ["h0"], sl = 1 },
    { from = ["h2"], to = ["h0", "h1"], sl = 1 },
    { from = ["h3"], to = ["h0..h2"], sl = 1 },
    { from = ["h4"], to = ["h0..h3"], sl = 1 },
]"#;

fn parsed(text: &str) -> Scenario {
    Scenario::parse(text, "levels.toml").unwrap_or_else(|mistakes| panic!("{mistakes}"))
}

fn run(text: &str) -> Result<Results, RunError> {
    parsed(text).run(0, 1, &mut |_| true)
}

fn mistakes(text: &str) -> String {
    Scenario::parse(text, "levels.toml").err().map_or(String::new(), |errors| errors.to_string())
}

#[test]
fn levels_of_paths_break_a_deadlock() {
    let stuck = run(&ring("", "", "")).unwrap_err().to_string();
    assert!(stuck.contains("us: 5 of 5 flows stopped; cycle of buffers"), "{stuck}");
    let warnings = parsed(&ring("", "", "")).warnings();
    assert!(warnings[0].contains("its routes can deadlock"), "{warnings:?}");
    // Answers have levels of their own: all go clockwise, and on one lane they would be a cycle.
    let free = ring("", DATELINE, "vls = 2").replace("allow_cycles = true", "");
    assert_eq!(parsed(&free).warnings(), [""; 0]);
    let results = run(&free).unwrap();
    assert!(numbers(&results, "flows", "delivered_packets").iter().all(|&packets| packets > 50.0));
    let parallel = parsed(&free).run(0, 2, &mut |_| true).unwrap();
    assert_eq!(parallel.fingerprint, results.fingerprint);
    let one_lane = ring("", DATELINE, "sl_to_vl = [0, 0]").replace("allow_cycles = true", "");
    assert!(mistakes(&one_lane).contains("its routes can deadlock"), "{}", mistakes(&one_lane));
}

#[test]
fn a_level_of_the_group_replaces_that_of_the_path() {
    let scenario = parsed(&ring("", DATELINE, "vls = 2"));
    let tables = scenario.network_tables();
    let planned = tables.iter().find(|table| table.column("sl").is_some()).expect("the planned flows");
    assert_eq!(format!("{:?}", planned.column("sl").unwrap()), "U64([0, 0, 0, 1, 1])");
    let more = "[[flows]]\nname = \"own\"\nsl = 2\nfrom = [\"h3\"]\nto = [\"h0\"]";
    let scenario = parsed(&ring(more, DATELINE, "vls = 3"));
    let tables = scenario.network_tables();
    let planned = tables.iter().find(|table| table.column("sl").is_some()).expect("the planned flows");
    assert_eq!(format!("{:?}", planned.column("sl").unwrap()), "U64([0, 0, 0, 1, 1, 2])");
}

#[test]
fn levels_outside_the_control_map_do_not_respond() {
    let control = "[marking.queue_threshold]\n[response.fimd]\n[[flows]]\nname = \"hot\"\nfrom = [\"h2\"]\nto = \
                   [\"h0\"]\n[[flows]]\nname = \"near\"\nfrom = [\"h3\"]\nto = [\"h0\"]";
    let rates = |map: &str| {
        let results = run(&ring(control, &format!("{DATELINE}\n{map}"), "vls = 2")).unwrap();
        let groups = names(&results, "groups", "group");
        let marked = numbers(&results, "groups", "marked_share");
        let of = |name: &str| groups.iter().position(|group| group == name).map(|at| marked[at]).unwrap();
        (of("hot"), of("near"))
    };
    let (all, none) = (rates(""), rates("control_map = [0]"));
    // Level 1 is not in the map: its flows keep sending into the marked queues.
    assert!(none.0 + none.1 > 2.0 * (all.0 + all.1), "{all:?} {none:?}");
}

#[test]
fn mistakes_name_the_path_or_the_level() {
    let of = |adapter: &str| mistakes(&ring("", adapter, "vls = 2"));
    let twice = "path_sl = [{ from = [\"*\"], to = [\"h0\"], sl = 1 }, { from = [\"h1\"], to = [\"h0..h2\"], sl = 0 }]";
    assert!(of(twice).contains("lists the path from `h1` to `h0`, which already has level 1"), "{}", of(twice));
    let high = "path_sl = [{ from = [\"h1\"], to = [\"h0\"], sl = 3 }]";
    assert!(mistakes(&ring("", high, "vls = 2\nsl_to_vl = [0, 1]")).contains("sl_to_vl is too short"));
    let unknown = "path_sl = [{ from = [\"h9\"], to = [\"h0\"], sl = 1 }]";
    assert!(of(unknown).contains("h9"), "{}", of(unknown));
    assert!(of(&format!("{DATELINE}\ncontrol_map = [0, 16]")).contains("must be service levels from 0 to 15"));
    let all: Vec<String> = (0..16).map(|sl| sl.to_string()).collect();
    let all = format!("{DATELINE}\ncontrol_map = [{}]", all.join(", "));
    assert!(of(&all).contains("does nothing: it contains all service levels"), "{}", of(&all));
}
