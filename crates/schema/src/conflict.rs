//! Contradictions between values of a table.

use std::borrow::Cow;

use crate::errors::Errors;
use crate::node::Node;

/// A contradiction between values that are valid individually.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The key at which the conflict is reported, with its path in the table: `rmin`, `overrides[0].ports`.
    pub key: Cow<'static, str>,
    /// The requirement on the key's value: `must be at most rmax = 0.5`.
    pub problem: String,
    /// The valid values, unless `problem` lists them.
    pub valid: String,
}

impl Conflict {
    /// A conflict reported at a key.
    pub fn new(key: impl Into<Cow<'static, str>>, problem: impl Into<String>) -> Conflict {
        Conflict { key: key.into(), problem: problem.into(), valid: String::new() }
    }

    /// A conflict, unless `fine`.
    ///
    /// # Errors
    /// The conflict.
    pub fn unless(fine: bool, key: &'static str, problem: impl FnOnce() -> String) -> Result<(), Conflict> {
        if fine { Ok(()) } else { Err(Conflict::new(key, problem())) }
    }
}

/// Notes a conflict in a table, at the key or, if the key is absent, at the table.
pub(crate) fn note(table: &Node, conflict: Conflict, errors: &mut Errors) {
    let Conflict { key, problem, valid } = conflict;
    match table.at(&key) {
        Some(node) => errors.add(node, problem, valid),
        None => errors.add(table, format!("{key} {problem}"), valid),
    }
}
