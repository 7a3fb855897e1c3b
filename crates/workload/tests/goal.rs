//! GOAL files.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use becalm_engine::Time;
use becalm_workload::{Action, LogGops, Program, goal};
use cpu_time::ThreadTime;

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/goal")
}

fn read(name: &str) -> String {
    std::fs::read_to_string(data().join(name)).unwrap()
}

/// Program of a text without warnings.
fn parse(text: &str) -> Program {
    let read = goal::parse(text, "good.goal").unwrap();
    assert_eq!(read.warnings, [""; 0]);
    read.program
}

#[test]
fn a_binomial_reduce_ends_when_the_reference_says() {
    let program = parse(&read("binomial_reduce_8.goal"));
    assert_eq!((program.ranks(), program.len()), (8, 14));
    program.check().unwrap();
    let ends = LogGops::LOGGOPSIM.ends(&program).unwrap();
    let expected = [34914, 1500, 13138, 1500, 24776, 1500, 13138, 1500];
    assert_eq!(ends, expected.map(Time::from_ns));
}

#[test]
fn all_of_the_grammar_is_read() {
    let program = parse(&read("ring_of_two.goal"));
    assert_eq!((program.ranks(), program.len(), program.lanes()), (2, 7, 2));
    let shown: Vec<String> =
        (0..7).map(|number| format!("{} {}", program.op(number).action, program.op(number).lane)).collect();
    let expected = [
        "calc 12 us 0",
        "send 65536 B to 1, tag 7 0",
        "recv 65536 B from 1, tag 7 1",
        "calc 3 us 0",
        "send 65536 B to 0, tag 7 0",
        "recv 65536 B from any, tag any 1",
        "calc 3 us 0",
    ];
    assert_eq!(shown, expected);
    program.check().unwrap();
}

#[test]
fn what_is_written_is_read_again() {
    for name in ["ring_of_two.goal", "binomial_reduce_8.goal"] {
        let program = parse(&read(name));
        assert_eq!(parse(&goal::write(&program)), program, "{name}");
    }
}

#[test]
fn of_a_label_that_is_there_twice_the_first_counts() {
    let text = "num_ranks 1\nrank 0 {\na: calc 10\na: calc 20\na: calc 30\nb: calc 1 cpu 1\nb requires a\n}\n";
    let read = goal::parse(text, "twice.goal").unwrap();
    let error = "twice.goal: duplicate labels within a rank: 2 (first: `a` in line 4, after line 3); the \
                earlier operation keeps the label";
    assert_eq!(read.warnings, [error]);
    let waiting: Vec<_> = (0..4).map(|op| read.program.waiting(op).count()).collect();
    assert_eq!(waiting, [1, 0, 0, 0]);
    assert_eq!(read.program.op(0).action, Action::Calc { time: Time::from_ns(10) });
}

#[test]
fn a_compiled_schedule_is_that_of_its_text() {
    let bytes = |name: &str| std::fs::read(data().join("compiled").join(name)).unwrap();
    let read_compiled = |name: &str| goal::read_compiled(&bytes(name), name);
    assert!(goal::is_compiled(&bytes("ring_of_two.bin")) && !goal::is_compiled(b"num_ranks 2"));
    assert_eq!(read_compiled("ring_of_two.bin").unwrap().program, parse(&read("ring_of_two.goal")));
    for (name, problem) in [
        ("cut.bin", "rank 1: its part, from byte 222 to 363, is outside the file"),
        ("broken.bin", "was damaged by a simulation that ran with --save-mem: compile it again"),
        ("nic.bin", "rank 0: operation 0 has nic 1: must be 0, because hosts have one adapter"),
        ("far.bin", "rank 0: operation 0 names rank 2; the ranks are 0 to 1"),
    ] {
        assert_eq!(read_compiled(name).unwrap_err().to_string(), format!("{name}: {problem}"));
    }
    // Any truncated or changed file yields a program or a message.
    let good = bytes("ring_of_two.bin");
    for at in 8..good.len() {
        let _ = goal::read_compiled(&good[..at], "cut").unwrap_err();
        for byte in [0, 1, 0x7f, 0x80, 0xff] {
            let mut other = good.clone();
            other[at] = byte;
            let _ = goal::read_compiled(&other, "other");
        }
    }
}

#[test]
fn every_mistake_has_its_file_and_line() {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(data().join("broken")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "goal"));
    files.sort();
    assert_eq!(files.len(), 20);
    let mut error = String::new();
    for path in files {
        let name = path.file_name().unwrap().to_string_lossy();
        let mistakes = goal::parse(&std::fs::read_to_string(&path).unwrap(), &name).expect_err(&name);
        assert!(mistakes.list.iter().all(|mistake| mistake.line.is_some()), "{mistakes}");
        writeln!(error, "{mistakes}").unwrap();
    }
    let expected = read("broken/messages.txt");
    assert!(error == expected, "{error}");
}

/// Text of a schedule of 1000 ranks with 1000 operations each: rounds of messages between neighbours on a ring.
fn long() -> String {
    let mut text = String::from("num_ranks 1000\n");
    for rank in 0..1000 {
        writeln!(text, "rank {rank} {{").unwrap();
        for i in 0..500 {
            writeln!(text, "s{i}: send 4096b to {} tag {i} cpu 0", (rank + 1) % 1000).unwrap();
            writeln!(text, "r{i}: recv 4096b from {} tag {i} cpu 1", (rank + 999) % 1000).unwrap();
            if i > 0 {
                writeln!(text, "s{i} requires r{}", i - 1).unwrap();
            }
        }
        text.push_str("}\n");
    }
    text
}

#[test]
fn a_million_operations_are_read_in_less_than_two_seconds() {
    let text = long();
    let timed = || {
        let begin = ThreadTime::now();
        let program = parse(&text);
        (program, begin.elapsed())
    };
    // The first fast attempt counts, because other attempts may be slowed down by a busy machine.
    let mut tries = (0..5).map(|_| timed());
    let first = tries.next().unwrap();
    let (program, time) = tries.fold(first, |best, next| if best.1.as_secs_f64() < 2.0 { best } else { next });
    let each = program.size() as f64 / program.len() as f64;
    println!("{} operations in {time:?} of processor time, {each:.1} B each", program.len());
    assert_eq!(program.len(), 1_000_000);
    assert!(each < 200.0);
    assert!(time.as_secs_f64() < 2.0, "{time:?}");
}

#[test]
fn a_file_of_another_kind_is_not_listed_line_by_line() {
    let text = "x\n".repeat(10_000);
    let error = goal::parse(&text, "x.goal").unwrap_err().to_string();
    assert_eq!(error.lines().count(), 51, "{error}");
    assert!(error.ends_with("x.goal: and 9950 more"), "{error}");
}

#[test]
fn a_workload_of_simai_is_reported_from_a_schedule() {
    let layer = "attention -1 90 ALLGATHER 1048576 0 NONE 0 0 NONE 0 100";
    for first in ["HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 1", "DATA", "MICRO"] {
        let error = goal::parse(&format!("{first}\n1\n{layer}\n"), "gpt.txt").unwrap_err().to_string();
        assert!(error.starts_with("gpt.txt:1: is a SimAI or ASTRA-sim 1 workload (a list of layers)"), "{error}");
    }
}
