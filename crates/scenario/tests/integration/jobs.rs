//! Jobs: collectives against their alpha-beta forms, and what the tables say.

use becalm_metrics::{Data, Table};
use becalm_scenario::{Results, Scenario};

fn run(text: &str) -> Results {
    let scenario = Scenario::parse(text, "jobs.toml").unwrap_or_else(|errors| panic!("{errors}"));
    scenario.run(0, 1, &mut |_| true).unwrap()
}

fn table<'a>(results: &'a Results, name: &str) -> &'a Table {
    results.tables.iter().find(|table| table.name == name).unwrap()
}

fn numbers<'a>(results: &'a Results, table_name: &str, column: &str) -> &'a [f64] {
    match &table(results, table_name).columns.iter().find(|c| c.name == column).unwrap().data {
        Data::F64(values) => values,
        other => panic!("{other:?}"),
    }
}

fn counts<'a>(results: &'a Results, table_name: &str, column: &str) -> &'a [u64] {
    match &table(results, table_name).columns.iter().find(|c| c.name == column).unwrap().data {
        Data::U64(values) => values,
        other => panic!("{other:?}"),
    }
}

/// A job of `p` hosts on one switch that stores packets, without ACKs: 1 GB/s, 100 ns of cable, 40 ns of switch.
fn star(p: u32, job: &str) -> String {
    format!(
        "[run]\nduration = \"1 s\"\nend = \"jobs\"\n[topology.edges]\nhosts = [\"h1..h{p}\"]\nswitches = [\"s\"]\n\
         delay = \"50 ns\"\ncables = [{{between = [\"h1..h{p}\", \"s\"]}}]\n[switch]\nbuffer = \"unlimited\"\n\
         forwarding_delay = \"40 ns\"\nswitching = \"store_and_forward\"\n\
         [echo.ibta]\ntransport = \"unreliable\"\n[observe]\nlinks = []\nstep = \"10 ms\"\nwindow = \"10 ms\"\n\
         [[jobs]]\nname = \"j\"\nhosts = [\"*\"]\noverhead = \"300 ns\"\n{job}\n"
    )
}

/// Bytes of a vector, many times the product of numbers of ranks.
const BYTES: u64 = 64 * 3 * 5 * 7 * 256;

/// Seconds of a message: overheads, delays, and its packets, of which the switch stores one of the largest.
fn message(bytes: f64) -> f64 {
    let packets = (bytes / 2048.0).ceil().max(1.0);
    let stored = bytes.min(2048.0) + 20.0;
    2.0 * 300e-9 + 2.0 * 50e-9 + 40e-9 + (bytes + packets * 20.0 + stored) * 1e-9
}

/// Duration of a job and bytes on the links from hosts.
fn measured(p: u32, collective: &str) -> (f64, Vec<u64>) {
    let results = run(&star(p, collective));
    let sent = counts(&results, "hosts", "sent_bytes").to_vec();
    (numbers(&results, "jobs", "time")[0], sent)
}

/// Bytes on the wire of a message.
fn wire(bytes: u64) -> u64 {
    bytes + 20 * bytes.div_ceil(2048).max(1)
}

fn near(time: f64, form: f64, what: &str) {
    assert!((time / form - 1.0).abs() < 1e-3, "{what}: {time} instead of {form}");
}

#[test]
fn collectives_on_one_switch_take_as_long_as_their_alpha_beta_forms() {
    let add = 0.25e-9;
    for p in [2u32, 3, 4, 5, 7, 8, 12, 16, 21, 32, 48, 64] {
        let n = BYTES as f64;
        let (part, steps) = (n / f64::from(p), f64::from(p - 1));
        let log = f64::from(p.next_power_of_two().ilog2());
        let text = |name: &str, more: &str| {
            let adds = if name == "all_reduce" || name == "reduce" { "reduce_rate = \"4 GB/s\"" } else { "" };
            format!("{adds}\ncollective.{name} = {{bytes = \"{BYTES} B\"{more}}}")
        };
        // Parts of a vector differ by a byte where p does not divide it.
        let (time, sent) = measured(p, &text("all_reduce", ""));
        near(time, steps * (message(part.ceil()) * 2.0 + add * part), &format!("ring of {p}"));
        if BYTES.is_multiple_of(u64::from(p)) {
            let each = 2 * u64::from(p - 1) * wire(BYTES / u64::from(p));
            assert_eq!(sent, vec![each; p as usize], "bytes of a ring of {p}");
        }
        let (time, _) = measured(p, &text("all_gather", ""));
        near(time, steps * message(part.ceil()), &format!("all-gather of {p}"));
        let (time, sent) = measured(p, &text("all_to_all", ""));
        near(time, steps * message(part.ceil()), &format!("pairwise exchange of {p}"));
        if BYTES.is_multiple_of(u64::from(p)) {
            assert_eq!(sent, vec![u64::from(p - 1) * wire(BYTES / u64::from(p)); p as usize]);
        }
        let (time, sent) = measured(p, "collective.barrier = {}");
        near(time, log * message(0.0), &format!("barrier of {p}"));
        assert_eq!(sent, vec![20 * log as u64; p as usize]);
        if p.is_power_of_two() {
            let (time, sent) = measured(p, &text("all_reduce", ", algorithm = \"recursive_doubling\""));
            near(time, log * (message(n) + add * n), &format!("recursive doubling of {p}"));
            assert_eq!(sent, vec![u64::from(p.ilog2()) * wire(BYTES); p as usize]);
            let (time, _) = measured(p, &text("all_reduce", ", algorithm = \"halving_doubling\""));
            let halves: f64 = (1..=p.ilog2()).map(|k| 2.0 * message(n / f64::from(1 << k))).sum();
            near(time, halves + add * (n - part), &format!("halving and doubling of {p}"));
            let (time, _) = measured(p, &text("all_gather", ", algorithm = \"bruck\""));
            let doubles: f64 = (0..p.ilog2()).map(|k| message(part * f64::from(1 << k))).sum();
            near(time, doubles, &format!("Bruck's all-gather of {p}"));
            let (time, _) = measured(p, &text("all_to_all", ", algorithm = \"bruck\""));
            near(time, log * message(n / 2.0), &format!("Bruck's all-to-all of {p}"));
            let (time, _) = measured(p, &text("reduce", ""));
            near(time, log * (message(n) + add * n), &format!("reduction of {p}"));
        }
    }
}

#[test]
fn two_trees_are_near_the_bound_of_bandwidth() {
    for p in [4, 8, 16, 32] {
        let job = "collective.all_reduce = {bytes = \"4 MiB\", algorithm = \"double_binary_tree\", pieces = 64}";
        let results = run(&star(p, job));
        let bus = numbers(&results, "jobs", "bus_bandwidth")[0];
        // The busiest link carries the vector twice.
        let bound = 1e9 * 2048.0 / 2068.0 * f64::from(p - 1) / f64::from(p);
        assert!(bus > 0.9 * bound && bus < 1.001 * bound, "{bus} of {bound}");
    }
}

#[test]
fn repetitions_and_computation_add_up() {
    let results = run(&star(4, "collective.barrier = {}\nrepeat = 10\ncompute = \"5 us\""));
    near(numbers(&results, "jobs", "time")[0], 10.0 * (5e-6 + 2.0 * message(0.0)), "ten barriers");
    let [compute, wait] = ["compute_share", "wait_share"].map(|column| numbers(&results, "jobs", column)[0]);
    let time = numbers(&results, "jobs", "time")[0];
    near(compute, 50e-6 / time, "share of computation");
    near(wait, 1.0 - (50e-6 + 40.0 * 300e-9) / time, "share of waiting");
    assert!(numbers(&results, "jobs", "bus_bandwidth")[0].is_nan());
    assert_eq!(counts(&results, "ranks", "rank"), [0, 1, 2, 3]);
}

/// Two hosts with two ranks each that exchange a message in pairs.
fn placed(placement: &str, hosts: &str) -> Results {
    let ops: String = (0..4)
        .map(|rank| {
            let other = rank ^ 1;
            format!("{{rank = {rank}, send = \"10000 B\", to = {other}}}, {{rank = {rank}, recv = \"10000 B\", from = {other}}}, ")
        })
        .collect();
    run(&format!(
        "[run]\nduration = \"1 ms\"\n[topology.dumbbell]\n[echo.ibta]\ntransport = \"unreliable\"\n\
         [[jobs]]\nname = \"j\"\nhosts = {hosts}\nplacement = \"{placement}\"\nlocal_latency = \"1 us\"\n\
         local_rate = \"5 GB/s\"\nrecord_ops = true\nops = [{ops}]\n"
    ))
}

#[test]
fn ranks_are_placed_and_exchange_messages_within_their_host() {
    let packed = placed("packed", "[\"A1\", \"A2\"]");
    near(numbers(&packed, "jobs", "time")[0], 1e-6 + 2e-6, "copies");
    assert!(packed.packet_hops == 0);
    let cross = placed("round_robin", "[\"A1\", \"A2\"]");
    // Ten packets of a pair go over the links from and to each host, twice.
    assert_eq!(cross.packet_hops, 4 * 2 * 5);
    let listed = placed("list", "[\"A1\", \"A2\", \"A2\", \"A1\"]");
    assert_eq!(listed.packet_hops, cross.packet_hops);
    assert_eq!(counts(&listed, "ops", "bytes"), [10_000; 8]);
    assert!(numbers(&listed, "ops", "end").iter().all(|end| end.is_finite()));
}

#[test]
fn a_job_beside_others_is_compared_with_itself_alone() {
    let text = "[run]\nduration = \"20 ms\"\nend = \"jobs\"\n[topology.dumbbell]\n\
        [[flows]]\nname = \"hot\"\nfrom = [\"A1\"]\nto = [\"BC\"]\n\
        [[jobs]]\nname = \"one\"\nhosts = [\"A2\", \"BV\"]\ncollective.all_reduce.bytes = \"1 MiB\"\n\
        [[jobs]]\nname = \"two\"\nhosts = [\"A3\", \"B1\"]\nstart = \"100 us\"\ncollective.all_reduce.bytes = \"1 MiB\"\nalone = false\n";
    let results = run(text);
    let slowdown = numbers(&results, "jobs", "slowdown");
    assert!(slowdown[0] > 3.0 && slowdown[0] < 5.0, "{slowdown:?}");
    assert!(slowdown[1].is_nan());
    // The hot flow goes on after the jobs, the run does not.
    let times = numbers(&results, "series", "time");
    let end = numbers(&results, "jobs", "end").iter().copied().fold(0.0, f64::max);
    let last = times.iter().copied().fold(0.0, f64::max);
    assert!(last >= end && last < end + 101e-6, "{last}, {end}");
}

#[test]
fn threads_change_nothing() {
    let text = std::fs::read_to_string("../../scenarios/two_jobs.toml").unwrap().replace("repeat = 10", "repeat = 1");
    let scenario = Scenario::parse(&text, "two_jobs.toml").unwrap();
    let one = scenario.run(0, 1, &mut |_| true).unwrap();
    let two = scenario.run(0, 2, &mut |_| true).unwrap();
    assert_eq!((one.fingerprint, one.events), (two.fingerprint, two.events));
    for name in ["jobs", "ranks"] {
        assert_eq!(format!("{:?}", table(&one, name)), format!("{:?}", table(&two, name)));
    }
}

fn complaint(job: &str) -> String {
    let text = format!(
        "[run]\nduration = \"1 ms\"\n[topology.dumbbell]\n[[jobs]]\nname = \"j\"\nhosts = [\"A1\", \"A2\"]\n{job}\n"
    );
    Scenario::parse(&text, "bad.toml").expect_err(job).to_string()
}

#[test]
fn bad_jobs_are_reported() {
    let said = [
        "",
        "collective.barrier = {}\nops = []",
        "collective.barrier = {}\nreduce_rate = \"1 GB/s\"",
        "ranks = 1\ncollective.barrier = {}",
        "ranks = 6\ncollective.all_gather = {bytes = \"1 MiB\", algorithm = \"recursive_doubling\"}",
        "collective.all_reduce = {bytes = \"1 MiB\", algorithm = \"tree\"}",
        "collective.barrier = {}\nstart = \"1 ms\"",
        "collective.barrier = {}\nsl = 3",
        "ranks = 3\nplacement = \"list\"\ncollective.barrier = {}",
        "ops = [{rank = 0, recv = \"1 B\", from = 1}]",
        "ops = [{rank = 0, send = \"1 B\", to = 1}]",
        "ops = [{rank = 0, send = \"1 B\"}]",
        "ops = [{rank = 0}]",
        "ops = [{rank = 0, calc = \"1 us\", send = \"1 B\", to = 1}]",
        "ranks = 2\nops = [{rank = 2, calc = \"1 us\"}]",
        "ops = [{rank = 0, calc = \"1 us\", after = [\"x\"]}]",
        "ops = [{rank = 0, calc = \"1 us\", name = \"x\"}, {rank = 0, calc = \"1 us\", name = \"x\"}]",
        "eager = \"10 B\"\nops = [{rank = 0, send = \"11 B\", to = 1}, {rank = 1, recv = \"11 B\"}]",
        "ops = [{rank = 0, recv = \"1 B\", from = 1, name = \"a\"}, {rank = 0, send = \"1 B\", to = 1, after = [\"a\"]}, \
         {rank = 1, recv = \"1 B\", from = 0, name = \"b\"}, {rank = 1, send = \"1 B\", to = 0, after = [\"b\"]}]",
    ];
    insta::assert_snapshot!(said.map(|job| format!("{job}\n{}", complaint(job))).join("\n\n"));
}
