//! Line numbers of keys in files that Python checks.

use std::collections::BTreeMap;

use becalm_schema::{Errors, Node, Value};
use pyo3::prelude::*;

use crate::errors;

/// Return the line number of every key in a TOML text, from 1, by path, such as `case[0].name`.
///
/// # Errors
/// `ScenarioError` if the text is not TOML.
#[pyfunction]
pub fn toml_lines(py: Python<'_>, text: &str, file: &str) -> PyResult<BTreeMap<String, u32>> {
    let mut wrong = Errors::new(file);
    let root = becalm_schema::parse(text, &mut wrong);
    let root = wrong.settle(root).map_err(|wrong| errors::from_errors(py, &wrong))?;
    let mut lines = BTreeMap::new();
    collect(&root, &mut lines);
    Ok(lines)
}

fn collect(node: &Node, lines: &mut BTreeMap<String, u32>) {
    if let Some(line) = node.line {
        lines.insert(node.key.clone(), line);
    }
    match &node.value {
        Value::Table(entries) => entries.iter().for_each(|(_, inner)| collect(inner, lines)),
        Value::List(items) => items.iter().for_each(|inner| collect(inner, lines)),
        _ => {}
    }
}
