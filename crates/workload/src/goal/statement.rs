//! Statements of lines.

use becalm_engine::Time;

use super::line::Words;
use crate::operation::{Action, LARGEST_MESSAGE, When};

/// Duration of the longest computation, in nanoseconds (one day).
const LONGEST: u64 = 86_400_000_000_000;
/// Number of lanes of a rank.
const LANES: u64 = 1024;
/// The largest tag. The next larger number means any tag.
const LAST_TAG: u64 = u32::MAX as u64 - 1;

/// A statement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Statement<'a> {
    /// The number of ranks.
    Ranks(u32),
    /// The beginning of a rank, and whether `{` follows.
    Rank(u32, bool),
    Open,
    Close,
    /// An operation: its label, action and lane.
    Op(Option<&'a str>, Action, u16),
    /// One operation waits for another.
    After(&'a str, When, &'a str),
}

/// A label, and the problem of its operation.
type Wrong<'a> = (Option<&'a str>, String);

/// Reads the statement of a line.
///
/// # Errors
/// The problem, with the label of the operation if it has one.
pub(super) fn statement(line: &str) -> Result<Statement<'_>, Wrong<'_>> {
    let mut words = Words::new(line);
    let without = |problem| (None, problem);
    if words.sign('{') {
        return end(words, Statement::Open).map_err(without);
    }
    if words.sign('}') {
        return end(words, Statement::Close).map_err(without);
    }
    let Some(name) = words.name() else {
        let problem =
            format!("{} is not a statement; valid: calc, send, recv, LABEL requires LABEL, }}", words.shown());
        return Err(without(problem));
    };
    if words.sign(':') {
        let word = words.name();
        return operation(Some(name), word.unwrap_or_default(), words).map_err(|problem| (Some(name), problem));
    }
    match name {
        "num_ranks" => ranks(words).map_err(without),
        "rank" => rank(words).map_err(without),
        _ => {
            let mut after = words;
            match after.name() {
                Some("requires") => waits(name, When::Done, after).map_err(without),
                Some("irequires") => waits(name, When::Start, after).map_err(without),
                _ => operation(None, name, words).map_err(without),
            }
        }
    }
}

fn end<'a>(words: Words<'_>, statement: Statement<'a>) -> Result<Statement<'a>, String> {
    if words.is_empty() {
        Ok(statement)
    } else {
        Err(format!("{} is unexpected: one statement per line", words.shown()))
    }
}

fn ranks<'a>(mut words: Words<'_>) -> Result<Statement<'a>, String> {
    let ranks = whole(&mut words, "num_ranks", u64::from(u32::MAX))? as u32;
    end(words, Statement::Ranks(ranks))
}

fn rank<'a>(mut words: Words<'_>) -> Result<Statement<'a>, String> {
    let rank = whole(&mut words, "rank", u64::from(u32::MAX))? as u32;
    let open = words.sign('{');
    end(words, Statement::Rank(rank, open))
}

fn waits<'a>(op: &'a str, when: When, mut words: Words<'a>) -> Result<Statement<'a>, String> {
    let Some(earlier) = words.name() else { return Err(format!("must name a label, not {}", words.shown())) };
    end(words, Statement::After(op, when, earlier))
}

fn operation<'a>(label: Option<&'a str>, word: &str, mut words: Words<'_>) -> Result<Statement<'a>, String> {
    let action = match word {
        "calc" => Action::Calc { time: Time::from_ns(whole(&mut words, "calc", LONGEST)?) },
        "send" => {
            let bytes = bytes(&mut words)?;
            expect("to", &mut words)?;
            let to = whole(&mut words, "to", u64::from(u32::MAX))? as u32;
            let tag = tag(&mut words)?;
            let tag = tag.ok_or("a send must have a specific tag: `tag -1` is only for receives")?;
            Action::Send { to, bytes, tag }
        }
        "recv" => {
            let bytes = bytes(&mut words)?;
            expect("from", &mut words)?;
            let from = or_any(&mut words, "from", u64::from(u32::MAX))?;
            Action::Recv { from, bytes, tag: tag(&mut words)? }
        }
        "" => return Err(format!("{} is not an operation; valid: calc, send, recv", words.shown())),
        _ => return Err(format!("`{}` is not an operation; valid: calc, send, recv", cut(word))),
    };
    let mut lane = 0;
    if option("cpu", &mut words) {
        lane = whole(&mut words, "cpu", LANES - 1)? as u16;
    }
    if option("nic", &mut words) && whole(&mut words, "nic", u64::from(u32::MAX))? != 0 {
        return Err("nic must be 0, because hosts have one adapter".to_string());
    }
    if words.is_empty() {
        return Ok(Statement::Op(label, action, lane));
    }
    let valid = if word == "calc" { "cpu, nic" } else { "tag, cpu, nic" };
    Err(format!("{} is unexpected; valid, in this order: {valid}", words.shown()))
}

fn cut(word: &str) -> String {
    word.chars().take(30).collect()
}

/// Reads a number of bytes: `65536b`.
fn bytes(words: &mut Words<'_>) -> Result<u64, String> {
    let bytes = whole(words, "the size", LARGEST_MESSAGE)?;
    match words.name() {
        Some("b") => Ok(bytes),
        _ => Err(format!("the size must end with `b`, as in `{bytes}b`")),
    }
}

fn expect(word: &str, words: &mut Words<'_>) -> Result<(), String> {
    if option(word, words) { Ok(()) } else { Err(format!("must continue with `{word}`, not {}", words.shown())) }
}

/// Reads a word if it comes next.
fn option(word: &str, words: &mut Words<'_>) -> bool {
    let mut after = *words;
    let found = after.name() == Some(word);
    if found {
        *words = after;
    }
    found
}

/// Reads the tag, 0 if there is none; `None` means any tag.
fn tag(words: &mut Words<'_>) -> Result<Option<u32>, String> {
    if option("tag", words) { or_any(words, "tag", LAST_TAG) } else { Ok(Some(0)) }
}

/// Reads a number, or -1 for any.
fn or_any(words: &mut Words<'_>, what: &str, last: u64) -> Result<Option<u32>, String> {
    if !words.sign('-') {
        return whole(words, what, last).map(|number| Some(number as u32));
    }
    match words.number() {
        Some(Some(1)) => Ok(None),
        _ => Err(format!("{what} must be a number, at least 0, or -1 for any")),
    }
}

fn whole(words: &mut Words<'_>, what: &str, last: u64) -> Result<u64, String> {
    let before = *words;
    match words.number() {
        Some(number) => number
            .filter(|&number| number <= last)
            .ok_or_else(|| format!("{what} must be at most {last}, not {}", before.shown())),
        None => Err(format!("{what} must be a whole number, not {}", before.shown())),
    }
}
