//! Sources, destinations and paths.

use crate::scenes::{names, numbers, run, single};

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
fn a_host_never_sends_to_itself() {
    let incast = "[[flows]]\nname = \"f\"\nfrom = [\"*\"]\nto = [\"b\"]\n";
    let results = run(&single("duration = \"100 us\"", incast));
    assert_eq!(names(&results, "flows", "source"), ["a", "c"]);
    assert_eq!(names(&results, "flows", "destination"), ["b", "b"]);
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
