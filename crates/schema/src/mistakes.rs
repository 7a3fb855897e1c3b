//! What is wrong with a file.

use std::fmt;

use crate::node::Node;

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Line of the file, from 1, where it is known.
    pub line: Option<u32>,
    /// The key with its path, such as `flows[0].traffic.poisson.load`; empty for the file as a whole.
    pub key: String,
    /// The value as it was written; empty where there is none.
    pub value: String,
    /// What is wrong, or what the value must be.
    pub problem: String,
    /// What would be valid, where `problem` does not say so already.
    pub valid: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.key.is_empty(), self.value.is_empty()) {
            (true, _) => {}
            (false, true) => write!(f, "{}: ", self.key)?,
            (false, false) => write!(f, "{} = {}: ", self.key, self.value)?,
        }
        f.write_str(&self.problem)?;
        if self.valid.is_empty() { Ok(()) } else { write!(f, "; valid: {}", self.valid) }
    }
}

/// All mistakes of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mistakes {
    /// The file's name, as it is shown.
    pub file: String,
    /// The mistakes.
    pub list: Vec<Mistake>,
}

impl Mistakes {
    /// No mistakes yet.
    pub fn new(file: &str) -> Mistakes {
        Mistakes { file: file.to_string(), list: Vec::new() }
    }

    /// Notes that a node's value is wrong. `valid` may be empty where `problem` says what would be valid.
    pub fn add(&mut self, node: &Node, problem: impl Into<String>, valid: impl Into<String>) {
        self.list.push(Mistake {
            line: node.line,
            key: node.key.clone(),
            value: node.show(),
            problem: problem.into(),
            valid: valid.into(),
        });
    }

    /// Notes that a table lacks a key.
    pub fn missing(&mut self, table: &Node, name: &str, valid: impl Into<String>) {
        self.list.push(Mistake {
            line: table.line,
            key: table.child_key(name),
            value: String::new(),
            problem: "is missing".to_string(),
            valid: valid.into(),
        });
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The value if there are no mistakes; otherwise these, in the order of their lines.
    ///
    /// # Errors
    /// When there are mistakes, or no value.
    pub fn settle<T>(mut self, value: Option<T>) -> Result<T, Mistakes> {
        self.list.sort_by_key(|mistake| mistake.line);
        match value {
            Some(value) if self.is_empty() => Ok(value),
            _ => Err(self),
        }
    }
}

impl fmt::Display for Mistakes {
    /// One line for each mistake: `scenario.toml:12: response.lipd.rmin = -1: must be between 1e-6 and 1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, mistake) in self.list.iter().enumerate() {
            let end = if index == 0 { "" } else { "\n" };
            match mistake.line {
                Some(line) => write!(f, "{end}{}:{line}: {mistake}", self.file)?,
                None => write!(f, "{end}{}: {mistake}", self.file)?,
            }
        }
        Ok(())
    }
}

impl std::error::Error for Mistakes {}
