//! Chakra execution traces.

use std::path::Path;

use becalm_engine::Time;
use becalm_workload::chakra::{Trace, program};
use becalm_workload::{Action, LogGops, Mistakes, Program, goal};

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/chakra").join(name)).unwrap()
}

fn read(names: &[&str]) -> Result<Program, Mistakes> {
    let traces: Result<Vec<Trace>, Mistakes> = names.iter().map(|name| Trace::read(&bytes(name), name)).collect();
    program(&traces?, "trace")
}

/// Four ranks compute for 100 us, add up 1 MB, compute for 20 us; then 0 sends 64 KiB to 1, and 2 and 3 gather 4 kB.
const STEP: [&str; 4] = ["step.0.et", "step.1.et", "step.2.et", "step.3.et.gz"];

#[test]
fn a_trace_becomes_a_program_that_ends() {
    let program = read(&STEP).unwrap();
    program.check().unwrap();
    assert_eq!(program.ranks(), 4);
    // A ring of four: three quarters of the vector twice, to the next rank.
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
    assert_eq!(goal::parse(&goal::write(&program), "again.goal").unwrap(), program);
}

#[test]
fn mistakes_name_their_file_and_node() {
    let told = read(&["wrong.0.et"]).unwrap_err().to_string();
    assert!(told.contains("trace: wrong.0.et: node 1: is there twice"), "{told}");
    assert!(told.contains("wrong.0.et: node 1: waits for node 9, which the trace does not have"), "{told}");
    assert!(told.contains("wrong.0.et: node 2: `comm_dst` is missing"), "{told}");
    assert!(told.contains("wrong.0.et: node 3: `comm_dst`: there is no rank 5; the ranks are 0 to 0"), "{told}");
    assert!(told.contains("wrong.0.et: node 4: `comm_type` 3 is not supported; valid: 0 all-reduce"), "{told}");
    assert!(told.contains("wrong.0.et: node 5: `comm_src`: there is no rank 1"), "{told}");
    let told = read(&["wrong.0.et", "wrong.1.et"]).unwrap_err().to_string();
    assert_eq!(told, "wrong.1.et: byte 51: has a node of type 9; valid: 0 to 7");
}

#[test]
fn files_of_another_kind_are_refused() {
    let told = |bytes: &[u8]| Trace::read(bytes, "x.et").unwrap_err().to_string();
    assert_eq!(told(b""), "x.et: is empty; a Chakra execution trace begins with its metadata");
    assert!(told(b"num_ranks 2\nrank 0 {\n}\n").starts_with("x.et: byte 0: is no Chakra execution trace"));
    assert!(told(&bytes("old.0.et")).contains("has version 0.0.4; valid: 1.0 and later"));
    assert!(told(&bytes("cut.0.et")).contains("is no Chakra execution trace: it ends within a message"));
    let zipped = bytes("step.3.et.gz");
    assert!(told(&zipped[..zipped.len() - 9]).contains("is not whole"));
}

#[test]
fn groups_must_have_the_same_collectives() {
    let told = read(&["uneven.0.et", "uneven.1.et"]).unwrap_err().to_string();
    assert_eq!(told, "trace: group `dp`: rank 0 has 1 collectives, rank 1 has 2");
    let told = read(&["unlike.0.et", "unlike.1.et"]).unwrap_err().to_string();
    let why = "is another collective or size than node 2 of rank 0, with which it belongs together";
    assert_eq!(told, format!("trace: unlike.1.et: node 2: {why}"));
}
