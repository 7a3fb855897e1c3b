//! Path selection laws, and networks with changes of virtual lane.

use becalm_scenario::Scenario;

use crate::scenes::{names, numbers, run, scenario};

const LAWS: [&str; 12] = [
    "destination = {}",
    "flow = {}",
    "flow.salted = false",
    "packet = {}",
    "round_robin = {}",
    "least_waiting = {}",
    "least_waiting.sample = 2",
    "flowlet.gap = \"2 us\"",
    "entropy.balancer = \"oblivious\"",
    "entropy.balancer = \"bitmap\"",
    "entropy.balancer = \"reps\"",
    "entropy = {}",
];

/// A Clos network in which each host sends to another by a shift.
fn clos(law: &str, more: &str) -> String {
    format!(
        r#"
        [run]
        duration = "300 us"
        warmup = "50 us"
        [topology.clos]
        leaves = 4
        spines = 4
        hosts_per_leaf = 4
        delay = "500 ns"
        {more}
        [switch]
        buffer = "16 slots"
        paths.{law}
        [marking.queue_threshold]
        [echo.ibta]
        [response.ibta]
        [[flows]]
        name = "f"
        from = ["*"]
        pattern.shift.by = 7
        traffic.on_off = {{mean_on = "30 us", mean_off = "5 us"}}
        "#
    )
}

#[test]
fn every_law_gives_the_same_on_any_number_of_threads() {
    let mut seen = Vec::new();
    for law in LAWS {
        let scenario = scenario(&clos(law, ""));
        let results = [1, 2, 4].map(|threads| scenario.run(0, threads, &mut |_| true).unwrap());
        assert_eq!(results[0].fingerprint, results[1].fingerprint, "{law}");
        assert_eq!(results[0].fingerprint, results[2].fingerprint, "{law}");
        assert_eq!(format!("{:?}", results[0].tables), format!("{:?}", results[2].tables), "{law}");
        assert!(!seen.contains(&results[0].fingerprint), "{law} is like another");
        seen.push(results[0].fingerprint);
        let ordered = ["destination", "flow ", "flow."].iter().any(|name| law.starts_with(name));
        assert_eq!(results[0].guards.contains(&"flows kept their order".to_string()), ordered, "{law}");
        let out_of_order: f64 = numbers(&results[0], "flows", "out_of_order").iter().sum();
        assert!(!ordered || out_of_order == 0.0, "{law}: {out_of_order}");
        assert!(ordered || law.starts_with("flowlet") || out_of_order > 0.0, "{law}");
    }
}

#[test]
fn the_paths_of_flows_are_those_that_they_take() {
    for law in ["destination = {}", "flow = {}", "packet = {}"] {
        let text = clos(law, "");
        let (scenario, results) = (scenario(&text), run(&text));
        let (routing, packets) = (scenario.network_tables(), numbers(&results, "links", "packets"));
        let paths = routing.iter().find(|table| table.name == "paths").unwrap();
        let Some(becalm_metrics::Data::U64(links)) = paths.column("link") else { panic!("numbers") };
        let (from, to) = (names(&results, "links", "from"), names(&results, "links", "to"));
        for (i, packets) in packets.iter().enumerate() {
            // ACKs may use other paths, but these links carry the flows' data.
            if links.contains(&(i as u64)) {
                assert!(*packets > 0.0, "{law}: nothing from {} to {}", from[i], to[i]);
            }
        }
        let ways = links.len() as f64 / 16.0;
        assert_eq!(ways, if law.starts_with("packet") { 10.0 } else { 4.0 }, "{law}: links per flow");
    }
}

fn mistakes(text: &str) -> String {
    Scenario::parse(text, "f.toml").err().map_or(String::new(), |errors| errors.to_string())
}

#[test]
fn a_choice_without_equal_ports_is_a_mistake() {
    let one = mistakes(&clos("packet = {}", "").replace("spines = 4", "spines = 1"));
    assert!(one.contains("f.toml:13") && one.contains("does nothing: every switch has one port"), "{one}");
    let all: Vec<String> = (0..4)
        .flat_map(|leaf| {
            (0..4)
                .map(move |other| {
                    format!(
                        "{{switch = \"leaf{leaf}\", to = [\"H{}..H{}\"], via = \"spine0\"}}",
                        4 * other,
                        4 * other + 3
                    )
                })
                .filter(move |route| !route.contains(&format!("\"H{}..", 4 * leaf)))
        })
        .collect();
    let given = mistakes(&clos("packet = {}", &format!("routes = [{}]", all.join(", "))));
    assert!(given.contains("the topology's routes set one port for each destination; without routes"), "{given}");
    let unknown = mistakes(&clos("spray = {}", ""));
    assert!(unknown.contains("destination, flow, packet, round_robin, least_waiting, flowlet, entropy"), "{unknown}");
}

/// A ring of six switches in which all hosts send to all others.
fn torus(keys: &str, switch: &str, more: &str) -> String {
    format!(
        r#"
        [run]
        duration = "2 ms"
        [topology.torus]
        sides = [6]
        hosts_per_switch = 2
        {keys}
        [switch]
        buffer = "2 slots"
        {switch}
        {more}
        [[flows]]
        name = "f"
        from = ["*"]
        to = ["*"]
        "#
    )
}

#[test]
fn a_torus_needs_two_lanes_or_says_what_could_happen() {
    let few = mistakes(&torus("", "vls = 1", ""));
    assert!(few.contains("f.toml:10") && few.contains("must be at least 2: packets use 2"), "{few}");
    let cycle = mistakes(&torus("change_vls = false", "vls = 1", ""));
    assert!(cycle.contains("can deadlock") && cycle.contains("S0 -> S1, S1 -> S2"), "{cycle}");
    assert!(cycle.contains("f.toml:7") && cycle.contains("set change_vls = true"), "{cycle}");
    assert_eq!(mistakes(&torus("change_vls = false\nallow_cycles = true", "vls = 1", "")), "");
    let odd = mistakes(&torus("", "vls = 4\nsl_to_vl = [1]", ""));
    assert!(odd.contains("uses VL 1") && odd.contains("start at a multiple of 2"), "{odd}");
    let fifo = mistakes(&torus("", "vls = 2\nqueueing = \"fifo\"", ""));
    assert!(fifo.contains("needs switch.queueing = \"voq\""), "{fifo}");
    let input = mistakes(&torus("", "vls = 2", "[marking.input_triggered]\n[response.lipd]"));
    assert!(input.contains("monitors input buffers"), "{input}");
    let more = Scenario::parse(&torus("", "vls = 3", ""), "f.toml").unwrap().warnings();
    assert_eq!(more, ["switch.vls = 3: does nothing beyond 2: no flow uses a higher VL"]);
    let side = mistakes(&torus("", "vls = 2", "").replace("[6]", "[6, 1]"));
    assert!(side.contains("each at least 2"), "{side}");
}

#[test]
fn a_torus_runs_with_its_lanes_and_deadlocks_without() {
    let text = torus("", "vls = 2", "");
    let scenario = scenario(&text);
    let results = [1, 2, 4].map(|threads| scenario.run(0, threads, &mut |_| true).unwrap());
    assert!(results.iter().all(|found| found.fingerprint == results[0].fingerprint));
    assert!(numbers(&results[0], "flows", "delivered_packets").iter().all(|&packets| packets > 0.0));
    let alone = crate::scenes::scenario(&torus("change_vls = false\nallow_cycles = true", "vls = 1", ""));
    let error = alone.run(0, 1, &mut |_| true).unwrap_err().to_string();
    assert!(error.starts_with("deadlock at"), "{error}");
}

#[test]
fn a_dragonfly_has_its_groups() {
    let text = |keys: &str| {
        format!(
            "[run]\nduration = \"100 us\"\n[topology.dragonfly]\nswitches_per_group = 4\nhosts_per_switch = 2\n\
             global_links = 2\n{keys}\n[switch]\nvls = 2\n[[flows]]\nname = \"f\"\nfrom = [\"*\"]\npattern.shift.by = 9\n"
        )
    };
    let results = run(&text(""));
    assert_eq!(names(&results, "flows", "source").len(), 72);
    let many = mistakes(&text("groups = 10"));
    assert!(many.contains("f.toml:7") && many.contains("must be at most 9"), "{many}");
    let adaptive = text("groups = 5").replace("vls = 2", "vls = 2\npaths.least_waiting = {}");
    assert!(numbers(&run(&adaptive), "flows", "delivered_packets").iter().all(|&packets| packets > 0.0));
}
