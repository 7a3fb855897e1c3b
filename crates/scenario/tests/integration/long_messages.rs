//! Messages of more than 4 GiB, and traffic that is too large.

use becalm_scenario::Scenario;

use crate::scenes::{numbers, run, table};

/// Three hosts on one switch, with packets of 1 MiB and more sections.
fn scene(more: &str) -> String {
    let cables = ["a", "b", "c"].map(|host| format!("{{between = [\"{host}\", \"S\"]}}")).join(", ");
    format!(
        "[run]\nduration = \"1 s\"\n[topology.edges]\nhosts = [\"a\", \"b\", \"c\"]\nswitches = [\"S\"]\n\
         rate = \"400 Gb/s\"\ncables = [{cables}]\n[packet]\nmtu = \"1 MiB\"\n{more}"
    )
}

const BYTES: u64 = 5_600_000_001;

#[test]
fn long_messages_of_flows_arrive_to_the_byte() {
    let group = |traffic: &str| {
        let flow = "[observe]\nmessages = true\n[[flows]]\nname = \"f\"\nfrom = [\"a\"]\nto = [\"b\"]\n";
        run(&scene(&format!("{flow}{traffic}")))
    };
    for traffic in [
        "traffic.batch = {count = 3, message = \"5600000001 B\"}\n",
        "traffic.greedy = {message = \"5600000001 B\"}\n",
        "traffic.poisson = {load = 1.0, message = \"5600000001 B\"}\n",
    ] {
        let results = group(traffic);
        let sizes = numbers(&results, "messages", "bytes");
        assert!(sizes.len() > 2 && sizes.iter().all(|&bytes| bytes == BYTES as f64), "{traffic}: {sizes:?}");
        assert!(numbers(&results, "messages", "slowdown")[0] >= 1.0, "{traffic}");
    }
    let first = group("traffic.batch = {count = 3, message = \"5600000001 B\"}\n");
    let time = numbers(&first, "messages", "completion")[0];
    assert!((time - BYTES as f64 / 50e9).abs() < 1e-3 * time, "{time} s on a link of 50 GB/s");
    let fast = numbers(&first, "messages", "slowdown")[0];
    assert!(fast < 1.001, "the time on an empty network is that of the whole message: {fast}");
}

#[test]
fn long_messages_of_jobs_arrive_to_the_byte() {
    let job = |hosts: &str, program: &str| {
        let job = format!("[[jobs]]\nname = \"j\"\nhosts = [{hosts}]\n{program}\n");
        run(&scene(&job).replace("[run]\n", "[run]\nend = \"jobs\"\n"))
    };
    let two = "\"a\", \"b\"";
    let seconds = BYTES as f64 / 50e9;
    for (program, expected) in [
        ("collective.broadcast.bytes = \"5600000001 B\"", seconds),
        ("collective.all_reduce = {bytes = \"5600000001 B\", algorithm = \"recursive_doubling\"}", seconds),
        ("collective.all_reduce.bytes = \"11.2 GB\"", 2.0 * seconds),
        ("ops = [{rank = 0, send = \"5600000001 B\", to = 1}, {rank = 1, recv = \"5600000001 B\"}]", seconds),
        (
            "eager = \"5 GiB\"\ngoal.text = \"num_ranks 2\\nrank 0 {\\nsend 5600000001b to 1\\n}\\nrank 1 {\\n\
             recv 5600000001b from 0\\n}\\n\"",
            seconds,
        ),
    ] {
        let results = job(two, program);
        let time = numbers(&results, "jobs", "time")[0];
        assert!((time - expected).abs() < 1e-3 * expected, "{program}: {time}, not {expected}");
        assert!(numbers(&results, "flows", "delivered_bytes")[0] > BYTES as f64, "{program}");
    }
    let copied = job("\"a\"", "ranks = 2\nlocal_rate = \"400 Gb/s\"\ncollective.broadcast.bytes = \"5600000001 B\"");
    assert!((numbers(&copied, "jobs", "time")[0] - seconds).abs() < 1e-9);
    assert_eq!(table(&copied, "flows").rows(), 0);
}

/// The errors of traffic on the hosts of a large fat tree.
fn refused(traffic: &str) -> String {
    let text = format!(
        "[run]\nduration = \"1 s\"\n[topology.clos]\nleaves = 64\nspines = 1\nhosts_per_leaf = 64\n\
         {traffic}\n"
    );
    Scenario::parse(&text, "f.toml").unwrap_err().to_string()
}

#[test]
fn traffic_that_is_too_large_names_the_numbers_and_what_is_valid() {
    let job = |more: &str| refused(&format!("[[jobs]]\nname = \"j\"\nhosts = [\"H0..H2299\"]\n{more}"));
    let ring = job("repeat = 200\ncollective.all_reduce.bytes = \"1 MiB\"");
    assert!(
        ring.contains(
            "needs 4230160000 operations with 2300 ranks, but at most 2147483647 are possible; valid: at most 1638 ranks \
             or at most 101 repetitions, or algorithm = \"recursive_doubling\" or \"halving_doubling\" or \
             \"halving_doubling_near\""
        ),
        "{ring}"
    );
    let asks = job("eager = \"100 B\"\ncollective.all_reduce.bytes = \"1 MiB\"");
    assert!(asks.contains("needs 21150800 operations, but at most 20000000 are possible with a rendezvous"), "{asks}");
    let often = refused("[[jobs]]\nname = \"j\"\nhosts = [\"H0..H99\"]\nrepeat = 1000000\ncollective.barrier = {}");
    assert!(often.contains("needs 1400000000 operations with 100 ranks"), "{often}");
    assert!(often.contains("valid: at most 4 ranks or at most 14285 repetitions"), "{often}");
    let all = refused("[[flows]]\nname = \"f\"\nfrom = [\"H0..H2099\"]\npattern.all_to_all = {}");
    let why =
        "needs 4407900 flows; a scenario may have 4000000; valid: fewer hosts, or a `pattern` with fewer destinations";
    assert!(all.contains(why), "{all}");
}
