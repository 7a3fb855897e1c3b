//! Chakra execution traces.

use std::collections::BTreeSet;
use std::path::Path;

use becalm_engine::Time;
use becalm_workload::chakra::{Gathered, Trace, program};
use becalm_workload::{Action, LogGops, Mistakes, Program, Reading, goal};

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/chakra").join(name)).unwrap()
}

fn reading(names: &[String], gathered: Gathered) -> Result<Reading, Mistakes> {
    let traces: Result<Vec<Trace>, Mistakes> =
        names.iter().map(|name| Trace::read(&bytes(name), name, u64::MAX)).collect();
    program(&traces?, "trace", gathered)
}

fn read(names: &[&str]) -> Result<Program, Mistakes> {
    let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
    reading(&names, Gathered::Part).map(|read| read.program)
}

/// Program of a trace's ranks.
fn of_ranks(name: &str, ranks: u32, gathered: Gathered) -> Reading {
    let names: Vec<String> = (0..ranks).map(|rank| format!("{name}.{rank}.et")).collect();
    reading(&names, gathered).unwrap()
}

/// Four ranks compute for 100 us, reduce 1 MB, compute for 20 us. Then 0 sends 64 KiB to 1, and 2 and 3 gather 4 kB.
const STEP: [&str; 4] = ["step.0.et", "step.1.et", "step.2.et", "step.3.et.gz"];

#[test]
fn a_trace_becomes_a_program_that_ends() {
    let program = read(&STEP).unwrap();
    program.check().unwrap();
    assert_eq!(program.ranks(), 4);
    // In a ring of four, each rank sends three quarters of the vector twice to the next rank.
    for rank in 0..4 {
        let next = (rank + 1) % 4;
        let more = match rank {
            0 => 65_536,
            2 => 2_048,
            _ => 0,
        };
        assert_eq!(program.bytes(rank, next), 1_500_000 + more, "{rank}");
    }
    assert_eq!(program.bytes(3, 2), 2_048);
    let computed: u64 = (0..program.len() as u32)
        .map(|number| match program.op(number).action {
            Action::Calc { time } => time.0,
            _ => 0,
        })
        .sum();
    assert_eq!(Time(computed), Time::from_us(4 * 120));
    let ends = LogGops::LOGGOPSIM.ends(&program).unwrap();
    assert!(ends.iter().all(|&end| end > Time::from_us(120) + Time::from_us(9_000)), "{ends:?}");
}

#[test]
fn its_goal_text_means_the_same() {
    let program = read(&STEP).unwrap();
    assert_eq!(goal::parse(&goal::write(&program), "again.goal").unwrap().program, program);
}

/// Time of a program in ns in ASTRA-sim's analytical network with 50 GB/s and 500 ns. There, each message needs
/// 500 ns + bytes / (50 GB/s), independent of other traffic. All messages must have the same size.
fn astra_ns(program: &Program) -> f64 {
    let sent = (0..program.len() as u32).filter_map(|number| match program.op(number).action {
        Action::Send { bytes, .. } => Some(bytes),
        _ => None,
    });
    let sizes: BTreeSet<u64> = sent.collect();
    assert_eq!(sizes.len(), 1, "{sizes:?}");
    let latency = Time(500_000 + 20 * sizes.first().unwrap());
    let ends = LogGops { latency, ..LogGops::FREE }.ends(program).unwrap();
    ends.iter().max().unwrap().0 as f64 / 1000.0
}

/// ASTRA-sim's `Ring`: number of steps, and the part of the vector in each. Pairs of an all-to-all also count as steps.
#[test]
fn rings_take_the_time_that_astra_sim_says() {
    for (name, ranks, steps, part) in [
        ("all_gather", 8, 7.0, 1.0),
        ("all_reduce", 4, 6.0, 1.0 / 4.0),
        ("reduce_scatter", 4, 3.0, 1.0 / 4.0),
        ("all_to_all", 4, 3.0, 1.0 / 4.0),
    ] {
        let read = of_ranks(name, ranks, Gathered::Part);
        assert_eq!(read.warnings, [""; 0]);
        let (found, expected) = (astra_ns(&read.program), steps * (500.0 + 1_048_576.0 * part / 50.0));
        assert!((found - expected).abs() < 0.2, "{name}: {found} ns, not {expected}");
    }
}

#[test]
fn the_size_of_an_all_gather_has_two_meanings() {
    let ends = |gathered| astra_ns(&of_ranks("all_gather", 8, gathered).program).round();
    assert_eq!((ends(Gathered::Part), ends(Gathered::Whole)), (150_301.0, 21_850.0));
}

#[test]
fn json_is_the_same_trace() {
    let names = [0, 1, 2, 3].map(|rank| format!("step_json.{rank}.json{}", if rank == 3 { ".gz" } else { "" }));
    assert_eq!(read(&names.each_ref().map(String::as_str)).unwrap(), read(&STEP).unwrap());
    let mistakes = |text: &str| Trace::read(text.as_bytes(), "a.0.json", u64::MAX).unwrap_err().to_string();
    for (text, problem) in [
        ("", "is empty"),
        ("{}{", "is not a Chakra execution trace as JSON: EOF while parsing an object at line 1"),
        ("[{}, 7]", "has 7 instead of an object for each node"),
        (r#"{"id": "1"}"#, "must begin with the metadata"),
        (r#"{"version": "0.0.1"}"#, "has version 0.0.1"),
        (r#"{}{"id": "x"}"#, "`id` must be a whole number"),
        (r#"{}{"id": "1", "type": "COMPUTE"}"#, "node 1: has type COMPUTE; valid: INVALID_NODE, METADATA_NODE"),
        (r#"{}{"id": "1", "dataDeps": "2"}"#, "node 1: `dataDeps` must be a list of nodes"),
        (
            r#"{}{"id": "1", "type": "COMM_SEND_NODE", "attr": [{"name": "comm_size", "int64Val": "-8"}]}"#,
            "node 1: `comm_size` must be a whole number, at least 0, not -8",
        ),
    ] {
        assert!(mistakes(text).contains(problem), "{text}: {}", mistakes(text));
    }
}

#[test]
fn every_kind_of_whole_number_is_read() {
    let program = of_ranks("kinds", 2, Gathered::Part).program;
    let mut sizes: Vec<u64> = (0..program.len() as u32)
        .filter_map(|number| match program.op(number).action {
            Action::Send { bytes, .. } => Some(bytes),
            _ => None,
        })
        .collect();
    sizes.sort_unstable();
    sizes.dedup();
    assert_eq!(sizes, [500, 1000, 1500, 2000, 2500, 3000, 3500, 4000, 4500, 5000]);
    let error = read(&["negative.0.et"]).unwrap_err().to_string();
    assert!(error.contains("node 1: `comm_size` must be a whole number, at least 0, not -8"), "{error}");
}

#[test]
fn control_dependencies_on_absent_nodes_are_ignored_and_counted() {
    let read = of_ranks("pytorch", 2, Gathered::Part);
    let error = "trace: ignored control dependencies on nodes that do not exist: 6 (first: pytorch.0.et: node 6 on \
                node 3)";
    assert_eq!(read.warnings, [error]);
    read.program.check().unwrap();
    // Consecutive computations of 30 us and 50 us; then each rank sends 4 kB to the other.
    assert_eq!((read.program.bytes(0, 1), read.program.bytes(1, 0)), (4096, 4096));
    let ends = LogGops::FREE.ends(&read.program).unwrap();
    assert_eq!(ends, [Time::from_us(80); 2]);
}

#[test]
fn control_dependencies_of_a_rank_where_they_form_a_cycle_are_ignored_and_counted() {
    let read = of_ranks("circular", 1, Gathered::Part);
    let begin =
        "trace: ignored control dependencies on nodes that do not exist: 1 (first: circular.0.et: node 2 on node 1)";
    let more = "trace: ignored control dependencies in ranks where they form a cycle: 3 (first: circular.0.et: node 3 \
                on node 4)";
    assert_eq!(read.warnings[..2], [begin, more]);
    // 10 us and 20 us, then 40 us on the GPU in parallel with 80 us on the CPU.
    assert_eq!(LogGops::FREE.ends(&read.program).unwrap(), [Time::from_us(110)]);
    // Cyclic data dependencies are still a mistake.
    let error = self::read(&["round.0.et"]).unwrap_err().to_string();
    assert!(error.contains("waits for itself: its requirements form a cycle"), "{error}");
}

#[test]
fn ranks_without_traces_give_a_warning() {
    let warnings = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
        reading(&names, Gathered::Part).unwrap().warnings
    };
    let alone = "trace: only 1 rank of the process group without a name has a trace, so its collectives move nothing: \
                 1 (first: all_reduce.0.et: node 0)";
    assert_eq!(warnings(&["all_reduce.0.et"]), [alone]);
    let [_, half] = &warnings(&["pytorch.0.et"])[..] else { panic!("one warning of dependencies, one of ranks") };
    let text = "trace: only 1 rank of process group `0` has a trace, so its collectives move nothing: 1 (first: ";
    assert!(half.starts_with(text), "{half}");
    assert_eq!(warnings(&["all_reduce.0.et", "all_reduce.1.et"]), [""; 0], "a group of unknown size");
}

#[test]
fn traces_that_move_no_bytes_give_a_warning() {
    let [.., warning] = &of_ranks("circular", 1, Gathered::Part).warnings[..] else { panic!("no warning") };
    assert!(warning.starts_with("trace: moves no bytes: it has "), "{warning}");
    assert!(warning.ends_with(" computations, but no communication with a size"), "{warning}");
}

#[test]
fn what_inflates_beyond_all_bounds_is_refused() {
    use std::io::Write;
    let zipped = |bytes: &[u8]| {
        let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        writer.write_all(bytes).unwrap();
        writer.finish().unwrap()
    };
    let error = |bytes: &[u8], most| Trace::read(bytes, "x.et", most).unwrap_err().to_string();
    let zeros = zipped(&vec![0; 64 << 20]);
    assert_eq!(error(&zeros, u64::MAX), "x.et: is more than 200 times larger when decompressed, unlike any trace");
    assert_eq!(error(&zeros, 1000), "x.et: needs more than 1000 bytes of memory when decompressed");
    // Empty nodes need two orders of magnitude more memory than their encoded size.
    let error = error(&zipped(&vec![0; 900_000]), 10_000_000);
    assert!(error.ends_with("its nodes need more than 9100000 bytes of memory"), "{error}");
}

#[test]
fn mistakes_name_their_file_and_node() {
    let error = read(&["wrong.0.et"]).unwrap_err().to_string();
    assert!(error.contains("trace: wrong.0.et: node 1: occurs twice"), "{error}");
    assert!(error.contains("wrong.0.et: node 1: waits for node 9, which is not in the trace"), "{error}");
    assert!(error.contains("wrong.0.et: node 2: `comm_dst` is missing"), "{error}");
    assert!(error.contains("wrong.0.et: node 3: `comm_dst`: there is no rank 5; the ranks are 0 to 0"), "{error}");
    assert!(error.contains("wrong.0.et: node 4: `comm_type` 3 is not supported; valid: 0 all-reduce"), "{error}");
    assert!(error.contains("wrong.0.et: node 5: `comm_src`: there is no rank 1"), "{error}");
    let error = read(&["wrong.0.et", "wrong.1.et"]).unwrap_err().to_string();
    assert_eq!(error, "wrong.1.et: byte 43: has a node of type 9; valid: 0 to 7");
}

#[test]
fn files_of_another_kind_are_refused() {
    let error = |bytes: &[u8]| Trace::read(bytes, "x.et", u64::MAX).unwrap_err().to_string();
    assert_eq!(error(b""), "x.et: is empty; a Chakra execution trace begins with its metadata");
    assert!(error(b"num_ranks 2\nrank 0 {\n}\n").starts_with("x.et: byte 0: is not a Chakra execution trace"));
    assert!(error(&bytes("old.0.et")).contains("has version 0.0.1; valid: 0.0.4, 1.0 and later"));
    assert!(error(&bytes("cut.0.et")).contains("is not a Chakra execution trace: it ends within a message"));
    let zipped = bytes("step.3.et.gz");
    assert!(error(&zipped[..zipped.len() - 9]).contains("is damaged or incomplete"));
}

#[test]
fn groups_must_have_the_same_collectives() {
    let error = read(&["uneven.0.et", "uneven.1.et"]).unwrap_err().to_string();
    assert_eq!(error, "trace: group `dp`: rank 0 has 1 collectives, rank 1 has 2");
    let error = read(&["unlike.0.et", "unlike.1.et"]).unwrap_err().to_string();
    let why = "differs in kind or size from node 2 of rank 0, which belongs to the same collective";
    assert_eq!(error, format!("trace: unlike.1.et: node 2: {why}"));
}
