//! Mistakes in files.

use std::fmt;

use becalm_engine::order;

/// Largest number of listed mistakes. A file in another format has one in every line.
const MOST_LISTED: usize = 50;

/// A mistake in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Line of the file, starting at 1, if the file has lines.
    pub line: Option<u32>,
    /// The problem.
    pub problem: String,
}

/// All mistakes in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistakes {
    /// The file's name in messages.
    pub file: String,
    /// The mistakes, in the order of their lines.
    pub list: Vec<Mistake>,
    /// Number of further mistakes.
    pub more: usize,
}

impl Mistakes {
    /// An empty list of mistakes.
    pub fn new(file: &str) -> Mistakes {
        Mistakes { file: file.to_string(), list: Vec::new(), more: 0 }
    }

    /// A list with one mistake.
    pub fn one(file: &str, line: Option<u32>, problem: impl Into<String>) -> Mistakes {
        let mut mistakes = Mistakes::new(file);
        mistakes.add(line, problem);
        mistakes
    }

    /// Adds a mistake.
    pub fn add(&mut self, line: Option<u32>, problem: impl Into<String>) {
        if self.list.len() < MOST_LISTED {
            self.list.push(Mistake { line, problem: problem.into() });
        } else {
            self.more += 1;
        }
    }

    /// Whether there are no mistakes.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the value, or the mistakes in the order of their lines.
    ///
    /// # Errors
    /// If there are mistakes.
    pub fn settle<T>(mut self, value: T) -> Result<T, Mistakes> {
        order::sort_by_key(&mut self.list, |mistake| mistake.line);
        if self.is_empty() { Ok(value) } else { Err(self) }
    }
}

impl fmt::Display for Mistakes {
    /// One line for each mistake, such as `all_reduce.goal:12: unknown operation ...`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, mistake) in self.list.iter().enumerate() {
            let end = if index == 0 { "" } else { "\n" };
            match mistake.line {
                Some(line) => write!(f, "{end}{}:{line}: {}", self.file, mistake.problem)?,
                None => write!(f, "{end}{}: {}", self.file, mistake.problem)?,
            }
        }
        if self.more > 0 {
            write!(f, "\n{}: and {} more", self.file, self.more)?;
        }
        Ok(())
    }
}

impl std::error::Error for Mistakes {}
