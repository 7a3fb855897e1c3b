//! Jobs: tables, placement of ranks, and invalid jobs.

use becalm_metrics::{Data, Table};
use becalm_scenario::{Results, Scenario};

use crate::collectives::{message, star};

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

fn near(time: f64, form: f64, what: &str) {
    assert!((time / form - 1.0).abs() < 1e-3, "{what}: {time} instead of {form}");
}

#[test]
fn repetitions_and_computation_add_up() {
    let results = run(&star(4, "collective.barrier = {}\nrepeat = 10\ncompute = \"5 us\""));
    near(numbers(&results, "jobs", "time")[0], 10.0 * (5e-6 + 2.0 * message(0)), "ten barriers");
    let [compute, wait] = ["compute_share", "wait_share"].map(|column| numbers(&results, "jobs", column)[0]);
    let time = numbers(&results, "jobs", "time")[0];
    near(compute, 50e-6 / time, "share of computation");
    near(wait, 1.0 - (50e-6 + 40.0 * 300e-9) / time, "share of waiting");
    assert!(numbers(&results, "jobs", "bus_bandwidth")[0].is_nan());
    assert_eq!(counts(&results, "ranks", "rank"), [0, 1, 2, 3]);
}

/// Two hosts with two ranks each, in which pairs of ranks exchange messages.
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
    // Each of four messages has five packets, which cross two links.
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
    // The hot flow would continue after the jobs, but the run ends.
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
