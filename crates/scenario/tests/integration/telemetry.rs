//! Telemetry in complete scenarios: threads, mixed responses, and incompatible settings.

use becalm_scenario::Scenario;

use crate::scenes::scenario;

/// Four leaves with four hosts each. All hosts send to all others, and one of the two groups requests telemetry.
const MIXED: &str = r#"
    [run]
    duration = "300 us"
    [topology.clos]
    leaves = 4
    spines = 2
    hosts_per_leaf = 4
    rate = "100 Gb/s"
    delay = "500 ns"
    [switch]
    buffer = "64 packets"
    [adapter]
    drain_rate = "90 Gb/s"
    [[flows]]
    name = "asks"
    from = ["*"]
    to = ["*"]
    traffic.poisson = {load = 0.4, message = "20 kB"}
    response.hpcc = {}
    [[flows]]
    name = "does not"
    from = ["*"]
    to = ["*"]
    traffic.poisson = {load = 0.3, message = "3 kB"}
    response.swift = {}
"#;

#[test]
fn trails_are_the_same_on_any_number_of_threads() {
    let scenario = scenario(MIXED);
    let run = |threads| scenario.run(0, threads, &mut |_| true).unwrap();
    let one = run(1);
    assert!(one.packet_hops > 10_000);
    for threads in [2, 3, 4] {
        assert_eq!(run(threads).fingerprint, one.fingerprint, "{threads} threads");
    }
    let plain = self::scenario(&MIXED.replace("response.hpcc = {}", "response.hpcc.int_bytes = 0"));
    assert_ne!(plain.run(0, 1, &mut |_| true).unwrap().fingerprint, one.fingerprint, "telemetry takes room");
}

#[test]
fn what_telemetry_and_round_trips_need_is_said() {
    let complaint = |from: &str, to: &str| {
        let text = MIXED.replace(from, to);
        assert_ne!(text, MIXED);
        Scenario::parse(&text, "f.toml").expect_err("it does not fit").to_string()
    };
    let small = complaint("64 packets", "2109 B");
    assert!(small.contains("a buffer of 2109 B is too small for a packet of 2110 B"), "{small}");
    let deaf = complaint("[adapter]", "[echo.ibta]\ntransport = \"unreliable\"\n[adapter]");
    for name in ["hpcc", "swift"] {
        let expected = format!("{name} = table {{}}: reacts to ACKs, but no data packet is acknowledged");
        assert!(deaf.contains(&expected), "{deaf}");
    }
}
