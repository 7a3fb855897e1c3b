//! Priority-based flow control in scenarios: thresholds, messages, warnings, pauses in tables.

use becalm_metrics::Data;
use becalm_scenario::{Results, Scenario};

use crate::bad::complaint;

/// Eight senders and a victim on a dumbbell. `switch` is the rest of `[switch]`, and `more` is added at the end.
fn dumbbell(switch: &str, more: &str) -> String {
    format!(
        "[run]\nduration = \"2 ms\"\n[topology.dumbbell]\nremote = 4\nlocal = 4\ndelay = \"100 ns\"\n[switch]\n{switch}\n\
         [[flows]]\nname = \"local\"\nfrom = [\"B1..B4\"]\nto = [\"BC\"]\n\
         [[flows]]\nname = \"remote\"\nfrom = [\"A1..A4\"]\nto = [\"BC\"]\n\
         [[flows]]\nname = \"victim\"\nfrom = [\"AV\"]\nto = [\"BV\"]\n{more}"
    )
}

fn read(switch: &str, more: &str) -> Scenario {
    Scenario::parse(&dumbbell(switch, more), "f.toml").unwrap_or_else(|errors| panic!("{errors}"))
}

fn run(scenario: &Scenario, threads: usize) -> Results {
    scenario.run(0, threads, &mut |_| true).unwrap_or_else(|error| panic!("{error}"))
}

fn column<'a>(results: &'a Results, table: &str, name: &str) -> &'a Data {
    let table = results.tables.iter().find(|other| other.name == table).unwrap_or_else(|| panic!("no table {table}"));
    &table.columns.iter().find(|column| column.name == name).unwrap_or_else(|| panic!("no column {name}")).data
}

fn counts(results: &Results, name: &str) -> u64 {
    let Data::U64(values) = column(results, "pauses", name) else { panic!("{name} is not a number of things") };
    values.iter().sum()
}

const PFC: &str = "flow_control.pfc = {}";

#[test]
fn pauses_are_counted_by_link_and_lane() {
    let results = run(&read(PFC, ""), 1);
    let Data::F64(shares) = column(&results, "pauses", "paused_share") else { panic!("shares are numbers") };
    // The switches A and B have 6 and 7 inputs.
    assert_eq!(shares.len(), 13);
    assert!(shares.iter().all(|share| (0.0..=1.0).contains(share)));
    assert!(counts(&results, "pauses") > 100);
    assert!(counts(&results, "headroom_used") > 0 && counts(&results, "headroom_used") <= counts(&results, "headroom"));
    assert!(results.guards.iter().any(|guard| guard.contains("overflowed")), "{:?}", results.guards);
    let credit = run(&read("", ""), 1);
    assert!(credit.tables.iter().all(|table| table.name != "pauses"));
}

#[test]
fn threads_change_nothing() {
    for switch in [PFC, "flow_control.pfc.thresholds.dynamic.alpha = 0.5"] {
        let scenario = read(switch, "");
        // Compared as text, because NaN does not equal NaN.
        let [one, two, four] = [1, 2, 4].map(|threads| format!("{:?}", run(&scenario, threads)));
        // Without assert_eq, which would print megabytes.
        assert!(one == two, "two threads differ from one");
        assert!(one == four, "four threads differ from one");
    }
}

#[test]
fn too_little_headroom_ends_the_run_with_its_name() {
    let scenario = read("flow_control.pfc.headroom = \"1000 B\"", "");
    let warnings = scenario.warnings();
    assert!(warnings.iter().any(|warning| warning.contains("headroom: 1000 B is too little")), "{warnings:?}");
    let error = scenario.run(0, 1, &mut |_| true).expect_err("a packet has no room").to_string();
    assert!(error.starts_with("headroom of ") && error.contains("it is 1000 B"), "{error}");
}

#[test]
fn settings_that_do_not_fit_are_refused() {
    let root_only = "[marking.queue_threshold]\n[response.lipd]\n";
    let cases = [
        dumbbell("buffer = \"unlimited\"\nflow_control.pfc = {}", ""),
        dumbbell("flow_control.pfc = {delay = \"1 us\", response = \"1 us\"}", ""),
        dumbbell("buffer = \"8 KiB\"\nflow_control.pfc.thresholds.static.xon = \"9 KiB\"", ""),
        dumbbell("flow_control.pfc.thresholds.dynamic.shared = \"2 kB\"", ""),
        dumbbell("flow_control.pfc.thresholds.dynamic.alpha = 0.0", ""),
        dumbbell("flow_control.pfc = {}\nswitching = \"store_and_forward\"\nservice = \"exponential\"", ""),
        dumbbell("flow_control.pfc.delay = \"0 s\"", ""),
        dumbbell("flow_control.pause = {}", ""),
        dumbbell(PFC, root_only),
        dumbbell(PFC, "[marking.ibta]\n[response.lipd]\n"),
        dumbbell(
            PFC,
            "[marking.ibta]\nvictim_mask = \"all\"\ncredit_mask = \"all\"\ncs_threshold = 3\ncs_return_delay = [0, 4]\n[response.lipd]\n",
        ),
    ];
    let said: Vec<String> = cases.iter().map(|text| complaint(text)).collect();
    insta::assert_snapshot!(said.join("\n"));
}

#[test]
fn markers_that_look_at_no_credit_are_taken() {
    for marking in ["queue_threshold]\nroot_only = false", "ibta]\nvictim_mask = \"all\"", "input_triggered]"] {
        run(&read(PFC, &format!("[marking.{marking}\n[response.lipd]\n")), 1);
    }
}

/// Warnings with a marking threshold, input buffers of 100 KiB, and these PFC thresholds.
fn warnings(high: f64, thresholds: &str) -> Vec<String> {
    let switch = format!("buffer = \"100 KiB\"\nflow_control.pfc = {thresholds}");
    let marking = format!(
        "[marking.queue_threshold]\nroot_only = false\nhigh = {high}\nlow = 0.0\n[response.lipd]\nwindow = 8\n"
    );
    read(&switch, &marking).warnings()
}

#[test]
fn pauses_before_marks_are_warned_of() {
    // Switch B has 7 ports. An input that feeds all outputs is paused at 102400 / 7 B per output.
    let fine = warnings(0.1, "{}");
    assert_eq!(fine, Vec::<String>::new());
    let [can] = &warnings(0.2, "{}")[..] else { panic!("one warning") };
    assert!(can.contains("20480 B is marked") && can.contains("all 7 outputs") && can.contains("14628 B"), "{can}");
    let [surely] = &warnings(1.5, "{}")[..] else { panic!("one warning") };
    assert!(
        surely.contains("153600 B is marked") && surely.contains("already pauses") && surely.contains("at 102400 B"),
        "{surely}"
    );
    // alpha S / (n (1 + alpha)) with alpha = 1 and S = 7 buffers: half a buffer for each.
    assert_eq!(warnings(0.4, "{thresholds = {dynamic = {alpha = 1.0}}}"), Vec::<String>::new());
    let [shared] = &warnings(0.6, "{thresholds = {dynamic = {alpha = 1.0}}}")[..] else { panic!("one warning") };
    assert!(shared.contains("51200 B"), "{shared}");
}

#[test]
fn a_buffer_that_can_run_dry_is_warned_of() {
    let [dry] = &read("flow_control.pfc = {}\nbuffer = \"8272 B\"", "").warnings()[..] else { panic!("one warning") };
    // 2068 + 84 + 67 x 64 ns for the pause, 100 ns for the cable, twice, and 40 ns in the switch, at 1 B/ns.
    assert!(dry.contains("XON is 4136 B, but 6680 B can leave"), "{dry}");
    let far = read("flow_control.pfc = {}\nbuffer = \"11 KiB\"", "");
    assert_eq!(far.warnings(), Vec::<String>::new());
    // Four packets are enough without pauses, but not with them.
    for switch in ["", PFC] {
        assert_eq!(read(switch, "").warnings(), Vec::<String>::new());
    }
}
