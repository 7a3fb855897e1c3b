//! Congestion in tables: waits, marks, counters, the tree.

use crate::scenes::{names, numbers, run, single, table};

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
fn what_was_offered_before_the_window_is_no_share_of_nothing() {
    let batch = r#"
        [[flows]]
        name = "f"
        from = ["a", "b"]
        to = ["c"]
        traffic.batch = {count = 200}
    "#;
    let results = run(&single("duration = \"1 ms\"\nwarmup = \"100 us\"", batch));
    assert_eq!(numbers(&results, "victims", "offered"), [0.0, 0.0]);
    assert!(numbers(&results, "victims", "delivered").iter().all(|&rate| rate > 1e8));
    assert!(numbers(&results, "victims", "delivered_share").iter().all(|share| share.is_nan()));
}

/// Sources send exactly half of their traffic over an output, so rounding in the sum decides whether it is a root.
#[test]
fn roles_on_the_border_are_the_same_in_every_run() {
    let text = r#"
        [run]
        duration = "300 us"
        seed = 4277084822
        [topology.dumbbell]
        remote = 3
        local = 1
        delay = "7 ns"
        [switch]
        buffer = "9 KiB"
        forwarding_delay = "40 ns"
        queueing = "voq"
        input_reads = "many"
        vls = 2
        arbiter.oldest_first = {max_bypass = 2, acks = "free"}
        [marking.input_output_triggered]
        [response]
        dcqcn.window = "unlimited"
        [[flows]]
        name = "first"
        from = ["*"]
        to = ["*"]
        sl = 0
        traffic.batch = {count = 5, message = "8443 B", sizes = {uniform = 1}}
        [[flows]]
        name = "second"
        from = ["*"]
        to = ["*"]
        sl = 1
        traffic.batch = {count = 8, message = "6997 B", sizes = {uniform = 1}}
    "#;
    let roles = || names(&run(text), "flows", "role");
    let first = roles();
    assert!((0..12).all(|_| roles() == first));
}
