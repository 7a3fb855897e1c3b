//! With all schemes, results do not depend on the order of hosts, cables and groups in a scenario.

use std::collections::BTreeMap;

use crate::scenes::{names, numbers, scenario};

/// Number of runs per scene and order.
const SEEDS: u32 = 24;
/// Largest difference between two means in standard errors, over 32 comparisons.
const MOST: f64 = 4.5;

/// Six hosts on two switches: four groups to one host, two of them over the link between the switches, and a victim on
/// this link.
fn scene(schemes: &str, reversed: bool) -> String {
    let lines = |mut lines: Vec<String>| {
        if reversed {
            lines.reverse();
        }
        lines.join("")
    };
    let hosts = ["a", "b", "c", "d", "hot", "cold"].map(|host| format!("\"{host}\", ")).to_vec();
    let ends = [("a", "S"), ("b", "S"), ("S", "T"), ("c", "T"), ("d", "T"), ("hot", "T"), ("cold", "T")];
    let cables = ends.map(|(one, other)| format!("{{between = [\"{one}\", \"{other}\"]}}, ")).to_vec();
    let group = |(name, from, to): (&str, &str, &str)| {
        format!("[[flows]]\nname = \"{name}\"\nfrom = [\"{from}\"]\nto = [\"{to}\"]\ntraffic.poisson.load = 0.4\n")
    };
    let pairs = [("a", "a", "hot"), ("b", "b", "hot"), ("c", "c", "hot"), ("d", "d", "hot"), ("victim", "a", "cold")];
    format!(
        "{schemes}\n[run]\nduration = \"3 ms\"\nwarmup = \"0.5 ms\"\nreplications = {SEEDS}\n[topology.edges]\n\
         hosts = [{}]\nswitches = [\"S\", \"T\"]\ncables = [{}]\n[switch]\nbuffer = \"6 packets\"\n{}",
        lines(hosts),
        lines(cables),
        lines(pairs.map(group).to_vec())
    )
}

/// Mean and squared standard error of each group's share and mean latency.
fn means(text: &str) -> BTreeMap<String, (f64, f64)> {
    let scenario = scenario(text);
    let mut values: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for replication in 0..SEEDS {
        let results = scenario.run(replication, 1, &mut |_| true).unwrap();
        for column in ["share", "latency_mean"] {
            for (name, value) in names(&results, "groups", "group").iter().zip(numbers(&results, "groups", column)) {
                values.entry(format!("{column} of {name}")).or_default().push(value);
            }
        }
    }
    let n = f64::from(SEEDS);
    let summary = |values: Vec<f64>| {
        let mean = values.iter().sum::<f64>() / n;
        (mean, values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n * (n - 1.0)))
    };
    values.into_iter().map(|(name, values)| (name, summary(values))).collect()
}

#[test]
fn lists_in_reverse_give_the_same_means() {
    for schemes in [
        "marking.none = {}",
        "marking.input_triggered = {}\nresponse.lipd = {}",
        "marking.input_output_triggered = {}\nresponse.aimd = {}\nadapter.port_control = \"sl\"",
        "marking.queue_threshold = {}\nresponse.ibta.ccti_timer = 10\nadapter.injection = \"posted\"",
    ] {
        let (straight, reversed) = (means(&scene(schemes, false)), means(&scene(schemes, true)));
        for (name, (mean, error)) in &straight {
            let (other, its_error) = reversed[name];
            let off = (mean - other).abs() / (error + its_error).sqrt().max(1e-12);
            assert!(off < MOST, "{schemes}: {name}: {mean} and {other}, {off:.1} standard errors");
        }
    }
}
