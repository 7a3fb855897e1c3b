//! Sizes of buffers: their units, the automatic size, and warnings about sizes and windows that leave links idle.

use crate::scenes::{numbers, run, scenario};

/// Flows between two hosts, with this buffer and delay.
fn pair(switch: &str, delay: &str, rest: &str) -> String {
    format!(
        r#"
        [run]
        duration = "300 us"
        warmup = "100 us"
        [topology.edges]
        hosts = ["a", "b"]
        switches = ["S", "T"]
        rate = "400 Gb/s"
        delay = "{delay}"
        cables = [{{between = ["a", "S"]}}, {{between = ["S", "T"]}}, {{between = ["T", "b"]}}]
        [switch]
        {switch}
        [packet]
        mtu = "4096 B"
        header = "64 B"
        {rest}
        [[flows]]
        name = "there"
        from = ["a"]
        to = ["b"]
        [[flows]]
        name = "back"
        from = ["b"]
        to = ["a"]
        "#
    )
}

#[test]
fn packets_are_the_bytes_of_full_packets() {
    let of = |buffer: &str| run(&pair(&format!("buffer = \"{buffer}\""), "400 ns", ""));
    let [packets, bytes, slots] = ["12 packets", "49920 B", "12 slots"].map(of);
    assert_eq!(packets.fingerprint, bytes.fingerprint);
    let shares = |results| numbers(results, "groups", "share");
    assert!(shares(&packets).iter().all(|&share| share > 0.9), "{:?}", shares(&packets));
    // ACKs of the opposite flow occupy slots.
    assert!(shares(&slots).iter().all(|&share| share < 0.8), "{:?}", shares(&slots));
}

/// With a header of 20 bytes, credits are lost in each packet. Space for N packets holds N packets all the same.
#[test]
fn packets_include_the_rest_of_their_last_credit() {
    let text = pair("buffer = \"4 packets\"", "10 ns", "").replace("\"64 B\"", "\"20 B\"");
    let summary = scenario(&text).summary();
    assert_eq!((&summary["buffer_packets"], &summary["buffer_bytes"]), (&4.into(), &(4 * 4160).into()));
}

#[test]
fn an_automatic_buffer_keeps_any_cable_busy() {
    for delay in ["5 ns", "500 ns", "5 us"] {
        for switching in ["cut_through", "store_and_forward"] {
            let text = pair(&format!("switching = \"{switching}\""), delay, "");
            assert_eq!(scenario(&text).warnings(), [""; 0], "{delay}");
            let shares = numbers(&run(&text), "groups", "share");
            assert!(shares.iter().all(|&share| share > 0.97), "{delay} {switching}: {shares:?}");
        }
    }
}

/// Rate times credit loop, for two delays of 500 ns, 40 ns of forwarding and a packet of 4160 B at 50 B/ns.
#[test]
fn a_small_buffer_limits_a_link_as_its_warning_says() {
    let text = pair("buffer = \"16640 B\"", "500 ns", "");
    let warnings = scenario(&text).warnings();
    let expected = "switch.buffer: space for 16640 B is too little for link S->T, which has 56160 B on the way before a \
                    credit returns: it reaches at most 29% of its rate; \"auto\" is large enough";
    assert!(warnings[0].starts_with("switch.buffer") && warnings[0].ends_with("enough"), "{warnings:?}");
    assert_eq!(warnings[0].replace("a->S", "S->T").replace("b->T", "S->T"), expected);
    let one_way = text.split("[[flows]]\n        name = \"back\"").next().unwrap().to_string();
    let share = numbers(&run(&one_way), "groups", "share")[0];
    assert!((share - 16_640.0 / 56_160.0).abs() < 0.003, "{share}");
    assert_eq!(scenario(&pair("buffer = \"58240 B\"", "500 ns", "")).warnings(), [""; 0]);
}

#[test]
fn a_small_window_limits_a_flow_as_its_warning_says() {
    let text = pair("", "500 ns", "[response.none]\nwindow = 8");
    let warnings = scenario(&text).warnings();
    assert!(
        warnings.len() == 1 && warnings[0].starts_with("response.none.window: 33280 B are too few"),
        "{warnings:?}"
    );
    let stated: f64 = warnings[0].split("at most ").nth(1).unwrap().split('%').next().unwrap().parse().unwrap();
    let share = numbers(&run(&text), "groups", "share")[0];
    assert!((100.0 * share - stated).abs() < 1.5, "{share} {stated}");
    assert_eq!(scenario(&pair("", "500 ns", "[response.none]\nwindow = 60")).warnings(), [""; 0]);
}

/// A window of 1.5 bandwidth-delay products is a few packets on a short cable, and many on a long one.
#[test]
fn a_window_that_cannot_cover_late_acks_has_a_warning() {
    let of = |delay| {
        scenario(&pair("", delay, "[response.nscc]\n[marking.ramp]\n[echo.uet]"))
            .warnings()
            .into_iter()
            .filter(|warning| warning.starts_with("response.nscc: its window"))
            .collect::<Vec<_>>()
    };
    let short = of("50 ns");
    assert!(short.len() == 1 && short[0].contains("may reach as little as"), "{short:?}");
    assert_eq!(of("5 us"), [""; 0]);
}
