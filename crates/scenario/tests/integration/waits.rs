//! A port waits only while it sends nothing, whatever its lanes do.

use becalm_metrics::Data;
use becalm_scenario::{Results, Scenario};

use crate::scenes::{names, numbers, run, table};

/// One lane waits for a slow host, and another lane of the same port sends at the full rate.
fn two_lanes(run: &str, more: &str) -> String {
    format!(
        r#"
        [run]
        {run}
        [topology.edges]
        hosts = ["source", "slow", "fast"]
        switches = ["s"]
        cables = [{{between = ["source", "s"]}}, {{between = ["slow", "s"]}}, {{between = ["fast", "s"]}}]
        rate = "100 Gb/s"
        delay = "10 ns"
        [switch]
        vls = 2
        sl_to_vl = [0, 1]
        buffer = "32 KiB"
        {more}
        [[adapter.caps]]
        hosts = ["slow"]
        drain_rate = "1 Gb/s"
        [echo.ibta]
        transport = "unreliable"
        [[flows]]
        name = "to the slow host"
        from = ["source"]
        to = ["slow"]
        [[flows]]
        name = "to the fast host"
        from = ["source"]
        to = ["fast"]
        sl = 1
        "#
    )
}

fn of_link(results: &Results, column: &str, from: &str, to: &str) -> f64 {
    let (sources, targets) = (names(results, "links", "from"), names(results, "links", "to"));
    numbers(results, "links", column)[(0..sources.len()).find(|&i| sources[i] == from && targets[i] == to).unwrap()]
}

fn never_busy_and_waiting(results: &Results) {
    let (busy, waits) = (numbers(results, "links", "utilization"), numbers(results, "links", "stalled_share"));
    assert!(busy.iter().zip(&waits).all(|(busy, waits)| busy + waits <= 1.0 + 1e-4), "{busy:?} {waits:?}");
}

#[test]
fn a_port_that_sends_on_one_lane_does_not_wait_on_another() {
    for (window, more) in [
        ("duration = \"500 us\"\nwarmup = \"100 us\"", ""),
        // Shorter than a packet.
        ("duration = \"100.3 us\"\nwarmup = \"100.2 us\"", ""),
        ("duration = \"500 us\"", "flow_control.pfc = {}"),
    ] {
        let results = run(&two_lanes(window, more));
        never_busy_and_waiting(&results);
        assert!(of_link(&results, "utilization", "source", "s") > 0.9, "{window}");
    }
    let results = run(&two_lanes("duration = \"500 us\"\nwarmup = \"100 us\"", ""));
    assert!(of_link(&results, "stalled_share", "source", "s") < 0.01);
    assert!((of_link(&results, "stalled_share", "s", "slow") - 0.99).abs() < 0.001);
    // The lane itself waits: it is a branch of the slow host's tree.
    let (from, vls) = (names(&results, "tree", "from"), numbers(&results, "tree", "vl"));
    let lane = |vl: f64| (0..from.len()).find(|&i| from[i] == "source" && vls[i] == vl).unwrap();
    let branch = numbers(&results, "tree", "branch_share");
    assert!(branch[lane(0.0)] > 0.9 && branch[lane(1.0)] < 0.01, "{branch:?}");
}

#[test]
fn neither_does_it_in_any_frame_or_step() {
    let observed = "[observe]\nstep = \"130 ns\"\nwindow = \"130 ns\"\nframes = \"70 ns\"\nlinks = [\"source->s\"]";
    let text = two_lanes("duration = \"60 us\"", "") + observed;
    let results = run(&text);
    let bytes = |column: &str| match table(&results, "frames").column(column) {
        Some(Data::Bytes(rows)) => rows.concat(),
        _ => panic!("{column} holds no bytes"),
    };
    let (busy, waits) = (bytes("busy"), bytes("stalled"));
    // Each of the two shares is rounded.
    assert!(busy.iter().zip(&waits).all(|(&busy, &waits)| u32::from(busy) + u32::from(waits) <= 256));
    assert!(waits.contains(&255));
    let (kinds, shares) = (names(&results, "series", "kind"), numbers(&results, "series", "share"));
    let of_link: Vec<f64> = (0..kinds.len()).filter(|&i| kinds[i] == "link").map(|i| shares[i]).collect();
    assert!(of_link.len() > 400 && of_link.iter().all(|&share| share < 1.001), "{of_link:?}");
    let two = Scenario::parse(&text, "waits.toml").unwrap().run(0, 2, &mut |_| true).unwrap();
    assert_eq!(format!("{:?}", two.tables), format!("{:?}", results.tables));
}

#[test]
fn a_port_whose_traffic_has_ended_does_not_wait() {
    let text = r#"
        [run]
        duration = "100 us"
        [topology.dumbbell]
        [switch]
        buffer = "8 KiB"
        [[flows]]
        name = "until 30 us"
        from = ["AV", "B1"]
        to = ["A2"]
        stop = "30 us"
        "#;
    let results = run(text);
    for (from, to) in [("AV", "A"), ("B1", "B")] {
        let waits = of_link(&results, "xmit_wait", from, to);
        assert!(waits > 0.0 && waits < 30e-6, "{from} waits for {waits} s");
    }
}
