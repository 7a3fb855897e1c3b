//! Limits on congestion notification packets (CNPs): one preset for both ends of a flow, and the delay of CNPs.

use becalm_scenario::{Results, Scenario};

use crate::scenes::{numbers, scenario};

/// Four hosts behind one switch send to a host behind another, with these sections.
fn incast(schemes: &str) -> Scenario {
    scenario(&format!(
        r#"
        [run]
        duration = "1 ms"
        [topology.edges]
        hosts = ["h1..h4", "r"]
        switches = ["s1..s2"]
        rate = "40 Gb/s"
        delay = "500 ns"
        cables = [{{ between = ["h1..h4", "s1"] }}, {{ between = ["s1", "s2"] }}, {{ between = ["r", "s2"] }}]
        [switch]
        buffer = "64 packets"
        [marking.ramp]
        pmax = 0.2
        {schemes}
        [[flows]]
        name = "incast"
        from = ["h1..h3"]
        to = ["r"]
        "#
    ))
}

const OTHER: &str = "[[flows]]\nname = \"other\"\nfrom = [\"h4\"]\nto = [\"r\"]\n";
const ADAPTER: &str = "[response.dcqcn]\npreset = \"connectx\"\n[echo.rocev2]\n";

/// The interval and the scope in use.
fn limit(schemes: &str) -> (String, String) {
    let echo = incast(schemes).resolved()["echo"]["rocev2"].clone();
    let value = |key: &str| echo[key].as_str().unwrap().to_string();
    (value("cnp_interval"), value("cnp_scope"))
}

fn run(schemes: &str, threads: usize) -> Results {
    incast(schemes).run(0, threads, &mut |_| true).unwrap()
}

fn is(interval: &str, scope: &str) -> (String, String) {
    (interval.into(), scope.into())
}

#[test]
fn a_preset_sets_both_ends() {
    assert_eq!(limit("[response.dcqcn]\n[echo.rocev2]"), is("50 us", "qp"));
    assert_eq!(limit("[response.lipd]\n[echo.rocev2]"), is("50 us", "qp"));
    assert_eq!(limit(ADAPTER), is("4 us", "port"));
    let named = format!("{ADAPTER}cnp_interval = \"4 us\"\ncnp_scope = \"port\"");
    assert_eq!(run(ADAPTER, 1).fingerprint, run(&named, 1).fingerprint);
    let resolved = incast(ADAPTER).resolved();
    let again = Scenario::from_json(&resolved, "f.toml").unwrap();
    assert_eq!((again.resolved(), again.warnings().len()), (resolved, 0));
}

#[test]
fn responses_of_groups_set_the_echo_too() {
    let own = |preset: &str| format!("{OTHER}response.dcqcn = {{ preset = \"{preset}\" }}\n");
    let lone = |response: &str| format!("{response}[echo.rocev2]\n{}", own("connectx"));
    assert_eq!(limit(&lone("[response.lipd]\n")), is("4 us", "port"));
    assert_eq!(limit(&lone("[response.dcqcn]\n")), is("50 us", "qp"), "the common response comes first");
    let [warning] = &incast(&lone("[response.dcqcn]\n")).warnings()[..] else { panic!("one warning") };
    assert_eq!(
        warning,
        "flows[0].response.dcqcn: has the values of ConnectX adapters, which send a notification at most every 4 us, \
         but [echo.rocev2] sends one at most every 50 us, the value of the DCQCN paper; use one preset for all \
         responses and leave out echo.rocev2.cnp_interval, or set it to another value"
    );
    assert!(incast(&format!("{ADAPTER}{}", own("connectx"))).warnings().is_empty());
}

#[test]
fn values_that_are_given_stay_and_a_mix_gives_a_warning() {
    let named = |interval: &str| format!("{ADAPTER}cnp_interval = \"{interval}\"\n");
    assert_eq!(limit(&named("50 us")), is("50 us", "port"));
    assert_eq!(limit(&format!("{ADAPTER}cnp_scope = \"qp\"")), is("4 us", "qp"));
    let warns = |schemes: &str| incast(schemes).warnings().iter().any(|text| text.contains("use one preset"));
    assert!(warns(&named("50 us")));
    assert!(!warns(&named("20 us")) && !warns(&named("4 us")), "the value of no other source");
    assert!(warns("[response.dcqcn]\n[echo.rocev2]\ncnp_interval = \"4 us\""));
    assert!(!warns("[response.lipd]\n[echo.rocev2]\ncnp_interval = \"4 us\""), "a response for any destination");
    assert!(!warns("[response.dcqcn]\npreset = \"connectx\"\n[echo.ack]"));
}

#[test]
fn a_wider_scope_sends_fewer_notifications() {
    let slowed = |scope: &str| {
        let results = run(&format!("{ADAPTER}cnp_scope = \"{scope}\"\n"), 1);
        numbers(&results, "groups", "marked_share")[0]
    };
    let [own, shared, port] = ["qp", "destination", "port"].map(slowed);
    assert_eq!(own, shared, "every flow has its own source");
    assert!(port > 1.5 * own, "fewer cuts leave longer queues: {port} {own}");
}

#[test]
fn notifications_can_be_delayed() {
    let schemes = |delay: &str| format!("[response.dcqcn]\n[echo.rocev2]\ncnp_interval = \"10 us\"\n{delay}");
    let at_once = run(&schemes(""), 1).fingerprint;
    assert_eq!(run(&schemes("cnp_delay = \"0 s\""), 1).fingerprint, at_once);
    let late = run(&schemes("cnp_delay = \"30 us\""), 1);
    assert_ne!(late.fingerprint, at_once);
    assert_eq!(run(&schemes("cnp_delay = \"30 us\""), 2).fingerprint, late.fingerprint);
    // The run ends before the first notification is ready.
    let never = run(&schemes("cnp_delay = \"900 ms\""), 1);
    assert!(numbers(&never, "hosts", "rcv_becn").iter().sum::<f64>() == 0.0);
}
