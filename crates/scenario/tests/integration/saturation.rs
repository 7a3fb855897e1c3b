//! Saturation throughput of a switch with the default arbiter and others.

use crate::scenes::{numbers, run};

/// Output utilization of an N x N switch with random destinations and an offered load of twice the links' rate.
fn saturation(n: u32, switch: &str) -> f64 {
    let results = run(&format!(
        r#"
        [run]
        duration = "3 ms"
        warmup = "1 ms"
        [topology.edges]
        hosts = ["I1..I{n}", "O1..O{n}"]
        switches = ["S"]
        cables = [{{between = ["I1..I{n}", "S"]}}, {{between = ["O1..O{n}", "S"]}}]
        [switch]
        buffer = "16 slots"
        {switch}
        [[flows]]
        name = "uniform"
        from = ["I1..I{n}"]
        to = ["O1..O{n}"]
        traffic.poisson.load = 2.0
        "#
    ));
    let bytes: f64 = numbers(&results, "hosts", "received_bytes")[n as usize..].iter().sum();
    bytes / (2e-3 * 1e9 * f64::from(n))
}

#[test]
fn an_ordinary_switch_carries_what_its_links_do() {
    for n in [4, 8, 16, 36, 64] {
        let carried = saturation(n, "");
        assert!(carried > 0.98, "{n} x {n}: {carried}");
    }
}

#[test]
fn a_bound_on_overtaking_is_for_few_ports() {
    let carried = [4, 36].map(|n| saturation(n, "arbiter.oldest_first.max_bypass = 4"));
    assert!(carried[0] > 0.98 && carried[1] < 0.5, "{carried:?}");
    assert!(saturation(36, "arbiter.oldest_first = {}") > 0.98);
}

#[test]
fn a_bound_on_each_output_holds_back_that_output_alone() {
    let carried = |n: u32, bound: &str| {
        let arbiter = format!("arbiter.oldest_first = {{max_bypass = {bound}}}");
        saturation(n, &format!("input_reads = \"one\"\n{arbiter}"))
    };
    let none = carried(16, "\"unlimited\"");
    let [strict, own, of_the_switch] =
        ["0, bypass = \"output\"", "4, bypass = \"output\"", "4"].map(|bound| carried(16, bound));
    assert!(of_the_switch < strict && strict < own && own < none, "{of_the_switch} {strict} {own} {none}");
}

#[test]
fn acks_use_up_a_bound_on_overtaking_unless_they_are_free() {
    let [counted, free] = ["counted", "free"]
        .map(|acks| saturation(16, &format!("arbiter.oldest_first = {{max_bypass = 4, acks = \"{acks}\"}}")));
    assert!(free > 1.1 * counted, "counted {counted}, free {free}");
}
