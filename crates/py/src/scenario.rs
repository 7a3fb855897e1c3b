//! A checked scenario as a Python object.

use std::collections::BTreeMap;
use std::sync::Arc;

use becalm_schema::{Errors, Origin};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::external::{Scheme, provided};
use crate::{columns, errors};

/// A scenario that has been read, completed with defaults and checked.
#[pyclass(frozen, module = "becalm._core")]
pub struct Scenario {
    /// The scenario behind the handle.
    pub inner: Arc<becalm_scenario::Scenario>,
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

    /// Nodes, links, flows and paths, as `{table: [(column, unit, values), ...]}`.
    fn network<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        columns::to_python(py, py.detach(|| self.inner.network_tables()))
    }

    /// The hosts that patterns name: names, ranges such as `H0..H7`, `*` for all; `file` is the scenario's name in messages.
    /// Raises `ScenarioError` for the patterns that name none.
    fn hosts(&self, py: Python<'_>, patterns: Vec<String>, file: &str) -> PyResult<Vec<String>> {
        let hosts =
            self.inner.hosts(&patterns, file).map_err(|errors| errors::from_errors(py, &without_lines(errors)))?;
        Ok(hosts.into_iter().map(|host| self.inner.topology().node(host).name.clone()).collect())
    }

    /// The links from one host to another that packets can take, as `(row of the table of links, share of the packets)`.
    /// Raises `ScenarioError` for unknown hosts, `FabricError` without a path.
    fn path(&self, py: Python<'_>, source: String, destination: String, file: &str) -> PyResult<Vec<(u32, f64)>> {
        let found = self.inner.hosts(&[source, destination], file);
        let hosts = found.map_err(|errors| errors::from_errors(py, &without_lines(errors)))?;
        self.inner.path(hosts[0], hosts[1]).map_err(|error| errors::from_fabric(py, &error))
    }

    /// Links of which each may wait for the next, for the paths of the flows or of all pairs of hosts; empty without such.
    fn cycle(&self, py: Python<'_>, of_all: bool) -> Vec<String> {
        py.detach(|| self.inner.cycle(of_all))
    }

    /// Number of cores, of those available, that make one run faster; at least 1.
    fn useful_threads(&self, cores: usize) -> usize {
        self.inner.useful_threads(cores)
    }

    /// Threads that one run gets of those that a user asks for: no more than pay off.
    fn allowed_threads(&self, asked: usize) -> usize {
        self.inner.allowed_threads(asked)
    }

    /// The groups of flows, jobs included: name, first flow, and the one after the last.
    fn groups(&self) -> Vec<(String, u32, u32)> {
        self.inner.flow_groups()
    }

    /// Whether all its schemes may run on several threads.
    #[getter]
    fn native(&self) -> bool {
        self.inner.is_native()
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
/// The files that the text names may take this many bytes of `memory`.
/// Raises `ScenarioError` with all errors at once.
#[pyfunction]
/// `schemes` are those from outside that it may name; with None, it may name any, and cannot be run.
#[pyo3(signature = (text, file, *, lines = true, origins = Vec::new(), memory = None, schemes = Some(Vec::new())))]
pub fn parse(
    py: Python<'_>,
    text: &str,
    file: &str,
    lines: bool,
    origins: Vec<(String, String)>,
    memory: Option<u64>,
    schemes: Option<Vec<Py<Scheme>>>,
) -> PyResult<Scenario> {
    let origins = origins.into_iter().map(|(key, option)| Origin { key, option }).collect();
    let provided = schemes.as_deref().map(provided);
    match becalm_scenario::Scenario::parse_with(text, file, origins, memory, provided.as_ref()) {
        Ok(inner) => Ok(Scenario { inner: Arc::new(inner) }),
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
