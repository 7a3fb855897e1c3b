//! Errors in a document.

use std::fmt;

use becalm_engine::order;

use crate::node::Node;

/// One error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Line of the file, from 1, if known.
    pub line: Option<u32>,
    /// The key with its path, such as `flows[0].traffic.poisson.load`; empty for the entire file.
    pub key: String,
    /// The value as written; empty if there is none.
    pub value: String,
    /// The problem, or the requirement on the value.
    pub problem: String,
    /// The valid values, unless `problem` lists them.
    pub valid: String,
    /// The option that set the value, such as `--set run.seed=x`; `None` if the file set it.
    pub origin: Option<Origin>,
}

/// A key that an option has set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The key with its path, such as `flows[0].name`.
    pub key: String,
    /// The option as the user wrote it.
    pub option: String,
}

impl Origin {
    /// Whether the option set this key, a part of it, or a table around it.
    fn concerns(&self, key: &str) -> bool {
        let within = |inner: &str, outer: &str| {
            inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        within(key, &self.key) || (!key.is_empty() && within(&self.key, key))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = self.origin.as_ref().is_some_and(|origin| origin.key == self.key);
        match (known || self.key.is_empty(), self.value.is_empty()) {
            (true, _) => {}
            (false, true) => write!(f, "{}: ", self.key)?,
            (false, false) => write!(f, "{} = {}: ", self.key, self.value)?,
        }
        f.write_str(&self.problem)?;
        if self.valid.is_empty() { Ok(()) } else { write!(f, "; valid: {}", self.valid) }
    }
}

/// All errors of one document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Errors {
    /// The file's name in messages.
    pub file: String,
    /// The errors.
    pub list: Vec<Error>,
    /// Keys that options have set.
    pub origins: Vec<Origin>,
    /// Bytes of memory that files named by the document may need; unlimited if `None`.
    pub memory: Option<u64>,
}

impl Errors {
    /// An empty list of errors.
    pub fn new(file: &str) -> Errors {
        Errors { file: file.to_string(), ..Errors::default() }
    }

    /// Notes that a node's value is wrong. `valid` may be empty if `problem` lists the valid values.
    pub fn add(&mut self, node: &Node, problem: impl Into<String>, valid: impl Into<String>) {
        self.push(node.line, node.key.clone(), node.show(), problem.into(), valid.into());
    }

    /// Notes that a table lacks a key.
    pub fn missing(&mut self, table: &Node, name: &str, valid: impl Into<String>) {
        self.push(table.line, table.child_key(name), String::new(), "is missing".to_string(), valid.into());
    }

    /// Notes that the text of the document is not valid TOML.
    pub fn syntax(&mut self, line: Option<u32>, problem: String) {
        self.push(line, String::new(), String::new(), problem, String::new());
    }

    fn push(&mut self, line: Option<u32>, key: String, value: String, problem: String, valid: String) {
        // The innermost key is the most specific.
        let origin = self.origins.iter().filter(|origin| origin.concerns(&key)).max_by_key(|origin| origin.key.len());
        self.list.push(Error { line, value, problem, valid, origin: origin.cloned(), key });
    }

    /// Whether there are no errors.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the value, or the errors in the order of their lines.
    ///
    /// # Errors
    /// If there are errors, or no value.
    pub fn settle<T>(mut self, value: Option<T>) -> Result<T, Errors> {
        order::sort_by_key(&mut self.list, |error| error.line);
        match value {
            Some(value) if self.is_empty() => Ok(value),
            _ => Err(self),
        }
    }
}

impl fmt::Display for Errors {
    /// One line for each error: `scenario.toml:12: response.lipd.rmin = -1: must be between 1e-6 and 1`, or
    /// `--set response.lipd.rmin=-1: must be between 1e-6 and 1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.list.iter().enumerate() {
            let end = if index == 0 { "" } else { "\n" };
            match (&error.origin, error.line) {
                (Some(origin), _) => write!(f, "{end}{}: {error}", origin.option)?,
                (None, Some(line)) => write!(f, "{end}{}:{line}: {error}", self.file)?,
                (None, None) => write!(f, "{end}{}: {error}", self.file)?,
            }
        }
        Ok(())
    }
}

impl std::error::Error for Errors {}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_error_names_the_option_that_set_the_value() {
        let root = Node::from_json(&json!({"run": {"seed": -1}, "runs": {"k": 1}, "flows": [{"sl": 99}]}));
        let origin = |key: &str, option: &str| Origin { key: key.to_string(), option: option.to_string() };
        let origins = vec![origin("run.seed", "--set run.seed=-1"), origin("runs.k", "--set runs.k=1")];
        let mut errors = Errors { origins, ..Errors::new("f.toml") };
        for path in ["run.seed", "runs", "flows[0].sl", "run"] {
            errors.add(root.at(path).unwrap(), "is wrong", "");
        }
        let message = errors.to_string();
        let expected = [
            "--set run.seed=-1: is wrong",
            "--set runs.k=1: runs = table {k}: is wrong",
            "f.toml: flows[0].sl = 99: is wrong",
            "--set run.seed=-1: run = table {seed}: is wrong",
        ];
        assert_eq!(message.lines().collect::<Vec<_>>(), expected);
    }
}
