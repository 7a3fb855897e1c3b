//! Lines without comments, and their words.

use std::borrow::Cow;

/// The lines of a text that contain more than comments, with their numbers.
pub(super) struct Lines<'a> {
    lines: std::iter::Zip<std::ops::RangeFrom<u32>, std::str::Lines<'a>>,
    /// The rest of the current line after a comment.
    rest: Option<(u32, &'a str)>,
    /// The line in which an open comment began.
    comment: Option<u32>,
    last: u32,
}

impl<'a> Lines<'a> {
    pub fn new(text: &'a str) -> Lines<'a> {
        Lines { lines: (1..).zip(text.lines()), rest: None, comment: None, last: 0 }
    }

    /// The line in which a comment without an end began.
    pub fn open_comment(&self) -> Option<u32> {
        self.comment
    }

    /// The last line that was read.
    pub fn last(&self) -> u32 {
        self.last
    }

    /// The next line that contains more than comments, without comments and surrounding blanks. A comment
    /// between words ends a line.
    pub fn next(&mut self) -> Option<(u32, &'a str)> {
        loop {
            let (number, line) = self.rest.take().or_else(|| self.lines.next())?;
            self.last = number;
            let said = self.without_comment(number, line).trim();
            if !said.is_empty() {
                return Some((number, said));
            }
        }
    }

    /// The part of a line before its first comment. The part after the comment is kept.
    fn without_comment(&mut self, number: u32, line: &'a str) -> &'a str {
        let line = match self.comment {
            None => line,
            Some(_) => {
                let Some(end) = line.find("*/") else { return "" };
                self.comment = None;
                &line[end + 2..]
            }
        };
        let Some(at) = line
            .match_indices('/')
            .map(|(at, _)| at)
            .find(|&at| line[at..].starts_with("//") || line[at..].starts_with("/*"))
        else {
            return line;
        };
        if line[at..].starts_with("/*") {
            self.comment = Some(number);
            self.rest = Some((number, &line[at + 2..]));
        }
        &line[..at]
    }
}

/// The words of a line.
#[derive(Clone, Copy)]
pub(super) struct Words<'a> {
    rest: &'a str,
}

impl<'a> Words<'a> {
    pub fn new(line: &'a str) -> Words<'a> {
        Words { rest: line.trim_start() }
    }

    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The rest of the line for messages: truncated if it is long, without control characters.
    pub fn shown(&self) -> Cow<'static, str> {
        if self.rest.is_empty() {
            return "the end of the line".into();
        }
        let shown: String = self.rest.chars().take(30).flat_map(char::escape_debug).collect();
        format!("`{shown}`").into()
    }

    /// Reads a sign if it comes next.
    pub fn sign(&mut self, sign: char) -> bool {
        let found = self.rest.strip_prefix(sign);
        self.rest = found.unwrap_or(self.rest).trim_start();
        found.is_some()
    }

    /// Reads a name if it comes next: a letter, then letters, digits and underscores.
    pub fn name(&mut self) -> Option<&'a str> {
        let starts = self.rest.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
        if starts { Some(self.take(|byte| byte.is_ascii_alphanumeric() || byte == b'_')) } else { None }
    }

    /// Reads a whole number if it comes next; `Some(None)` if it has too many digits.
    pub fn number(&mut self) -> Option<Option<u64>> {
        let starts = self.rest.starts_with(|first: char| first.is_ascii_digit());
        if starts { Some(self.take(|byte| byte.is_ascii_digit()).parse().ok()) } else { None }
    }

    fn take(&mut self, wanted: impl Fn(u8) -> bool) -> &'a str {
        let end = self.rest.bytes().position(|byte| !wanted(byte)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        word
    }
}
