//! The ends of runs: with the traffic, whatever is observed; and on request.

use becalm_scenario::{Progress, Results, RunError, Scenario};

use crate::scenes::{names, numbers};

fn run(text: &str, threads: usize) -> Results {
    let scenario = Scenario::parse(text, "endings.toml").unwrap_or_else(|mistakes| panic!("{mistakes}"));
    scenario.run(0, threads, &mut |_| true).unwrap()
}

/// A ring all-reduce on 8 hosts of one switch.
fn ring(step: &str, more: &str) -> String {
    format!(
        r#"
        [run]
        duration = "10 ms"
        end = "jobs"
        [topology.edges]
        hosts = ["h1..h8"]
        switches = ["s"]
        cables = [{{between = ["h1..h8", "s"]}}]
        rate = "450 GB/s"
        delay = "250 ns"
        [switch]
        buffer = "1 MiB"
        [packet]
        mtu = "4096 B"
        header = "64 B"
        [[jobs]]
        name = "ring"
        hosts = ["*"]
        collective.all_reduce.bytes = "16 MiB"
        {more}
        [observe]
        step = "{step}"
        frames = "7 us"
        paces = true
        "#
    )
}

#[test]
fn shares_do_not_depend_on_the_step() {
    let all: Vec<Results> = ["10 us", "100 us", "1 ms"].map(|step| run(&ring(step, ""), 1)).into();
    for results in &all {
        let time = numbers(results, "jobs", "end")[0];
        assert_eq!(results.end.as_secs(), time);
        // All but one of 8 times 2 MiB, twice, and the headers.
        let bytes = 2.0 * 7.0 * f64::from(2 << 20) * 4160.0 / 4096.0;
        let expected = bytes / 450e9 / time;
        let first = numbers(results, "links", "utilization")[0];
        assert!((first / expected - 1.0).abs() < 0.01 && first > 0.85, "{first} and {expected}");
        for (name, column) in [("series", "time"), ("frames", "time"), ("frames_groups", "time"), ("paces", "time")] {
            assert_eq!(numbers(results, name, column).last(), Some(&time), "{name}");
        }
        let kinds = names(results, "series", "kind");
        let rates = numbers(results, "series", "rate");
        assert!((0..kinds.len()).all(|i| rates[i].is_finite()));
        assert_eq!(results.fingerprint, all[0].fingerprint);
        for table in ["links", "tree", "flows", "groups", "hosts", "victims", "buffers", "jobs", "frames"] {
            let of = |results: &Results| format!("{:?}", results.tables.iter().find(|each| each.name == table));
            assert_eq!(of(results), of(&all[0]), "{table}");
        }
    }
}

#[test]
fn a_run_ends_with_its_last_job_while_other_traffic_goes_on() {
    let jobs = r#"
        collective.all_to_all.bytes = "1 MiB"
        [[jobs]]
        name = "later"
        hosts = ["H1", "H10", "H20"]
        start = "30 us"
        compute = "3 us"
        repeat = 2
        collective.broadcast.bytes = "64 KiB"
        [[flows]]
        name = "background"
        from = ["*"]
        to = ["*"]
        traffic.poisson.load = 0.2
    "#;
    let text = |step: &str| {
        format!(
            r#"
            [run]
            duration = "2 ms"
            end = "jobs"
            warmup = "5 us"
            [topology.clos]
            leaves = 8
            spines = 4
            hosts_per_leaf = 8
            rate = "100 Gb/s"
            delay = "200 ns"
            [switch]
            buffer = "64 KiB"
            [[jobs]]
            name = "first"
            hosts = ["H0..H15"]
            {jobs}
            [observe]
            step = "{step}"
            links = []
            "#
        )
    };
    let one = run(&text("11 us"), 1);
    let end = numbers(&one, "jobs", "end").iter().copied().fold(0.0, f64::max);
    assert_eq!(one.end.as_secs(), end);
    for (step, threads) in [("11 us", 2), ("11 us", 3), ("400 us", 1), ("400 us", 2)] {
        let other = run(&text(step), threads);
        assert_eq!((other.fingerprint, other.events, other.end), (one.fingerprint, one.events, one.end), "{threads}");
        for table in one.tables.iter().filter(|table| table.name != "series") {
            let same = other.tables.iter().find(|each| each.name == table.name);
            assert_eq!(format!("{:?}", Some(table)), format!("{same:?}"), "{} with step {step}", table.name);
        }
    }
}

#[test]
fn a_run_that_delivers_everything_ends_with_the_last_arrival() {
    let text = |step: &str| {
        ring(step, "").replace("end = \"jobs\"", "end = \"delivered\"").replace("450 GB/s", "400 Gb/s")
            + "snapshots = [\"20 us\", \"9 ms\"]"
    };
    let (short, long) = (run(&text("3 us"), 1), run(&text("2 ms"), 1));
    assert_eq!(short.end, long.end);
    for results in [&short, &long] {
        for table in ["series", "frames", "frames_groups"] {
            assert_eq!(numbers(results, table, "time").last(), Some(&short.end.as_secs()), "{table}");
        }
        assert_eq!(numbers(results, "snapshots", "time").last(), Some(&20e-6));
        assert_eq!(numbers(results, "links", "utilization"), numbers(&short, "links", "utilization"));
    }
}

/// Stops a run after some reports, and compares it with a run of that duration.
fn stopped_after(reports: u32, text: &str, threads: usize) -> Results {
    let scenario = Scenario::parse(text, "stopped.toml").unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let prepared = scenario.prepare(0, threads).unwrap();
    let (stopper, mut left) = (prepared.stopper(), reports);
    let mut progress = |_: &Progress| {
        left = left.saturating_sub(1);
        if left == 0 {
            stopper.ask();
        }
        true
    };
    let results = prepared.run(&mut progress).unwrap();
    assert!(results.stopped, "it ended by itself");
    let duration = format!("duration = \"{} ps\"", (results.end.as_secs() * 1e12).round());
    // A run may be stopped before its first frame, and a scenario must have one; frames change nothing else.
    let short = run(&text.replace("duration = \"10 ms\"", &duration).replace("frames = \"7 us\"", ""), threads);
    assert_eq!((results.fingerprint, results.end), (short.fingerprint, short.end), "{threads} threads");
    // Compared as text, because NaN does not equal NaN.
    let flows = |results: &Results| format!("{:?}", results.tables.iter().find(|table| table.name == "flows"));
    assert!(flows(&results) == flows(&short), "{threads} threads");
    results
}

/// Two racks with hot spots, and finite buffers.
fn racks(more: &str) -> String {
    format!(
        r#"
        [run]
        duration = "10 ms"
        [topology.clos]
        leaves = 4
        spines = 2
        hosts_per_leaf = 4
        delay = "1 us"
        [packet]
        mtu = "2048 B"
        {more}
        [[flows]]
        name = "hot"
        from = ["*"]
        to = ["H0"]
        [[flows]]
        name = "background"
        from = ["*"]
        to = ["*"]
        traffic.poisson = {{ load = 0.3, message = "8 KiB" }}
        [observe]
        step = "2 ms"
        "#
    )
}

#[test]
fn a_stopped_run_is_a_run_of_that_duration() {
    let schemes = "[marking.input_triggered]\n[response.lipd]";
    let pfc = "[switch]\nbuffer = \"200 KiB\"\nflow_control.pfc = {}";
    let jobs = ring("2 ms", "").replace("16 MiB", "512 MiB");
    let steady = jobs.replace("[run]", "[run]\nfidelity = \"steady\"");
    for text in [racks(schemes), racks(pfc), racks(""), jobs, steady] {
        // When the run is stopped, either thread may be ahead, and other events may have the same time.
        for (reports, threads) in (1..14).flat_map(|reports| [(reports, 1), (reports, 2)]) {
            stopped_after(reports, &text, threads);
        }
    }
}

#[test]
fn a_run_that_is_stopped_before_its_window_has_no_results() {
    let text = racks("").replace("duration = \"10 ms\"", "duration = \"10 ms\"\nwarmup = \"9 ms\"");
    let scenario = Scenario::parse(&text, "early.toml").unwrap();
    let prepared = scenario.prepare(0, 1).unwrap();
    prepared.stopper().ask();
    assert!(matches!(prepared.run(&mut |_| true), Err(RunError::Early(_))));
}
