//! Converts Rust errors to Python exceptions. Only this file does so. The classes are in `becalm.base.errors`.

use becalm_external::Failure;
use becalm_fabric::FabricError;
use becalm_scenario::RunError;
use becalm_schema::{Error, Errors};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::external::INTERRUPTED;

/// Largest number of errors in a message. A file that is not a scenario has thousands.
const MOST_LISTED: usize = 50;

/// `ScenarioError(message, file, errors)`. Its list has all errors, its message only the first ones.
pub fn from_errors(py: Python<'_>, errors: &Errors) -> PyErr {
    let list = errors.list.iter().map(|error| to_dict(py, error)).collect::<PyResult<Vec<_>>>();
    let arguments = list.and_then(|list| {
        let list = PyList::new(py, list)?;
        (message(errors), errors.file.as_str(), list).into_pyobject(py)
    });
    arguments
        .and_then(|arguments| exception(py, "ScenarioError")?.call1(arguments))
        .map_or_else(|e| e, PyErr::from_value)
}

fn message(errors: &Errors) -> String {
    let listed = errors.list.iter().take(MOST_LISTED).cloned().collect();
    let shown = Errors { list: listed, ..errors.clone() };
    match errors.list.len().saturating_sub(MOST_LISTED) {
        0 => shown.to_string(),
        rest => format!("{shown}\n{}: and {rest} more", errors.file),
    }
}

/// `DeadlockError(message, cycle, stopped)` or `FabricError(message)`.
pub fn from_fabric(py: Python<'_>, error: &FabricError) -> PyErr {
    let message = error.to_string();
    let raised = match error {
        FabricError::Deadlock { cycle, stopped, .. } => {
            exception(py, "DeadlockError").and_then(|class| class.call1((message, cycle.clone(), *stopped)))
        }
        _ => exception(py, "FabricError").and_then(|class| class.call1((message,))),
    };
    raised.map_or_else(|e| e, PyErr::from_value)
}

/// The exception of a run without results. `raised` is the exception of a progress function, if any.
pub fn from_run(py: Python<'_>, error: RunError, raised: Option<PyErr>) -> PyErr {
    match error {
        RunError::Interrupted => raised.unwrap_or_else(|| PyKeyboardInterrupt::new_err(())),
        RunError::Scheme(Failure { problem, .. }) if problem == INTERRUPTED => PyKeyboardInterrupt::new_err(()),
        RunError::Fabric(error) => from_fabric(py, &error),
        RunError::Early(_) => {
            let raised = exception(py, "StoppedError").and_then(|class| class.call1((error.to_string(),)));
            raised.map_or_else(|e| e, PyErr::from_value)
        }
        RunError::Scheme(_) | RunError::Unprovided(_) => {
            let raised = exception(py, "SchemeError").and_then(|class| class.call1((error.to_string(),)));
            raised.map_or_else(|e| e, PyErr::from_value)
        }
    }
}

fn exception<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("becalm.base.errors")?.getattr(name)
}

fn to_dict<'py>(py: Python<'py>, error: &Error) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("line", error.line)?;
    dict.set_item("key", &error.key)?;
    dict.set_item("value", &error.value)?;
    dict.set_item("problem", &error.problem)?;
    dict.set_item("valid", &error.valid)?;
    Ok(dict)
}
