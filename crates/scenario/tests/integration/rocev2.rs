//! RoCE: marking by a ramp, congestion notification packets, answers on a separate lane, queues of outputs.

use becalm_scenario::Scenario;

use crate::scenes::{names, numbers, run, scenario, single, table};

/// An incast of eight hosts over three switches, with further sections.
fn incast(more: &str) -> String {
    format!(
        r#"
        [run]
        duration = "2 ms"
        [topology.edges]
        hosts = ["h1..h8", "r", "x"]
        switches = ["s1..s3"]
        rate = "40 Gb/s"
        delay = "500 ns"
        cables = [
            {{ between = ["h1..h4", "s1"] }},
            {{ between = ["h5..h8", "s2"] }},
            {{ between = ["s1..s2", "s3"] }},
            {{ between = ["r", "s3"] }},
            {{ between = ["x", "s3"] }},
        ]
        [marking.ramp]
        pmax = 0.2
        [echo.rocev2]
        cnp_interval = "10 us"
        [[flows]]
        name = "incast"
        from = ["h1..h8"]
        to = ["r"]
        {more}
        "#
    )
}

#[test]
fn dcqcn_and_dctcp_are_the_same_on_any_number_of_threads() {
    let lanes = "[switch]\nvls = 2\n[packet]\nanswers_sl = 1\ncnp = \"98 B\"\n";
    for (response, echo) in [("dcqcn", "rocev2"), ("dcqcn.preset = \"connectx\"\n", "rocev2"), ("dctcp", "ack")] {
        let response =
            if response.contains('.') { format!("[response]\n{response}") } else { format!("[response.{response}]") };
        let text = incast(&format!("{lanes}{response}\n[observe]\nqueues = true"));
        let text =
            if echo == "ack" { text.replace("[echo.rocev2]\n        cnp_interval = \"10 us\"", "") } else { text };
        let scenario = scenario(&text);
        let results = |threads| scenario.run(0, threads, &mut |_| true).unwrap();
        let alone = results(1);
        assert!(numbers(&alone, "flows", "marked").iter().sum::<f64>() > 10.0, "{response}");
        for threads in [2, 4] {
            let several = results(threads);
            assert_eq!(several.fingerprint, alone.fingerprint, "{response}, {threads} threads");
            assert_eq!(table(&several, "queues"), table(&alone, "queues"), "{response}, {threads} threads");
        }
    }
}

#[test]
fn two_flows_with_dcqcn_stand_at_the_fixed_point() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/dcqcn_two.toml");
    let scenario = Scenario::parse(&std::fs::read_to_string(file).unwrap(), "dcqcn_two.toml").unwrap();
    let results = scenario.run(0, 1, &mut |_| true).unwrap();
    // Each output has a lane for data and a lane for notification packets.
    assert_eq!(names(&results, "queues", "to"), ["S1", "S1", "S2", "S2", "R", "R"]);
    let at = |column: &str| numbers(&results, "queues", column)[4];
    // In the fluid model, the queue is 20.15 kB, and 0.00078 of the packets are marked.
    assert!((18e3..28e3).contains(&at("mean")), "{}", at("mean"));
    let sum = |column| numbers(&results, "flows", column).iter().sum::<f64>();
    let marked = sum("marked") / sum("delivered_packets");
    assert!((0.0007..0.0012).contains(&marked), "{marked}");
    assert!(numbers(&results, "groups", "jain")[0] >= 0.99);
    assert!(sum("rate") * 8.0 >= 0.995 * 40e9, "{}", sum("rate") * 8.0);
}

#[test]
fn answers_travel_on_their_own_lane() {
    let lanes = |more: &str| {
        let results = run(&incast(&format!("[switch]\nvls = 2\n{more}")));
        let peers = names(&results, "buffers", "peer");
        let (vls, mean) = (numbers(&results, "buffers", "vl"), numbers(&results, "buffers", "mean_packets"));
        let from_r = |lane: f64| (0..peers.len()).find(|&i| peers[i] == "r" && vls[i] == lane).unwrap();
        [0.0, 1.0].map(|lane| mean[from_r(lane)] > 0.0)
    };
    // The host r sends only answers. A bystander keeps lane 1 in use.
    let bystander = "[[flows]]\nname = \"x\"\nfrom = [\"x\"]\nto = [\"h1\"]\nsl = 1\n";
    assert_eq!(lanes(bystander), [true, false]);
    assert_eq!(lanes(&format!("[packet]\nanswers_sl = 1\n{bystander}")), [false, true]);
}

#[test]
fn classes_of_answers_that_do_nothing_or_do_not_exist_are_reported() {
    let complaint = |more: &str| Scenario::parse(&incast(more), "f.toml").unwrap_err().to_string();
    let same = complaint("[packet]\nanswers_sl = 0");
    assert!(same.ends_with("packet.answers_sl = 0: does nothing: all flows also use VL 0"), "{same}");
    let beyond = complaint("[packet]\nanswers_sl = 3");
    assert!(beyond.contains("answers_sl = 3: service level 3 uses VL 3, but switch.vls = 1"), "{beyond}");
    let weightless =
        complaint("[switch]\nvls = 2\nvl_arbitration.tables.low = [{vl = 0, weight = 9}]\n[packet]\nanswers_sl = 1");
    assert!(weightless.contains("has no weight for VL 1"), "{weightless}");
    let lacking = complaint("[switch]\nvl_arbitration.tables.high = [{vl = 0, weight = 9}]");
    assert!(lacking.contains("vl_arbitration.tables.low"), "{lacking}");
    let high = complaint("[packet]\nanswers_sl = 16");
    assert!(high.contains("must be between 0 and 15"), "{high}");
}

#[test]
fn queues_are_what_two_senders_leave_behind() {
    let flows = |from: &str| {
        format!("[[flows]]\nname = \"{from}\"\nfrom = [\"{from}\"]\nto = [\"c\"]\n[flows.traffic.batch]\ncount = 100\n")
    };
    let text = single("duration = \"1 ms\"", &format!("{}{}", flows("a"), flows("b")));
    let asked = format!("[switch]\nbuffer = \"unlimited\"\n{text}[observe]\nqueues = true\n");
    let results = run(&asked);
    let to_c = names(&results, "queues", "to").iter().position(|to| to == "c").unwrap();
    let packets = |column: &str| numbers(&results, "queues", column)[to_c] / 2068.0;
    // 200 packets arrive within 100 packet times, and 100 or 101 depart. The remaining packets need as long again.
    assert!((99.0..=100.0).contains(&packets("max")), "{}", packets("max"));
    assert_eq!(packets("min"), 0.0);
    // The queue grows and shrinks within 200 packet times of 2.068 us, of 1 ms in total.
    let mean = 50.0 * 200.0 * 2.068e-6 / 1e-3;
    assert!((packets("mean") - mean).abs() < 0.6, "{} {mean}", packets("mean"));
    assert!(packets("p99") > 90.0 && packets("p50") < packets("p95"));
    assert_eq!(run(&asked.replace("queues = true", "")).fingerprint, results.fingerprint, "watching changes nothing");
}
