//! Faults in time: nothing is lost, the run does not hang, and order is broken only where the law may.

use becalm_scenario::{Results, Scenario};

use crate::scenes::{names, numbers, run, scenario, single};

/// Path selection laws, each with whether a flow keeps to one path while no link is down.
const LAWS: [(&str, bool); 8] = [
    ("destination = {}", true),
    ("flow = {}", true),
    ("flow.salted = false", true),
    ("packet = {}", false),
    ("round_robin = {}", false),
    ("least_waiting = {}", false),
    ("least_waiting.sample = 2", false),
    ("flowlet.gap = \"2 us\"", false),
];

/// A Clos network of eight hosts, each of which sends ten messages to a host on the other leaf.
fn clos(law: &str, switch: &str, faults: &str) -> String {
    format!(
        r#"
        [run]
        duration = "1 ms"
        end = "delivered"
        [topology.clos]
        leaves = 2
        spines = 4
        hosts_per_leaf = 4
        delay = "500 ns"
        [switch]
        paths.{law}
        {switch}
        [[flows]]
        name = "f"
        from = ["*"]
        pattern.shift.by = 4
        traffic.batch = {{count = 10, message = "16 KiB"}}
        {faults}
        "#
    )
}

fn down(link: &str, at: u32, until: Option<u32>) -> String {
    let until = until.map_or(String::new(), |until| format!("until = \"{until} us\"\n"));
    format!("[[faults]]\nkind.link_down.link = \"{link}\"\nat = \"{at} us\"\n{until}")
}

fn sum(results: &Results, table: &str, column: &str) -> f64 {
    numbers(results, table, column).iter().sum()
}

/// Every message arrives under every law, flow control and queueing, and on two threads. Only a law that chooses
/// moves packets, and only its flows may lose their order.
#[test]
fn a_link_goes_down_and_up_under_every_law() {
    let switches = [
        "",
        "queueing = \"fifo\"",
        "flow_control.pfc = {}",
        "switching = \"store_and_forward\"\nbuffer = \"3 packets\"",
    ];
    for (law, ordered) in LAWS {
        for switch in switches {
            let cable = if switch.contains("pfc") { "leaf1->spine2" } else { "spine1->leaf0" };
            let text = clos(law, switch, &down(cable, 20, Some(300)));
            let scenario = scenario(&text);
            let first = &scenario.run(0, 1, &mut |_| true).unwrap();
            // Threads are slow here: they meet after every cable delay.
            if switch.contains("pfc") {
                let second = scenario.run(0, 2, &mut |_| true).unwrap();
                assert_eq!(format!("{:?}", first.tables), format!("{:?}", second.tables), "{law}");
            }
            assert_eq!(sum(first, "flows", "messages"), 80.0, "{law} {switch}");
            let (chooses, moved) = (!law.starts_with("destination"), sum(first, "faults", "moved"));
            assert!(chooses || moved == 0.0, "{law} {switch}: {moved}");
            let early = sum(first, "flows", "out_of_order");
            assert!(chooses || early == 0.0, "{law} {switch}: {early}");
            let guards = first.guards.contains(&"flows kept their order".to_string());
            assert_eq!(guards, ordered && !chooses, "{law} {switch}");
        }
    }
}

/// While its cable is down, a law that chooses uses the others at once. Answers that come back to the other end wait.
#[test]
fn a_switch_that_chooses_avoids_its_own_cables_that_are_down() {
    let mut sums = (0.0, 0.0);
    for (law, _) in &LAWS[1..] {
        let text = clos(law, "", &down("leaf0->spine1", 20, None)).replace("from = [\"*\"]", "from = [\"H0..H3\"]");
        let results = run(&text.replace("pattern.shift.by = 4", "to = [\"H4..H7\"]"));
        assert_eq!(sum(&results, "flows", "messages"), 40.0, "{law}");
        assert_eq!(names(&results, "faults", "node"), ["leaf0", "spine1"]);
        let (moved, held) = (numbers(&results, "faults", "moved"), numbers(&results, "faults", "held"));
        assert_eq!((held[0], moved[1]), (0.0, 0.0), "{law}");
        sums = (sums.0 + moved[0], sums.1 + held[1]);
    }
    assert!(sums.0 > 0.0, "packets waited for the cable");
    assert!(sums.1 > 0.0, "a spine has no other way to the leaf");
}

/// Without another path, packets wait until the cable is up, or until the end of the run, which does not hang.
#[test]
fn packets_without_another_path_wait() {
    let results = run(&clos("destination = {}", "", &down("leaf0->spine1", 20, None)));
    assert_eq!(results.end.as_secs(), 1e-3, "the run lasts until its duration");
    assert!(sum(&results, "faults", "held") > 0.0);
    let delivered = sum(&results, "flows", "messages");
    assert!(0.0 < delivered && delivered < 80.0, "{delivered}");
    let again = run(&clos("destination = {}", "", &down("leaf0->spine1", 20, Some(400))));
    assert_eq!(sum(&again, "flows", "messages"), 80.0);
    assert!(again.end.as_secs() > 400e-6, "{}", again.end);
}

/// A chain with one greedy flow: a packet takes 2.068 us, and the cable 10 us.
fn chain(run: &str, more: &str) -> String {
    format!(
        r#"
        [run]
        {run}
        [topology.edges]
        hosts = ["a", "b"]
        switches = ["S", "T"]
        cables = [
            {{between = ["a", "S"]}}, {{between = ["S", "T"], delay = "10 us"}}, {{between = ["T", "b"]}},
        ]
        [[flows]]
        name = "f"
        from = ["a"]
        to = ["b"]
        {more}
        "#
    )
}

/// What a cut would lose: the packets whose last byte was still to arrive, here 12.068 us of traffic. They arrive.
#[test]
fn packets_on_the_cable_are_counted_and_arrive() {
    for at in [101, 103, 250] {
        let results = run(&chain("duration = \"400 us\"", &down("S->T", at, Some(at + 50))));
        let (wire, ends) = (numbers(&results, "faults", "on_wire"), names(&results, "faults", "node"));
        assert_eq!(ends, ["S", "T"]);
        assert!((5.0..=6.0).contains(&wire[0]), "{wire:?}: 12.068 us are 5.8 packets");
        assert_eq!(numbers(&results, "faults", "on_wire_bytes")[0], 2068.0 * wire[0]);
        let packets = numbers(&results, "flows", "delivered_packets")[0];
        let whole = numbers(&run(&chain("duration = \"400 us\"", "")), "flows", "delivered_packets")[0];
        let missing = (whole - packets) * 2.068;
        assert!((missing - 50.0).abs() < 2.1, "the link was down for 50 us, and {missing} us are missing");
    }
}

/// A slow receiver takes exactly its rate while it is slow, and a host that stops takes nothing.
#[test]
fn receivers_take_what_they_can() {
    let fault = |kind: &str| format!("[[faults]]\nkind.{kind}\nat = \"1 ms\"\nuntil = \"3 ms\"");
    let run_of = |kind: &str| run(&single("warmup = \"1500 us\"\nduration = \"2500 us\"", &two(&fault(kind))));
    let slow = run_of("slow_receiver = {hosts = [\"b\"], drain_rate = \"100 MB/s\"}");
    let share = numbers(&slow, "groups", "rate")[0] / 100e6;
    assert!((share - 1.0).abs() < 0.03, "{share}");
    let stopped = run_of("host_stop.hosts = [\"b\"]");
    assert_eq!(numbers(&stopped, "groups", "rate")[0], 0.0);
    assert!(sum(&stopped, "faults", "held_bytes") >= 2.0 * 2068.0, "the receive buffer is full");
    let after = run(&single("warmup = \"3100 us\"\nduration = \"4 ms\"", &two(&fault("host_stop.hosts = [\"b\"]"))));
    assert!(numbers(&after, "groups", "share")[0] > 0.99, "the host recovers");
}

fn two(more: &str) -> String {
    format!("{}{more}", crate::scenes::GREEDY)
}

/// A receiver that is slow from the beginning to the end is one with a cap.
#[test]
fn a_receiver_that_is_always_slow_has_a_cap() {
    for control in ["", "[switch]\nflow_control.pfc = {}\n"] {
        let run_of =
            |more: &str| run(&single("duration = \"2 ms\"", &format!("{control}{}{more}", crate::scenes::GREEDY)));
        let cap = run_of("[adapter]\ncaps = [{hosts = [\"b\"], drain_rate = \"300 MB/s\"}]\n");
        let slow = "[[faults]]\nkind.slow_receiver = {hosts = [\"b\"], drain_rate = \"300 MB/s\"}\nat = \"1 ps\"\n";
        let mut fault = run_of(slow);
        fault.tables.retain(|table| table.name != "faults");
        assert_eq!(fault.fingerprint, cap.fingerprint);
        assert_eq!(format!("{:?}", fault.tables), format!("{:?}", cap.tables));
    }
}

/// A storm pauses exactly its link, for exactly its time. The host behind it gets nothing, and others all they want.
#[test]
fn a_storm_pauses_its_link() {
    let storm = "[switch]\nflow_control.pfc = {}\n[[faults]]\nkind.pause_storm.link = \"S->b\"\nat = \"1 ms\"\nuntil = \"2 ms\"\n";
    let victims = "[[flows]]\nname = \"g\"\nfrom = [\"c\"]\nto = [\"a\"]\n";
    let text = |run: &str| single(run, &format!("{}{victims}{storm}", crate::scenes::GREEDY));
    let results = run(&text("warmup = \"1100 us\"\nduration = \"1900 us\""));
    assert_eq!(numbers(&results, "groups", "rate")[0], 0.0);
    assert!(numbers(&results, "groups", "share")[1] > 0.95);
    let whole = run(&text("duration = \"3 ms\""));
    let to_b = |results: &Results, column: &str| {
        let at = names(results, "pauses", "to").iter().position(|to| to == "b").expect("the host pauses");
        numbers(results, "pauses", column)[at]
    };
    assert_eq!((to_b(&whole, "pauses"), to_b(&whole, "paused")), (1.0, 1e-3));
}

/// Each error names its key and what is valid.
#[test]
fn impossible_faults_are_errors() {
    let error = |faults: &str| {
        let text = single("duration = \"1 ms\"", &two(faults));
        Scenario::parse(&text, "f.toml").expect_err(faults).to_string()
    };
    let at = "\nat = \"10 us\"\n";
    for (faults, expected) in [
        (down("S->x", 10, None), "there is no link `S->x`"),
        (down("S->b", 1000, None), "must be before the run's end at 1 ms"),
        (down("S->b", 10, Some(10)), "must be later than at = 10 us"),
        (down("S->b", 10, Some(20)) + &down("b->S", 15, None), "already has a fault of this kind at 15 us"),
        (format!("[[faults]]\nkind.pause_storm.link = \"S->b\"{at}"), "needs [switch.flow_control.pfc]"),
        (format!("[[faults]]\nkind.host_stop.hosts = [\"z\"]{at}"), "there is no host `z`"),
        (
            format!("[[faults]]\nkind.slow_receiver = {{hosts = [\"b\"], drain_rate = \"1 GB/s\"}}{at}"),
            "does nothing: no host receives faster",
        ),
        (
            format!(
                "[switch]\nflow_control.pfc = {{}}\n[[faults]]\nkind.pause_storm = {{link = \"S->b\", vls = [3]}}{at}"
            ),
            "names VL 3, but the switches have VL 0 to 0",
        ),
        (format!("[[faults]]\nkind.switch_stop.switches = [\"b\"]{at}"), "there is no switch `b`"),
        (format!("[[faults]]\nkind.switch_stop.switches = []{at}"), "must name at least one switch"),
        (
            format!("[[faults]]\nkind.switch_stop.switches = [\"S\"]{at}{}", down("S->b", 15, None)),
            "already has a fault of this kind at 15 us",
        ),
        (format!("[[faults]]\nkind.burn = {{}}{at}"), "link_down, slow_receiver, pause_storm, host_stop, switch_stop"),
    ] {
        let found = error(&faults);
        assert!(found.contains(expected), "{faults}\n{found}");
    }
}

/// A cable changes its rate as a fault of its host ends: neither the order of the lists nor the number of threads matters.
#[test]
fn changes_and_faults_may_coincide() {
    let change = |link: &str, at: u32, rate: &str| {
        format!("[[changes]]\nlink = \"{link}\"\nat = \"{at} us\"\nrate = \"{rate}\"\n")
    };
    let mut changes = [
        change("B->BC", 5, "30 MB/s"),
        change("B->BC", 150, "1 GB/s"),
        change("A1->A", 135, "30 MB/s"),
        change("A1->A", 150, "1 GB/s"),
    ];
    let start = r#"
        [run]
        duration = "300 us"
        seed = 2195924230
        [topology.dumbbell]
        remote = 3
        local = 2
        delay = "7 ns"
        [switch]
        buffer = "8 packets"
        switching = "store_and_forward"
        [response.none]
        window = 3
        [[faults]]
        kind.host_stop.hosts = ["A1"]
        at = "2 us"
        until = "135 us"
        [[flows]]
        name = "first"
        from = ["*"]
        to = ["*"]
        traffic.on_off = {mean_on = "44 us", mean_off = "54 us"}
    "#;
    let mut results = Vec::new();
    for _ in 0..changes.len() {
        let scenario = scenario(&format!("{start}{}", changes.concat()));
        results.extend([1, 2].map(|threads| scenario.run(0, threads, &mut |_| true).unwrap().fingerprint));
        changes.rotate_left(1);
    }
    assert!(results.iter().all(|&each| each == results[0]), "{results:x?}");
}
