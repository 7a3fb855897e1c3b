//! Messages: completion times, slowdowns, sizes, and runs that end when all messages are delivered.

use becalm_metrics::Data;
use becalm_scenario::{Results, Scenario};
use proptest::prelude::*;
use proptest::sample::select;

use crate::scenes::{numbers, run, scenario, single, table};

/// Runs one message from `a` to `d`; `more` contains the topology.
fn lone(bytes: u32, mtu: u32, more: &str) -> Results {
    let run = run(&format!(
        r#"
        [run]
        duration = "1 s"
        end = "delivered"
        [observe]
        links = []
        step = "10 ms"
        window = "10 ms"
        messages = true
        [packet]
        mtu = "{mtu} B"
        header = "30 B"
        {more}
        [[flows]]
        name = "f"
        from = ["a"]
        to = ["d"]
        traffic.batch = {{count = 1, message = "{bytes} B"}}
        "#
    ));
    assert_eq!(table(&run, "messages").rows(), 1, "{bytes} B, {more}");
    run
}

/// Hosts `a` and `b` on one switch, `c` and `d` on another, and a switch between them. The rates are for the links of
/// `a`, between `S` and `M`, and of `d`.
fn edges(first: &str, between: &str, last: &str) -> String {
    format!(
        r#"[topology.edges]
        hosts = ["a", "b", "c", "d"]
        switches = ["S", "M", "T"]
        cables = [
            {{between = ["a", "S"], rate = "{first}", delay = "70 ns"}}, {{between = ["b", "S"]}},
            {{between = ["S", "M"], rate = "{between}", delay = "500 ns"}}, {{between = ["M", "T"], rate = "100 Gb/s"}},
            {{between = ["c", "T"]}}, {{between = ["d", "T"], rate = "{last}"}},
        ]"#
    )
}

#[test]
fn a_lone_message_takes_its_ideal_time() {
    let store = "[switch]\nswitching = \"store_and_forward\"\nforwarding_delay = \"33 ns\"\nbuffer = \"64 packets\"\n";
    let cut = "[switch]\nforwarding_delay = \"100 ns\"\nbuffer = \"64 packets\"\n";
    let caps = "[adapter]\ninjection_rate = \"9 Gb/s\"\ndrain_rate = \"7 Gb/s\"\nmessage_overhead = \"1.3 us\"\n";
    let scenes = [
        ("10 Gb/s", "100 Gb/s", "40 Gb/s", cut, ""),
        ("100 Gb/s", "10 Gb/s", "40 Gb/s", cut, ""),
        ("100 Gb/s", "40 Gb/s", "10 Gb/s", store, ""),
        ("25 Gb/s", "25 Gb/s", "25 Gb/s", store, ""),
        ("25 Gb/s", "13 Gb/s", "100 Gb/s", cut, caps),
        ("10 Gb/s", "100 Gb/s", "11 Gb/s", store, caps),
    ];
    for (first, between, last, switch, adapter) in scenes {
        for bytes in [1, 100, 999, 1000, 1001, 2000, 4567, 65_536, 1_000_001, 30_000_000] {
            let scene = format!("{}\n{switch}{adapter}", edges(first, between, last));
            let results = lone(bytes, 1000, &scene);
            let slowdown = numbers(&results, "messages", "slowdown")[0];
            assert_eq!(slowdown, 1.0, "{bytes} B over {first}, {between}, {last}, {switch}{adapter}");
        }
    }
}

#[test]
fn a_lone_message_takes_its_ideal_time_on_every_kind_of_topology() {
    let topologies = [
        ("[topology.dumbbell]", "A1", "BV"),
        ("[topology.clos]\nleaves = 4\nspines = 2\nhosts_per_leaf = 2", "H0", "H7"),
        ("[topology.tree]\nports = 4\nlevels = 3\ndelay = \"20 ns\"", "H0", "H15"),
        ("[topology.fat_tree]\nlevels = [{children = 4, parents = 1}, {children = 2, parents = 2}]", "H0", "H7"),
        ("[topology.fat_tree]\nlevels = [{children = 4}, {children = 2, parents = 2, rate = \"4 GB/s\"}]", "H0", "H7"),
    ];
    let feedback = [
        "",
        "[echo.ibta]\nack_every = 7\n",
        "[echo.ibta]\ntransport = \"unreliable\"\n",
        "[response.fixed]\nrate = 1.0\nwindow = 64\n[echo.ibta]\nack_every = 2\n",
    ];
    for (topology, from, to) in topologies {
        for bytes in [1, 2048, 2049, 100_000, 3_000_000, 30_000_000] {
            // Fewer ACKs than packets are invalid if a message is one packet.
            let fits = |echo: &str| bytes > 2048 || !echo.contains("ack_every");
            for (place, echo) in feedback.iter().enumerate().filter(|(_, echo)| fits(echo)) {
                // Service level 3 uses lane 3, or the last lane according to a map.
                let lanes =
                    ["vls = 1", "vls = 4", "vls = 2\nsl_to_vl = [0, 0, 0, 1]", "vls = 3\nsl_to_vl = [0, 1, 1, 2]"]
                        [place];
                let sl = if place == 0 { 0 } else { 3 };
                let text = format!(
                    "[run]\nduration = \"1 s\"\nend = \"delivered\"\n{topology}\n[switch]\nbuffer = \"16 packets\"\n{lanes}\n\
                     {echo}[observe]\nmessages = true\nstep = \"1 ms\"\nlinks = []\n[[flows]]\nname = \"f\"\nsl = {sl}\n\
                     from = [\"{from}\"]\nto = [\"{to}\"]\ntraffic.batch = {{count = 1, message = \"{bytes} B\"}}\n"
                );
                assert_eq!(
                    numbers(&run(&text), "messages", "slowdown"),
                    [1.0],
                    "{bytes} B, {topology}, {lanes}, {echo}"
                );
            }
        }
    }
}

#[test]
fn messages_have_their_times_in_order() {
    let results = lone(10_000, 1000, &edges("10 Gb/s", "100 Gb/s", "40 Gb/s"));
    let time = |column| numbers(&results, "messages", column)[0];
    assert_eq!((time("posted"), time("first_byte"), time("bytes")), (0.0, 0.0, 10_000.0));
    // Ten packets of 1030 B at 10 Gb/s, plus the rest of the last packet's path.
    assert!(time("delivered") > 8.24e-6 && time("delivered") < 10e-6, "{}", time("delivered"));
    assert!(time("acknowledged") > time("delivered") && time("acknowledged") < time("delivered") + 2e-6);
    assert_eq!((time("completion"), time("ideal")), (time("delivered"), time("delivered")));
}

#[test]
fn a_run_may_end_with_its_messages() {
    let flows = r#"
        [[flows]]
        name = "f"
        from = ["a"]
        to = ["b"]
        start = "300 us"
        traffic.batch = {count = 10, message = "100 kB"}
    "#;
    let whole = run(&single("duration = \"20 ms\"", flows));
    let ended = run(&single("duration = \"20 ms\"\nend = \"delivered\"", flows));
    assert_eq!(whole.fingerprint, ended.fingerprint);
    // 1 MB in packets of 2068 B at 1 GB/s take 1.01 ms.
    let seconds = ended.end.as_secs() - 300e-6;
    assert!(seconds > 1.009e-3 && seconds < 1.015e-3, "{seconds}");
    let rates = |results: &Results| numbers(results, "groups", "rate")[0];
    assert!(rates(&ended) > 0.995e9 && rates(&whole) < 0.051e9, "{} {}", rates(&ended), rates(&whole));
    let times = numbers(&ended, "series", "time");
    assert_eq!(times.last(), Some(&ended.end.as_secs()), "the series ends with the run");
}

#[test]
fn a_run_that_does_not_finish_ends_with_its_duration() {
    let flows = r#"
        [[flows]]
        name = "f"
        from = ["a"]
        to = ["b"]
        traffic.batch = {count = 100, message = "100 kB"}
        [observe]
        messages = true
    "#;
    let results = run(&single("duration = \"2 ms\"\nend = \"delivered\"", flows));
    assert_eq!(results.end.as_secs(), 0.002);
    let count = |column| numbers(&results, "completion", column)[0];
    assert_eq!(count("messages") + count("unfinished"), 100.0);
    assert!(count("messages") > 15.0 && count("unfinished") > 75.0);
}

#[test]
fn a_run_that_waits_for_traffic_without_end_is_refused() {
    let flows = "[[flows]]\nname = \"f\"\nfrom = [\"a\"]\nto = [\"b\"]\n";
    let text = single("duration = \"2 ms\"\nend = \"delivered\"", flows);
    let error = Scenario::parse(&text, "f.toml").expect_err("greedy").to_string();
    assert!(
        error.contains("run.end = \"delivered\": needs traffic that ends, but `f` never ends; set its stop"),
        "{error}"
    );
    scenario(&format!("{text}stop = \"1 ms\"\n"));
}

/// Many hosts with measured message sizes.
const WEB: &str = r#"
    [run]
    duration = "5 ms"
    warmup = "500 us"
    seed = 4
    [topology.clos]
    leaves = 4
    spines = 4
    hosts_per_leaf = 4
    rate = "100 Gb/s"
    delay = "200 ns"
    [switch]
    buffer = "64 KiB"
    [observe]
    messages = true
    [[flows]]
    name = "web"
    from = ["*"]
    to = ["*"]
    [flows.traffic.poisson]
    load = 0.4
    load_counts = "payload"
    sizes = "fb_hadoop"
"#;

#[test]
fn tables_are_the_same_on_any_number_of_threads() {
    let web = scenario(WEB);
    let tables = |threads| {
        let results = web.run(0, threads, &mut |_| true).unwrap();
        let wanted = ["messages", "completion", "completion_by_size", "completion_times"];
        let found = results.tables.iter().filter(|table| wanted.contains(&table.name));
        (format!("{:?}", found.collect::<Vec<_>>()), results.fingerprint)
    };
    let one = tables(1);
    assert!(one.0.len() > 100_000);
    assert!(tables(2) == one);
    assert!(tables(4) == one);
}

#[test]
fn summaries_are_those_of_the_messages() {
    let results = run(WEB);
    let (sizes, slowdowns) = (numbers(&results, "messages", "bytes"), numbers(&results, "messages", "slowdown"));
    assert!(sizes.len() > 1000 && slowdowns.iter().all(|&slowdown| slowdown >= 1.0));
    let (largest, counts) =
        (numbers(&results, "completion_by_size", "largest"), numbers(&results, "completion_by_size", "messages"));
    assert!((15..=20).contains(&largest.len()), "{}", largest.len());
    assert_eq!(counts.iter().sum::<f64>(), sizes.len() as f64);
    assert_eq!(largest.last().copied(), sizes.iter().copied().reduce(f64::max));
    let mut first: Vec<f64> =
        sizes.iter().zip(&slowdowns).filter(|(size, _)| **size <= largest[0]).map(|(_, s)| *s).collect();
    first.sort_by(f64::total_cmp);
    assert_eq!(numbers(&results, "completion_by_size", "slowdown_p50")[0], first[first.len().div_ceil(2) - 1]);
    let in_histogram = numbers(&results, "completion_times", "messages").iter().sum::<f64>();
    assert_eq!(in_histogram, sizes.len() as f64);
}

#[test]
fn too_many_messages_are_summed_up_only() {
    let results = run(&WEB.replace("messages = true", "messages = true\nmessage_rows = 10"));
    assert!(results.tables.iter().all(|table| table.name != "messages"));
    assert!(numbers(&results, "completion", "messages")[0] > 1000.0);
}

#[test]
fn messages_that_are_recorded_change_nothing() {
    let quiet = run(&WEB.replace("messages = true", ""));
    let recorded = run(WEB);
    assert_eq!((quiet.fingerprint, quiet.events), (recorded.fingerprint, recorded.events));
    assert!(quiet.tables.iter().all(|table| !table.name.starts_with("completion")));
}

#[test]
fn a_load_may_count_payload() {
    // Messages of one packet, with 900 B of payload and 1000 B on the wire.
    let load = |counts: &str| {
        let text = format!(
            "[packet]\nmtu = \"900 B\"\nheader = \"100 B\"\n[[flows]]\nname = \"f\"\nfrom = [\"a\"]\nto = [\"b\"]\n\
             traffic.poisson = {{load = 0.45, message = \"900 B\", load_counts = \"{counts}\"}}\n"
        );
        numbers(&run(&single("duration = \"200 ms\"", &text)), "groups", "share")[0]
    };
    assert!((load("wire") - 0.45).abs() < 0.004, "{}", load("wire"));
    assert!((load("payload") - 0.5).abs() < 0.004, "{}", load("payload"));
}

/// Mean delay beyond the ideal completion time in packet times, its standard error over parts of the run, and the
/// number of messages.
fn waits(load: f64, threads: usize) -> (f64, f64, f64) {
    let text = format!(
        "[observe]\nmessages = true\nmessage_rows = 10000000\nlinks = []\nstep = \"100 ms\"\nwindow = \"100 ms\"\n[switch]\nbuffer = \"64 packets\"\n\
         [[flows]]\nname = \"f\"\nfrom = [\"a\"]\nto = [\"b\"]\ntraffic.poisson.load = {load}\n"
    );
    let results =
        scenario(&single("duration = \"800 ms\"\nwarmup = \"10 ms\"", &text)).run(0, threads, &mut |_| true).unwrap();
    let (times, ideals) = (numbers(&results, "messages", "completion"), numbers(&results, "messages", "ideal"));
    let waits: Vec<f64> = times.iter().zip(&ideals).map(|(time, ideal)| (time - ideal) / 2.068e-6).collect();
    let pieces: Vec<f64> = waits.chunks_exact(waits.len() / 40).map(mean).collect();
    let (all, n) = (mean(&pieces), pieces.len() as f64);
    let variance = pieces.iter().map(|piece| (piece - all).powi(2)).sum::<f64>() / (n - 1.0);
    (all, (variance / n).sqrt(), waits.len() as f64)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn messages_of_one_packet_wait_as_in_m_d_1() {
    for load in [0.3, 0.6, 0.9] {
        let theory = load / (2.0 * (1.0 - load));
        let (wait, error, n) = waits(load, 1);
        assert!(n > 100_000.0);
        // Student's t with 39 degrees of freedom at 99.8%.
        assert!(
            (wait - theory).abs() < 3.3 * error && error < 0.05 * theory,
            "{load}: {wait} +- {error}, theory {theory}"
        );
    }
}

#[test]
fn every_message_can_be_a_new_flow_for_its_response() {
    // A low initial rate grows over messages, or starts again with each message.
    let rate = |restart: &str| {
        let text = format!(
            "[response.lipd]\npersistent = false\ninitial = 0.1\n[[flows]]\nname = \"f\"\nfrom = [\"a\"]\nto = [\"b\"]\n\
             restart = \"{restart}\"\ntraffic.batch = {{count = 20, message = \"40960 B\"}}\n"
        );
        run(&single("duration = \"50 ms\"\nend = \"delivered\"", &text)).end.as_secs()
    };
    assert!(rate("message") > 1.5 * rate("never"), "{} {}", rate("message"), rate("never"));
    // With `restart`, an unacknowledged packet in a window of one packet does not block the next message.
    let window = |restart: &str| {
        let text = format!(
            "[response.fixed]\nrate = 1.0\nwindow = 1\n[[flows]]\nname = \"f\"\nfrom = [\"a\"]\nto = [\"b\"]\nrestart = \"{restart}\"\n\
             traffic.batch = {{count = 100, message = \"100 B\"}}\n"
        );
        run(&single("duration = \"10 ms\"\nend = \"delivered\"", &text)).end.as_secs()
    };
    // A packet of 120 B needs 0.12 us. Only without `restart` does each packet wait for the previous ACK.
    assert!(window("message") < 13e-6 && window("never") > 20e-6, "{} {}", window("message"), window("never"));
}

#[test]
fn restarts_without_an_effect_are_refused() {
    let error = |more: &str| {
        let text = single(
            "duration = \"1 ms\"",
            &format!("[[flows]]\nname = \"f\"\nfrom = [\"a\"]\nto = [\"b\"]\nrestart = \"message\"\n{more}"),
        );
        Scenario::parse(&text, "f.toml").expect_err(more).to_string()
    };
    assert!(error("").contains("flows[0].restart = \"message\": does nothing: response `none` never changes"));
    assert!(
        error("traffic.on_off = {mean_on = \"1 us\", mean_off = \"1 us\"}\n")
            .contains("already restart with every ON period")
    );
    let keeps = "[marking.input_triggered]\n[response.lipd]\npersistent = true\n";
    assert!(error(keeps).contains("response `lipd` never changes, or keeps its state"), "{}", error(keeps));
    let shared = "[marking.input_triggered]\n[response.lipd]\npersistent = false\n[adapter]\nport_control = \"sl\"\n";
    assert!(error(shared).contains("needs a response for each flow"), "{}", error(shared));
}

#[test]
fn files_of_sizes_are_read_beside_the_scenario_and_become_part_of_it() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/sizes");
    let flows = "[[flows]]\nname = \"f\"\nfrom = [\"a\"]\nto = [\"b\"]\ntraffic.poisson = {load = 0.5, sizes = {cdf = \"FILE\"}}\n";
    let text = single("duration = \"1 ms\"", flows);
    let read = |file: &str| Scenario::parse(&text.replace("FILE", file), &format!("{folder}/scene.toml"));
    let scenario = read("small.txt").unwrap_or_else(|errors| panic!("{errors}"));
    let again = Scenario::from_json(&scenario.resolved(), "elsewhere/again.toml").unwrap();
    assert_eq!(again.resolved(), scenario.resolved());
    let ran = |scenario: &Scenario| scenario.run(0, 1, &mut |_| true).unwrap();
    assert_eq!(ran(&scenario).fingerprint, ran(&again).fingerprint);
    let error = read("wrong.txt").unwrap_err().to_string();
    assert_eq!(error.lines().count(), 2, "{error}");
    assert!(error.contains("sizes.cdf = \"wrong.txt\": wrong.txt:3: `4096 B 50`: must be two numbers"), "{error}");
    assert!(read("none.txt").unwrap_err().to_string().contains("none.txt"));
    assert!(read(".").unwrap_err().to_string().contains("is not a file"));
}

#[test]
fn unfinished_counts_belong_to_their_group() {
    let flows = "[[flows]]\nname = \"few\"\nfrom = [\"a\"]\nto = [\"c\"]\ntraffic.batch.count = 3\n\
                 [[flows]]\nname = \"many\"\nfrom = [\"b\"]\nto = [\"c\"]\ntraffic.batch.count = 1000\n[observe]\nmessages = true\n";
    let results = run(&single("duration = \"1 ms\"", flows));
    let left = numbers(&results, "completion", "unfinished");
    assert_eq!((left[0], numbers(&results, "completion", "messages")[0]), (0.0, 3.0));
    assert!(left[1] > 500.0);
    assert!(matches!(table(&results, "messages").column("group"), Some(Data::Text(_))));
}

/// Messages over any topology, path selection law and switch, with delays in the adapter.
fn messages_anywhere() -> impl Strategy<Value = String> {
    let topology = select(vec![
        ("dumbbell = {remote = 2, local = 2}", "destination"),
        ("tree = {ports = 4, levels = 2, delay = \"40 ns\"}", "any"),
        ("clos = {leaves = 3, spines = 2, hosts_per_leaf = 2, rate = \"8 Gb/s\"}", "any"),
        ("fat_tree = {levels = [{children = 2}, {children = 2, parents = 2}, {children = 2, parents = 2}]}", "any"),
        ("torus.sides = [3, 4]", "valiant"),
        ("dragonfly = {switches_per_group = 2, hosts_per_switch = 1, global_links = 1}", "ugal"),
    ]);
    let law = select(vec!["destination", "flow", "packet", "round_robin", "least_waiting"]);
    let switch = (select(vec!["store_and_forward", "cut_through"]), select(vec!["16 KiB", "unlimited"]), any::<bool>());
    let adapter = select(vec!["", "message_overhead = \"700 ns\"", "injection_rate = \"0.3 GB/s\""]);
    let traffic = select(vec![
        "greedy.message = \"5000 B\"",
        "greedy = {message = \"9000 B\", sizes = \"exponential\"}",
        "poisson = {load = 0.3, message = \"3000 B\"}",
        "batch = {count = 30, message = \"20 KiB\", sizes = \"exponential\"}",
    ]);
    let shape = (select(vec![500u32, 2048, 4096]), select(vec!["shift.by = 1", "permutation = {}"]), any::<u32>());
    (topology, law, switch, adapter, traffic, shape).prop_map(|((topology, laws), law, switch, adapter, traffic, shape)| {
        let (switching, buffer, pfc) = switch;
        // Paths in cycles require two lanes for shortest paths, and more for detours.
        let (law, vls) = match laws {
            "destination" => ("destination", 1),
            "any" => (law, 1),
            "ugal" if shape.2 % 2 == 0 => ("ugal", 3),
            "valiant" if shape.2 % 2 == 0 => ("valiant", 4),
            _ => ("destination", 2),
        };
        let flow_control = if pfc && buffer != "unlimited" { "flow_control.pfc = {}" } else { "" };
        let (mtu, pattern, seed) = shape;
        format!(
            "[run]\nduration = \"300 us\"\nseed = {seed}\n[topology]\n{topology}\n[switch]\nvls = {vls}\nbuffer = \"{buffer}\"\n\
             switching = \"{switching}\"\npaths.{law} = {{}}\n{flow_control}\n[packet]\nmtu = \"{mtu} B\"\nheader = \"30 B\"\n\
             [adapter]\n{adapter}\n[observe]\nlinks = []\nmessages = true\n[[flows]]\nname = \"f\"\nfrom = [\"*\"]\n\
             pattern.{pattern}\ntraffic.{traffic}\n"
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// No message is faster than on an empty network.
    #[test]
    fn no_slowdown_is_below_one(text in messages_anywhere()) {
        let slowdowns = numbers(&run(&text), "messages", "slowdown");
        let least = slowdowns.iter().copied().fold(f64::INFINITY, f64::min);
        prop_assert!(!slowdowns.is_empty() && least >= 1.0 - 1e-12, "{least}\n{text}");
    }
}
