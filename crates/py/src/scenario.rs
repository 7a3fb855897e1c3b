//! A checked scenario as a Python object.

use std::collections::BTreeMap;
use std::sync::Arc;

use becalm_engine::Time;
use becalm_schema::{Errors, Origin};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::external::{Scheme, provided};
use crate::{columns, errors};

/// A scenario that has been read, resolved and checked.
#[pyclass(frozen, module = "becalm._core")]
pub struct Scenario {
    /// The scenario of the handle.
    pub inner: Arc<becalm_scenario::Scenario>,
}

#[pymethods]
impl Scenario {
    /// The scenario with every value, including defaults, as JSON.
    #[getter]
    fn resolved(&self) -> String {
        self.inner.resolved().to_string()
    }

    /// Values derived from the scenario without a run, as JSON.
    #[getter]
    fn summary(&self) -> String {
        self.inner.summary().to_string()
    }

    /// Warnings about settings that are valid but probably not intended.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.inner.warnings()
    }

    /// Minimum memory of a replication in bytes:
    /// `{"total": ..., "network": ..., "flows": ..., "messages": ..., "series": ..., "snapshots": ...}`.
    #[getter]
    fn memory_estimate(&self) -> BTreeMap<&'static str, u64> {
        let estimate = self.inner.memory_estimate();
        estimate.parts().into_iter().chain([("total", estimate.total())]).collect()
    }

    /// Estimated number of packet-hops of a replication.
    #[getter]
    fn work_estimate(&self, py: Python<'_>) -> f64 {
        py.detach(|| self.inner.work_estimate())
    }

    /// Return nodes, links, flows and paths as `{table: [(column, unit, values), ...]}`.
    fn network<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        columns::to_python(py, py.detach(|| self.inner.network_tables()))
    }

    /// Return the hosts in a list of names, ranges such as `H0..H7`, or `*` for all. `file` is the scenario's
    /// name in messages. Raises `ScenarioError` for invalid ranges and unknown hosts.
    fn hosts(&self, py: Python<'_>, patterns: Vec<String>, file: &str) -> PyResult<Vec<String>> {
        let hosts =
            self.inner.hosts(&patterns, file).map_err(|errors| errors::from_errors(py, &without_lines(errors)))?;
        Ok(hosts.into_iter().map(|host| self.inner.topology().node(host).name.clone()).collect())
    }

    /// The adapters of nodes, each with its owner in words, such as `GPU 1 of node N0`.
    fn owners(&self) -> Vec<(String, String)> {
        self.inner.owners().map(|(host, _, owner)| (host.to_string(), owner)).collect()
    }

    /// Return the links that packets from one host to another can take, as
    /// `(row of the table of links, share of the packets)`. Raises `ScenarioError` for unknown hosts,
    /// `FabricError` if there is no path.
    fn path(&self, py: Python<'_>, source: String, destination: String, file: &str) -> PyResult<Vec<(u32, f64)>> {
        let found = self.inner.hosts(&[source, destination], file);
        let hosts = found.map_err(|errors| errors::from_errors(py, &without_lines(errors)))?;
        self.inner.path(hosts[0], hosts[1]).map_err(|error| errors::from_fabric(py, &error))
    }

    /// Return a cycle of links that may each wait for the next, on the paths of the flows or of all pairs of
    /// hosts; empty if there is none.
    fn cycle(&self, py: Python<'_>, of_all: bool) -> Vec<String> {
        py.detach(|| self.inner.cycle(of_all))
    }

    /// Return the load in B/s that each group of flows or job offers between two times in s; NaN for a job.
    fn offered(&self, py: Python<'_>, start: f64, stop: f64) -> Vec<f64> {
        py.detach(|| self.inner.offered(Time::from_secs(start)..Time::from_secs(stop)))
    }

    /// Return the max-min fair rate in B/s of each flow between two times in s. A flow of a job has none.
    fn fair(&self, py: Python<'_>, start: f64, stop: f64) -> Vec<f64> {
        py.detach(|| self.inner.fair(Time::from_secs(start)..Time::from_secs(stop)))
    }

    /// Return the number of the available cores that make one run faster; at least 1.
    fn useful_threads(&self, cores: usize) -> usize {
        self.inner.useful_threads(cores)
    }

    /// Return the number of the requested threads that one run uses; at least 1.
    fn allowed_threads(&self, asked: usize) -> usize {
        self.inner.allowed_threads(asked)
    }

    /// Return the groups of flows, including jobs: name, first flow, and the flow after the last.
    fn groups(&self) -> Vec<(String, u32, u32)> {
        self.inner.flow_groups()
    }

    /// For each flow, the share of its slowest link that it can use by the buffers on its path, and by its window.
    fn reach(&self, flows: Vec<u32>) -> PyResult<Vec<[f64; 2]>> {
        match flows.iter().find(|&&flow| flow as usize >= self.inner.flow_count()) {
            Some(flow) => Err(PyIndexError::new_err(format!("there is no flow {flow}"))),
            None => Ok(self.inner.reach(&flows)),
        }
    }

    /// Whether all of its schemes may run on several threads.
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

/// Read the text of a scenario. `file` is only its name in messages.
///
/// If `lines` is false, messages have no line numbers. Use this for text that no user wrote. `origins` are
/// pairs of a key, such as `flows[0].stop`, and the option that set it. Messages about the key name the
/// option instead of the file. The files that the text names may need this number of bytes of `memory`.
/// Raises `ScenarioError` with all errors at once.
#[pyfunction]
/// `schemes` are the external schemes that it may name. With None, it may name any, but cannot be run.
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
