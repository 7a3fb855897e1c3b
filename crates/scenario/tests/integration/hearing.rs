//! Warnings about responses that never receive feedback on congestion.

use becalm_scenario::Scenario;

/// Warnings of a small network with these sections, without those about idle links.
fn warnings(schemes: &str) -> Vec<String> {
    warnings_of("", schemes)
}

fn warnings_of(switch: &str, schemes: &str) -> Vec<String> {
    let text = format!(
        "[run]\nduration = \"1 us\"\n[topology.clos]\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\n[switch]\n{switch}\n\
         {schemes}\n[[flows]]\nname = \"f\"\nfrom = [\"H0\"]\nto = [\"H3\"]\n"
    );
    let scenario = Scenario::parse(&text, "f.toml").unwrap_or_else(|errors| panic!("{errors}"));
    let of_schemes = |warning: &String| ["[response.", "[marking."].iter().any(|start| warning.starts_with(start));
    scenario.warnings().into_iter().filter(of_schemes).collect()
}

#[test]
fn an_echo_that_leaves_out_marks_is_warned_of_where_they_are_counted() {
    let [share] = &warnings("[marking.ramp]\n[echo.rocev2]\n[response.dctcp]")[..] else { panic!("one warning") };
    assert_eq!(
        share,
        "[response.dctcp]: reacts to the share of marked packets, but [echo.rocev2] skips marks that arrive soon after \
         another, so it slows down too little; [echo.ack] reports all marks"
    );
    assert_eq!(warnings("[marking.ramp]\n[echo.rocev2]\ncnp_scope = \"port\"\n[response.dctcp]").len(), 1);
    let all = "[echo.rocev2]\ncnp_interval = \"0 s\"\n[response.dctcp]";
    let fine = [
        all,
        "[echo.ack]\n[response.dctcp]",
        "[echo.rocev2]\n[response.dcqcn]",
        "[echo.rocev2]\n[response.lipd]",
        "[echo.uet]\n[response.nscc]",
        "[echo.uet]\n[response.dctcp]",
    ];
    for schemes in fine {
        assert_eq!(warnings(&format!("[marking.ramp]\n{schemes}")), Vec::<String>::new(), "{schemes}");
    }
}

#[test]
fn no_marks_for_a_response_that_needs_them_gives_a_warning() {
    for name in ["dctcp", "nscc"] {
        let [unmarked] = &warnings(&format!("[response.{name}]"))[..] else { panic!("one warning") };
        assert!(unmarked.contains("never slows down: it reacts to marks, but no switch marks packets"), "{unmarked}");
    }
    for fine in ["", "[response.timely]", "[response.swift]", "[response.hpcc]", "[response.fixed]\nrate = 0.5"] {
        assert_eq!(warnings(fine), Vec::<String>::new(), "{fine}");
    }
}

#[test]
fn marks_that_no_response_reads_give_a_warning() {
    for unread in ["[response.none]", "[response.timely]", "[response.fixed]\nrate = 0.5"] {
        let [warning] = &warnings(&format!("[marking.ramp]\n{unread}"))[..] else { panic!("one warning: {unread}") };
        assert!(warning.starts_with("[marking.ramp]: marks have no reader: [response."), "{warning}");
    }
    let one = "[marking.ramp]\n[response.none]\n[[flows]]\nname = \"g\"\nfrom = [\"H1\"]\nto = [\"H2\"]\n";
    assert_eq!(warnings(&format!("{one}response.lipd = {{}}")), Vec::<String>::new());
}

#[test]
fn telemetry_of_several_ways_is_warned_of() {
    let [warning] = &warnings_of("paths.packet = {}", "[response.hpcc]")[..] else { panic!("one warning") };
    assert!(warning.starts_with("[response.hpcc]: ") && warning.contains("over several paths"), "{warning}");
    assert_eq!(warnings_of("paths.flow = {}", "[response.hpcc]"), Vec::<String>::new());
    assert_eq!(warnings_of("paths.packet = {}", "[response.swift]"), Vec::<String>::new());
}

#[test]
fn responses_of_groups_are_looked_at_and_those_that_nobody_has_are_not() {
    let groups =
        "[marking.ramp]\n[echo.rocev2]\n[[flows]]\nname = \"g\"\nfrom = [\"H1\"]\nto = [\"H2\"]\nresponse.dctcp = {}";
    assert_eq!(warnings(groups).len(), 1);
}
