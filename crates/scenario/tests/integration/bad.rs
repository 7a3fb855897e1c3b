//! Messages about invalid scenarios.

use becalm_scenario::Scenario;

/// A valid scenario, which the tests damage.
pub const GOOD: &str = r#"[run]
duration = "10 ms"

[topology.dumbbell]
remote = 2
local = 2

[switch]
buffer = "4 packets"

[marking.input_triggered]

[response.lipd]
rmin = 0.00390625

[[flows]]
name = "local"
from = ["B1..B2"]
to = ["BC"]
stagger = "100 us"
traffic.greedy = {}
"#;

pub fn complaint(text: &str) -> String {
    match Scenario::parse(text, "bad.toml") {
        Ok(_) => panic!("nothing wrong with\n{text}"),
        Err(errors) => errors.to_string(),
    }
}

/// Message after a replacement in the valid scenario.
fn broken(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from}");
    complaint(&GOOD.replace(from, to))
}

/// Message after an addition at the end of the valid scenario.
fn added(text: &str) -> String {
    complaint(&format!("{GOOD}{text}"))
}

#[test]
fn the_good_one_is_good() {
    assert!(Scenario::parse(GOOD, "good.toml").is_ok());
}

#[test]
fn single_values() {
    let cases = [
        ("unknown key", broken("buffer =", "bufer =")),
        ("unknown section", broken("[switch]", "[swich]")),
        ("wrong type", broken("\"10 ms\"", "10")),
        ("negative rate", broken("local = 2", "local = 2\nrate = \"-1 GB/s\"")),
        ("rate out of range", broken("local = 2", "local = 2\nrate = \"1 b/s\"")),
        ("more hosts than memory", broken("local = 2", "local = 4294967295")),
        ("unknown scheme", broken("[response.lipd]", "[response.lipp]")),
        ("parameter of another scheme", broken("rmin = 0.00390625", "m = 2.0")),
        ("scheme as a word", broken("[marking.input_triggered]", "[marking]\npolicy = \"naive\"")),
        ("two schemes", broken("[response.lipd]", "[response.aimd]\n[response.lipd]")),
        ("window 0", broken("rmin = 0.00390625", "window = 0")),
        ("rmin above rmax", broken("rmin = 0.00390625", "rmin = 0.5\nrmax = 0.25")),
        ("no load", broken("traffic.greedy = {}", "traffic.poisson = {load = 0}")),
        ("zero mean", broken("traffic.greedy = {}", "traffic.on_off = {mean_on = \"0 s\", mean_off = \"1 s\"}")),
        ("fraction of a packet", broken("\"4 packets\"", "\"4.5 packets\"")),
        ("no room", broken("\"4 packets\"", "\"0 packets\"")),
        ("missing section", broken("[run]\nduration = \"10 ms\"\n", "")),
        ("no flows", GOOD.split("[[flows]]").next().map(complaint).unwrap()),
        ("empty list of flows", complaint(&format!("flows = []\n{}", GOOD.split("[[flows]]").next().unwrap()))),
        ("not TOML", broken("[switch]", "[switch")),
        ("empty", complaint("")),
    ];
    insta::assert_snapshot!(listed(&cases));
}

#[test]
fn values_that_do_not_fit_together() {
    let cases = [
        ("more queues than memory", broken("local = 2", "local = 60000")),
        ("flow to nowhere", broken("[\"BC\"]", "[\"BCC\"]")),
        ("range to nowhere", broken("B1..B2", "B1..B9")),
        ("broken range", broken("B1..B2", "B1..C2")),
        ("nobody", broken("[\"B1..B2\"]", "[]")),
        ("to itself", broken("[\"BC\"]", "[\"B1\"]")),
        ("to nobody", broken("to = [\"BC\"]", "")),
        ("to somebody by a pattern", broken("stagger", "pattern.tornado = {}\nstagger")),
        ("tornado of two", broken("to = [\"BC\"]", "pattern.tornado = {}")),
        (
            "bits of three hosts",
            broken("from = [\"B1..B2\"]\nto = [\"BC\"]", "from = [\"*\"]\npattern.bit_reversal = {}"),
        ),
        ("shift to itself", broken("to = [\"BC\"]", "pattern.shift.by = 2")),
        ("twice", broken("B1..B2\"", "B1..B2\", \"B2\"")),
        ("same group twice", added("[[flows]]\nname = \"local\"\nfrom = [\"A1\"]\nto = [\"BC\"]\n")),
        ("nameless group", broken("name = \"local\"", "name = \"\"")),
        ("stop before start", broken("stagger", "start = \"5 ms\"\nstop = \"4 ms\"\nstagger")),
        ("starts after the end", broken("stagger", "start = \"1 s\"\nstagger")),
        ("staggered past the end", broken("\"100 us\"", "\"10 ms\"")),
        ("staggered past the stop", broken("stagger = \"100 us\"", "stop = \"1 ms\"\nstagger = \"1 ms\"")),
        ("no such lane", broken("stagger", "sl = 1\nstagger")),
        ("a level without a lane", broken("buffer", "sl_to_vl = []\nbuffer")),
        (
            "weights for the wrong lanes",
            broken("buffer", "vl_arbitration.tables = {low = [{vl = 1, weight = 9}]}\nbuffer"),
        ),
        ("caps without a cap", added("[[adapter.caps]]\nhosts = [\"BC\"]\n")),
        ("caps for nobody", added("[[adapter.caps]]\nhosts = [\"BX\"]\ndrain_rate = \"1 Gb/s\"\n")),
        (
            "own response under port control by service level",
            complaint(&GOOD.replace("traffic.greedy = {}", "response.fimd = {}\n[adapter]\nport_control = \"sl\"")),
        ),
        (
            "a lane for a group that cannot be read",
            complaint(&GOOD.replace("buffer", "vls = 2\nbuffer").replace("stagger", "sl = 16\nstagger")),
        ),
        ("warm-up too long", broken("\"10 ms\"\n", "\"10 ms\"\nwarmup = \"10 ms\"\n")),
        ("buffer too small", broken("\"4 packets\"", "\"2 KiB\"")),
        ("response for nobody", broken("traffic.greedy = {}", "response.none = {}")),
        ("nothing marks", broken("[marking.input_triggered]\n", "")),
        (
            "nothing marks this group",
            complaint(
                &GOOD.replace("[marking.input_triggered]", "").replace("traffic.greedy = {}", "response.fimd = {}"),
            ),
        ),
        (
            "a window without ACKs",
            complaint(
                &GOOD
                    .replace("[response.lipd]", "[echo.ibta]\ntransport = \"unreliable\"\n[response.lipd]\nwindow = 4"),
            ),
        ),
        (
            "a window that moves without ACKs",
            complaint(
                &GOOD
                    .replace("[response.lipd]\nrmin = 0.00390625", "[response.binary_feedback]")
                    .replace("[marking", "[echo.ibta]\ntransport = \"unreliable\"\n[marking"),
            ),
        ),
        ("a default window without ACKs", added("[echo.ibta]\ntransport = \"unreliable\"\n")),
        ("a spread of random arrivals", broken("greedy = {}", "poisson = {load = 0.1}\nstart_spread = \"1 us\"")),
        ("a spread beyond the end", broken("traffic.greedy = {}", "start_spread = \"1 s\"")),
        ("a load too late", broken("greedy = {}", "poisson = {load = 0.1, changes = [{at = \"10 ms\", load = 0.2}]}")),
        (
            "paced without a response",
            complaint(
                &GOOD
                    .replace("[marking.input_triggered]", "")
                    .replace("[response.lipd]\nrmin = 0.00390625", "")
                    .replace("greedy = {}", "poisson = {load = 0.1, paced = true}"),
            ),
        ),
        (
            "paced by a window",
            broken(
                "traffic.greedy = {}",
                "traffic.poisson = {load = 0.1, paced = true}\nresponse.binary_feedback = {}",
            ),
        ),
        (
            "loads out of order",
            broken(
                "greedy = {}",
                "poisson = {load = 0.1, changes = [{at = \"2 ms\", load = 0.2}, {at = \"1 ms\", load = 0}]}",
            ),
        ),
        ("ACKs for nothing", added("[echo.ibta]\ntransport = \"unreliable\"\nack_every = 2\n")),
        ("ACKs for messages of a packet", added("[echo.ibta]\nack_every = 2\n")),
        (
            "a window that closes before the ACK",
            complaint(&format!("{GOOD}[echo.ibta]\nack_every = 2\n").replace("{}", "{message = \"8 KiB\"}")),
        ),
        (
            "overrides for nothing that exists",
            broken(
                "input_triggered]",
                "ibta]\noverrides = [\n{switches = [\"C\"], threshold = 1},\n{ports = [5], threshold = 1},\n]",
            ),
        ),
        (
            "overrides without a value",
            broken(
                "input_triggered]",
                "ibta]\noverrides = [\n{ports = \"hosts\"},\n{ports = \"host\", threshold = 16}]",
            ),
        ),
        ("starvation by no port", broken("input_triggered]", "ibta]\ncs_threshold = 3\ncs_return_delay = [0, 9]")),
        (
            "starvation by overrides of no port",
            broken("input_triggered]", "ibta]\noverrides = [\n{ports = \"hosts\", cs_threshold = 3}]"),
        ),
        ("starvation without a threshold", broken("input_triggered]", "ibta]\ncredit_mask = \"all\"")),
        (
            "starvation without a delay",
            broken("input_triggered]", "ibta]\ncredit_mask = \"all\"\ncs_threshold = 3\ncs_return_delay = [3, 0]"),
        ),
        (
            "starvation that is too strong",
            broken("input_triggered]", "ibta]\ncredit_mask = \"some\"\ncs_threshold = 16\ncs_return_delay = [4, 1]"),
        ),
        (
            "starvation that is set and switched off",
            broken(
                "input_triggered]",
                "ibta]\ncredit_mask = \"all\"\ncs_threshold = 3\ncs_return_delay = [0, 9]\n\
                 overrides = [\n{credit = false, cs_threshold = 5}]",
            ),
        ),
        (
            "starvation of one port by the values of another",
            broken(
                "input_triggered]",
                "ibta]\ncs_threshold = 3\noverrides = [\n{ports = [0], credit = true},\n{ports = [1], cs_return_delay = [0, 9]}]",
            ),
        ),
        (
            "starvation that is switched off everywhere",
            broken(
                "input_triggered]",
                "ibta]\ncredit_mask = \"host_ports\"\ncs_threshold = 3\ncs_return_delay = [0, 9]\n\
                 overrides = [{ports = \"hosts\", credit = false}]",
            ),
        ),
        ("unknown link", added("[observe]\nlinks = [\"A->C\"]\n")),
        ("snapshot after the end", added("[observe]\nsnapshots = [\"10 ms\", \"11 ms\"]\n")),
        ("window below step", added("[observe]\nstep = \"1 ms\"\nwindow = \"10 us\"\n")),
        ("too many samples", added("[observe]\nstep = \"1 ns\"\n")),
    ];
    insta::assert_snapshot!(listed(&cases));
}

#[test]
fn connections() {
    let connected = |list: &str| {
        let from_to = "from = [\"B1..B2\"]\nto = [\"BC\"]";
        complaint(&GOOD.replace(from_to, &format!("connections = [\n{list}]")))
    };
    let cases = [
        ("none", connected("")),
        ("from nobody", broken("from = [\"B1..B2\"]\n", "")),
        ("beside from", broken("to = [\"BC\"]", "connections = [{from = \"B1\", to = \"BC\"}]")),
        ("beside a pattern", connected("{from = \"B1\", to = \"BC\"}]\npattern.shift = {by = 1}\n#")),
        ("to itself", connected("{from = \"B1\", to = \"BC\"},\n{from = \"B1\", to = \"B1\"}")),
        ("unknown ends", connected("{from = \"B9\", to = \"BC\"},\n{from = \"B1\", to = \"BX\"}")),
        ("half of one", connected("{from = \"B1\"}")),
        ("an empty message", connected("{from = \"B1\", to = \"BC\", message = \"0 B\"}")),
        ("starts after the end", connected("{from = \"B1\", to = \"BC\", start = \"10 ms\"}")),
        (
            "a message without messages",
            complaint(
                &GOOD
                    .replace(
                        "from = [\"B1..B2\"]\nto = [\"BC\"]",
                        "connections = [\n{from = \"B1\", to = \"BC\", message = \"1 B\"}]",
                    )
                    .replace("traffic.greedy = {}", "traffic.on_off = {mean_on = \"1 ms\", mean_off = \"1 ms\"}"),
            ),
        ),
    ];
    insta::assert_snapshot!(listed(&cases));
}

#[test]
fn stations() {
    let stored = |more: &str| broken("[switch]\n", &format!("{more}\n[switch]\nswitching = \"store_and_forward\"\n"));
    let change = |link: &str, at: &str, rate: &str| {
        format!("[[changes]]\nlink = \"{link}\"\nat = \"{at}\"\nrate = \"{rate}\"\n")
    };
    let cases = [
        ("a law without its number", broken("buffer", "service = \"erlang\"\nbuffer")),
        ("a spread of more than all", broken("buffer", "service = {uniform = 1.5}\nbuffer")),
        ("service that varies under cut-through", broken("buffer", "service = \"exponential\"\nbuffer")),
        ("a change under cut-through", added(&change("A->B", "1 ms", "2 GB/s"))),
        ("a change of no link", stored(&change("A->C", "1 ms", "2 GB/s"))),
        ("a change after the end", stored(&change("A->B", "10 ms", "2 GB/s"))),
        ("a change at the start", stored(&change("A->B", "0 s", "2 GB/s"))),
        ("a change to the same", stored(&change("A->B", "1 ms", "1 GB/s"))),
        (
            "a change back from one that cannot be read",
            stored(&(change("A->B", "1 ms", "1 b/s") + &change("A->B", "2 ms", "1 GB/s"))),
        ),
        ("two at once", stored(&(change("A->B", "1 ms", "2 GB/s") + &change("A->B", "1 ms", "1 GB/s")))),
        ("marks by a buffer without end", broken("4 packets", "unlimited")),
        ("no bypass in words", broken("buffer", "arbiter.oldest_first.max_bypass = \"none\"\nbuffer")),
        ("a queue for nothing", broken("[switch]", "[adapter]\nqueue = 0\n[switch]")),
        ("a full queue without end", broken("[switch]", "[adapter]\nwhen_full = \"drop\"\n[switch]")),
        ("ACKs free of no bound", broken("buffer", "arbiter.oldest_first.acks = \"free\"\nbuffer")),
        (
            "a bound that is none, on an output",
            broken("buffer", "input_reads = \"one\"\narbiter.oldest_first.bypass = \"output\"\nbuffer"),
        ),
        (
            "a bound on an output where nothing is overtaken",
            broken("buffer", "arbiter.oldest_first = {max_bypass = 4, bypass = \"output\"}\nbuffer"),
        ),
        ("sizes around nothing", broken("greedy = {}", "greedy = {sizes = \"exponential\"}")),
    ];
    insta::assert_snapshot!(listed(&cases));
}

#[test]
fn fat_trees() {
    let tree = |topology: &str| {
        complaint(&format!(
            "[topology.{topology}]\n[run]\nduration = \"1 ms\"\n[[flows]]\nname = \"f\"\nfrom = [\"H0\"]\nto = [\"H1\"]\n"
        ))
    };
    let cases = [
        ("odd radix", tree("tree]\nports = 7\nlevels = 2\n[adapter")),
        ("too large", tree("tree]\nports = 64\nlevels = 8\n[adapter")),
        ("no levels", tree("fat_tree]\nlevels = []\n[adapter")),
        ("hosts with two cables", tree("fat_tree]\nlevels = [{children = 2, parents = 2}]\n[adapter")),
    ];
    insta::assert_snapshot!(listed(&cases));
}

#[test]
fn networks_of_lists() {
    let edges = |hosts: &str, switches: &str, cables: &str| {
        let topology = format!(
            "[topology.edges]\nhosts = {hosts}\nswitches = {switches}\ncables = [\n{cables}]\n[run]\nduration = \"1 ms\"\n"
        );
        complaint(&format!("{topology}[[flows]]\nname = \"f\"\nfrom = [\"a\"]\nto = [\"b\"]\n"))
    };
    let (ab, s) = ("[\"a\", \"b\"]", "[\"S\", \"T\"]");
    let a = "{between = [\"a\", \"S\"]},\n";
    let b = "{between = [\"b\", \"S\"]},\n";
    let cable = |ends: &str| edges(ab, s, &format!("{a}{b}{{between = {ends}}},\n"));
    let cases = [
        ("unreachable", edges(ab, s, &format!("{a}{{between = [\"b\", \"T\"]}},\n"))),
        ("no cable", edges(ab, s, a)),
        ("two nodes of a name", edges("[\"a\", \"b\", \"a\"]", s, &format!("{a}{b}"))),
        ("all hosts as a name", edges("[\"a\", \"b\", \"*\"]", s, &format!("{a}{b}"))),
        ("unknown end", cable("[\"S\", \"Q\"]")),
        ("one end", cable("[\"S\"]")),
        ("to itself", cable("[\"S\", \"S\"]")),
        ("two cables of a host", cable("[\"a\", \"T\"]")),
        ("between hosts", edges(ab, s, "{between = [\"a\", \"b\"]},\n")),
        ("two ranges", cable("[\"a..b\", \"S..T\"]")),
    ];
    insta::assert_snapshot!(listed(&cases));
}

#[test]
fn given_routes() {
    let tree = |routes: &str| {
        complaint(&format!(
            "[topology.tree]\nports = 4\nlevels = 2\nroutes = [\n{routes}\n]\n[run]\nduration = \"1 ms\"\n\
             [[flows]]\nname = \"f\"\nfrom = [\"H0\"]\nto = [\"H7\"]\n"
        ))
    };
    let parallel = "[topology.fat_tree]\nlevels = [{children = 2}, {children = 2, parents = 1, parallel = 2}]\n\
                    routes = [{switch = \"L1S0\", to = [\"H3\"], via = \"L2S0\"}]\n[run]\nduration = \"1 ms\"\n\
                    [[flows]]\nname = \"f\"\nfrom = [\"H0\"]\nto = [\"H3\"]\n";
    // A ring of three switches, in which all packets use the longer path.
    let ring = "[topology.edges]\nhosts = [\"h0..h2\"]\nswitches = [\"s0..s2\"]\n\
                cables = [{between = [\"h0\", \"s0\"]}, {between = [\"h1\", \"s1\"]}, {between = [\"h2\", \"s2\"]},\n\
                {between = [\"s0\", \"s1\"]}, {between = [\"s1\", \"s2\"]}, {between = [\"s2\", \"s0\"]}]\n\
                routes = [\n{switch = \"s0\", to = [\"h2\"], via = \"s1\"},\n{switch = \"s1\", to = [\"h0\"], via = \"s2\"},\n\
                {switch = \"s2\", to = [\"h1\"], via = \"s0\"}]\n[run]\nduration = \"1 ms\"\n\
                [[flows]]\nname = \"f\"\nfrom = [\"*\"]\npattern.shift.by = 2\n";
    let cases = [
        ("no switch", tree("{switch = \"L9S0\", to = [\"H7\"], port = 0}")),
        ("a host for a switch", tree("{switch = \"H0\", to = [\"H7\"], port = 0}")),
        ("no host", tree("{switch = \"L1S0\", to = [\"H8\"], port = 0}")),
        ("neither port nor node", tree("{switch = \"L1S0\", to = [\"H7\"]}")),
        ("both port and node", tree("{switch = \"L1S0\", to = [\"H7\"], port = 2, via = \"L2S0\"}")),
        ("no such port", tree("{switch = \"L1S0\", to = [\"H7\"], port = 4}")),
        ("no such cable", tree("{switch = \"L1S0\", to = [\"H7\"], via = \"L1S1\"}")),
        ("two such cables", complaint(parallel)),
        ("through a host", tree("{switch = \"L1S0\", to = [\"H7\"], via = \"H1\"}")),
        (
            "a forwarding loop",
            tree(
                "{switch = \"L1S0\", to = [\"H7\"], via = \"L2S0\"},\n{switch = \"L2S0\", to = [\"H7\"], via = \"L1S0\"}",
            ),
        ),
        ("a cycle of buffers", complaint(ring)),
    ];
    insta::assert_snapshot!(listed(&cases));
}

fn listed(cases: &[(&str, String)]) -> String {
    cases.iter().map(|(name, message)| format!("# {name}\n{message}\n")).collect::<Vec<_>>().join("\n")
}
