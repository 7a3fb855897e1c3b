//! Two flows that compete for a link converge to equal shares from unequal rates (Santos 2003, section V, condition 2).

use crate::scenes::{numbers, run};

/// Link shares of two flows; the first starts at the link's rate and the second at 1/256 of it.
fn shares(response: &str) -> Vec<f64> {
    let flow = |name: &str, initial: &str| {
        format!(
            "[[flows]]\nname = \"{name}\"\nfrom = [\"{name}\"]\nto = [\"c\"]\n\
             response.{response} = {{initial = {initial}, window = 4}}\n"
        )
    };
    let results = run(&format!(
        r#"
        [run]
        duration = "600 ms"
        warmup = "400 ms"
        [topology.edges]
        hosts = ["a", "b", "c"]
        switches = ["s"]
        cables = [{{between = ["a", "s"]}}, {{between = ["b", "s"]}}, {{between = ["c", "s"]}}]
        [switch]
        arbiter.oldest_first.max_bypass = 4
        [marking.input_triggered]
        [observe]
        step = "10 ms"
        window = "10 ms"
        links = []
        {}{}"#,
        flow("a", "1.0"),
        flow("b", "0.00390625"),
    ));
    numbers(&results, "groups", "share")
}

/// Shares within a tenth are fair. Both are far above the slowest rate, so the flows did not meet at the minimum.
#[test]
fn two_flows_converge_under_every_response_of_the_paper() {
    for response in ["lipd", "fimd", "aimd"] {
        let shares = shares(response);
        let (low, high) = (shares[0].min(shares[1]), shares[0].max(shares[1]));
        assert!(low / high > 0.9, "{response}: {shares:?}");
        assert!(low > 0.1, "{response}: {shares:?}");
    }
}
