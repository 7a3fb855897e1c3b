//! Documentation of all choices in a scenario.

use becalm_scenario::{catalogue, json_schema};

#[test]
fn everything_has_a_text_and_every_parameter_help() {
    let catalogue = catalogue();
    for (kind, entries) in catalogue.as_object().unwrap() {
        for entry in entries.as_array().unwrap() {
            let name = entry["name"].as_str().unwrap();
            assert!(!entry["doc"].as_str().unwrap().is_empty(), "{kind}/{name}");
            for parameter in entry["parameters"].as_array().unwrap() {
                assert!(!parameter["help"].as_str().unwrap().is_empty(), "{kind}/{name}: {parameter}");
            }
        }
    }
}

#[test]
fn names_are_those_of_scenarios() {
    let catalogue = catalogue();
    let names = |kind: &str| -> Vec<String> {
        catalogue[kind].as_array().unwrap().iter().map(|e| e["name"].as_str().unwrap().to_string()).collect()
    };
    assert!(names("topologies").contains(&"fat_tree".to_string()));
    assert_eq!(names("traffic"), ["greedy", "on_off", "poisson", "batch"]);
    assert_eq!(names("patterns"), ["shift", "tornado", "bit_reversal", "permutation", "all_to_all"]);
    let laws =
        ["destination", "flow", "packet", "round_robin", "least_waiting", "flowlet", "entropy", "valiant", "ugal"];
    assert_eq!(names("paths"), laws);
    assert_eq!(names("arbiters"), ["oldest_first", "round_robin"]);
    assert!(names("response").contains(&"lipd".to_string()));
}

#[test]
fn the_schema_knows_all_sections() {
    let schema = json_schema();
    for section in
        ["run", "topology", "switch", "adapter", "packet", "marking", "echo", "response", "flows", "jobs", "observe"]
    {
        assert!(schema["properties"][section].is_object(), "{section}");
    }
    assert_eq!(schema["required"], serde_json::json!(["run", "topology"]));
}
