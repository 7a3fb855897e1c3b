//! Repeatability and ends of runs.

use becalm_fabric::FabricError;
use becalm_scenario::{RunError, Scenario};

use crate::scenes::{GREEDY, scenario, single};

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
    // Compared as text, because undefined values are NaN, which does not equal itself.
    assert!(format!("{:?}", run(0)) == format!("{:?}", run(0)));
    assert_ne!(run(0).fingerprint, run(1).fingerprint);
    let other = self::scenario(&text.replace("seed = 3", "seed = 4"));
    assert_eq!(run(1).fingerprint, other.run(0, 1, &mut |_| true).unwrap().fingerprint);
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
    // Five switches in a ring. Each host sends two switches further, so all paths have the same direction.
    let mut ring = r#"
        [run]
        duration = "1 s"
        [switch]
        arbiter.oldest_first.max_bypass = 4
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
    assert!(refused.contains("s0 -> s1, s1 -> s2, s2 -> s3, s3 -> s4, s4 -> s0"), "{refused}");
    let ring = ring.replace("[topology.edges]", "[topology.edges]\nallow_cycles = true");
    match scenario(&ring).run(0, 1, &mut |_| true) {
        Err(RunError::Fabric(FabricError::Deadlock { cycle, .. })) => assert_eq!(cycle.len(), 6, "{cycle:?}"),
        other => panic!("{:?}", other.map(|results| results.guards)),
    }
}
