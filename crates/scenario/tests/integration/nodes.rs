//! Nodes with several adapters: closed forms of collectives, the adapters that messages take, and invalid nodes.

use becalm_scenario::{Results, Scenario};

use crate::scenes::{names, numbers, run, scenario};

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

/// Groups of ranks: independent rings take the time of the larger ring, whatever the others do, and its ranks' order is
/// that of the group.
#[test]
fn groups_of_ranks_have_rings_of_their_own() {
    let nic = 1e9 / WIRE;
    let all_reduce = |groups: &str, keys: &str| {
        let table = format!("groups = {groups}\ncollective.all_reduce = {{bytes = \"4 MiB\"{keys}}}");
        run(&rail(4, "spines = 4", &table))
    };
    let ring = |ranks: f64| 2.0 * (ranks - 1.0) / ranks * BYTES / nic;
    // Data parallelism: the four GPUs of a rail, on rails of their own.
    let rails = "[[0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15]]";
    let results = all_reduce(rails, "");
    let time = numbers(&results, "jobs", "time")[0];
    within(time, ring(4.0), 0.01, "four rings on four rails");
    let bus = numbers(&results, "jobs", "bus_bandwidth")[0];
    assert!((bus / (1.5 * BYTES / time) - 1.0).abs() < 1e-9, "{bus}: the factor is that of four ranks");
    // Tensor parallelism: the four GPUs of a node, over NVLink.
    let nodes = "[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15]]";
    within(numbers(&all_reduce(nodes, ""), "jobs", "time")[0], ring(4.0) / 9.0, 0.03, "rings within nodes");
    // Two nodes each: as many rings as NICs. Other ranks do nothing.
    let halves = "[[0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11, 12, 13, 14, 15]]";
    let time = numbers(&all_reduce(halves, ", channels = 4"), "jobs", "time")[0];
    within(time, ring(8.0) / 4.0, 0.03, "rings over the NICs of two nodes");
    let one = all_reduce("[[4, 0]]", "");
    within(numbers(&one, "jobs", "time")[0], ring(2.0), 0.01, "two ranks");
    let ends = numbers(&one, "ranks", "end");
    assert_eq!(ends.iter().filter(|&&end| end > 0.0).count(), 2, "{ends:?}");
    let pairs: Vec<_> = flows(&one).into_iter().map(|(from, to, _)| (from, to)).collect();
    assert_eq!(pairs, [("N0G0", "N1G0"), ("N1G0", "N0G0")].map(|(a, b)| (a.to_string(), b.to_string())));
}

#[test]
fn an_all_to_all_of_experts_stays_within_its_groups() {
    let table = "all_to_all_v.table = [[\"0 B\", \"1 MiB\"], [\"2 MiB\", \"0 B\"]]";
    let text = rail(4, "", &format!("groups = [[0, 4], [12, 8]]\n{table}"));
    let results = run(&format!("{text}[echo.ibta]\ntransport = \"unreliable\"\n"));
    let mebibyte = (1 << 20) as f64 * WIRE;
    let expected = [("N0G0", "N1G0", 1.0), ("N1G0", "N0G0", 2.0), ("N2G0", "N3G0", 2.0), ("N3G0", "N2G0", 1.0)];
    let expected = expected.map(|(from, to, times)| (from.to_string(), to.to_string(), times * mebibyte));
    assert_eq!(flows(&results), expected);
}

#[test]
fn groups_that_are_not_possible_are_errors() {
    let wrong = |groups: &str, job: &str, problem: &str| {
        let text = rail(2, "", &format!("groups = {groups}\n{job}"));
        let errors = Scenario::parse(&text, "groups.toml").unwrap_err().to_string();
        assert!(errors.contains(problem), "{errors}");
        assert_eq!(errors.lines().count(), 1, "{errors}");
    };
    let reduce = "collective.all_reduce.bytes = \"1 MiB\"";
    wrong("[[0, 1], [1, 2]]", reduce, "jobs[0].groups = [[0, 1], [1, 2]]: rank 1 is in group 0 and in group 1");
    wrong("[[0, 4, 0]]", reduce, "group 0 names rank 0 twice");
    wrong("[[0, 4], [1, 8]]", reduce, "group 1: there is no rank 8; the ranks are 0 to 7");
    wrong("[[0, 4], []]", reduce, "group 1 has no ranks");
    wrong("[[0, 4], [1]]", reduce, "group 1: needs at least 2 ranks, not 1");
    wrong("[[0, 4]]", "ops = [{rank = 0, calc = \"1 us\"}]", "does nothing without a collective operation");
    let table = "all_to_all_v.table = [[\"0 B\", \"1 MiB\"], [\"2 MiB\", \"0 B\"]]";
    wrong("[[0, 4], [1, 5, 2]]", table, "group 1: has 2 rows for 3 ranks");
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

/// A job whose ranks 0 and 1 send `count` messages of 4 MiB each to ranks 4 and 5, on another node, over two planes.
fn over_planes(nics: &str, count: u32, more: &str) -> String {
    let pair = |from: u32, to: u32| {
        let one = |tag| {
            format!(
                "{{rank = {from}, send = \"4 MiB\", to = {to}, tag = {tag}}},\n\
                 {{rank = {to}, recv = \"4 MiB\", from = {from}, tag = {tag}}}"
            )
        };
        (0..count).map(one).collect::<Vec<_>>().join(",\n")
    };
    let job = format!("nics = \"{nics}\"\nops = [{}, {}]", pair(0, 4), pair(1, 5));
    rail(2, "planes = 2", &format!("{job}\n{more}"))
}

fn stop(switches: &str, at: f64, until: Option<f64>) -> String {
    let until = until.map_or(String::new(), |until| format!("until = \"{} ns\"\n", (until * 1e9).round()));
    let at = (at * 1e9).round();
    format!("[[faults]]\nkind.switch_stop.switches = [\"{switches}\"]\nat = \"{at} ns\"\n{until}")
}

/// A leaf that stops during a run. The share of a message that is underway is sent again as a whole by the other port: with
/// n messages, of which k have arrived, the port that is left carries 2n - k shares.
#[test]
fn a_leaf_that_stops_halves_the_rate_of_its_hosts() {
    let share = BYTES * WIRE / 1e9;
    let ends = |nics: &str, count: u32, fault: &str| {
        let ends = numbers(&run(&over_planes(nics, count, fault)), "ranks", "end");
        [ends[4], ends[5]]
    };
    let whole = ends("stripe", 6, "");
    for arrived in [0, 2, 5] {
        for part in [0.1, 0.5, 0.9] {
            let at = (f64::from(arrived) + part) * share;
            let [slow, fast] = ends("stripe", 6, &stop("R0L0P1", at, None));
            let expected = f64::from(2 * 6 - arrived) * share;
            within(slow, expected, 0.001, "shares on the port that is left");
            assert_eq!(fast, whole[1], "the other rail");
        }
    }
    let at = 1.5 * share;
    let of = |count| ends("stripe", count, &stop("R0L0P1", at, None))[0];
    assert!(((of(9) - of(4)) / (5.0 * 2.0 * share) - 1.0).abs() < 1e-9, "half the rate");
    let of = |count| ends("stripe", count, "")[0];
    assert!(((of(9) - of(4)) / (5.0 * share) - 1.0).abs() < 1e-9, "the whole rate");
    // A law that uses one port: the whole message is sent again, at the rate of a port.
    let [slow, _] = ends("same_rail", 4, &stop("R0L0P0", at, None));
    within(slow, at + 2.0 * share * 4.0, 0.001, "messages on the other plane");
}

/// When the leaf is back, later messages take both ports, unless an earlier one with the same tag is still on its way by
/// another. All arrive once, in order, and on two threads.
#[test]
fn a_leaf_that_comes_back_is_used_again() {
    let share = BYTES * WIRE / 1e9;
    let fault = stop("R0L0P1", 1.5 * share, Some(1.75 * share));
    for (same, shares) in [(false, 7.0), (true, 11.0)] {
        // A message after the other.
        let op = |i: u32| {
            let (tag, after) = (if same { 0 } else { i }, i.checked_sub(1).map(|last| format!("\"m{last}\"")));
            let keys = format!("name = \"m{i}\", tag = {tag}, after = [{}]", after.unwrap_or_default());
            format!("{{rank = 0, send = \"4 MiB\", to = 4, {keys}}},\n{{rank = 4, recv = \"4 MiB\", from = 0, {keys}}}")
        };
        let ops: Vec<String> = (0..6).map(op).collect();
        let job = format!("nics = \"stripe\"\nrecord_ops = true\nops = [{}]\n{fault}", ops.join(",\n"));
        let scene = scenario(&rail(2, "planes = 2", &job));
        let [one, two] = [1, 2].map(|threads| scene.run(0, threads, &mut |_| true).unwrap());
        assert_eq!(format!("{:?}", one.tables), format!("{:?}", two.tables));
        // The second message needs another share, and the third starts when the leaf is back.
        within(numbers(&one, "ranks", "end")[4], shares * share, 0.001, "six messages and a share");
        let moved = numbers(&one, "faults", "moved");
        assert_eq!(moved.iter().sum::<f64>(), BYTES / 2.0 / 4096.0, "packets of a share");
    }
}

/// Both leaves of a rail stop: messages wait for the one that comes back first.
#[test]
fn messages_wait_while_no_plane_works() {
    let share = BYTES * WIRE / 1e9;
    let faults = stop("R0L0P0", 0.5 * share, None) + &stop("R0L0P1", 0.75 * share, Some(2.0 * share));
    let ends = numbers(&run(&over_planes("stripe", 2, &faults)), "ranks", "end");
    // Port 1 carries the whole of the first share of port 0, three quarters of its own, and the other two shares.
    within(ends[4], 2.0 * share + (4.0 - 0.75) * share, 0.001, "shares on one port");
    within(ends[5], 2.0 * share, 0.01, "the other rail");
    let all = |until| stop("R0L0P0..R0L0P1", 0.5 * share, until);
    let text = over_planes("stripe", 1, &all(None)).replace("1 s", "100 ms");
    assert!(numbers(&run(&text), "ranks", "end")[4].is_nan(), "a job that waits for ever does not end");
    let ends = numbers(&run(&over_planes("stripe", 1, &all(Some(3.0 * share)))), "ranks", "end");
    within(ends[4], 3.5 * share, 0.001, "nothing moves, and nothing is sent twice");
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
    assert_eq!(Scenario::parse(&text(dual, ""), "nodes.toml").unwrap_err().to_string().lines().count(), 1);
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
