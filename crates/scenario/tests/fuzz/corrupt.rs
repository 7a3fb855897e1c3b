//! Almost valid texts.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// A change to a text.
#[derive(Clone, Debug)]
enum Change {
    /// Replaces a byte.
    Byte(Index, u8),
    /// Removes bytes.
    Cut(Index, usize),
    /// Duplicates bytes.
    Twice(Index, usize),
    /// Inserts a word.
    Put(Index, &'static str),
    /// Replaces a word or number.
    Replace(Index, &'static str),
    /// Replaces a line.
    Move(Index, Index),
    /// Replaces the rest of the text with the rest of another text.
    Splice(Index, usize, Index),
}

/// Edge cases of numbers, names and units.
const EDGES: [&str; 44] = [
    "0",
    "-1",
    "1",
    "2",
    "3",
    "255",
    "65535",
    "65536",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "18446744073709551616",
    "1e308",
    "1e999",
    "-0.0",
    "1e-320",
    "nan",
    "inf",
    "0.5",
    "true",
    "\"\"",
    "\"*\"",
    "\"0 s\"",
    "\"1 ps\"",
    "\"212 days\"",
    "\"1e18 ps\"",
    "\"9 s\"",
    "\"unlimited\"",
    "\"1 packet\"",
    "\"1 B\"",
    "\"64 MiB\"",
    "\"1 Mb/s\"",
    "\"10 Tb/s\"",
    "\"H0..H9999999\"",
    "\"A1..A3\"",
    "\"fixed\"",
    "\"exponential\"",
    "{erlang = 1000}",
    "{uniform = 1}",
    "[]",
    "{}",
    "[[1, 2]]",
    "\u{0}",
    "\u{202e}",
];

/// A seed with some changes.
pub fn broken(seeds: Vec<String>, words: Vec<&'static str>) -> impl Strategy<Value = String> {
    let all: Vec<&'static str> = EDGES.into_iter().chain(words).collect();
    let change = prop_oneof![
        1 => (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Change::Byte(at, byte)),
        1 => (any::<Index>(), 1usize..60).prop_map(|(at, length)| Change::Cut(at, length)),
        1 => (any::<Index>(), 1usize..60).prop_map(|(at, length)| Change::Twice(at, length)),
        1 => (any::<Index>(), select(all.clone())).prop_map(|(at, word)| Change::Put(at, word)),
        6 => (any::<Index>(), select(all)).prop_map(|(at, word)| Change::Replace(at, word)),
        2 => (any::<Index>(), any::<Index>()).prop_map(|(to, from)| Change::Move(to, from)),
        1 => (any::<Index>(), 0..seeds.len(), any::<Index>()).prop_map(|(at, other, from)| Change::Splice(at, other, from)),
    ];
    (0..seeds.len(), vec(change, 0..8)).prop_map(move |(seed, changes)| {
        let mut text = seeds[seed].clone().into_bytes();
        for change in &changes {
            apply(change, &mut text, &seeds);
        }
        String::from_utf8_lossy(&text).into_owned()
    })
}

fn apply(change: &Change, text: &mut Vec<u8>, seeds: &[String]) {
    if text.is_empty() {
        return;
    }
    let span = |at: &Index, length: usize| {
        let at = at.index(text.len());
        at..(at + length).min(text.len())
    };
    match change {
        Change::Byte(at, byte) => {
            let at = at.index(text.len());
            text[at] = *byte;
        }
        Change::Cut(at, length) => drop(text.drain(span(at, *length))),
        Change::Twice(at, length) => {
            let span = span(at, *length);
            let copy = text[span.clone()].to_vec();
            text.splice(span.start..span.start, copy);
        }
        Change::Put(at, word) => {
            let at = at.index(text.len());
            text.splice(at..at, word.bytes());
        }
        Change::Replace(at, word) => {
            let words = words(text);
            if !words.is_empty() {
                text.splice(words[at.index(words.len())].clone(), word.bytes());
            }
        }
        Change::Move(to, from) => {
            let lines = lines(text);
            let copy = text[lines[from.index(lines.len())].clone()].to_vec();
            text.splice(lines[to.index(lines.len())].clone(), copy);
        }
        Change::Splice(at, other, from) => {
            let other = seeds[*other].as_bytes();
            text.truncate(at.index(text.len()));
            if !other.is_empty() {
                text.extend_from_slice(&other[from.index(other.len())..]);
            }
        }
    }
}

/// Values, keys and quoted strings.
fn words(text: &[u8]) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let begin = at;
        if text[at] == b'"' {
            at += 1;
            while at < text.len() && !matches!(text[at], b'"' | b'\n') {
                at += 1;
            }
            at = (at + 1).min(text.len());
        } else {
            while at < text.len() && (text[at].is_ascii_alphanumeric() || b"_.+-".contains(&text[at])) {
                at += 1;
            }
        }
        if at > begin {
            found.push(begin..at);
        } else {
            at += 1;
        }
    }
    found
}

/// Lines with their line ends.
fn lines(text: &[u8]) -> Vec<std::ops::Range<usize>> {
    let ends: Vec<usize> = (1..=text.len()).filter(|&end| text[end - 1] == b'\n' || end == text.len()).collect();
    let starts = std::iter::once(0).chain(ends.iter().copied());
    starts.zip(ends.iter().copied()).map(|(start, end)| start..end).collect()
}
