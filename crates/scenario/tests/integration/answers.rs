//! Answers and data at an adapter: hosts that receive much data still send if the path of their ACKs is congested.

use proptest::prelude::*;
use proptest::sample::select;

use crate::scenes::{names, numbers, run};

/// Share of V's link that its flow to the neighbour W gets over an idle path. V also receives from X, and its ACKs to X
/// cross a cable that `contributors` hosts fill.
fn share(contributors: u32, switch: &str, adapter: &str) -> f64 {
    // With PFC, buffers fill and drain within milliseconds.
    let (n, milliseconds) = (contributors, 41);
    let text = format!(
        r#"
        [run]
        duration = "{milliseconds} ms"
        warmup = "1 ms"
        [topology.edges]
        hosts = ["A1..A{n}", "V", "W", "R", "X"]
        switches = ["A", "B"]
        cables = [
            {{ between = ["A1..A{n}", "A"] }},
            {{ between = ["V", "A"] }},
            {{ between = ["W", "A"] }},
            {{ between = ["A", "B"] }},
            {{ between = ["R", "B"] }},
            {{ between = ["X", "B"] }},
        ]
        [switch]
        {switch}
        [adapter]
        {adapter}
        [[flows]]
        name = "incast"
        from = ["A1..A{n}"]
        to = ["R"]
        [[flows]]
        name = "to V"
        from = ["X"]
        to = ["V"]
        [[flows]]
        name = "from V"
        from = ["V"]
        to = ["W"]
        "#
    );
    let results = run(&text);
    let flow = names(&results, "flows", "group").iter().position(|group| group == "from V").unwrap();
    numbers(&results, "flows", "share")[flow]
}

const FLOW_CONTROLS: [&str; 3] = ["", "buffer = \"16 KiB\"", "flow_control.pfc = {}"];

#[test]
fn a_host_with_acks_for_a_congested_cable_sends_over_an_idle_path() {
    for switch in FLOW_CONTROLS {
        // Round robin serves an ACK after a packet of each contributor, and V sends a packet after each ACK.
        for (contributors, least) in [(4, 0.24), (2, 0.49)] {
            let share = share(contributors, switch, "");
            assert!((least..least + 0.05).contains(&share), "{contributors} with {switch}: {share}");
        }
    }
}

#[test]
fn answers_that_go_first_silence_their_host() {
    for switch in FLOW_CONTROLS {
        assert!(share(4, switch, "answers = \"first\"") < 0.02, "{switch}");
    }
    let merged = share(4, "", "answers = \"first\"\ncoalesce_acks = true");
    assert!(merged < 0.01, "credit goes to the next ACK however few there are: {merged}");
    let apart = share(4, "", "coalesce_acks = false");
    assert!(apart > 0.24, "turns alone are enough: {apart}");
}

#[test]
fn waiting_acks_merge() {
    // b answers a's packets while b's own packets of the same size fill its link.
    let acks = |adapter: &str| {
        let text = format!(
            r#"
            [run]
            duration = "1 ms"
            [topology.dumbbell]
            remote = 1
            local = 1
            [adapter]
            {adapter}
            injection_rate = "1 GB/s"
            [[flows]]
            name = "many small"
            from = ["A1"]
            to = ["B1"]
            traffic.greedy.message = "20 B"
            [[flows]]
            name = "large"
            from = ["B1"]
            to = ["A1"]
            "#
        );
        let results = run(&text);
        let (sources, sent) = (names(&results, "hosts", "host"), numbers(&results, "hosts", "sent_packets"));
        let received = numbers(&results, "flows", "delivered_packets");
        let b1 = sources.iter().position(|host| host == "B1").unwrap();
        (sent[b1] / received[0], received[0])
    };
    let (merged, received) = acks("");
    let (apart, _) = acks("coalesce_acks = false\nanswers = \"first\"");
    assert!(received > 10_000.0 && merged < 0.1, "an ACK for all that came during a packet: {merged}");
    assert!(apart > 0.9, "one for each: {apart}");
}

/// A random fabric with any topology and flow control, and flows that always have data.
fn full() -> impl Strategy<Value = String> {
    let topology = select(vec![
        ("dumbbell = {remote = 3, local = 2}", "destination", 1),
        ("tree = {ports = 4, levels = 2}", "any", 1),
        ("clos = {leaves = 3, spines = 2, hosts_per_leaf = 2}", "any", 1),
        ("fat_tree = {levels = [{children = 2}, {children = 2, parents = 2}, {children = 2, parents = 2}]}", "any", 1),
        ("torus.sides = [5]", "destination", 2),
        ("torus.sides = [3, 4]", "destination", 2),
        ("dragonfly = {switches_per_group = 2, hosts_per_switch = 1, global_links = 1}", "destination", 2),
    ]);
    let control = select(vec!["buffer = \"4 packets\"", "buffer = \"8 KiB\"", "flow_control.pfc = {}"]);
    let law = select(vec!["destination", "flow", "packet", "least_waiting"]);
    let pattern = (1u32..4, any::<bool>());
    (topology, control, law, prop::collection::vec(pattern, 1..3), any::<u32>()).prop_map(
        |((topology, laws, vls), control, law, patterns, seed)| {
            let law = if laws == "any" { format!("paths.{law} = {{}}\n") } else { String::new() };
            let groups = patterns.iter().enumerate().map(|(i, &(shift, random))| {
                let pattern = if random { "permutation = {}".to_string() } else { format!("shift.by = {shift}") };
                format!("[[flows]]\nname = \"g{i}\"\nfrom = [\"*\"]\npattern.{pattern}\nstart_spread = \"20 us\"\n")
            });
            let groups: String = groups.collect();
            format!(
                "[run]\nduration = \"3 ms\"\nwarmup = \"1 ms\"\nseed = {seed}\n[topology]\n{topology}\n[switch]\nvls = {vls}\n\
                 {control}\n{law}{groups}"
            )
        },
    )
}

#[test]
fn no_background_host_of_an_incast_is_silent() {
    for switch in ["", "flow_control.pfc = {}"] {
        for seed in 1..=10 {
            let text = format!(
                r#"
                [run]
                duration = "3 ms"
                warmup = "1 ms"
                seed = {seed}
                [topology.clos]
                leaves = 4
                spines = 4
                hosts_per_leaf = 8
                [switch]
                {switch}
                [[flows]]
                name = "incast"
                from = ["H1..H8"]
                to = ["H0"]
                [[flows]]
                name = "background"
                from = ["*"]
                pattern.permutation = {{}}
                traffic.poisson.load = 0.5
                "#
            );
            let results = run(&text);
            let bytes = numbers(&results, "flows", "delivered_bytes");
            let groups = names(&results, "flows", "group");
            let silent = groups.iter().zip(&bytes).filter(|(group, bytes)| *group == "background" && **bytes == 0.0);
            assert_eq!((silent.count(), bytes.len()), (0, 40), "seed {seed}, {switch}: {bytes:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// With greedy flows only, each flow has a max-min share above 0, so each flow must send.
    #[test]
    fn no_flow_is_silent(text in full()) {
        let results = run(&text);
        let bytes = numbers(&results, "flows", "delivered_bytes");
        prop_assert!(bytes.iter().all(|&bytes| bytes > 0.0), "{bytes:?}\n{text}");
    }
}
