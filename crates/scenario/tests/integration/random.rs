//! The model's guards hold in random scenes with all schemes.

use becalm_control::{MarkingParams, ResponseParams};
use becalm_scenario::Scenario;
use becalm_schema::Choice;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use crate::scenes::{GREEDY, single};

/// A section `[switch]`, and its properties.
#[derive(Clone, Debug)]
struct Switch {
    text: String,
    /// Whether packets are stored before they are forwarded.
    stores: bool,
    /// Whether buffers are limited.
    limited: bool,
}

/// A topology, some of its links, and whether switches can choose among ports.
fn topology() -> impl Strategy<Value = (String, Vec<&'static str>, bool)> {
    let delay = select(vec!["0 s", "7 ns"]);
    let dumbbell = (1u32..4, 1u32..4, delay).prop_map(|(remote, local, delay)| {
        let text = format!("[topology.dumbbell]\nremote = {remote}\nlocal = {local}\ndelay = \"{delay}\"\n");
        (text, vec!["A->B", "B->A", "B->BC", "A1->A"], false)
    });
    let clos = (1u32..4, 1u32..4, 1u32..4).prop_map(|(leaves, spines, hosts)| {
        // A single host would have no partner.
        let hosts = if leaves == 1 { hosts + 1 } else { hosts };
        let text = format!(
            "[topology.clos]\nleaves = {leaves}\nspines = {spines}\nhosts_per_leaf = {hosts}\ndelay = \"7 ns\"\n"
        );
        (text, vec!["leaf0->spine0", "spine0->leaf0", "leaf0->H0", "H0->leaf0"], leaves > 1 && spines > 1)
    });
    prop_oneof![dumbbell, clos]
}

fn switch() -> impl Strategy<Value = Switch> {
    (
        select(vec!["1 packet", "2 packets", "7 packets", "2112 B", "9 KiB", "unlimited"]),
        select(vec!["\"fixed\"", "\"exponential\"", "{erlang = 3}", "{uniform = 0.5}"]),
        any::<bool>(),
        select(vec!["0 s", "40 ns"]),
        select(vec!["voq", "fifo"]),
        select(vec!["many", "one"]),
        select(vec![
            "oldest_first = {max_bypass = 0}",
            "oldest_first = {max_bypass = 3}",
            "oldest_first = {max_bypass = 2, acks = \"free\"}",
            "oldest_first = {max_bypass = 1, bypass = \"output\"}",
            "oldest_first = {max_bypass = \"unlimited\"}",
            "round_robin = {}",
        ]),
    )
        .prop_map(|(buffer, service, stores, forwarding, queueing, reads, arbiter)| {
            // Cut-through requires fixed service times.
            let (switching, service) =
                if stores { ("store_and_forward", service) } else { ("cut_through", "\"fixed\"") };
            // Otherwise no packet is overtaken at its output.
            let reads = if arbiter.contains("output") { "one" } else { reads };
            let text = format!(
                "[switch]\nservice = {service}\nbuffer = \"{buffer}\"\nswitching = \"{switching}\"\n\
                 forwarding_delay = \"{forwarding}\"\nqueueing = \"{queueing}\"\ninput_reads = \"{reads}\"\nvls = 2\n\
                 arbiter.{arbiter}\n"
            );
            Switch { text, stores, limited: buffer != "unlimited" }
        })
}

/// Up to two links with one or two rate changes.
fn changes(links: Vec<&'static str>) -> impl Strategy<Value = String> {
    let of_link = (select(vec!["30 MB/s", "0.7 GB/s", "3 GB/s"]), 1u32..150, proptest::option::of(150u32..300));
    (subsequence(links.clone(), 0..=links.len().min(2)), [of_link.clone(), of_link]).prop_map(|(links, changes)| {
        let change = |link: &str, at: u32, rate: &str| {
            format!("[[changes]]\nlink = \"{link}\"\nat = \"{at} us\"\nrate = \"{rate}\"\n")
        };
        let of_link = |(link, (rate, at, back)): (&str, (&str, u32, Option<u32>))| {
            let back = back.map(|at| change(link, at, "1 GB/s"));
            change(link, at, rate) + &back.unwrap_or_default()
        };
        links.into_iter().zip(changes).map(of_link).collect()
    })
}

/// Up to two cables that are down for a time, and a host that is slow or stops.
fn faults(links: Vec<&'static str>) -> impl Strategy<Value = String> {
    let cables = vec![links[0], links[2]];
    let host = if links[0].starts_with("leaf") { "H0" } else { "A1" };
    let span = || (1u32..150, 1u32..150);
    let kinds =
        select(vec!["slow_receiver = {hosts = [\"HOST\"], drain_rate = \"90 MB/s\"}", "host_stop.hosts = [\"HOST\"]"]);
    (subsequence(cables, 0..=2), span(), span(), kinds, any::<bool>()).prop_map(
        move |(down, first, second, kind, has)| {
            let fault = |kind: String, (at, length): (u32, u32)| {
                format!("[[faults]]\nkind.{kind}\nat = \"{at} us\"\nuntil = \"{} us\"\n", at + length)
            };
            let mut all: String =
                down.iter().map(|link| fault(format!("link_down.link = \"{link}\""), first)).collect();
            if has {
                all += &fault(kind.replace("HOST", host), second);
            }
            all
        },
    )
}

/// A key that requires a response with packet delays.
const PACED: &str = ", paced = true";

fn traffic() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("greedy = {}".to_string()),
        Just("greedy.message = \"9000 B\"".to_string()),
        (1u32..9000).prop_map(|bytes| format!("greedy = {{message = \"{bytes} B\", sizes = {{erlang = 2}}}}")),
        (1u32..200, 1u32..200)
            .prop_map(|(on, off)| format!("on_off = {{mean_on = \"{on} us\", mean_off = \"{off} us\"}}")),
        (0.05f64..1.5, 1u32..9000, select(vec!["", PACED])).prop_map(|(load, bytes, paced)| {
            format!("poisson = {{load = {load}, message = \"{bytes} B\"{paced}}}")
        }),
        (1u32..40, 1u32..9000).prop_map(|(n, bytes)| format!(
            "batch = {{count = {n}, message = \"{bytes} B\", sizes = {{uniform = 1}}}}"
        )),
    ]
}

fn response() -> impl Strategy<Value = String> {
    (select(&ResponseParams::NAMES[..ResponseParams::NAMES.len() - 1]), select(vec!["3", "\"unlimited\""])).prop_map(
        |(name, window)| match name {
            "fixed" if window == "3" => "fixed = {rate = 0.3, window = 3, pacing = \"schedule\"}".to_string(),
            "fixed" => format!("fixed = {{rate = 0.3, window = {window}}}"),
            "table" => format!("table = {{steps = [[1, 1, 0], [3, 8, 0], [3, 3, 1], [3, 2, 1]], window = {window}}}"),
            "binary_feedback" | "dctcp" => format!("{name}.initial = 5"),
            "timely" | "swift" | "hpcc" | "nscc" => format!("{name} = {{}}"),
            other => format!("{other}.window = {window}"),
        },
    )
}

/// Keys with which the marking policy `ibta` also holds credit back.
const STARVING: [&str; 2] = [
    "threshold = 0\ncredit_mask = \"host_ports\"\ncs_threshold = 15\ncs_return_delay = [0, 9]\n",
    "credit_mask = \"all\"\ncs_threshold = 6\ncs_return_delay = [2, 13]\n",
];

/// Sections of the marking policies that are valid with limited or with unlimited buffers.
fn markings(limited: bool) -> Vec<String> {
    let fits = |section: &String| {
        let unlimited = format!("switch.buffer = \"unlimited\"\n{section}");
        limited || Scenario::parse(&(unlimited + &single("duration = \"1 us\"", GREEDY)), "fits.toml").is_ok()
    };
    let plain = MarkingParams::NAMES
        .iter()
        .filter(|name| !["none", "external"].contains(name))
        .map(|name| format!("[marking.{name}]\n"));
    plain.chain(STARVING.map(|keys| format!("[marking.ibta]\n{keys}"))).filter(fits).collect()
}

/// Path selection laws.
const LAWS: [&str; 9] = [
    "destination = {}",
    "flow = {}",
    "packet = {}",
    "round_robin = {}",
    "least_waiting = {}",
    "least_waiting = {sample = 2}",
    "flowlet = {gap = \"3 us\"}",
    "entropy = {values = 16}",
    "entropy = {balancer = \"reps\"}",
];

/// Compatible combinations of network, switches, rate changes and marking.
fn network() -> impl Strategy<Value = String> {
    (topology(), switch(), select(LAWS.to_vec())).prop_flat_map(|((topology, links, chooses), mut switch, law)| {
        if chooses {
            switch.text += &format!("paths.{law}\n");
        }
        let marking = select(markings(switch.limited));
        // Rate changes also require store-and-forward.
        let faults = faults(links.clone());
        let changes = changes(if switch.stores { links } else { Vec::new() });
        (marking, changes, faults)
            .prop_map(move |(marking, changes, faults)| format!("{topology}{}{marking}{changes}{faults}", switch.text))
    })
}

fn scene() -> impl Strategy<Value = String> {
    (network(), response(), traffic(), traffic(), 1u32..4, any::<u32>()).prop_map(
        |(network, response, first, second, ack_every, seed)| {
            // Fewer ACKs than packets require messages of several packets. A window that can close to one packet
            // requires an ACK for each packet, or requests.
            let several = [&first, &second].iter().any(|traffic| traffic.contains("9000 B"));
            let moves =
                ["binary_feedback", "dctcp", "swift", "hpcc", "nscc"].iter().any(|name| response.contains(name));
            let echo = match (several, moves) {
                (true, false) => format!("[echo.ibta]\nack_every = {ack_every}\n"),
                (true, true) if ack_every > 1 => format!("[echo.uet]\nack_every = {ack_every}\n"),
                _ => String::new(),
            };
            let delays = !["none", "binary_feedback", "dctcp", "nscc"].iter().any(|name| response.starts_with(name));
            let group = |name, sl, traffic: String| {
                let traffic = if delays { traffic } else { traffic.replace(PACED, "") };
                format!("[[flows]]\nname = \"{name}\"\nfrom = [\"*\"]\nto = [\"*\"]\nsl = {sl}\ntraffic.{traffic}\n")
            };
            format!(
                "[run]\nduration = \"300 us\"\nseed = {seed}\n{network}{echo}[response]\n{response}\n{}{}",
                group("first", 0, first),
                group("second", 1, second)
            )
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// No packet is lost, credits are conserved, flows keep their order, and these networks cannot deadlock. The run
    /// checks these guards. The same seed yields the same results on one and two threads.
    #[test]
    fn guards_hold(text in scene()) {
        let scenario = Scenario::parse(&text, "random.toml").map_err(|m| TestCaseError::fail(format!("{m}\n{text}")))?;
        let first = scenario.run(0, 1, &mut |_| true).map_err(|e| TestCaseError::fail(format!("{e}\n{text}")))?;
        let again = scenario.run(0, 2, &mut |_| true).unwrap();
        // Compared as text, because NaN does not equal NaN.
        prop_assert_eq!(format!("{first:?}"), format!("{again:?}"));
        let moves = text.contains("paths.flow = ") && text.contains("link_down");
        let ordered = !moves && !LAWS[2..].iter().any(|law| text.contains(&format!("paths.{law}")));
        prop_assert_eq!(first.guards.len(), 3 + usize::from(ordered));
    }
}
