//! The only place where Rust errors become Python exceptions; the classes live in `becalm.errors`.

use becalm_fabric::FabricError;
use becalm_schema::{Mistake, Mistakes};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Mistakes that a message lists one by one; a file that is no scenario at all has thousands.
const MOST_LISTED: usize = 50;

/// `ScenarioError(message, file, mistakes)`; all mistakes are in its list, and the first of them in its message.
pub fn from_mistakes(py: Python<'_>, mistakes: &Mistakes) -> PyErr {
    let list = mistakes.list.iter().map(|mistake| to_dict(py, mistake)).collect::<PyResult<Vec<_>>>();
    let arguments = list.and_then(|list| {
        let list = PyList::new(py, list)?;
        (message(mistakes), mistakes.file.as_str(), list).into_pyobject(py)
    });
    arguments
        .and_then(|arguments| exception(py, "ScenarioError")?.call1(arguments))
        .map_or_else(|e| e, PyErr::from_value)
}

fn message(mistakes: &Mistakes) -> String {
    let listed = mistakes.list.iter().take(MOST_LISTED).cloned().collect();
    let shown = Mistakes { file: mistakes.file.clone(), list: listed };
    match mistakes.list.len().saturating_sub(MOST_LISTED) {
        0 => shown.to_string(),
        rest => format!("{shown}\n{}: and {rest} more", mistakes.file),
    }
}

/// `DeadlockError(message, cycle)` or `FabricError(message)`.
pub fn from_fabric(py: Python<'_>, error: &FabricError) -> PyErr {
    let message = error.to_string();
    let raised = match error {
        FabricError::Deadlock { cycle, .. } => {
            exception(py, "DeadlockError").and_then(|class| class.call1((message, cycle.clone())))
        }
        _ => exception(py, "FabricError").and_then(|class| class.call1((message,))),
    };
    raised.map_or_else(|e| e, PyErr::from_value)
}

fn exception<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("becalm.errors")?.getattr(name)
}

fn to_dict<'py>(py: Python<'py>, mistake: &Mistake) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("line", mistake.line)?;
    dict.set_item("key", &mistake.key)?;
    dict.set_item("value", &mistake.value)?;
    dict.set_item("problem", &mistake.problem)?;
    dict.set_item("valid", &mistake.valid)?;
    Ok(dict)
}
