//! Traffic of flows.

use crate::scenes::{GREEDY, names, numbers, run, single, table};

#[test]
fn a_greedy_flow_fills_its_link() {
    let results = run(&single("duration = \"10 ms\"\nwarmup = \"1 ms\"", GREEDY));
    let rate = numbers(&results, "flows", "rate")[0];
    assert!((rate / 1e9 - 1.0).abs() < 1e-3, "{rate}");
    assert_eq!(numbers(&results, "groups", "rate")[0], rate);
    assert!((numbers(&results, "groups", "share")[0] - 1.0).abs() < 1e-3);
    // The header reaches the switch immediately and departs after the forwarding delay; the packet follows at 1 GB/s.
    let latency = numbers(&results, "flows", "latency_mean")[0];
    assert!((latency - (0.04 + 2.068) * 1e-6).abs() < 1e-12, "{latency}");
    let series = table(&results, "series");
    let (kinds, shares) = (names(&results, "series", "kind"), numbers(&results, "series", "share"));
    assert_eq!(series.rows(), 101 * (1 + 6));
    assert_eq!(kinds[0], "group");
    assert!((shares[50] - 1.0).abs() < 1e-3);
}

#[test]
fn a_batch_arrives_whole() {
    let batch = r#"
        [[flows]]
        name = "f"
        from = ["a"]
        to = ["b", "c"]
        traffic.batch = {count = 50, message = "5000 B"}
    "#;
    let results = run(&single("duration = \"10 ms\"", batch));
    assert_eq!(numbers(&results, "flows", "sent_packets").iter().sum::<f64>(), 150.0);
    assert_eq!(numbers(&results, "flows", "delivered_packets").iter().sum::<f64>(), 150.0);
    assert_eq!(numbers(&results, "flows", "delivered_bytes").iter().sum::<f64>(), 50.0 * (5000.0 + 3.0 * 20.0));
}

#[test]
fn poisson_traffic_offers_its_load() {
    let poisson = r#"
        [[flows]]
        name = "f"
        from = ["a"]
        to = ["b", "c"]
        traffic.poisson = {load = 0.4, message = "3000 B", sizes = "exponential"}
    "#;
    let results = run(&single("duration = \"200 ms\"", poisson));
    let share = numbers(&results, "groups", "share")[0];
    assert!((share - 0.4).abs() < 0.01, "{share}");
    assert!(numbers(&results, "groups", "jain")[0] > 0.99);
}

/// One-packet messages at a load of 0.5, with `response` and further keys of `poisson`.
fn paced(response: &str, poisson: &str) -> String {
    let flows = format!(
        r#"
        [response]
        {response}
        [[flows]]
        name = "f"
        from = ["a"]
        to = ["b"]
        traffic.poisson = {{load = 0.5{poisson}}}
        "#
    );
    single("duration = \"200 ms\"", &flows)
}

#[test]
fn a_delay_lengthens_the_intervals_of_a_paced_source() {
    // Mean interval of two packet times, plus a gap of 1/rate - 1.
    for (rate, share) in [(0.5, 1.0 / 3.0), (0.25, 0.2), (0.1, 1.0 / 11.0)] {
        let results = run(&paced(&format!("fixed = {{rate = {rate}, window = \"unlimited\"}}"), ", paced = true"));
        let found = numbers(&results, "flows", "share")[0];
        // The standard error over at least 20,000 intervals is below 1%.
        assert!((found / share - 1.0).abs() < 0.03, "{rate}: {found}, expected {share}");
        // Messages generated during the previous packet's transmission wait, on average for less than a gap.
        let latency = numbers(&results, "flows", "latency_mean")[0];
        assert!(latency < (0.04 + 2.068 / rate) * 1e-6, "{rate}: {latency}");
    }
}

#[test]
fn the_messages_of_other_sources_pile_up() {
    let results = run(&paced("fixed = {rate = 0.25, window = \"unlimited\"}", ""));
    let found = numbers(&results, "flows", "share")[0];
    assert!((found - 0.25).abs() < 0.001, "{found}");
    assert!(numbers(&results, "flows", "latency_mean")[0] > 10e-3);
}

#[test]
fn without_delays_a_paced_source_is_like_any_other() {
    let marking = "[marking.input_triggered]\n";
    let calm = |poisson| marking.to_string() + &paced("lipd.window = \"unlimited\"", poisson);
    let (paced, free) = (run(&calm(", paced = true")), run(&calm("")));
    assert_eq!(numbers(&paced, "flows", "marked"), [0.0]);
    assert_eq!(format!("{:?}", table(&paced, "flows")), format!("{:?}", table(&free, "flows")));
}

#[test]
fn a_load_may_change_with_the_same_flows() {
    let poisson = r#"
        [[flows]]
        name = "f"
        from = ["a"]
        to = ["b", "c"]
        traffic.poisson = {load = 0.2, changes = [{at = "20 ms", load = 0}, {at = "30 ms", load = 0.8}]}
        [observe]
        step = "1 ms"
        window = "1 ms"
    "#;
    let results = run(&single("duration = \"60 ms\"", poisson));
    assert_eq!(table(&results, "flows").rows(), 2);
    let kinds = names(&results, "series", "kind");
    let groups = kinds.iter().zip(numbers(&results, "series", "share")).filter(|(kind, _)| *kind == "group");
    let shares: Vec<f64> = groups.map(|(_, share)| share).collect();
    let mean = |range: std::ops::Range<usize>| shares[range.clone()].iter().sum::<f64>() / range.len() as f64;
    assert!((mean(1..20) - 0.2).abs() < 0.02, "{}", mean(1..20));
    assert_eq!(mean(22..29), 0.0);
    assert!((mean(32..60) - 0.8).abs() < 0.04, "{}", mean(32..60));
}

#[test]
fn staggered_flows_start_one_after_the_other() {
    let staggered = r#"
        [[flows]]
        name = "f"
        from = ["a", "b"]
        to = ["c"]
        start = "1 ms"
        stagger = "2 ms"
        response.fixed.rate = 0.25
        [observe]
        flows = true
        window = "100 us"
    "#;
    let results = run(&single("duration = \"4 ms\"", staggered));
    let (kinds, which) = (names(&results, "series", "kind"), names(&results, "series", "name"));
    let (times, shares) = (numbers(&results, "series", "time"), numbers(&results, "series", "share"));
    for (i, kind) in kinds.iter().enumerate().filter(|(_, kind)| *kind == "flow") {
        let start = if which[i] == "0" { 1e-3 } else { 3e-3 };
        assert_eq!(kind, "flow");
        if times[i] < start - 60e-6 {
            assert_eq!(shares[i], 0.0, "{} at {}", which[i], times[i]);
        }
        if times[i] > start + 100e-6 {
            assert!((shares[i] - 0.25).abs() < 0.1, "{} at {}: {}", which[i], times[i], shares[i]);
        }
    }
}

#[test]
fn connections_have_their_own_messages_and_starts() {
    let flows = r#"
        [[flows]]
        name = "f"
        start = "10 us"
        traffic.batch = {count = 1, message = "3000 B"}
        connections = [
            {from = "a", to = "b"},
            {from = "a", to = "c", message = "9000 B"},
            {from = "a", to = "b", start = "60 us", message = "1 B"},
            {from = "c", to = "a", start = "40 us"},
        ]
    "#;
    let delivered_after = |warmup: &str| {
        let results = run(&single(&format!("duration = \"100 us\"\nwarmup = \"{warmup}\""), flows));
        assert_eq!(names(&results, "flows", "source"), ["a", "a", "a", "c"]);
        assert_eq!(names(&results, "flows", "destination"), ["b", "c", "b", "a"]);
        numbers(&results, "flows", "delivered_bytes")
    };
    assert_eq!(delivered_after("10 us"), [3040.0, 9100.0, 21.0, 3040.0]);
    assert_eq!(delivered_after("40 us"), [0.0, 0.0, 21.0, 3040.0]);
    assert_eq!(delivered_after("60 us"), [0.0, 0.0, 21.0, 0.0]);
}

#[test]
fn the_load_of_a_connection_does_not_depend_on_its_messages() {
    let flows = r#"
        [[flows]]
        name = "f"
        traffic.poisson.load = 0.3
        connections = [{from = "a", to = "b", message = "500 B"}, {from = "b", to = "c"}]
    "#;
    let shares = numbers(&run(&single("duration = \"100 ms\"", flows)), "flows", "share");
    assert!(shares.iter().all(|share| (share - 0.3).abs() < 0.01), "{shares:?}");
}
