//! Results as the payload of a page.

use becalm_metrics::{Data, Names};
use becalm_report::pack::deflated;
use becalm_report::{Column, Options, Outcome, Run, Tables, difference};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde_json::Value;

use crate::scenario::Scenario;

/// A replication from Python: number, fingerprint, packet-hops, the time in s at which it was stopped,
/// `{table: [(column, unit, values), ...]}`.
type Given<'py> = (u32, String, u64, Option<f64>, Bound<'py, PyDict>);
type Reals<'py> = Bound<'py, PyArray1<f64>>;

/// Pack the data of runs for a page.
///
/// `runs` are `(replication, fingerprint, packet_hops, stopped, {table: [(column, unit, values), ...]})`; `stopped` is
/// the time in s at which a run was stopped, or None. Values are NumPy arrays of float64 or uint64, lists of `str`, or lists of `bytes`. `about` is JSON for the header.
/// Frames are left out if the payload would exceed `most_bytes`; 0 means no limit. `all` keeps all shares of
/// links over time, in full resolution.
///
/// Returns the payload, the number n if it keeps only every n-th frame, and the names of the omitted shares.
/// Raises `TypeError` or `ValueError` for other values.
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

/// Return the verdict on a replication in one sentence: who suffers, and from what.
///
/// `tables` are as in `report`; missing ones are not mentioned. `stopped` is the time in s at which the run was stopped,
/// or None. Returns None without the tables `flows` and `tree`.
#[pyfunction]
#[pyo3(signature = (scenario, tables, stopped = None))]
pub fn verdict(
    scenario: &Bound<'_, Scenario>,
    tables: &Bound<'_, PyDict>,
    stopped: Option<f64>,
) -> PyResult<Option<String>> {
    let tables = read(tables)?;
    let inner = &scenario.get().inner;
    Ok(scenario.py().detach(|| becalm_report::verdict(inner, &tables, stopped)))
}

/// Compare two runs of the same traffic: their jobs' times and their groups' rates or, if neither differs noticeably,
/// their longest pauses and latencies.
///
/// `before` and `after` are tables as in `report`. Returns the score of the second run, which is above 0 for a gain, the
/// noticeable changes in words, largest first, and a sentence with `subject`.
#[pyfunction]
pub fn versus(
    scenario: &Bound<'_, Scenario>,
    before: &Bound<'_, PyDict>,
    after: &Bound<'_, PyDict>,
    subject: &str,
) -> PyResult<(f64, Vec<String>, String)> {
    let inner = &scenario.get().inner;
    let found = difference(&Outcome::new(inner, &read(before)?), &Outcome::new(inner, &read(after)?));
    let sentence = found.sentence(subject);
    Ok((found.score, found.changes.into_iter().map(|change| change.text).collect(), sentence))
}

/// Pack a header in JSON without arrays.
#[pyfunction]
pub fn pack<'py>(py: Python<'py>, header: &str) -> PyResult<Bound<'py, PyBytes>> {
    let header = json(header)?;
    Ok(PyBytes::new(py, &py.detach(|| deflated(&becalm_report::Pack::default().whole(header)))))
}

/// Return the positions at which a scenario's nodes are drawn, in the order of the table of nodes.
///
/// Returns `(form, x, y)`. The form is `rows`, `dumbbell`, `grid`, `groups` or `circle`. x and y are arrays
/// of float64, from 0 at the left and bottom to 1 at the right and top.
#[pyfunction]
pub fn layout<'py>(py: Python<'py>, scenario: &Bound<'py, Scenario>) -> (&'static str, Reals<'py>, Reals<'py>) {
    let inner = &scenario.get().inner;
    let made = py.detach(|| becalm_report::Layout::new(inner.topology()));
    (made.form.name(), made.x.into_pyarray(py), made.y.into_pyarray(py))
}

fn json(text: &str) -> PyResult<Value> {
    serde_json::from_str(text).map_err(|error| PyValueError::new_err(error.to_string()))
}

fn run((replication, fingerprint, packet_hops, stopped, given): Given<'_>) -> PyResult<Run> {
    Ok(Run { replication, fingerprint, packet_hops, stopped, tables: read(&given)? })
}

fn read(given: &Bound<'_, PyDict>) -> PyResult<Tables> {
    let mut tables = Tables::default();
    for (name, columns) in given.iter() {
        let columns: Vec<(String, String, Bound<'_, PyAny>)> = columns.extract()?;
        let columns =
            columns.into_iter().map(|(name, unit, values)| Ok(Column { data: data(&name, &values)?, name, unit }));
        tables.insert(name.extract()?, columns.collect::<PyResult<_>>()?);
    }
    Ok(tables)
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
    if let Ok((list, of)) = values.extract::<(Vec<String>, PyReadonlyArray1<'_, u32>)>() {
        return Ok(Data::Names(Names { list, of: of.as_array().to_vec() }));
    }
    let text = values.extract::<Vec<String>>();
    text.map(Data::Text).map_err(|_| PyTypeError::new_err(format!("{name}: must be numbers, text or bytes")))
}
