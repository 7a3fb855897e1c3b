//! Nodes with several adapters: closed forms of collectives, the adapters that messages take, and invalid nodes.

use becalm_scenario::{Results, Scenario};

use crate::scenes::{names, numbers, run};

/// 1 GB/s NICs, 9 GB/s NVLink ports; packets of 4096 B with headers of 64 B.
fn rail(nodes: u32, shape: &str, job: &str) -> String {
    format!(
        "[run]\nduration = \"1 s\"\nend = \"jobs\"\n[packet]\nmtu = \"4096 B\"\nheader = \"64 B\"\n\
         [switch]\nbuffer = \"256 KiB\"\n[observe]\nlinks = []\nstep = \"10 ms\"\nwindow = \"10 ms\"\n\
         [topology.rail]\nnodes = {nodes}\ngpus = 4\nrate = \"1 GB/s\"\nlocal_rate = \"9 GB/s\"\ndelay = \"50 ns\"\n{shape}\n\
         [[jobs]]\nname = \"j\"\nnodes = [\"*\"]\n{job}\n"
    )
}

/// Bytes on the wire of bytes of payload in full packets.
const WIRE: f64 = 4160.0 / 4096.0;
const BYTES: f64 = (4 << 20) as f64;

fn time(text: &str) -> f64 {
    numbers(&run(text), "jobs", "time")[0]
}

fn within(time: f64, form: f64, share: f64, what: &str) {
    assert!((1.0 - 1e-9..1.0 + share).contains(&(time / form)), "{what}: {time} s, and {form} s by the closed form");
}

#[test]
fn collectives_have_their_closed_forms() {
    let (m, g, nic, link) = (4.0, 4.0, 1e9 / WIRE, 9e9 / WIRE);
    let h = m * g;
    let all_reduce = |keys: &str| {
        let table = format!("collective.all_reduce = {{bytes = \"4 MiB\", {keys}}}");
        time(&rail(4, "", &table))
    };
    let hierarchical = 2.0 * (g - 1.0) / g * BYTES / link + 2.0 * (m - 1.0) / m * BYTES / g / nic;
    within(all_reduce("channels = 4"), 2.0 * (h - 1.0) / h * BYTES / (g * nic), 0.03, "one ring for each NIC");
    within(all_reduce("algorithm = \"hierarchical\", pieces = 1"), hierarchical, 0.03, "three phases");
    within(all_reduce("algorithm = \"halving_doubling_near\""), hierarchical, 0.03, "near partners first");
    let rest = hierarchical - 2.0 * (m - 1.0) / m * BYTES / g / nic;
    let overlapping = hierarchical - rest + rest / 8.0;
    within(all_reduce("algorithm = \"hierarchical\", pieces = 8"), overlapping, 0.05, "overlapping phases");
    let pieces = "algorithm = \"double_binary_tree\", channels = 4, pieces = 64";
    assert!(all_reduce(pieces) < 1.25 * 2.0 * BYTES / (g * nic), "trees of nodes");
}

/// The bytes of payload on the flows between two hosts, by their names.
fn flows(results: &Results) -> Vec<(String, String, f64)> {
    let bytes = numbers(results, "flows", "delivered_bytes");
    let ends = names(results, "flows", "source").into_iter().zip(names(results, "flows", "destination"));
    ends.zip(bytes).map(|((from, to), bytes)| (from, to, bytes)).collect()
}

#[test]
fn pxn_crosses_nvlink_to_the_rail_of_the_receiver() {
    // No ACKs, so that all bytes on the wire are data.
    let job = "nics = \"pxn\"\ncollective.all_to_all = {bytes = \"1 MiB\", algorithm = \"linear\"}";
    let text = format!("{}[echo.ibta]\ntransport = \"unreliable\"\n", rail(4, "", job));
    let found = flows(&run(&text));
    let part = (1 << 20) as f64 / 16.0 * WIRE;
    for (from, to, bytes) in &found {
        if from.contains('V') {
            // A message for the other GPU, and those that it forwards to the three other nodes.
            assert_eq!(*bytes, part * 4.0, "{from} to {to}");
        } else {
            assert_eq!(from[2..], to[2..], "on one rail");
            assert_eq!(*bytes, part * 4.0, "{from} to {to}");
        }
    }
    let of_nic = found.iter().filter(|(from, ..)| from == "N0G0").count();
    let of_port = found.iter().filter(|(from, ..)| from == "N0V0").count();
    assert_eq!((of_nic, of_port), (3, 3), "one flow to each other node, and to each other GPU");
}

#[test]
fn a_pair_that_no_law_can_serve_is_named() {
    let text = rail(4, "", "collective.all_to_all = {bytes = \"1 MiB\"}");
    let errors = Scenario::parse(&text, "rail.toml").unwrap_err().to_string();
    assert!(errors.contains("N0G0") && errors.contains("valid: nics = \"pxn\", or spine switches"), "{errors}");
}

#[test]
fn two_planes_carry_a_message_and_a_lost_leaf_halves_its_hosts() {
    let send = |nics: &str, lost: &str| {
        let shape = format!("planes = 2\nlost = [{lost}]");
        let pair = |from: u32, to: u32| {
            format!("{{rank = {from}, send = \"4 MiB\", to = {to}}}, {{rank = {to}, recv = \"4 MiB\", from = {from}}}")
        };
        let job = format!("nics = \"{nics}\"\nops = [{}, {}]", pair(0, 4), pair(1, 5));
        let results = run(&rail(2, &shape, &job));
        let ends = numbers(&results, "ranks", "end");
        [ends[4], ends[5]]
    };
    let whole = BYTES * WIRE / 1e9;
    let close = |time: f64, form: f64| within(time, form, 0.01, "a message");
    send("stripe", "").into_iter().for_each(|time| close(time, whole));
    send("hash", "").into_iter().for_each(|time| close(time, 2.0 * whole));
    let [slow, fast] = send("stripe", "\"R0L0P1\"");
    close(slow, 2.0 * whole);
    close(fast, whole);
}

#[test]
fn nodes_may_be_listed_for_any_topology() {
    let text = |nodes: &str, job: &str| {
        format!(
            "[run]\nduration = \"1 ms\"\n[topology.clos]\nleaves = 2\nspines = 2\nhosts_per_leaf = 4\n{nodes}\n\
             [[jobs]]\nname = \"j\"\n{job}\ncollective.all_to_all.bytes = \"64 KiB\"\n"
        )
    };
    let dual = "[[nodes]]\nname = \"n0..n3\"\nnics = [[\"H0..H3\"], [\"H4..H7\"]]";
    let results = run(&text(dual, "nodes = [\"*\"]\nnics = \"stripe\""));
    assert_eq!(flows(&results).len(), 2 * 4 * 3);
    let wrong = |nodes: &str, job: &str, problem: &str| {
        let errors = Scenario::parse(&text(nodes, job), "nodes.toml").unwrap_err().to_string();
        assert!(errors.contains(problem), "{errors}");
    };
    let on_nodes = "nodes = [\"*\"]";
    wrong("", on_nodes, "there are no nodes");
    wrong(dual, "", "hosts is missing: set hosts or nodes");
    wrong(dual, "nodes = [\"*\"]\nhosts = [\"*\"]", "cannot be combined with hosts");
    wrong(dual, "nodes = [\"n4\"]", "`n4`");
    wrong(dual, "hosts = [\"*\"]\nnics = \"hash\"", "does nothing without nodes");
    wrong(dual, "nodes = [\"*\"]\npxn_chunk = \"1 KiB\"", "does nothing without nics = \"pxn\"");
    wrong(
        "[[nodes]]\nname = \"n0..n3\"\nnics = [[\"H0..H2\"]]",
        on_nodes,
        "must name 4 hosts, one for each GPU, not 3",
    );
    let twice = "[[nodes]]\nname = \"n0..n3\"\nnics = [[\"H0..H3\"], [\"H3..H6\"]]";
    wrong(twice, on_nodes, "host `H3` is already an adapter of another GPU");
}
