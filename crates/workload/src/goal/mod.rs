//! GOAL schedules as text.
//!
//! Source of the language: T. Hoefler, C. Siebert, A. Lumsdaine, "Group operation assembly language: a
//! flexible way to express collective communication", ICPP 2009. The syntax is that of LogGOPSim's compiler
//! (`txt2bin`).
//!
//! ```text
//! num_ranks 2
//! rank 0 {
//! work: calc 12000 cpu 0          // ns
//! out: send 65536b to 1 tag 7
//! out requires work
//! }
//! rank 1 {
//! recv 65536b from 0 tag 7 cpu 1
//! }
//! ```
//!
//! With `a requires b`, a waits for the end of b. With `a irequires b`, a waits for the start of b. In a receive, `from
//! -1` and `tag -1` mean any source and any tag. The default tag is 0.
//!
//! - `line` splits a line into words, and `statement` reads the statement of a line. This file converts lines to a
//!   program, and `text` a program to lines. `binary` reads the compiler's output.
//!
//! If a label occurs twice in a rank, the first occurrence counts, as in the compiler, and a warning is issued. Unlike
//! in the compiler, a `nic` other than 0 is a mistake, because hosts have one adapter.

mod binary;
mod line;
mod statement;
mod text;

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::builder::Builder;
use crate::error::ProgramError;
use crate::mistakes::Mistakes;
use crate::operation::{Action, Op, OpId, Part, When};
use crate::program::Reading;
use line::Lines;
use statement::{Statement, statement};

pub use text::write;

/// Largest number of ranks in a file.
const MOST_RANKS: u32 = 1 << 22;

/// Whether a file is a schedule written by LogGOPSim's compiler.
pub fn is_compiled(bytes: &[u8]) -> bool {
    binary::begins(bytes)
}

/// Reads a schedule written by LogGOPSim's compiler. `file` is its name in messages.
///
/// # Errors
/// The position at which it is truncated, or the first wrong operation.
pub fn read_compiled(bytes: &[u8], file: &str) -> Result<Reading, Mistakes> {
    let read = binary::read(bytes).and_then(|builder| builder.build().map_err(|error| error.to_string()));
    let program = read.map_err(|problem| Mistakes::one(file, None, problem))?;
    Ok(Reading { program, warnings: Vec::new() })
}

/// Reads the text of a schedule. `file` is its name in messages.
///
/// # Errors
/// All mistakes, each with its line.
pub fn parse(text: &str, file: &str) -> Result<Reading, Mistakes> {
    if is_workload(text) {
        let problem = "is a SimAI or ASTRA-sim 1 workload (a list of layers), not a schedule; \
                       set its collectives as [[jobs]], or use Chakra traces with `chakra`";
        return Err(Mistakes::one(file, Some(1), problem.to_string()));
    }
    let mut reader = Reader::new(file);
    let mut lines = Lines::new(text);
    while let Some((number, line)) = lines.next() {
        reader.line(number, line);
    }
    if let Some(begun) = lines.open_comment() {
        reader.mistakes.add(Some(begun), "the comment that begins here has no end: `*/` is missing");
    }
    reader.finish(text, lines.last())
}

/// Whether a text begins with a training strategy, like workloads of ASTRA-sim 1 and SimAI.
fn is_workload(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or("");
    first.starts_with("HYBRID_") || ["DATA", "MODEL", "MICRO"].contains(&first)
}

/// The state of the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// `num_ranks` is expected.
    Begin,
    /// Between ranks.
    Between,
    /// A rank was named, and `{` is expected. Contains the line and the rank.
    Named(u32, Option<u32>),
    /// Inside a rank. Contains the line in which the rank began and, unless it is wrong, the rank's number.
    Inside(u32, Option<u32>),
}

struct Reader<'a> {
    mistakes: Mistakes,
    state: State,
    builder: Builder,
    /// The line in which each rank begins.
    begun: HashMap<u32, u32>,
    /// Labels of the rank: the operation and its line. The operation is `None` if it is wrong.
    labels: HashMap<&'a str, (Option<OpId>, u32)>,
    /// Number of duplicate labels, and the first of them in words.
    again: (usize, String),
}

impl<'a> Reader<'a> {
    fn new(file: &str) -> Reader<'a> {
        Reader {
            mistakes: Mistakes::new(file),
            state: State::Begin,
            builder: Builder::new(0),
            begun: HashMap::new(),
            labels: HashMap::new(),
            again: (0, String::new()),
        }
    }

    /// Reads a line, which may end one rank and begin another.
    fn line(&mut self, number: u32, line: &'a str) {
        let found = statement(line);
        if let Err(problem) = self.take(number, found) {
            self.mistakes.add(Some(number), problem);
        }
    }

    fn take(&mut self, number: u32, found: Result<Statement<'a>, (Option<&'a str>, String)>) -> Result<(), String> {
        match (self.state, found) {
            (State::Begin, Ok(Statement::Ranks(ranks))) => {
                self.state = State::Between;
                if !(1..=MOST_RANKS).contains(&ranks) {
                    return Err(format!("num_ranks must be between 1 and {MOST_RANKS}, not {ranks}"));
                }
                self.builder = Builder::new(ranks);
                Ok(())
            }
            (State::Begin, found) => {
                self.state = State::Between;
                self.mistakes.add(Some(number), "a schedule begins with `num_ranks` and a number");
                // The rest is checked nevertheless, except for its ranks.
                if matches!(found, Ok(Statement::Rank(..))) { self.take(number, found) } else { Ok(()) }
            }
            (_, Ok(Statement::Ranks(_))) => Err("`num_ranks` occurs twice".to_string()),
            (State::Named(line, rank), Ok(Statement::Open)) => {
                self.state = State::Inside(line, rank);
                Ok(())
            }
            (State::Named(line, rank), found) => {
                self.state = State::Inside(line, rank);
                self.mistakes.add(Some(number), "`{` is missing after the rank");
                self.take(number, found)
            }
            (State::Between, Ok(Statement::Rank(rank, open))) => self.begin(number, rank, open),
            (State::Between, Ok(_) | Err(_)) => Err("is outside a rank; valid: rank NUMBER {".to_string()),
            (State::Inside(_, Some(rank)), Ok(Statement::Op(label, action, lane))) => {
                self.operation(number, rank, label, Ok((action, lane)))
            }
            (State::Inside(_, rank), Ok(Statement::After(op, when, earlier))) => self.after(rank, op, when, earlier),
            (State::Inside(..), Ok(Statement::Close)) => {
                self.state = State::Between;
                self.labels.clear();
                Ok(())
            }
            (State::Inside(line, _), Ok(Statement::Rank(rank, open))) => {
                self.mistakes.add(Some(number), format!("`}}` is missing: the rank on line {line} has not ended"));
                self.labels.clear();
                self.begin(number, rank, open)
            }
            (State::Inside(..), Ok(Statement::Open)) => Err("`{` occurs twice".to_string()),
            (State::Inside(_, Some(rank)), Err((label, problem))) => self.operation(number, rank, label, Err(problem)),
            (State::Inside(_, None), Err((_, problem))) => Err(problem),
            (State::Inside(_, None), Ok(Statement::Op(..))) => Ok(()),
        }
    }

    fn begin(&mut self, number: u32, rank: u32, open: bool) -> Result<(), String> {
        let ranks = self.builder.ranks();
        let known = if rank < ranks { Some(rank) } else { None };
        self.state = if open { State::Inside(number, known) } else { State::Named(number, known) };
        if known.is_none() && ranks > 0 {
            return Err(format!("there is no rank {rank}; the ranks are 0 to {}", ranks - 1));
        }
        match self.begun.insert(rank, number) {
            Some(line) => Err(format!("rank {rank} already exists, in line {line}")),
            None => Ok(()),
        }
    }

    /// Adds an operation, or stores the label of a wrong operation.
    fn operation(
        &mut self,
        number: u32,
        rank: u32,
        label: Option<&'a str>,
        found: Result<(Action, u16), String>,
    ) -> Result<(), String> {
        let found = found.and_then(|(action, lane)| self.checked(rank, action).map(|()| (action, lane)));
        let op = found.map(|(action, lane)| self.builder.add(rank, Op { action, lane, part: Part::Eager, port: 0 }));
        if let Some(label) = label {
            match self.labels.entry(label) {
                Entry::Occupied(first) => {
                    if self.again.0 == 0 {
                        self.again.1 = format!("`{label}` in line {number}, after line {}", first.get().1);
                    }
                    self.again.0 += 1;
                }
                Entry::Vacant(place) => {
                    place.insert((op.as_ref().ok().copied(), number));
                }
            }
        }
        op.map(|_| ())
    }

    /// Checks that the other rank of a message exists.
    fn checked(&self, rank: u32, action: Action) -> Result<(), String> {
        let other = match action {
            Action::Send { to, .. } => Some(to),
            Action::Recv { from, .. } => from,
            Action::Calc { .. } => None,
        };
        match other {
            Some(other) if other >= self.builder.ranks() => {
                Err(format!("there is no rank {other}; the ranks are 0 to {}", self.builder.ranks() - 1))
            }
            Some(other) if other == rank => Err("a rank cannot send to itself or receive from itself".to_string()),
            _ => Ok(()),
        }
    }

    fn after(&mut self, rank: Option<u32>, op: &str, when: When, earlier: &str) -> Result<(), String> {
        if rank.is_none() {
            return Ok(());
        }
        let mut problems = Vec::new();
        let mut find = |label: &str| {
            let found = self.labels.get(label).map(|found| found.0);
            if found.is_none() {
                problems.push(format!("no operation of this rank has the label `{label}` so far"));
            }
            found.flatten()
        };
        if let (Some(op), Some(earlier)) = (find(op), find(earlier)) {
            self.builder.after(op, earlier, when);
        }
        if problems.is_empty() { Ok(()) } else { Err(problems.join("; ")) }
    }

    /// The program, if there were no mistakes.
    fn finish(mut self, text: &str, last: u32) -> Result<Reading, Mistakes> {
        match self.state {
            State::Begin => self.mistakes.add(Some(last.max(1)), "the file is empty; it must begin with `num_ranks`"),
            State::Named(line, _) | State::Inside(line, _) => {
                let problem = format!("`}}` is missing: the rank on line {line} has not ended");
                self.mistakes.add(Some(last), problem);
            }
            State::Between => {}
        }
        let Reader { mistakes, builder, again: (count, first), .. } = self;
        let file = mistakes.file.clone();
        mistakes.settle(())?;
        let warning = |count| {
            format!(
                "{file}: duplicate labels within a rank: {count} (first: {first}); the earlier operation \
                 keeps the label"
            )
        };
        let warnings = Some(count).filter(|&count| count > 0).map(warning).into_iter().collect();
        let built = builder.build().map_err(|error| {
            let line = match &error {
                ProgramError::Cycle { rank, op, .. } => line_of(text, *rank, *op),
                _ => None,
            };
            Mistakes::one(&file, line, error.to_string())
        });
        built.map(|program| Reading { program, warnings })
    }
}

/// The line number of an operation in a text without mistakes.
fn line_of(text: &str, wanted: u32, place: u32) -> Option<u32> {
    let (mut rank, mut ops) = (0, 0);
    let mut lines = Lines::new(text);
    while let Some((number, line)) = lines.next() {
        match statement(line) {
            Ok(Statement::Rank(begun, _)) => (rank, ops) = (begun, 0),
            Ok(Statement::Op(..)) if rank == wanted && ops == place => return Some(number),
            Ok(Statement::Op(..)) => ops += 1,
            _ => {}
        }
    }
    None
}
