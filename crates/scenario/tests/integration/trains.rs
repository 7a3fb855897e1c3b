//! Trains stand for their packets: counters, times and guards.

use becalm_scenario::Results;

use crate::bad::complaint;
use crate::scenes::{numbers, run};

/// A leaf-spine network whose hosts send long messages to others, with packets as described by `run`.
fn scene(fidelity: &str, more: &str) -> String {
    format!(
        "[run]\nduration = \"20 ms\"\nend = \"delivered\"\nfidelity = \"{fidelity}\"\n\
         [topology.clos]\nleaves = 4\nspines = 2\nhosts_per_leaf = 4\nrate = \"400 Gb/s\"\n\
         [switch]\nbuffer = \"1 MiB\"\n[packet]\nmtu = \"4 KiB\"\nheader = \"64 B\"\nack = \"64 B\"\n{more}\n"
    )
}

const SHIFT: &str = "[[flows]]\nname = \"f\"\nfrom = [\"H0..H7\"]\nto = [\"H8..H15\"]\n\
                     traffic.batch = {count = 2, message = \"2 MB\"}\n";
const INCAST: &str = "[[flows]]\nname = \"f\"\nfrom = [\"H1..H6\"]\nto = [\"H0\"]\n\
                      traffic.batch = {count = 2, message = \"2 MB\"}\n";
const PFC: &str = "[switch.flow_control.pfc]\n[marking.ramp]\nkmin = 600\nkmax = 900\npmax = 0.5\n\
                   [echo.rocev2]\n[response.dcqcn]\n";

/// A scene with trains and exactly.
fn both(more: &str) -> [Results; 2] {
    ["trains", "packets"].map(|fidelity| run(&scene(fidelity, more)))
}

fn sum(results: &Results, table: &str, column: &str) -> f64 {
    numbers(results, table, column).iter().sum()
}

#[test]
fn counters_count_the_packets_of_trains() {
    for more in [SHIFT, INCAST] {
        let [trains, exact] = both(more);
        for (table, column) in [
            ("flows", "sent_packets"),
            ("flows", "delivered_packets"),
            ("flows", "delivered_bytes"),
            ("hosts", "received_bytes"),
            ("hosts", "received_packets"),
            ("links", "packets"),
            ("links", "bytes"),
        ] {
            let found = [&trains, &exact].map(|results| sum(results, table, column));
            // ACKs that wait are merged, and more of them wait behind a train.
            let tolerance = if table == "flows" { 0.0 } else { 0.02 };
            assert!((found[0] / found[1] - 1.0).abs() <= tolerance, "{more} {table}.{column}: {found:?}");
        }
        assert!(trains.events * 5 < exact.events, "{} and {} events", trains.events, exact.events);
        assert!((trains.packet_hops as f64 / exact.packet_hops as f64 - 1.0).abs() < 0.02);
        assert!(trains.train_hops * 5 < trains.packet_hops && exact.train_hops == exact.packet_hops);
    }
}

#[test]
fn trains_arrive_when_their_packets_would() {
    for (more, tolerance) in [(SHIFT, 0.01), (INCAST, 0.01)] {
        let [trains, exact] = both(more).map(|results| results.end.as_secs());
        assert!((trains / exact - 1.0).abs() < tolerance, "{trains} instead of {exact} s");
    }
}

#[test]
fn marks_and_notifications_are_those_of_packets() {
    let [trains, exact] = both(&format!("{PFC}{INCAST}"));
    let marked = [&trains, &exact].map(|results| sum(results, "links", "marked"));
    let share = marked[0] / marked[1];
    assert!(marked[1] > 200.0 && share > 0.5 && share < 2.0, "{marked:?}");
    let becn = [&trains, &exact].map(|results| sum(results, "hosts", "rcv_becn"));
    assert!(becn[0] > 0.0 && becn[0] < 2.0 * becn[1], "{becn:?}");
    assert!(trains.train_hops < trains.packet_hops);
    assert!(trains.guards.iter().any(|guard| guard.contains("overflowed")), "{:?}", trains.guards);
}

/// Some cables carry a few percent more flows than they have room for. Trains that change the turns of flows with a pace,
/// or the number of notifications, hold their queues back: the job then ends 30% too soon, with a third of the marks.
#[test]
fn many_flows_of_a_host_get_the_marks_of_packets() {
    let [trains, exact] = ["trains", "packets"].map(|fidelity| {
        run(&format!(
            "[run]\nduration = \"1 s\"\nend = \"jobs\"\nfidelity = \"{fidelity}\"\n\
             [topology.clos]\nleaves = 6\nspines = 8\nhosts_per_leaf = 8\nrate = \"400 Gb/s\"\ndelay = \"250 ns\"\n\
             [switch]\nbuffer = \"1 MiB\"\npaths.flow = {{}}\n[packet]\nmtu = \"4 KiB\"\nheader = \"64 B\"\n\
             [switch.flow_control.pfc]\n[marking.ramp]\nkmin = 400\nkmax = 1600\npmax = 0.2\n[echo.rocev2]\n\
             [response.dcqcn]\n[[jobs]]\nname = \"j\"\nhosts = [\"*\"]\nplacement = \"random\"\n\
             [jobs.collective.all_to_all]\nbytes = \"24 MiB\"\nalgorithm = \"linear\"\n"
        ))
    });
    let share = |of: fn(&Results) -> f64| of(&trains) / of(&exact);
    assert!((share(|results| sum(results, "links", "marked")) - 1.0).abs() < 0.2);
    assert!((share(|results| sum(results, "hosts", "rcv_becn")) - 1.0).abs() < 0.2);
    assert!((share(|results| results.end.as_secs()) - 1.0).abs() < 0.15);
}

#[test]
fn what_reads_single_packets_is_refused_by_name() {
    let refused = |more: &str| {
        let text = scene("trains", &format!("{more}{SHIFT}"));
        complaint(&text)
    };
    for (more, named) in [
        ("[switch.paths.packet]\n", "switch.paths"),
        ("[marking.input_triggered]\n[response.aimd]\n", "marking `input_triggered`"),
        ("[response.swift]\n", "response `swift`"),
        ("[echo.uet]\n", "echo `uet`"),
        ("[adapter]\ndrain_rate = \"1 Gb/s\"\n", "drain_rate"),
        ("[[faults]]\nkind.host_stop = {}\nhosts = [\"H1\"]\n", "faults"),
    ] {
        let said = refused(more);
        assert!(said.contains("\"trains\" cannot be combined with") && said.contains(named), "{more}{said}");
    }
    let stored = scene("trains", SHIFT).replace("[switch]\n", "[switch]\nswitching = \"store_and_forward\"\n");
    assert!(complaint(&stored).contains("store_and_forward"));
    let small = scene("trains", SHIFT).replace("1 MiB", "64 KiB");
    assert!(complaint(&small).contains("\"trains\" does nothing"), "{}", complaint(&small));
}

/// A job whose messages have hundreds of trains.
fn job(fidelity: &str) -> Results {
    run(&format!(
        "[run]\nduration = \"1 s\"\nend = \"jobs\"\nfidelity = \"{fidelity}\"\n\
         [topology.clos]\nleaves = 4\nspines = 4\nhosts_per_leaf = 4\nrate = \"400 Gb/s\"\n\
         [switch]\nbuffer = \"1 MiB\"\n[packet]\nmtu = \"4 KiB\"\nheader = \"64 B\"\nack = \"64 B\"\n\
         [[jobs]]\nname = \"j\"\nhosts = [\"*\"]\n\
         [jobs.collective.all_reduce]\nbytes = \"256 MiB\"\nalgorithm = \"halving_doubling\"\n"
    ))
}

#[test]
fn what_is_left_out_of_a_steady_job_is_counted() {
    let [steady, trains] = ["steady", "trains"].map(job);
    assert!(steady.left_out.as_secs() > 0.5 * steady.end.as_secs(), "{} of {}", steady.left_out, steady.end);
    assert!(trains.left_out.as_secs() == 0.0 && steady.events * 2 < trains.events);
    assert!((steady.end.as_secs() / trains.end.as_secs() - 1.0).abs() < 0.01, "{} {}", steady.end, trains.end);
    for (table, column, tolerance) in [
        ("jobs", "time", 0.01),
        ("flows", "sent_packets", 0.0),
        ("flows", "delivered_packets", 0.0),
        ("flows", "delivered_bytes", 0.0),
        ("links", "packets", 0.02),
        ("links", "bytes", 0.005),
        ("hosts", "received_packets", 0.02),
        ("hosts", "received_bytes", 0.005),
        ("ranks", "end", 0.01),
    ] {
        let found = [&steady, &trains].map(|results| sum(results, table, column));
        assert!((found[0] / found[1] - 1.0).abs() <= tolerance, "{table}.{column}: {found:?}");
    }
}

/// A leaf-spine network with one spine, whose cables are shared by four flows.
fn shared(fidelity: &str, job: &str, control: &str) -> Results {
    run(&format!(
        "[run]\nduration = \"1 s\"\nend = \"jobs\"\nfidelity = \"{fidelity}\"\n\
         [topology.clos]\nleaves = 2\nspines = 1\nhosts_per_leaf = 4\nrate = \"400 Gb/s\"\n\
         [switch]\nbuffer = \"16 MiB\"\n[packet]\nmtu = \"4 KiB\"\nheader = \"64 B\"\n{control}\
         [[jobs]]\nname = \"j\"\nhosts = [\"*\"]\n{job}\n"
    ))
}

const MARKING: &str = "[marking.ramp]\nkmin = 4000\nkmax = 8000\n";

/// The four flows have constant rates. No source responds to the marks.
#[test]
fn marked_packets_are_never_left_out() {
    let row = |to: usize| (0..8).map(|rank| if rank == to { "\"64 MiB\"" } else { "\"0 B\"" }).collect::<Vec<_>>();
    let rows: Vec<String> = (0..8).map(|rank| format!("[{}]", row((rank + 4) % 8).join(", "))).collect();
    let job = format!("all_to_all_v.table = [{}]", rows.join(", "));
    let [marked, trains] = ["steady", "trains"].map(|fidelity| shared(fidelity, &job, MARKING));
    assert!(sum(&trains, "links", "marked") > 0.0);
    assert_eq!((marked.left_out.as_secs(), marked.fingerprint), (0.0, trains.fingerprint));
    let unmarked = shared("steady", &job, "");
    assert!(unmarked.left_out.as_secs() > 0.5 * unmarked.end.as_secs(), "{} of {}", unmarked.left_out, unmarked.end);
}

/// In the last steps of the job, hosts send within their leaf and nothing is marked, but a source may still recover.
#[test]
fn nothing_is_left_out_after_a_mark_that_sources_respond_to() {
    let job = "[jobs.collective.all_reduce]\nbytes = \"128 MiB\"\nalgorithm = \"halving_doubling\"";
    let control = format!("{MARKING}[echo.rocev2]\n[response.dcqcn]\n");
    let [steady, trains] = ["steady", "trains"].map(|fidelity| shared(fidelity, job, &control));
    assert!(sum(&trains, "links", "marked") > 0.0);
    assert_eq!((steady.left_out.as_secs(), steady.fingerprint), (0.0, trains.fingerprint));
    assert!(shared("steady", job, MARKING).left_out.as_secs() > 0.0);
}

/// The time that is left out if a host sends messages of this many trains to others, in times of a train.
fn trains_left_out(trains: u64, others: usize) -> f64 {
    let bytes = 16 * 4096 * trains;
    let to_others = vec![format!("\"{bytes} B\""); others].join(", ");
    let nothing = vec!["\"0 B\""; others + 1].join(", ");
    let rows = vec![format!("[{nothing}]"); others].join(", ");
    let results = run(&format!(
        "[run]\nduration = \"1 s\"\nend = \"jobs\"\nfidelity = \"steady\"\n\
         [topology.clos]\nleaves = 1\nspines = 1\nhosts_per_leaf = 4\nrate = \"400 Gb/s\"\n\
         [switch]\nbuffer = \"1 MiB\"\n[packet]\nmtu = \"4 KiB\"\nheader = \"64 B\"\nack = \"64 B\"\n\
         [[jobs]]\nname = \"j\"\nhosts = [\"H0..H{others}\"]\n\
         all_to_all_v.table = [[\"0 B\", {to_others}], {rows}]\n"
    ));
    results.left_out.as_secs() / (16.0 * 4160.0 / 50e9)
}

/// 192 trains pass until two windows are compared, and 16 are left for the end. What is left out of the others is worth it
/// if it is as long as both windows, of 128 trains. Two messages that share a link need windows twice as long.
#[test]
fn a_message_is_measured_before_time_is_left_out_and_simulated_at_its_end() {
    let found = [(320, 1), (350, 1), (400, 1), (400, 2)].map(|(trains, others)| trains_left_out(trains, others));
    assert_eq!(found[0], 0.0);
    for (found, expected) in found.into_iter().zip([0.0, 350.0 - 208.0, 400.0 - 208.0, 2.0 * (400.0 - 176.0)]) {
        assert!((found - expected).abs() < 4.0, "{found} instead of {expected}");
    }
}

#[test]
fn what_changes_while_rates_are_constant_is_refused_by_name() {
    for (more, named) in [
        (SHIFT, "flows"),
        ("[observe]\nmessages = true\n", "observe.messages"),
        ("[adapter]\nqueue = 64\n", "adapter.queue"),
        ("[[changes]]\nlink = \"leaf0->H0\"\nat = \"1 us\"\nrate = \"1 Gb/s\"\n", "changes"),
    ] {
        let said = complaint(&scene("steady", more));
        assert!(said.contains("\"steady\" cannot be combined with") && said.contains(named), "{more}{said}");
    }
}
