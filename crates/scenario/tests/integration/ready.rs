//! Ready scenarios of becalm.

use becalm_scenario::Scenario;

#[test]
fn all_scenarios_that_come_along_are_right_and_run() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios");
    let mut count = 0;
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    for path in files.filter(|path| path.extension().is_some_and(|end| end == "toml")) {
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy();
        let parse = |text: &str| Scenario::parse(text, &name).unwrap_or_else(|errors| panic!("{errors}"));
        let whole = parse(&text);
        // A whole run of 432 hosts takes a minute; its hot spot begins after 1 ms.
        let large = name.starts_with("pfister2005_hot_spot_432");
        let scenario = if large { parse(&text.replace("duration = \"10 ms\"", "duration = \"2 ms\"")) } else { whole };
        let results = scenario.run(0, 1, &mut |_| true).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(results.packet_hops > 1000, "{name}");
        count += 1;
    }
    assert!(count >= 5, "{count} scenarios");
}

#[test]
fn this_build_gives_the_same_bits_as_any_other() {
    let file = |name: &str| {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/same_bits/");
        std::fs::read_to_string(format!("{folder}{name}")).unwrap()
    };
    let scenario = Scenario::parse(&file("scenario.toml"), "scenario.toml").unwrap_or_else(|errors| panic!("{errors}"));
    let results = scenario.run(0, 1, &mut |_| true).unwrap();
    assert_eq!(format!("{:016x}", results.fingerprint), file("fingerprint").trim());
}
