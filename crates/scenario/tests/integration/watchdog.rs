//! Watchdogs of pauses: when they find a storm, what they do, and who suffers without them.

use becalm_scenario::{Results, Scenario};

use crate::scenes::{names, numbers, run, scenario, table};

/// Two leaves with two hosts each. H0 and H1 send to H2, which storms from 1 to 5 ms, and H1 also to H3.
fn storm(watchdog: &str, more: &str) -> String {
    format!(
        r#"
        [run]
        duration = "8 ms"
        [topology.clos]
        leaves = 2
        spines = 1
        hosts_per_leaf = 2
        rate = "10 Gb/s"
        delay = "500 ns"
        [switch]
        flow_control.pfc = {{{watchdog}}}
        [[flows]]
        name = "hot"
        from = ["H0", "H1"]
        to = ["H2"]
        traffic.poisson.load = 0.2
        [[flows]]
        name = "victim"
        from = ["H1"]
        to = ["H3"]
        traffic.poisson.load = 0.2
        [[faults]]
        kind.pause_storm.link = "leaf1->H2"
        at = "1 ms"
        until = "5 ms"
        {more}
        "#
    )
}

fn dog(rule: &str, action: &str, poll: u32) -> String {
    let times = "detection = \"400 us\", restoration = \"800 us\"";
    format!("watchdog = {{rule = \"{rule}\", action = \"{action}\", poll = \"{poll} us\", {times}}}")
}

/// A value of the queue that leads to the host with the storm. Queues of switches behind it may be found too.
fn one(results: &Results, column: &str) -> f64 {
    let ends = names(results, "storms", "switch").into_iter().zip(names(results, "storms", "peer"));
    let at = ends.into_iter().position(|ends| ends == ("leaf1".into(), "H2".into()));
    numbers(results, "storms", column)[at.expect("the storm is found")]
}

/// All packets that watchdogs discarded.
fn lost(results: &Results) -> f64 {
    let columns = ["tx_dropped", "rx_dropped", "overflowed"];
    columns.iter().flat_map(|column| numbers(results, "storms", column)).sum()
}

fn packets(results: &Results, group: usize) -> f64 {
    let (of, packets) = (names(results, "flows", "group"), numbers(results, "flows", "delivered_packets"));
    let wanted = ["hot", "victim"][group];
    of.iter().zip(packets).filter(|(name, _)| *name == wanted).map(|(_, packets)| packets).sum()
}

/// A storm is found one detection time after its first poll, which is within a poll of its begin. It is restored one
/// restoration time after the first poll that saw no pause.
#[test]
fn times_are_detection_and_poll() {
    for (rule, poll) in [("mellanox", 50), ("mellanox", 200), ("broadcom", 50), ("broadcom", 200)] {
        for action in ["drop", "alert"] {
            let results = run(&storm(&dog(rule, action, poll), ""));
            let (first, stormed) = (one(&results, "first"), one(&results, "stormed"));
            let poll = f64::from(poll) * 1e-6;
            // The sender obeys after the pause delay, and a packet must wait.
            let slack = 60e-6;
            assert!(first >= 1e-3 + 400e-6 * 0.99, "{rule} {action}: {first}");
            assert!(first <= 1e-3 + 400e-6 + 2.0 * poll + slack, "{rule} {action}: {first}");
            let silence = if action == "drop" { 800e-6 } else { 0.0 };
            let end = first + stormed;
            assert!(
                end >= 5e-3 + silence - slack && end <= 5e-3 + silence + 2.0 * poll + slack,
                "{rule} {action}: {end}"
            );
            assert_eq!((one(&results, "detected"), one(&results, "restored")), (1.0, 1.0));
        }
    }
}

/// Without a watchdog, the victim stops with the storm. With one that drops or forwards, it stops only until the detection.
#[test]
fn a_watchdog_frees_the_victims() {
    let calm =
        run(&storm("", "")
            .replace("at = \"1 ms\"\n        until = \"5 ms\"", "at = \"1 ms\"\n        until = \"1001 us\""));
    let without = run(&storm("", ""));
    assert!(packets(&without, 1) <= packets(&calm, 1));
    assert!(numbers(&calm, "groups", "latency_max")[1] < 1e-3);
    for (action, discards) in [("drop", true), ("forward", false), ("alert", false)] {
        let results = run(&storm(&dog("mellanox", action, 100), ""));
        let dropped = one(&results, "tx_dropped");
        assert_eq!(dropped > 0.0, discards, "{action}");
        assert_eq!(one(&results, "tx_dropped_bytes") > 0.0, discards, "{action}");
        let worst = numbers(&results, "groups", "latency_max")[1];
        let limit = if action == "alert" { 3e-3 } else { 1.2e-3 };
        assert_eq!(worst < limit, action != "alert", "{action}: {worst}");
        let said = results.guards.iter().any(|guard| guard.contains("watchdog discarded"));
        assert_eq!(said, action != "alert");
        let (sent, arrived) =
            (numbers(&results, "flows", "sent_packets"), numbers(&results, "flows", "delivered_packets"));
        let missing: f64 = sent.iter().sum::<f64>() - arrived.iter().sum::<f64>();
        let lost = lost(&results);
        assert!(missing >= lost && missing <= lost + 40.0, "{action}: {missing} missing, {lost} lost");
    }
    assert!(numbers(&without, "groups", "latency_max")[1] > 3e-3);
}

/// After a loss, packets of the flow still arrive, but its messages are not complete. A flow with a window stops when all
/// packets of the window are lost.
#[test]
fn a_flow_with_a_loss_goes_on_without_messages() {
    let of = |response: &str| {
        let results = run(&storm(&dog("mellanox", "drop", 100), response));
        assert_eq!(numbers(&results, "flows", "out_of_order").iter().sum::<f64>(), 0.0);
        ["messages", "delivered_packets"].map(|column| numbers(&results, "flows", column)[0])
    };
    let ([messages, packets], [windowed, arrived]) = (of(""), of("[response.fixed]\nrate = 1.0\nwindow = 40"));
    assert!(packets > 1.2 * messages, "{packets} {messages}: after the restoration, packets arrive");
    assert!(arrived == windowed && arrived < packets, "{arrived} {windowed}");
}

/// What `forward` sends into a full receive buffer is lost there, and named.
#[test]
fn forwarding_into_a_stopped_host_overflows() {
    let text = storm(&dog("mellanox", "forward", 100), "")
        .replace("pause_storm.link = \"leaf1->H2\"", "host_stop.hosts = [\"H2\"]");
    let results = run(&text);
    assert!(one(&results, "overflowed") > 0.0 && one(&results, "tx_dropped") == 0.0);
}

/// A receiver that is merely slow, and an incast, pause often, but never for over 99% of a poll: no false alarm.
#[test]
fn an_incast_is_no_storm() {
    let incast = r#"
        [run]
        duration = "4 ms"
        [topology.clos]
        leaves = 2
        spines = 1
        hosts_per_leaf = 8
        rate = "10 Gb/s"
        delay = "500 ns"
        [switch]
        flow_control.pfc.watchdog = {detection = "400 us", poll = "100 us", RULE}
        [[flows]]
        name = "incast"
        from = ["H1..H15"]
        to = ["H0"]
    "#;
    for rule in ["rule = \"mellanox\"", "rule = \"broadcom\""] {
        let results = run(&incast.replace("RULE", rule));
        assert!(numbers(&results, "pauses", "pauses").iter().sum::<f64>() > 100.0);
        assert_eq!(table(&results, "storms").rows(), 0, "{rule}");
    }
}

#[test]
fn threads_change_nothing() {
    let text = storm(&dog("broadcom", "drop", 100), "").replace("\"8 ms\"", "\"3 ms\"");
    let scenario = scenario(&text);
    let results = [1, 2].map(|threads| scenario.run(0, threads, &mut |_| true).unwrap());
    assert!(one(&results[0], "tx_dropped") > 0.0);
    assert_eq!(format!("{:?}", results[0].tables), format!("{:?}", results[1].tables));
}

#[test]
fn a_watchdog_that_cannot_find_a_storm_is_a_warning() {
    let warnings = scenario(&storm("watchdog.detection = \"200 ms\"", "")).warnings();
    let text = "detection: finds no storm in 8 ms, as each must last 200 ms";
    assert!(warnings.iter().any(|warning| warning.contains(text)), "{warnings:?}");
}

#[test]
fn impossible_watchdogs_are_errors() {
    for (keys, expected) in [
        (
            "detection = \"400 us\", poll = \"500 us\"",
            "must not be longer than detection = 400 us and restoration = 800 us",
        ),
        ("poll = \"1 us\"", "detection"),
        ("detection = \"1 ms\", rule = \"arista\"", "mellanox"),
    ] {
        let text = storm(&format!("watchdog = {{{keys}}}"), "");
        let found = Scenario::parse(&text, "f.toml").expect_err(keys).to_string();
        assert!(found.contains(expected), "{keys}\n{found}");
    }
}
