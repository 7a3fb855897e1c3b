//! A checked scenario as a Python object.

use std::collections::BTreeMap;

use becalm_schema::{Errors, Origin};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::{columns, errors};

/// A scenario that has been read, completed with defaults and checked.
#[pyclass(frozen, module = "becalm._core")]
pub struct Scenario {
    /// The scenario behind the handle.
    pub inner: becalm_scenario::Scenario,
}

#[pymethods]
impl Scenario {
    /// The scenario with every value, defaults included, as JSON.
    #[getter]
    fn resolved(&self) -> String {
        self.inner.resolved().to_string()
    }

    /// Values that follow from the scenario without a run, as JSON.
    #[getter]
    fn summary(&self) -> String {
        self.inner.summary().to_string()
    }

    /// Settings that are valid and probably not meant.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.inner.warnings()
    }

    /// Fewest bytes that a replication will use: `{"total": ..., "network": ..., "flows": ..., "messages": ...,
    /// "series": ..., "snapshots": ...}`.
    #[getter]
    fn memory_estimate(&self) -> BTreeMap<&'static str, u64> {
        let estimate = self.inner.memory_estimate();
        estimate.parts().into_iter().chain([("total", estimate.total())]).collect()
    }

    /// Links, paths and a circle of links that can deadlock, as `{table: [(column, unit, values), ...]}`.
    fn routing<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        columns::to_python(py, self.inner.routing())
    }

    /// Number of cores, of those available, that make one run faster; at least 1.
    fn useful_threads(&self, cores: usize) -> usize {
        self.inner.useful_threads(cores)
    }

    /// Threads that one run gets of those that a user asks for: no more than pay off.
    fn allowed_threads(&self, asked: usize) -> usize {
        self.inner.allowed_threads(asked)
    }

    /// Number of replications.
    #[getter]
    fn replications(&self) -> u32 {
        self.inner.replications()
    }
}

/// Reads the text of a scenario; `file` is only its name in messages.
///
/// With `lines` false the messages name no lines: for text that was not written by a user. `origins` are pairs of a key, such
/// as `flows[0].stop`, and the option that set it: messages about the key name the option in place of the file.
/// Raises `ScenarioError` with all errors at once.
#[pyfunction]
#[pyo3(signature = (text, file, *, lines = true, origins = Vec::new()))]
pub fn parse(
    py: Python<'_>,
    text: &str,
    file: &str,
    lines: bool,
    origins: Vec<(String, String)>,
) -> PyResult<Scenario> {
    let origins = origins.into_iter().map(|(key, option)| Origin { key, option }).collect();
    match becalm_scenario::Scenario::parse_changed(text, file, origins) {
        Ok(inner) => Ok(Scenario { inner }),
        Err(errors) if lines => Err(errors::from_errors(py, &errors)),
        Err(errors) => Err(errors::from_errors(py, &without_lines(errors))),
    }
}

fn without_lines(mut errors: Errors) -> Errors {
    for error in &mut errors.list {
        error.line = None;
    }
    errors
}
