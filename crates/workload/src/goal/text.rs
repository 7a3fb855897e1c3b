//! Writes programs as GOAL text.

use std::fmt::Write;

use crate::operation::{Action, When};
use crate::program::Program;

/// The text of a program without rendezvous. Times are rounded to nanoseconds.
pub fn write(program: &Program) -> String {
    let mut text = format!("num_ranks {}\n", program.ranks());
    for rank in 0..program.ranks() {
        let first = program.of_rank(rank).start;
        line(&mut text, format_args!("rank {rank} {{"));
        for number in program.of_rank(rank) {
            let op = program.op(number);
            let _ = write!(text, "o{}: ", number - first);
            let _ = match op.action {
                Action::Calc { time } => write!(text, "calc {}", (time.0 + 500) / 1000),
                Action::Send { to, bytes, tag } => write!(text, "send {bytes}b to {to} tag {tag}"),
                Action::Recv { from, bytes, tag } => {
                    write!(text, "recv {bytes}b from {} tag {}", or_any(from), or_any(tag))
                }
            };
            line(&mut text, format_args!(" cpu {}", op.lane));
        }
        for number in program.of_rank(rank) {
            for (waits, when) in program.waiting(number) {
                let word = if when == When::Done { "requires" } else { "irequires" };
                line(&mut text, format_args!("o{} {word} o{}", waits - first, number - first));
            }
        }
        text.push_str("}\n");
    }
    text
}

fn line(text: &mut String, words: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{words}");
}

/// A number, or -1 for any.
fn or_any(number: Option<u32>) -> i64 {
    number.map_or(-1, i64::from)
}
