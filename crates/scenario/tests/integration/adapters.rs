//! Adapters: messages and ACKs.

use crate::scenes::{GREEDY, names, numbers, run, single};

#[test]
fn one_ack_stands_for_several_packets_and_the_window_opens_by_as_many() {
    let batch = r#"
        [response.none]
        window = 3
        [echo.ibta]
        ack_every = 3
        [[flows]]
        name = "f"
        from = ["a"]
        to = ["b"]
        traffic.batch = {count = 10, message = "10000 B"}
    "#;
    let results = run(&single("duration = \"10 ms\"", batch));
    assert_eq!(numbers(&results, "flows", "delivered_packets"), [50.0]);
    // Messages of five packets cause an ACK after three packets and one at the end.
    let hosts = names(&results, "hosts", "host");
    let b = hosts.iter().position(|host| host == "b").unwrap();
    assert_eq!(numbers(&results, "hosts", "sent_packets")[b], 20.0);
}

#[test]
fn a_host_limits_the_rate_of_messages() {
    let rate = |message: &str| {
        let flows = format!("{GREEDY}traffic.greedy.message = \"{message}\"\n[adapter]\nmessage_overhead = \"5 us\"\n");
        let results = run(&single("duration = \"20 ms\"", &flows));
        (numbers(&results, "flows", "messages")[0], numbers(&results, "flows", "share")[0])
    };
    // A message of one packet occupies the link for 2 us, and a message of 8 packets for 16 us.
    let (messages, share) = rate("2048 B");
    assert!((messages - 4000.0).abs() <= 1.0 && (share - 2.068 / 5.0).abs() < 1e-3, "{messages}, {share}");
    let (messages, share) = rate("16 KiB");
    assert!((messages - 20e-3 / 16.544e-6).abs() <= 1.0 && share > 0.999, "{messages}, {share}");
}

#[test]
fn a_message_waits_for_its_host() {
    let batch = r#"
        [adapter]
        message_overhead = "5 us"
        [[flows]]
        name = "f"
        from = ["a"]
        to = ["b"]
        traffic.batch = {count = 2, message = "4096 B"}
    "#;
    let results = run(&single("duration = \"1 ms\"", batch));
    // The second message's first packet is ready 5 us after the first message's, and its last packet follows.
    let latency = numbers(&results, "flows", "latency_max")[0];
    assert!((latency - (10.0 + 2.0 * 2.068 + 0.04) * 1e-6).abs() < 1e-12, "{latency}");
}

#[test]
fn an_unused_lane_does_not_change_whose_turn_it_is() {
    // Two groups share the adapter of A1. A flow that has just sent may send again while the adapter still fetches the
    // next packet; in between, another flow gets a message.
    let crowded = |adapter: &str, lanes: &str| {
        run(&format!(
            r#"
            [run]
            duration = "100 us"
            [topology.dumbbell]
            rate = "25 Gb/s"
            [[flows]]
            name = "g0"
            from = ["A1", "B1"]
            start_spread = "2 us"
            [flows.pattern.shift]
            by = 1
            [flows.traffic.greedy]
            message = "9 kB"
            [[flows]]
            name = "g1"
            from = ["A1"]
            to = ["A3", "A4", "A6", "AV", "B1", "BV"]
            [flows.traffic.poisson]
            load = 0.3
            load_counts = "payload"
            changes = [{{ at = "20 us", load = 0.9 }}]
            [adapter]
            {adapter}
            [switch]
            {lanes}
            "#
        ))
    };
    let slow_memory = "injection_rate = \"700 MB/s\"";
    for injection in ["round_robin", "posted"] {
        for answers in ["turns", "first"] {
            let adapter = format!("{slow_memory}\ninjection = \"{injection}\"\nanswers = \"{answers}\"");
            let one = crowded(&adapter, "");
            for lanes in ["vls = 2\nsl_to_vl = [1]", "vls = 3\nsl_to_vl = [0]"] {
                assert_eq!(crowded(&adapter, lanes).fingerprint, one.fingerprint, "{adapter} {lanes}");
            }
        }
    }
}
