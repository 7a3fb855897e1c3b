//! Results as the payload of a page.

use becalm_metrics::Data;
use becalm_report::pack::deflated;
use becalm_report::{Column, Options, Run, Tables};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde_json::Value;

use crate::scenario::Scenario;

/// A replication from Python: number, fingerprint, packet-hops, `{table: [(column, unit, values), ...]}`.
type Given<'py> = (u32, String, u64, Bound<'py, PyDict>);
type Reals<'py> = Bound<'py, PyArray1<f64>>;

/// Packs what a page shows of a run.
///
/// `runs` are `(replication, fingerprint, packet_hops, {table: [(column, unit, values), ...]})`; values are NumPy arrays of
/// float64 or uint64, lists of `str`, or lists of `bytes`. `about` is JSON for the header. Above `most_bytes` frames are
/// left out; 0 means any number. `all` keeps all shares of links over time, in full resolution.
///
/// Returns the payload, of how many frames it has one, and the names of the shares that were left out.
/// Raises `TypeError` and `ValueError` for values of another kind.
#[pyfunction]
#[pyo3(signature = (scenario, runs, about, most_bytes = 0, all = false))]
pub fn report<'py>(
    py: Python<'py>,
    scenario: &Bound<'py, Scenario>,
    runs: Vec<Given<'py>>,
    about: &str,
    most_bytes: usize,
    all: bool,
) -> PyResult<(Bound<'py, PyBytes>, usize, Vec<&'static str>)> {
    let about = json(about)?;
    let runs = runs.into_iter().map(run).collect::<PyResult<Vec<_>>>()?;
    let inner = &scenario.get().inner;
    let options = Options { most_bytes, all, deflate: Some(deflated) };
    let made = py.detach(|| becalm_report::payload(inner, &runs, &about, options));
    Ok((PyBytes::new(py, &made.bytes), made.every, made.omitted))
}

/// Packs a header in JSON without arrays.
#[pyfunction]
pub fn pack<'py>(py: Python<'py>, header: &str) -> PyResult<Bound<'py, PyBytes>> {
    let header = json(header)?;
    Ok(PyBytes::new(py, &py.detach(|| deflated(&becalm_report::Pack::default().whole(header)))))
}

/// Where the nodes of a scenario's fabric are drawn, in the order of the table of nodes.
///
/// Returns `(form, x, y)`: `rows`, `dumbbell`, `grid`, `groups` or `circle`, and arrays of float64, from 0 on the left to 1
/// on the right and from 0 at the bottom to 1 at the top.
#[pyfunction]
pub fn layout<'py>(py: Python<'py>, scenario: &Bound<'py, Scenario>) -> (&'static str, Reals<'py>, Reals<'py>) {
    let inner = &scenario.get().inner;
    let made = py.detach(|| becalm_report::Layout::new(inner.topology()));
    (made.form.name(), made.x.into_pyarray(py), made.y.into_pyarray(py))
}

fn json(text: &str) -> PyResult<Value> {
    serde_json::from_str(text).map_err(|error| PyValueError::new_err(error.to_string()))
}

fn run((replication, fingerprint, packet_hops, given): Given<'_>) -> PyResult<Run> {
    let mut tables = Tables::default();
    for (name, columns) in given.iter() {
        let columns: Vec<(String, String, Bound<'_, PyAny>)> = columns.extract()?;
        let columns =
            columns.into_iter().map(|(name, unit, values)| Ok(Column { data: data(&name, &values)?, name, unit }));
        tables.insert(name.extract()?, columns.collect::<PyResult<_>>()?);
    }
    Ok(Run { replication, fingerprint, packet_hops, tables })
}

fn data(name: &str, values: &Bound<'_, PyAny>) -> PyResult<Data> {
    if let Ok(array) = values.extract::<PyReadonlyArray1<'_, f64>>() {
        return Ok(Data::F64(array.as_array().to_vec()));
    }
    if let Ok(array) = values.extract::<PyReadonlyArray1<'_, u64>>() {
        return Ok(Data::U64(array.as_array().to_vec()));
    }
    if let Ok(rows) = values.extract::<Vec<Vec<u8>>>() {
        return Ok(Data::Bytes(rows));
    }
    let text = values.extract::<Vec<String>>();
    text.map(Data::Text).map_err(|_| PyTypeError::new_err(format!("{name}: neither numbers, text nor bytes")))
}
