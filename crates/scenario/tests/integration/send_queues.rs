//! Hosts with limited send queues.

use crate::scenes::{numbers, run, scenario, single};

/// Host a offers b twice its link's rate, in packets of 2,068 bytes.
fn overload(adapter: &str) -> String {
    let flows = "[[flows]]\nname = \"f\"\nfrom = [\"a\"]\nto = [\"b\"]\ntraffic.poisson.load = 2.0\n";
    single("duration = \"10 ms\"\nwarmup = \"2 ms\"", &format!("[adapter]\n{adapter}\n{flows}"))
}

#[test]
fn a_full_queue_blocks_its_source_or_drops_messages() {
    let [unlimited, blocks, drops] = ["", "queue = 10", "queue = 10\nwhen_full = \"drop\""].map(|adapter| {
        let results = run(&overload(adapter));
        let sum = |column| numbers(&results, "flows", column).iter().sum::<f64>();
        let longest = numbers(&results, "flows", "latency_max").iter().fold(0.0, |a: f64, &b| a.max(b));
        (sum("delivered_packets"), sum("dropped"), longest)
    });
    // The link is full in all cases, with 3,868 packets in 8 ms.
    for (delivered, ..) in [unlimited, blocks, drops] {
        assert!((delivered - 3868.0).abs() < 40.0, "{delivered}");
    }
    assert!(unlimited.1 == 0.0 && blocks.1 == 0.0, "{unlimited:?} {blocks:?}");
    assert!((drops.1 - 3868.0).abs() < 400.0, "half of what is offered has no room: {drops:?}");
    assert!(unlimited.2 > 4e-3, "{unlimited:?}");
    // Ten waiting packets and one in transmission, 2.068 us each.
    for (.., longest) in [blocks, drops] {
        assert!((18e-6..26e-6).contains(&longest), "{longest}");
    }
}

#[test]
fn a_blocked_batch_is_posted_in_the_end() {
    for (sizes, mtu) in [("fixed", "2048 B"), ("exponential", "1024 B")] {
        let text = |adapter: &str| {
            let flows = [("one", "[\"b\"]"), ("two", "[\"b\", \"c\"]")].map(|(name, to)| {
                format!(
                    "[[flows]]\nname = \"{name}\"\nfrom = [\"a\"]\nto = {to}\n\
                     traffic.batch = {{count = 100, message = \"2048 B\", sizes = \"{sizes}\"}}\n"
                )
            });
            let packet = format!("[packet]\nmtu = \"{mtu}\"\n");
            single("duration = \"2 ms\"", &format!("[adapter]\n{adapter}\n{packet}{}{}", flows[0], flows[1]))
        };
        let messages = |adapter: &str| numbers(&run(&text(adapter)), "flows", "messages").iter().sum::<f64>();
        assert_eq!(messages("queue = 1"), 200.0);
        assert_eq!(messages("queue = 7"), 200.0);
        assert!(messages("queue = 7\nwhen_full = \"drop\"") < 20.0);
    }
}

/// Host a sends to a slow host and, in `groups` groups or as one source with weights, four times as much to a fast one.
/// Returns the share of its offered load that each of the two gets.
fn mixed(groups: Option<u32>) -> (f64, f64) {
    let flows = match groups {
        Some(groups) => {
            let fast = (0..groups).map(|i| {
                let load = 0.8 / f64::from(groups);
                format!("[[flows]]\nname = \"fast{i}\"\nfrom = [\"a\"]\nto = [\"c\"]\ntraffic.poisson.load = {load}\n")
            });
            let slow = "[[flows]]\nname = \"slow\"\nfrom = [\"a\"]\nto = [\"b\"]\ntraffic.poisson.load = 0.2\n";
            fast.chain([slow.to_string()]).collect::<String>()
        }
        None => "[[flows]]\nname = \"all\"\nfrom = [\"a\"]\nto = [\"c\", \"b\"]\nweights = [4, 1]\n\
                 traffic.poisson.load = 1.0\n"
            .to_string(),
    };
    let adapter = "[adapter]\ninjection = \"posted\"\nqueue = 32\n\
                   caps = [{hosts = [\"b\"], drain_rate = \"50 MB/s\"}]\n\
                   [response.none]\nwindow = 8\n";
    let results = run(&single("duration = \"60 ms\"\nwarmup = \"10 ms\"", &format!("{adapter}{flows}")));
    let rates = numbers(&results, "flows", "rate");
    let slow = rates[rates.len() - 1];
    ((rates.iter().sum::<f64>() - slow) / 0.8e9, slow / 0.2e9)
}

/// Poisson streams add up to a Poisson stream, so their division into groups has no effect on their shares.
#[test]
fn traffic_gets_the_same_share_however_it_is_divided_into_groups() {
    let all = [Some(1), Some(2), Some(4), Some(8), None].map(mixed);
    for (fast, slow) in all {
        // The slow host gets a quarter of its load, which holds up the messages behind.
        assert!((0.24..0.26).contains(&slow), "{all:?}");
        assert!((fast - slow).abs() < 0.02, "{all:?}");
    }
}

#[test]
fn destinations_get_messages_by_their_weights() {
    let flows = "[[flows]]\nname = \"f\"\nfrom = [\"*\"]\nto = [\"a\", \"b\", \"c\"]\nweights = [3, 2, 1]\n\
                 traffic.poisson.load = 0.3\n";
    let results = run(&single("duration = \"40 ms\"", flows));
    let messages = numbers(&results, "flows", "messages");
    // a -> b, c; b -> a, c; c -> a, b. The weight of a host's own entry is left out.
    for (pair, ratio) in messages.chunks(2).zip([2.0, 3.0, 1.5]) {
        assert!((pair[0] / pair[1] / ratio - 1.0).abs() < 0.1, "{messages:?}");
    }
    let offered = numbers(&results, "flows", "offered");
    for (pair, ratio) in offered.chunks(2).zip([2.0, 3.0, 1.5]) {
        assert!((pair[0] / pair[1] / ratio - 1.0).abs() < 1e-9, "{offered:?}");
    }
}

/// Link share of cold flows from 1.2 to 1.7 ms after a hot spot of 2 ms, on a tree of two levels without congestion
/// control; Pfister 2005, section III.
fn cold(ports: u32, adapter: &str) -> f64 {
    let hosts = ports * ports / 2;
    let last = hosts - 1;
    let results = run(&format!(
        r#"
        [run]
        duration = "4.2 ms"
        warmup = "3.7 ms"
        [topology.tree]
        ports = {ports}
        levels = 2
        rate = "25 Gb/s"
        delay = "40 ns"
        [switch]
        buffer = "72 KiB"
        [adapter]
        injection = "posted"
        {adapter}
        [packet]
        header = "0 B"
        [[flows]]
        name = "cold"
        from = ["*"]
        to = ["H0..H{}"]
        traffic.poisson.load = 0.87
        [[flows]]
        name = "hot"
        from = ["H0..H{}"]
        to = ["H{last}"]
        start = "0.5 ms"
        stop = "2.5 ms"
        traffic.poisson.load = {}
        "#,
        last - 1,
        last - 1,
        3.0 / f64::from(last)
    ));
    numbers(&results, "groups", "share")[0] / f64::from(hosts)
}

/// Pfister 2005, section VI: the recovery time of a network depends on the packets queued at hosts when the hot spot
/// ends. Limited queues hold the hosts' mix of packets, so the hot packets of all hosts do not become more in a larger
/// network.
#[test]
fn a_network_recovers_from_a_hot_spot_when_send_queues_are_empty() {
    let [unlimited, short, large] = [(8, ""), (8, "queue = 128"), (16, "queue = 128")].map(|(n, a)| cold(n, a));
    assert!(short > 0.8 && unlimited < 0.6, "32 hosts, unlimited {unlimited}, 128 packets {short}");
    assert!(large > 0.8, "128 packets, 32 hosts {short}, 128 hosts {large}");
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let text = overload("queue = 3").replace("from = [\"a\"]", "from = [\"a\", \"b\", \"c\"]");
    let text = text.replace("to = [\"b\"]", "to = [\"*\"]");
    let fingerprint = |threads| scenario(&text).run(0, threads, &mut |_| true).unwrap().fingerprint;
    assert_eq!(fingerprint(1), fingerprint(2));
}
