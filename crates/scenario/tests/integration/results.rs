//! What tables say about runs whose outcome is known.

use becalm_fabric::FabricError;
use becalm_scenario::{RunError, Scenario};

use crate::scenes::{names, numbers, run, scenario, table};

/// One flow over one switch; the rest is up to the test.
fn single(run: &str, flows: &str) -> String {
    format!(
        r#"
        [run]
        {run}
        [topology.edges]
        hosts = ["a", "b", "c"]
        switches = ["S"]
        cables = [{{between = ["a", "S"]}}, {{between = ["b", "S"]}}, {{between = ["c", "S"]}}]
        {flows}
        "#
    )
}

const GREEDY: &str = r#"
        [[flows]]
        name = "f"
        from = ["a"]
        to = ["b"]
"#;

#[test]
fn a_greedy_flow_fills_its_link() {
    let results = run(&single("duration = \"10 ms\"\nwarmup = \"1 ms\"", GREEDY));
    let rate = numbers(&results, "flows", "rate")[0];
    assert!((rate / 1e9 - 1.0).abs() < 1e-3, "{rate}");
    assert_eq!(numbers(&results, "groups", "rate")[0], rate);
    assert!((numbers(&results, "groups", "share")[0] - 1.0).abs() < 1e-3);
    // The header reaches the switch at once, leaves it after the forwarding delay, and the packet follows at 1 GB/s.
    let latency = numbers(&results, "flows", "latency_mean")[0];
    assert!((latency - (0.04 + 2.068) * 1e-6).abs() < 1e-12, "{latency}");
    let series = table(&results, "series");
    let (kinds, shares) = (names(&results, "series", "kind"), numbers(&results, "series", "share"));
    assert_eq!(series.rows(), 101 * (1 + 6));
    assert_eq!(kinds[0], "group");
    assert!((shares[50] - 1.0).abs() < 1e-3);
}

#[test]
fn counts_are_those_of_the_measured_window() {
    let whole = run(&single("duration = \"4 ms\"", GREEDY));
    let late = run(&single("duration = \"4 ms\"\nwarmup = \"3 ms\"", GREEDY));
    assert_eq!(whole.fingerprint, late.fingerprint);
    let packets = |results| numbers(results, "flows", "delivered_packets")[0];
    assert!((packets(&whole) / packets(&late) - 4.0).abs() < 0.02);
    let on_link = |results| numbers(results, "links", "packets").iter().sum::<f64>();
    assert!((on_link(&whole) / on_link(&late) - 4.0).abs() < 0.02);
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
fn snapshots_show_full_buffers_and_their_root() {
    let text = r#"
        [run]
        duration = "2 ms"
        [topology.dumbbell]
        remote = 1
        local = 2
        [[flows]]
        name = "hot"
        from = ["A1", "B1..B2"]
        to = ["BC"]
        start = "100 us"
        [observe]
        snapshots = ["1 ms", "50 us"]
    "#;
    let results = run(text);
    let (times, from, to) = (
        numbers(&results, "snapshots", "time"),
        names(&results, "snapshots", "from"),
        names(&results, "snapshots", "to"),
    );
    let links = table(&results, "links").rows();
    assert_eq!(times.len(), 2 * links);
    assert_eq!((times[0], times[links]), (50e-6, 1e-3));
    let (occupancy, waiting) = (numbers(&results, "snapshots", "occupancy"), numbers(&results, "snapshots", "waiting"));
    let roles = names(&results, "snapshots", "role");
    assert!((0..links).all(|i| (occupancy[i], waiting[i], roles[i].as_str()) == (0.0, 0.0, "calm")));
    let at = |a: &str, b: &str| (links..2 * links).find(|&i| from[i] == a && to[i] == b).unwrap();
    assert_eq!(roles[at("B", "BC")], "root");
    assert!(waiting[at("B", "BC")] > 0.0);
    assert_eq!(roles[at("A", "B")], "branch");
    assert_eq!(occupancy[at("A", "B")], 1.0);
    assert_eq!((occupancy[at("B", "A")], roles[at("B", "A")].as_str()), (0.0, "calm"));
}

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
    // Messages of five packets: an ACK after three, and one at the end.
    let hosts = names(&results, "hosts", "host");
    let b = hosts.iter().position(|host| host == "b").unwrap();
    assert_eq!(numbers(&results, "hosts", "sent_packets")[b], 20.0);
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
fn the_same_seed_gives_the_same_run_and_another_seed_another() {
    let text = r#"
        [run]
        duration = "2 ms"
        seed = 3
        replications = 2
        [topology.clos]
        leaves = 2
        spines = 2
        hosts_per_leaf = 2
        [marking.input_triggered]
        [response.fimd]
        [[flows]]
        name = "f"
        from = ["*"]
        to = ["*"]
        traffic.poisson.load = 0.8
    "#;
    let scenario = scenario(text);
    let run = |replication| scenario.run(replication, 1, &mut |_| true).unwrap();
    assert_eq!(scenario.replications(), 2);
    // Where there is nothing to tell there is NaN, which does not equal itself.
    assert!(format!("{:?}", run(0)) == format!("{:?}", run(0)));
    assert_ne!(run(0).fingerprint, run(1).fingerprint);
    let other = self::scenario(&text.replace("seed = 3", "seed = 4"));
    assert_eq!(run(1).fingerprint, other.run(0, 1, &mut |_| true).unwrap().fingerprint);
}

#[test]
fn what_is_observed_does_not_change_the_run() {
    let quiet = format!("{GREEDY}[observe]\nstep = \"7 us\"\nlinks = []\n");
    let (a, b) = (run(&single("duration = \"1 ms\"", GREEDY)), run(&single("duration = \"1 ms\"", &quiet)));
    assert_eq!((a.fingerprint, a.events), (b.fingerprint, b.events));
    assert_eq!(table(&b, "series").rows(), 144);
}

#[test]
fn a_host_limits_the_rate_of_messages() {
    let rate = |message: &str| {
        let flows = format!("{GREEDY}traffic.greedy.message = \"{message}\"\n[adapter]\nmessage_overhead = \"5 us\"\n");
        let results = run(&single("duration = \"20 ms\"", &flows));
        (numbers(&results, "flows", "messages")[0], numbers(&results, "flows", "share")[0])
    };
    // A message of one packet takes 2 us of the link, a message of 8 packets 16 us.
    let (messages, share) = rate("2048 B");
    assert!((messages - 4000.0).abs() <= 1.0 && (share - 2.068 / 5.0).abs() < 1e-3, "{messages}, {share}");
    let (messages, share) = rate("16 KiB");
    assert!((messages - 20e-3 / 16.544e-6).abs() <= 1.0 && share > 0.999, "{messages}, {share}");
}

#[test]
fn patterns_say_who_sends_to_whom() {
    let pairs = |text: &str| {
        let flows = format!("[[flows]]\nname = \"f\"\nfrom = [\"*\"]\npattern.{text}\n");
        let results = run(&single("duration = \"100 us\"", &flows));
        assert!(numbers(&results, "flows", "delivered_packets").iter().all(|&packets| packets > 0.0));
        let pairs = names(&results, "flows", "source").into_iter().zip(names(&results, "flows", "destination"));
        pairs.map(|(a, b)| a + &b).collect::<Vec<_>>()
    };
    assert_eq!(pairs("shift.by = 2"), ["ac", "ba", "cb"]);
    assert_eq!(pairs("tornado = {}"), ["ab", "bc", "ca"]);
    assert_eq!(pairs("all_to_all = {}"), ["ab", "ac", "ba", "bc", "ca", "cb"]);
    assert_eq!(pairs("permutation = {}").len(), 3);
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

#[test]
fn given_routes_are_taken() {
    let packets = |routes: &str| {
        let text = format!(
            r#"
            [run]
            duration = "100 us"
            [topology.tree]
            ports = 4
            levels = 2
            {routes}
            [[flows]]
            name = "f"
            from = ["H0"]
            to = ["H6"]
            "#
        );
        let results = run(&text);
        let (from, to) = (names(&results, "links", "from"), names(&results, "links", "to"));
        let packets = numbers(&results, "links", "packets");
        let on = |a: &str, b: &str| packets[(0..from.len()).find(|&i| from[i] == a && to[i] == b).unwrap()];
        [on("L1S0", "L2S0"), on("L1S0", "L2S1")]
    };
    assert!(packets("")[0] > 40.0 && packets("")[1] == 0.0);
    let over = |end: &str| packets(&format!("routes = [{{switch = \"L1S0\", to = [\"H4..H7\"], {end}}}]"));
    assert!(over("via = \"L2S1\"")[0] == 0.0 && over("via = \"L2S1\"")[1] > 40.0);
    assert_eq!(over("via = \"L2S1\""), over("port = 3"));
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
    // The last packet follows its message's first, which is ready 5 us after the first message's.
    let latency = numbers(&results, "flows", "latency_max")[0];
    assert!((latency - (10.0 + 2.0 * 2.068 + 0.04) * 1e-6).abs() < 1e-12, "{latency}");
}

#[test]
fn paces_are_written_down_if_asked_for() {
    let flows = r#"
        [[flows]]
        name = "half"
        from = ["a", "b"]
        to = ["c"]
        response.fixed.rate = 0.5
        [[flows]]
        name = "free"
        from = ["c"]
        to = ["a"]
    "#;
    let quiet = run(&single("duration = \"1 ms\"", flows));
    assert!(quiet.tables.iter().all(|table| table.name != "paces"));
    let results = run(&single("duration = \"1 ms\"", &format!("{flows}[observe]\npaces = true\n")));
    assert_eq!((results.fingerprint, results.events), (quiet.fingerprint, quiet.events));
    assert_eq!(names(&results, "paces", "group")[..2], ["half", "free"]);
    assert_eq!(table(&results, "paces").rows(), 2 * 11);
    let (means, delays) = (numbers(&results, "paces", "gap_mean"), numbers(&results, "paces", "delay_max"));
    assert_eq!(means[..2], [1.0, 0.0]);
    assert!((delays[0] - 2.068e-6).abs() < 1e-12 && delays[1] == 0.0, "{delays:?}");
}

#[test]
fn waits_for_credit_and_full_buffers_show() {
    let incast = r#"
        [[flows]]
        name = "f"
        from = ["a", "b"]
        to = ["c"]
    "#;
    let results = run(&single("duration = \"10 ms\"", incast));
    let (from, stalled) = (names(&results, "links", "from"), numbers(&results, "links", "stalled_share"));
    let of = |name: &str| stalled[from.iter().position(|from| from == name).unwrap()];
    assert!(of("a") > 0.4 && of("c") == 0.0, "{stalled:?}");
    let (peers, max) = (names(&results, "buffers", "peer"), numbers(&results, "buffers", "max_packets"));
    let mean = numbers(&results, "buffers", "mean_packets");
    let a = peers.iter().position(|peer| peer == "a").unwrap();
    assert_eq!(max[a], 4.0);
    assert!(mean[a] > 3.0 && mean[a] <= 4.0, "{mean:?}");
}

#[test]
fn counters_are_those_of_a_fabric_administrator() {
    let incast = r#"
        [marking.ibta]
        [[flows]]
        name = "f"
        from = ["a", "b"]
        to = ["c"]
    "#;
    let results = run(&single("duration = \"10 ms\"\nwarmup = \"2 ms\"", incast));
    let (from, hosts) = (names(&results, "links", "from"), names(&results, "hosts", "host"));
    assert_eq!(hosts, ["a", "b", "c"]);
    let total = |table: &str, column: &str| numbers(&results, table, column).iter().sum::<f64>();
    assert!(total("links", "marked") > 100.0, "{}", total("links", "marked"));
    for counter in ["rcv_fecn", "rcv_becn"] {
        assert!((total("hosts", counter) - total("links", "marked")).abs() <= 4.0, "{counter}: a few are on their way");
    }
    assert_eq!(numbers(&results, "hosts", "rcv_fecn")[..2], [0.0, 0.0]);
    assert_eq!(numbers(&results, "hosts", "rcv_becn")[2], 0.0);
    assert!((total("hosts", "sent_bytes") / total("hosts", "received_bytes") - 1.0).abs() < 1e-2);
    let (wait, share) = (numbers(&results, "links", "xmit_wait"), numbers(&results, "links", "stalled_share"));
    assert!(wait.iter().zip(&share).all(|(wait, share)| (wait - share * 8e-3).abs() < 1e-12) && wait[0] > 0.0);
    let congested = numbers(&results, "links", "xmit_time_cong");
    let root = (0..from.len()).find(|&i| names(&results, "links", "to")[i] == "c").unwrap();
    assert!((congested[root] - 8e-3).abs() < 1e-12, "{congested:?}");
    assert!((0..from.len()).all(|i| i == root || congested[i] == 0.0), "{congested:?}");
}

#[test]
fn the_tree_of_the_dumbbell_has_its_root_at_the_hot_host() {
    let text = r#"
        [run]
        duration = "5 ms"
        [topology.dumbbell]
        remote = 5
        local = 5
        [[flows]]
        name = "local"
        from = ["B1..B5"]
        to = ["BC"]
        start = "1 ms"
        [[flows]]
        name = "remote"
        from = ["A1..A5"]
        to = ["BC"]
        start = "1 ms"
        [[flows]]
        name = "victim"
        from = ["AV"]
        to = ["BV"]
        traffic.poisson.load = 0.5
    "#;
    let results = run(text);
    let (from, to) = (names(&results, "tree", "from"), names(&results, "tree", "to"));
    let at = |a: &str, b: &str| (0..from.len()).find(|&i| from[i] == a && to[i] == b).unwrap();
    let roles = names(&results, "tree", "role");
    for (a, b, role) in
        [("B", "BC", "root"), ("A", "B", "branch"), ("A1", "A", "branch"), ("B1", "B", "branch"), ("B", "BV", "calm")]
    {
        assert_eq!(roles[at(a, b)], role, "{a}->{b}");
    }
    assert_eq!(roles.iter().filter(|role| *role == "root").count(), 1);
    for (a, b, share) in [("B", "BC", "root_share"), ("A", "B", "branch_share")] {
        assert!(numbers(&results, "tree", share)[at(a, b)] > 0.75, "{a}->{b}");
    }
    let root = |column| numbers(&results, "tree", column)[at("B", "BC")];
    assert!(root("since") < 1.1e-3 && root("until") == 5e-3 && root("longest") > 3.8e-3, "{}", root("since"));
    let (hosts, shares) = (names(&results, "victims", "host"), numbers(&results, "victims", "delivered_share"));
    let (victims, hot) = (numbers(&results, "victims", "victims"), numbers(&results, "victims", "contributors"));
    assert_eq!(hosts.len(), 11);
    for (i, host) in hosts.iter().enumerate() {
        assert_eq!((victims[i], hot[i]), if host == "AV" { (1.0, 0.0) } else { (0.0, 1.0) }, "{host}");
        assert!(shares[i] < 0.7, "{host} {}", shares[i]);
    }
    let offered = numbers(&results, "victims", "offered");
    let victim = hosts.iter().position(|host| host == "AV").unwrap();
    assert!((offered[victim] / 0.5e9 - 1.0).abs() < 0.1 && (offered[0] / 0.8e9 - 1.0).abs() < 1e-3, "{offered:?}");
    let delivered = numbers(&results, "victims", "delivered");
    let rates = numbers(&results, "groups", "rate");
    assert!((delivered.iter().sum::<f64>() / rates.iter().sum::<f64>() - 1.0).abs() < 1e-9);
}

#[test]
fn a_run_can_be_interrupted() {
    let long = scenario(&single("duration = \"10 s\"", &format!("{GREEDY}[observe]\nstep = \"1 ms\"\n")));
    let mut calls = 0;
    let outcome = long.run(0, 1, &mut |progress| {
        calls += 1;
        assert!(progress.time < progress.duration && progress.packet_hops > 0);
        calls < 3
    });
    assert_eq!(outcome, Err(RunError::Interrupted));
    assert_eq!(calls, 3);
}

#[test]
fn a_deadlock_is_reported_and_not_waited_for() {
    // Five switches in a ring, every host sends two switches further: all paths turn the same way.
    let mut ring = r#"
        [run]
        duration = "1 s"
        [topology.edges]
        hosts = ["h0..h4"]
        switches = ["s0..s4"]
        cables = [
            {between = ["h0", "s0"]}, {between = ["h1", "s1"]}, {between = ["h2", "s2"]}, {between = ["h3", "s3"]},
            {between = ["h4", "s4"]}, {between = ["s0", "s1"]}, {between = ["s1", "s2"]}, {between = ["s2", "s3"]},
            {between = ["s3", "s4"]}, {between = ["s4", "s0"]},
        ]
    "#
    .to_string();
    for i in 0..5 {
        ring += &format!("[[flows]]\nname = \"f{i}\"\nfrom = [\"h{i}\"]\nto = [\"h{}\"]\n", (i + 2) % 5);
    }
    let refused = Scenario::parse(&ring, "ring.toml").expect_err("routes that can deadlock").to_string();
    assert!(refused.contains("s0->s1, s1->s2, s2->s3, s3->s4, s4->s0"), "{refused}");
    let ring = ring.replace("[topology.edges]", "[topology.edges]\nallow_cycles = true");
    match scenario(&ring).run(0, 1, &mut |_| true) {
        Err(RunError::Fabric(FabricError::Deadlock { cycle, .. })) => assert_eq!(cycle.len(), 6, "{cycle:?}"),
        other => panic!("{:?}", other.map(|results| results.guards)),
    }
}
