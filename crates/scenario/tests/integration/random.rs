//! The rules of the model hold in random scenes, whatever the schemes.

use becalm_control::{Marking, Responding};
use becalm_scenario::Scenario;
use proptest::prelude::*;
use proptest::sample::select;

fn topology() -> impl Strategy<Value = String> {
    let dumbbell = (1u32..4, 1u32..4).prop_map(|(r, l)| format!("[topology.dumbbell]\nremote = {r}\nlocal = {l}\n"));
    let clos = (1u32..4, 1u32..3, 1u32..4).prop_map(|(leaves, spines, hosts)| {
        // One host alone would have nobody to talk to.
        let hosts = if leaves == 1 { hosts + 1 } else { hosts };
        format!("[topology.clos]\nleaves = {leaves}\nspines = {spines}\nhosts_per_leaf = {hosts}\ndelay = \"7 ns\"\n")
    });
    prop_oneof![dumbbell, clos]
}

fn switch() -> impl Strategy<Value = String> {
    (
        select(vec!["1 packet", "2 packets", "7 packets", "2112 B", "9 KiB"]),
        select(vec!["\"fixed\"", "\"exponential\"", "{erlang = 3}", "{uniform = 0.5}"]),
        select(vec!["cut_through", "store_and_forward"]),
        select(vec!["voq", "fifo"]),
        select(vec!["many", "one"]),
        select(vec!["oldest_first = {max_bypass = 0}", "oldest_first = {max_bypass = 3}", "round_robin = {}"]),
    )
        .prop_map(|(buffer, service, switching, queueing, reads, arbiter)| {
            // Packets that cut through cannot vary on the way.
            let service = if switching == "cut_through" { "\"fixed\"" } else { service };
            format!(
                "[switch]\nservice = {service}\nbuffer = \"{buffer}\"\nswitching = \"{switching}\"\nqueueing = \"{queueing}\"\n\
                 input_reads = \"{reads}\"\nvls = 2\narbiter.{arbiter}\n"
            )
        })
}

fn traffic() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("greedy = {}".to_string()),
        Just("greedy.message = \"9000 B\"".to_string()),
        (1u32..9000).prop_map(|bytes| format!("greedy = {{message = \"{bytes} B\", sizes = {{erlang = 2}}}}")),
        (1u32..200, 1u32..200)
            .prop_map(|(on, off)| format!("on_off = {{mean_on = \"{on} us\", mean_off = \"{off} us\"}}")),
        (0.05f64..1.5, 1u32..9000)
            .prop_map(|(load, bytes)| format!("poisson = {{load = {load}, message = \"{bytes} B\"}}")),
        (1u32..40, 1u32..9000).prop_map(|(n, bytes)| format!(
            "batch = {{count = {n}, message = \"{bytes} B\", sizes = {{uniform = 1}}}}"
        )),
    ]
}

fn response() -> impl Strategy<Value = String> {
    select(Responding::names()).prop_map(|name| match name {
        "fixed" => "fixed = {rate = 0.3, window = 3}".to_string(),
        "table" => "table = {steps = [[1, 1, 0], [3, 8, 0], [3, 3, 1], [3, 2, 1]], window = 3}".to_string(),
        "binary_feedback" => "binary_feedback.initial = 5".to_string(),
        other => format!("{other}.window = 3"),
    })
}

fn scene() -> impl Strategy<Value = String> {
    let marking = select(Marking::names().iter().filter(|name| **name != "none").copied().collect::<Vec<_>>());
    (topology(), switch(), marking, response(), traffic(), traffic(), 1u32..4, any::<u32>()).prop_map(
        |(topology, switch, marking, response, first, second, ack_every, seed)| {
            // Only messages of several packets can have fewer ACKs than packets, and a window that can close to one
            // packet needs an ACK for each.
            let several = [&first, &second].iter().any(|traffic| traffic.contains("9000"));
            let several = several && !response.contains("binary_feedback");
            let echo = if several { format!("[echo.ibta]\nack_every = {ack_every}\n") } else { String::new() };
            let group = |name, sl, traffic| {
                format!("[[flows]]\nname = \"{name}\"\nfrom = [\"*\"]\nto = [\"*\"]\nsl = {sl}\ntraffic.{traffic}\n")
            };
            format!(
                "[run]\nduration = \"300 us\"\nseed = {seed}\n{topology}{switch}{echo}[marking.{marking}]\n[response]\n{response}\n{}{}",
                group("first", 0, first),
                group("second", 1, second)
            )
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Nothing is lost, credits are conserved, flows keep their order, and no such network can deadlock; the run itself
    /// checks. And the same seed gives the same results, on two threads as on one.
    #[test]
    fn guards_hold(text in scene()) {
        let scenario = Scenario::parse(&text, "random.toml").map_err(|m| TestCaseError::fail(format!("{m}\n{text}")))?;
        let first = scenario.run(0, 1, &mut |_| true).map_err(|e| TestCaseError::fail(format!("{e}\n{text}")))?;
        let again = scenario.run(0, 2, &mut |_| true).unwrap();
        // As text, where NaN is like NaN.
        prop_assert_eq!(format!("{first:?}"), format!("{again:?}"));
        prop_assert_eq!(first.guards.len(), 4);
    }
}
