//! Valid scenes at the edges of what is possible, which random scenes have found.

use becalm_scenario::Scenario;

use crate::scenes::{numbers, run};

const PAIR: &str = "[topology.clos]\nleaves = 2\nspines = 1\nhosts_per_leaf = 2\nrate = \"8 Gb/s\"\n";

/// A packet without any byte takes no time, and would be delivered in any order.
#[test]
fn an_empty_message_without_a_header_keeps_its_place() {
    let results = run(&format!(
        "changes = [{{link = \"leaf0->H0\", at = \"10 us\", rate = \"4 Gb/s\"}}]\n[run]\nduration = \"200 us\"\n{PAIR}\
         [switch]\nswitching = \"store_and_forward\"\n[packet]\nmtu = \"1 KiB\"\nheader = \"0 B\"\n\
         [[jobs]]\nname = \"j\"\nhosts = [\"H0\", \"H1\"]\neager = \"4 KiB\"\n\
         [jobs.collective.all_reduce]\nbytes = \"128 KiB\"\n"
    ));
    assert!(results.guards.iter().any(|guard| guard.contains("order")), "{:?}", results.guards);
    assert!(numbers(&results, "flows", "delivered_packets")[0] > 64.0);
}

/// The ranks share a host, whose copies take no time.
#[test]
fn a_job_that_takes_no_time_ends_at_once() {
    let results = run(&format!(
        "[run]\nduration = \"20 us\"\nend = \"jobs\"\n{PAIR}\
         [[nodes]]\nname = \"n0..n0\"\ngpus = 2\nnics = [[\"H0\", \"H1\"]]\n\
         [[jobs]]\nname = \"j\"\nnodes = [\"*\"]\nall_to_all_v.table = [[\"9 kB\", \"9 kB\"], [\"9 kB\", \"9 kB\"]]\n\
         [[flows]]\nname = \"f\"\nfrom = [\"H0\"]\nto = [\"H2\"]\n"
    ));
    assert_eq!((results.end.as_secs(), numbers(&results, "jobs", "time")[0]), (0.0, 0.0));
    assert_eq!(numbers(&results, "flows", "delivered_bytes"), [0.0]);
}

#[test]
fn a_drained_run_ends_with_its_last_packet_whatever_the_step() {
    let end = |step: &str| {
        let text = format!(
            "[run]\nduration = \"100 us\"\nend = \"delivered\"\n{PAIR}[observe]\nstep = \"{step}\"\n\
             [[flows]]\nname = \"f\"\nfrom = [\"H0\"]\nto = [\"H2\"]\ntraffic.batch = {{count = 5}}\n"
        );
        run(&text).end
    };
    assert!(end("3 us") == end("1 ms") && end("1 ms").as_secs() < 50e-6, "{} {}", end("3 us"), end("1 ms"));
}

/// A packet that arrives at the end of the first half is not part of the second.
#[test]
fn halves_of_a_run_share_no_packet() {
    let received = |duration: &str, warmup: &str| {
        let results = run(&format!(
            "[run]\nduration = \"{duration}\"\nwarmup = \"{warmup}\"\n\
             [topology.clos]\nleaves = 2\nspines = 1\nhosts_per_leaf = 2\nrate = \"8 Gb/s\"\ndelay = \"0 s\"\n\
             [switch]\nforwarding_delay = \"0 s\"\n[packet]\nheader = \"0 B\"\n\
             [[flows]]\nname = \"f\"\nfrom = [\"H0\"]\nto = [\"H1\"]\ntraffic.greedy = {{message = \"100 B\"}}\n"
        ));
        (
            numbers(&results, "hosts", "received_packets")[1],
            numbers(&results, "latencies", "packets").iter().sum::<f64>(),
        )
    };
    let (first, second, whole) = (received("10 us", "0 s"), received("20 us", "10 us"), received("20 us", "0 s"));
    assert_eq!((first.0 + second.0, first.1 + second.1), whole);
}

/// The watchdog discards what waits, so that nothing waits.
#[test]
fn an_output_whose_packets_are_discarded_does_not_wait() {
    let results = run("faults = [{at = \"3 us\", until = \"9 us\", kind = {pause_storm = {link = \"A->A1\"}}}]\n\
         [run]\nduration = \"25 us\"\n[topology.dumbbell]\n[switch.flow_control.pfc.watchdog]\ndetection = \"1 us\"\n\
         [[flows]]\nname = \"f\"\nfrom = [\"A2\"]\nto = [\"A1\"]\ntraffic.batch = {count = 3, message = \"4 kB\"}\n");
    assert!(numbers(&results, "storms", "detected")[0] > 0.0);
    let waited = numbers(&results, "links", "xmit_wait");
    assert!(waited.iter().all(|&seconds| seconds < 7e-6), "{waited:?}");
}

/// A message that another port sends does not make the run last longer than its job.
#[test]
fn a_run_ends_with_its_job_although_a_port_is_lost() {
    let results =
        run("[run]\nduration = \"25 us\"\nend = \"jobs\"\n[topology.rail]\nnodes = 6\nrate = \"1 GB/s\"\nplanes = 2\n\
         [[jobs]]\nname = \"j\"\nnodes = [\"*\"]\n[jobs.collective.broadcast]\nbytes = \"1 KiB\"\n\
         [[faults]]\nat = \"2 us\"\nkind.switch_stop.switches = [\"R0L0P0\"]\n");
    let job = numbers(&results, "jobs", "end")[0];
    assert!((results.end.as_secs() - job).abs() < 1e-12, "the run ends at {}, its job at {job}", results.end);
}

/// Without the lane, an answer that overtakes waiting data ended their wait.
#[test]
fn an_unused_first_lane_changes_nothing() {
    let waits = |answers: &str, switch: &str| {
        let results = run(&format!(
            "[run]\nduration = \"5 us\"\n[topology.tree]\nports = 4\nlevels = 3\nrate = \"100 Gb/s\"\n\
             [switch]\n{switch}\n[adapter]\nanswers = \"{answers}\"\n\
             [[flows]]\nname = \"one\"\nfrom = [\"H15\"]\nto = [\"H0\"]\n\
             [[flows]]\nname = \"two\"\nsl = 1\nfrom = [\"H0\", \"H8\"]\nto = [\"H10\"]\n"
        ));
        (results.fingerprint, numbers(&results, "links", "xmit_wait"))
    };
    for answers in ["first", "turns"] {
        assert_eq!(waits(answers, "sl_to_vl = [0, 0]").1, waits(answers, "vls = 2\nsl_to_vl = [1, 1]").1, "{answers}");
        assert_eq!(waits(answers, "vls = 2"), waits(answers, "vls = 3\nsl_to_vl = [1, 2]"), "{answers}");
    }
}

/// Ports that come back at the same time do so in the order of their numbers, however the faults are listed.
#[test]
fn the_order_of_faults_has_no_meaning() {
    let fingerprint = |hosts: [&str; 2]| {
        let fault =
            |host| format!("[[faults]]\nat = \"3 us\"\nuntil = \"30 us\"\nkind.link_down.link = \"leaf0->{host}\"\n");
        let faults: String = hosts.into_iter().map(fault).collect();
        run(&format!(
            "[run]\nduration = \"60 us\"\n{PAIR}[switch]\ninput_reads = \"one\"\n{faults}\
             [[flows]]\nname = \"f\"\nfrom = [\"H2\", \"H3\"]\nto = [\"H0\", \"H1\"]\n"
        ))
        .fingerprint
    };
    assert_eq!(fingerprint(["H0", "H1"]), fingerprint(["H1", "H0"]));
}

/// The random placement of a job, and what its experts get, belong to the job.
#[test]
fn groups_of_flows_change_neither_the_placement_nor_the_loads_of_a_job() {
    let job = |flows: usize| {
        let flow = "[[flows]]\nname = \"f0\"\nfrom = [\"H0\"]\nto = [\"H1\"]\ntraffic.batch = {count = 1}\n";
        let flows: String = (0..flows).map(|number| flow.replace("f0", &format!("f{number}"))).collect();
        let results = run(&format!(
            "[run]\nduration = \"1 ms\"\n[topology.clos]\nleaves = 2\nspines = 1\nhosts_per_leaf = 4\n{flows}\
             [[jobs]]\nname = \"j\"\nhosts = [\"*\"]\nplacement = \"random\"\nrecord_ops = true\n\
             all_to_all_v.experts = {{count = 8, tokens = 64, token = \"1 KiB\", zipf = 1.0}}\n"
        ));
        let table = |name: &str| results.tables.iter().find(|table| table.name == name).cloned();
        let hosts = format!("{:?}", table("ranks").map(|table| table.columns[2].clone()));
        (hosts, numbers(&results, "ops", "bytes"))
    };
    assert_eq!(job(0), job(2));
}

/// Whether a hash chooses several ways depends on the seed, but not whether a receive must name its source.
#[test]
fn a_receive_from_any_is_refused_on_hashed_ways_with_every_seed() {
    for seed in 0..8 {
        let goal = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/goal/ring_of_two.goal");
        let text = format!(
            "[run]\nduration = \"10 us\"\nseed = {seed}\n{PAIR}\
             [[nodes]]\nname = \"n0..n1\"\nnics = [[\"H0\", \"H1\"], [\"H2\", \"H3\"]]\n\
             [[jobs]]\nname = \"j\"\nnodes = [\"*\"]\nnics = \"hash\"\ngoal = \"{goal}\"\n"
        );
        let mistakes = Scenario::parse(&text, "hashed.toml").err().map(|mistakes| mistakes.to_string());
        assert!(mistakes.is_some_and(|text| text.contains("must name its source and tag")), "seed {seed}");
    }
}
