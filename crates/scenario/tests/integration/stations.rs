//! Scenarios with first-come-first-served stations: store-and-forward switches with unlimited buffers.

use crate::scenes::{names, numbers, run, scenario};

/// One host sends to another over three stations with service times of 2, 5 and 3 us for a packet of 10 kB. ACKs have
/// almost no transmission time.
const CHAIN: &str = r#"
    [run]
    duration = "40 ms"
    [topology.edges]
    hosts = ["source", "sink"]
    switches = ["S1..S3"]
    cables = [
        {between = ["source", "S1"], rate = "10 Tb/s"},
        {between = ["S1", "S2"], rate = "5 GB/s"},
        {between = ["S2", "S3"], rate = "2 GB/s", delay = "20 us"},
        {between = ["S3", "sink"], rate = "3.3333333333333335 GB/s"},
    ]
    [switch]
    switching = "store_and_forward"
    forwarding_delay = "0 s"
    buffer = "unlimited"
    arbiter.oldest_first.max_bypass = "unlimited"
    [packet]
    mtu = "1 MiB"
    header = "0 B"
    ack = "1 B"
    [response.none]
    window = 4
    [[flows]]
    name = "f"
    from = ["source"]
    to = ["sink"]
    traffic.greedy = {message = "10 kB"}
    [observe]
    step = "1 ms"
    window = "2 ms"
"#;

fn delivered(text: &str) -> f64 {
    numbers(&run(text), "flows", "delivered_packets")[0]
}

#[test]
fn a_window_below_the_knee_is_limited_by_the_delay_and_one_above_by_the_bottleneck() {
    // 2 + 5 + 20 + 3 us for data, 20 us for the ACK, and about 4 ns for the source's link and the ACK's transmission.
    assert_eq!(delivered(CHAIN), f64::floor(4.0 * 40_000.0 / 50.004));
    // The first packet arrives after just over 30 us, and the others follow every 5 us.
    assert_eq!(delivered(&CHAIN.replace("window = 4", "window = 20")), 1.0 + f64::floor((40_000.0 - 30.002) / 5.0));
}

#[test]
fn the_bottleneck_changes_its_rate() {
    let changes = "[[changes]]\nlink = \"S2->S3\"\nat = \"10 ms\"\nrate = \"1 GB/s\"\n\
                   [[changes]]\nlink = \"S2->S3\"\nat = \"30 ms\"\nrate = \"2 GB/s\"\n";
    let results = run(&format!("{}{changes}", CHAIN.replace("window = 4", "window = 20")));
    let groups = names(&results, "series", "kind").iter().filter(|kind| *kind == "group").count();
    let rate = |ms: usize| numbers(&results, "series", "rate")[..groups][ms] / 1e9;
    for (ms, expected) in [(5, 2.0), (20, 1.0), (35, 2.0)] {
        assert!((rate(ms) - expected).abs() < 0.01, "{ms} ms: {} GB/s", rate(ms));
    }
}

#[test]
fn redrawn_times_and_carried_sizes_slow_down_a_closed_loop() {
    let text = CHAIN.replace("window = 4", "window = 10");
    let fixed = delivered(&text);
    for law in ["\"exponential\"", "{erlang = 4}", "{uniform = 0.9}"] {
        let redrawn = delivered(&text.replace("[packet]", &format!("service = {law}\n[packet]")));
        let carried = delivered(&text.replace("\"10 kB\"", &format!("\"10 kB\", sizes = {law}")));
        for (found, how) in [(redrawn, "redrawn"), (carried, "carried")] {
            assert!(found < 0.995 * fixed && found > 0.6 * fixed, "{law}, {how}: {found} of {fixed}");
        }
        assert_ne!(redrawn, carried);
    }
}

#[test]
fn random_times_and_changing_rates_are_the_same_on_any_number_of_threads() {
    let text = CHAIN
        .replace("[packet]", "service = \"exponential\"\n[marking.regeneration_cycle]\n[packet]")
        .replace("[response.none]\n    window = 4", "[response.binary_feedback]")
        .replace("\"10 Tb/s\"", "\"10 Tb/s\", delay = \"1 us\"");
    let changes = "[[changes]]\nlink = \"S2->S3\"\nat = \"10 ms\"\nrate = \"1 GB/s\"\n\
                   [[changes]]\nlink = \"source->S1\"\nat = \"20 ms\"\nrate = \"3 GB/s\"\n";
    let scenario = scenario(&format!("{text}{changes}"));
    let fingerprint = |threads| scenario.run(0, threads, &mut |_| true).unwrap().fingerprint;
    let alone = fingerprint(1);
    assert!([2, 3].into_iter().all(|threads| fingerprint(threads) == alone));
}

#[test]
fn a_batch_has_sizes_of_its_law() {
    let batch = "batch = {count = 3000, message = \"10 kB\", sizes = {uniform = 0.5}}";
    let text = CHAIN.replace("greedy = {message = \"10 kB\"}", batch).replace("window = 4", "window = 20");
    let results = run(&text);
    assert_eq!(numbers(&results, "flows", "delivered_packets"), [3000.0]);
    let mean = numbers(&results, "flows", "delivered_bytes")[0] / 3000.0;
    // Three standard errors of a uniform distribution with a half-width of 5 kB.
    assert!((mean - 10_000.0).abs() < 3.0 * 5000.0 / f64::sqrt(3.0 * 3000.0), "{mean}");
}
