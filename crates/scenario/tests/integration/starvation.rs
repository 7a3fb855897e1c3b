//! Credit starvation in complete networks.

use becalm_scenario::Results;

use crate::scenes::{GREEDY, names, numbers, run, single};

/// Hosts a and b overload host c, with these keys in `[marking.ibta]`.
fn incast(keys: &str) -> Results {
    let flows = r#"
        [[flows]]
        name = "a"
        from = ["a"]
        to = ["c"]
        [[flows]]
        name = "b"
        from = ["b"]
        to = ["c"]
    "#;
    run(&single("duration = \"20 ms\"\nwarmup = \"2 ms\"", &format!("[marking.ibta]\nthreshold = 0\n{keys}\n{flows}")))
}

/// Starves only host a, at port 0, to one packet per `delay` packet times.
fn starving(delay: u32) -> String {
    format!("overrides = [{{ports = [0], credit = true, cs_threshold = 15, cs_return_delay = [0, {delay}]}}]")
}

#[test]
fn a_starved_host_gets_one_packet_for_each_delay_and_leaves_the_rest_to_others() {
    assert!(numbers(&incast(""), "groups", "share").iter().all(|share| (share - 0.5).abs() < 1e-3));
    for delay in [4, 10, 100] {
        let results = incast(&starving(delay));
        let (shares, packets) = (numbers(&results, "groups", "share"), 18e-3 * 1e9 / 2068.0);
        let starved = 1.0 / f64::from(delay);
        assert!((shares[0] - starved).abs() <= 1.0 / packets, "{delay}: {shares:?}");
        assert!((shares[1] - (1.0 - starved)).abs() <= 1.0 / packets, "{delay}: {shares:?}");
    }
}

#[test]
fn a_starved_host_waits_for_credit() {
    let results = incast(&starving(10));
    let from = names(&results, "links", "from");
    let at = from.iter().position(|from| from == "a").unwrap();
    assert!((numbers(&results, "links", "stalled_share")[at] - 0.9).abs() < 1e-2);
    let of_tree = names(&results, "tree", "from").iter().position(|from| from == "a").unwrap();
    assert_eq!(names(&results, "tree", "role")[of_tree], "branch");
}

#[test]
fn nobody_starves_where_no_queue_is_long() {
    let alone = |keys: &str| {
        let text = format!("[marking.ibta]\nthreshold = 0\n{keys}\n{GREEDY}");
        run(&single("duration = \"1 ms\"", &text)).fingerprint
    };
    assert_eq!(alone(&starving(100)), alone(""));
}
