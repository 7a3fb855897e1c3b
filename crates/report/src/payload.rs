//! A complete payload: the data that a page shows of a run.

use becalm_metrics::frames::byte;
use becalm_scenario::sections::run::End;
use becalm_scenario::{FlowPaths, Scenario};
use serde_json::{Value, json};

use crate::pack::{Deflate, Filter, Pack};
use crate::ranking::{self, Shown};
use crate::schema::Schema;
use crate::tables::Tables;
use crate::verdict::verdict;
use crate::versus::Outcome;
use crate::{blocking, crossing, fabric, frames, groups, growth};

/// One replication.
#[derive(Clone, Debug)]
pub struct Run {
    /// Number of the replication.
    pub replication: u32,
    /// Fingerprint as text.
    pub fingerprint: String,
    /// Number of packet-hops, counting each link that a packet crossed.
    pub packet_hops: u64,
    /// Time in seconds at which the run was stopped before its end, if it was.
    pub stopped: Option<f64>,
    /// Result tables; missing ones are not shown.
    pub tables: Tables,
}

/// Options for a payload.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Largest size in bytes; every second frame is omitted until the payload fits. 0 for no limit.
    pub most_bytes: usize,
    /// Whether to keep all shares of every link over time, in full resolution.
    pub all: bool,
    /// Function that deflates the payload; `None` leaves it undeflated, for a page that reads it from memory.
    pub deflate: Option<Deflate>,
}

/// A payload, packed.
#[derive(Clone, Debug)]
pub struct Payload {
    /// The bytes, deflated if requested.
    pub bytes: Vec<u8>,
    /// Every n-th frame is kept.
    pub every: usize,
    /// Omitted shares of links over time.
    pub omitted: Vec<&'static str>,
}

/// The payload of a run; `about` is copied into the header, for title, provenance and texts.
pub fn payload(scenario: &Scenario, runs: &[Run], about: &Value, options: Options) -> Payload {
    let mut every = 1;
    loop {
        let made = attempt(scenario, runs, about, options, every);
        let frames = runs.iter().map(|run| run.tables.numbers("frames", "time").len()).max().unwrap_or(0);
        if options.most_bytes == 0 || made.bytes.len() <= options.most_bytes || every * 2 > frames {
            return made;
        }
        every *= 2;
    }
}

fn attempt(scenario: &Scenario, runs: &[Run], about: &Value, options: Options, every: usize) -> Payload {
    let schema = Schema::of(about);
    let mut pack = Pack::default();
    let (mut shown, mut omitted) = (Vec::new(), Vec::new());
    let fabric = fabric::fabric(scenario, &mut pack);
    let paths = scenario.flow_paths(*scenario.sections().run.seed);
    for run in runs {
        let (frames, left_out) = frames::frames(&run.tables, every, (options.all, options.deflate), &mut pack);
        for name in left_out {
            if !omitted.contains(&name) {
                omitted.push(name);
            }
        }
        shown.push(one(scenario, run, &paths, &schema, frames, &mut pack));
    }
    let sections = scenario.sections();
    let header = json!({
        "kind": "run",
        "about": without_schema(about),
        "duration": (*sections.run.duration).as_secs(),
        "warmup": (*sections.run.warmup).as_secs(),
        "groups": scenario.group_names(),
        "fabric": fabric,
        "every": every,
        "omitted": omitted,
        "runs": shown,
    });
    let whole = pack.whole(header);
    let bytes = if let Some(deflate) = options.deflate { deflate(&whole) } else { whole };
    Payload { bytes, every, omitted }
}

fn one(scenario: &Scenario, run: &Run, paths: &FlowPaths, schema: &Schema, frames: Value, pack: &mut Pack) -> Value {
    let tables = &run.tables;
    let mut shown: Vec<Shown<'_>> = Vec::new();
    shown.extend(groups::table(scenario, tables, schema));
    shown.extend(ranking::links(tables, schema));
    shown.extend(ranking::victims(tables, schema));
    shown.extend(ranking::tree(scenario, tables, schema));
    shown.extend(ranking::others(tables, schema));
    let end = run.stopped.unwrap_or_else(|| end(scenario, tables));
    json!({
        "end": end,
        "roles": ranking::roles(scenario, tables, paths),
        "replication": run.replication,
        "verdict": verdict(scenario, tables, run.stopped),
        "outcome": Outcome::new(scenario, tables).json(),
        "fingerprint": run.fingerprint,
        "packetHops": run.packet_hops,
        "frames": frames,
        "links": links(scenario, tables, pack),
        "blocking": blocking::blocking(scenario, tables, paths),
        "crossing": crossing::crossing(scenario, tables, paths, pack),
        "growth": growth::growth(scenario, tables, end, pack),
        "overTime": groups::over_time(scenario, tables, pack),
        "latencies": groups::latencies(scenario, tables, pack),
        "victims": pack.words(&ranking::victim_nodes(scenario, tables)),
        "tables": shown.iter().map(Shown::json).collect::<Vec<_>>(),
    })
}

/// End of a run in seconds. If the scenario ends with its jobs and all jobs ended, this is the end of the last job or
/// the last period in a tree, whichever is later: a run continues to the next step of its recordings.
fn end(scenario: &Scenario, tables: &Tables) -> f64 {
    let (run, ends) = (&scenario.sections().run, tables.numbers("jobs", "end"));
    let duration = (*run.duration).as_secs();
    let with_jobs = matches!(*run.end, End::Jobs) && !ends.is_empty() && ends.iter().all(|end| end.is_finite());
    let last = ends.into_iter().chain(tables.numbers("spans", "end")).fold(0.0, f64::max);
    if with_jobs { last.min(duration) } else { duration }
}

/// The texts of a page's header without the table declarations, which the columns already contain.
fn without_schema(about: &Value) -> Value {
    let mut about = about.clone();
    about.as_object_mut().map(|texts| texts.remove("schema"));
    about
}

/// Shares of every link over the measured window, as bytes; null without the table.
fn links(scenario: &Scenario, tables: &Tables, pack: &mut Pack) -> Value {
    let column = |name: &str| tables.numbers("links", name);
    let (busy, packets) = (column("utilization"), column("packets"));
    if busy.is_empty() {
        return Value::Null;
    }
    let lanes = usize::from(scenario.sections().vls());
    // A link has the role of the lane that was root or branch longest.
    let roles = |name: &str| -> Vec<f64> {
        let largest = |lane: &[f64]| lane.iter().copied().fold(0.0, f64::max);
        tables.numbers("tree", name).chunks(lanes).map(largest).collect()
    };
    let marked: Vec<f64> = column("marked").iter().zip(&packets).map(|(marked, all)| marked / all.max(1.0)).collect();
    let mut share = |values: &[f64]| {
        let bytes: Vec<u8> = values.iter().map(|&value| byte(value)).collect();
        pack.bytes(&bytes, Filter::None)
    };
    json!({
        "utilization": share(&busy),
        "stalled": share(&column("stalled_share")),
        "marked": share(&marked),
        "root": share(&roles("root_share")),
        "branch": share(&roles("branch_share")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pack::deflated;

    fn made(observe: &str, most_bytes: usize) -> (Payload, Value) {
        let text = format!(
            "[run]\nduration = \"1 ms\"\n[topology.clos]\nleaves = 4\nspines = 2\nhosts_per_leaf = 4\n[[flows]]\n\
             name = \"</script><b>\"\nfrom = [\"*\"]\nto = [\"H0\"]\n[observe]\nlinks = []\n{observe}\n"
        );
        let scenario = Scenario::parse(&text, "f.toml").unwrap_or_else(|errors| panic!("{errors}"));
        let results = scenario.run(0, 1, &mut |_| true).unwrap();
        let run = Run {
            replication: 0,
            fingerprint: "f".to_string(),
            packet_hops: 1,
            stopped: None,
            tables: results.tables.into(),
        };
        let made = payload(
            &scenario,
            &[run],
            &json!({"title": "t"}),
            Options { most_bytes, all: false, deflate: Some(deflated) },
        );
        let whole = miniz_oxide::inflate::decompress_to_vec(&made.bytes).unwrap();
        let length = u64::from_le_bytes(whole[..8].try_into().unwrap()) as usize;
        let header = serde_json::from_slice(&whole[8..8 + length]).unwrap();
        (made, header)
    }

    #[test]
    fn a_payload_has_every_part_that_was_recorded() {
        let (made, header) = made("frames = \"20 us\"\nspans = true", 0);
        let run = &header["runs"][0];
        assert_eq!(run["frames"]["times"].as_array().unwrap().len(), 50);
        for part in ["links", "crossing", "growth", "overTime"] {
            assert!(run[part].is_object(), "{part}");
        }
        let tables = run["tables"].as_array().unwrap();
        let names: Vec<&str> = tables.iter().map(|table| table["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["groups", "hottest", "blocked", "victims", "tree", "flows", "buffers", "hosts"]);
        // The host's own link is full, and is the only root.
        let column = |name: &str, at: usize| {
            let table = tables.iter().find(|table| table["name"] == name).unwrap();
            table["rows"].as_array().unwrap().iter().map(|row| row[at].clone()).collect::<Vec<_>>()
        };
        assert_eq!(column("hottest", 0)[0], column("tree", 0)[0]);
        assert_eq!(column("tree", 1).iter().filter(|role| *role == "root").count(), 1);
        assert_eq!((made.every, made.omitted.len()), (1, 0));
    }

    #[test]
    fn a_payload_without_recordings_has_the_fabric_and_the_tables() {
        let (_, header) = made("", 0);
        let run = &header["runs"][0];
        assert!(run["frames"].is_null() && run["growth"].is_null() && run["crossing"].is_object());
        assert_eq!(header["fabric"]["names"].as_array().unwrap().len(), 22);
    }

    #[test]
    fn a_table_that_this_core_does_not_make_is_shown_as_it_is_declared() {
        let scenario = Scenario::parse(
            "[run]\nduration = \"1 us\"\n[topology.dumbbell]\n[[flows]]\nname = \"f\"\nfrom = [\"B1\"]\nto = [\"BC\"]\n",
            "f.toml",
        )
        .unwrap_or_else(|errors| panic!("{errors}"));
        let mut tables = Tables::default();
        let column = |name: &str, data| crate::Column { name: name.to_string(), unit: String::new(), data };
        let values =
            [column("what", vec!["a".to_string(), "b".to_string()].into()), column("part", vec![0.25, 0.5].into())];
        tables.insert("probe".to_string(), values.into());
        let declared = |name: &str, kind: &str| json!({"name": name, "kind": kind, "unit": "", "meaning": "It."});
        let columns = [declared("what", "name"), declared("part", "share")];
        let probe = json!({"name": "probe", "rows": "One.", "over_time": false, "rank": "part", "columns": columns});
        let run = Run { replication: 0, fingerprint: "f".to_string(), packet_hops: 1, stopped: None, tables };
        let made = payload(&scenario, &[run], &json!({"schema": [probe]}), Options::default());
        let length = u64::from_le_bytes(made.bytes[..8].try_into().unwrap()) as usize;
        let header: Value = serde_json::from_slice(&made.bytes[8..8 + length]).unwrap();
        let shown = &header["runs"][0]["tables"][0];
        assert_eq!((&shown["about"], &shown["rows"]), (&json!("One."), &json!([["b", 0.5], ["a", 0.25]])));
        assert_eq!(shown["columns"][1], json!({"name": "part", "kind": "share", "unit": "", "meaning": "It."}));
        assert!(header["about"]["schema"].is_null());
    }

    fn small(run: &str) -> Scenario {
        let text = format!(
            "[run]\nduration = \"10 ms\"\n{run}\n[topology.dumbbell]\n[[jobs]]\nname = \"j\"\nhosts = [\"B1\", \"B2\"]\n\
             collective.all_reduce = {{bytes = \"1 MiB\", algorithm = \"ring\"}}\n"
        );
        Scenario::parse(&text, "f.toml").unwrap_or_else(|errors| panic!("{errors}"))
    }

    fn tables(name: &str, columns: Vec<(&str, becalm_metrics::Data)>) -> Tables {
        let mut tables = Tables::default();
        let column = |(name, data): (&str, _)| crate::Column { name: name.to_string(), unit: String::new(), data };
        tables.insert(name.to_string(), columns.into_iter().map(column).collect());
        tables
    }

    #[test]
    fn roots_and_branches_are_counted_beyond_the_rows_of_a_table() {
        let role: Vec<String> = (0..200).map(|row| if row < 90 { "root" } else { "branch" }.to_string()).collect();
        let column = |of: fn(usize) -> f64| (0..200).map(of).collect::<Vec<f64>>();
        let given = tables(
            "tree",
            vec![
                ("role", role.into()),
                ("since", column(|row| row as f64).into()),
                ("root_share", column(|row| 1.0 - row as f64 / 200.0).into()),
                ("branch_share", column(|_| 0.0).into()),
                ("contributors", column(|row| f64::from(u8::from(row == 70 || row == 80))).into()),
            ],
        );
        let scenario = small("");
        let made = ranking::roles(&scenario, &given, &scenario.flow_paths(1));
        // Row 0 was a root longest, but no flows oversubscribe it.
        let lanes = usize::from(scenario.sections().vls());
        assert_eq!(made, json!({"roots": 2, "branches": 110, "first": {"link": 70 / lanes, "since": 70.0}}));
        let shown = ranking::tree(&scenario, &given, &Schema::of(&json!({}))).unwrap().json();
        assert!(shown["rows"].as_array().unwrap().len() < 90);
        assert!(ranking::roles(&scenario, &Tables::default(), &scenario.flow_paths(1)).is_null());
    }

    #[test]
    fn a_run_ends_with_its_last_job_where_the_scenario_says_so() {
        let jobs = |ends: Vec<f64>| tables("jobs", vec![("end", ends.into())]);
        let with_jobs = small("end = \"jobs\"");
        assert_eq!(end(&with_jobs, &jobs(vec![1e-3, 2e-3])), 2e-3);
        assert_eq!(end(&with_jobs, &jobs(vec![1e-3, f64::NAN])), 10e-3);
        assert_eq!(end(&small(""), &jobs(vec![1e-3, 2e-3])), 10e-3);
    }

    #[test]
    fn generators_have_their_forms() {
        let lanes = "change_vls = false\nallow_cycles = true";
        for (topology, form) in [
            ("torus]\nsides = [4, 3]", "grid"),
            ("torus]\nsides = [3, 2, 4]", "grid"),
            ("dragonfly]\nswitches_per_group = 4\nhosts_per_switch = 2\nglobal_links = 2", "groups"),
        ] {
            let flows = "[[flows]]\nname = \"f\"\nfrom = [\"H0\"]\nto = [\"H1\"]";
            let text = format!("[run]\nduration = \"1 us\"\n[topology.{topology}\n{lanes}\n{flows}\n");
            let scenario = Scenario::parse(&text, "f.toml").unwrap_or_else(|errors| panic!("{errors}"));
            assert_eq!(fabric::fabric(&scenario, &mut Pack::default())["form"], form, "{topology}");
        }
    }

    #[test]
    fn frames_are_left_out_until_it_fits() {
        let (whole, _) = made("frames = \"10 us\"", 0);
        let (less, header) = made("frames = \"10 us\"", whole.bytes.len() - 1);
        assert!(less.bytes.len() < whole.bytes.len() && less.every > 1);
        let times = header["runs"][0]["frames"]["times"].as_array().unwrap();
        assert_eq!((times.len(), times.last().unwrap().as_f64()), (100usize.div_ceil(less.every), Some(1e-3)));
    }
}
