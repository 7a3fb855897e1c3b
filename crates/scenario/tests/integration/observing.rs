//! Counters and recordings do not affect runs.

use crate::scenes::{GREEDY, names, numbers, run, single, table};

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
fn what_is_observed_does_not_change_the_run() {
    let quiet = format!("{GREEDY}[observe]\nstep = \"7 us\"\nlinks = []\n");
    let (a, b) = (run(&single("duration = \"1 ms\"", GREEDY)), run(&single("duration = \"1 ms\"", &quiet)));
    assert_eq!((a.fingerprint, a.events), (b.fingerprint, b.events));
    assert_eq!(table(&b, "series").rows(), 144);
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
