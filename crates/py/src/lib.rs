//! The Python module `becalm._core`: parse a scenario, run it without holding the interpreter, hand over columns.
//!
//! - `scenario`: a checked scenario as a Python object.
//! - `run`: one replication, with progress and Ctrl-C.
//! - `trace`: a run that records single packets.
//! - `report`: results as the payload of a page.
//! - `columns`: result tables as NumPy arrays.
//! - `errors`: the only place where Rust errors become Python exceptions.
//!
//! The user interface is in the Python package above; this crate makes no decisions.

mod columns;
mod errors;
mod report;
mod run;
mod scenario;
mod trace;

use pyo3::prelude::*;

/// All choices of a scenario, as JSON: topologies, traffic, schemes, their parameters.
#[pyfunction]
fn catalogue() -> String {
    becalm_scenario::catalogue().to_string()
}

/// The seconds of a text such as `2.5 ms` or `4us`, read as in a scenario; None if it is not a time.
#[pyfunction]
fn seconds(text: &str) -> Option<f64> {
    becalm_schema::seconds(text)
}

/// The bytes that a text such as `4 GB` or `512MiB` stands for; None if it is no size.
#[pyfunction]
fn bytes(text: &str) -> Option<f64> {
    becalm_schema::bytes(text)
}

/// The JSON Schema of scenario files, as JSON.
#[pyfunction]
fn json_schema() -> String {
    becalm_scenario::json_schema().to_string()
}

/// The compiled core of becalm.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("model", env!("BECALM_MODEL"))?;
    module.add("compiler", env!("BECALM_COMPILER"))?;
    module.add_class::<scenario::Scenario>()?;
    module.add_function(wrap_pyfunction!(scenario::parse, module)?)?;
    module.add_function(wrap_pyfunction!(run::run, module)?)?;
    module.add_function(wrap_pyfunction!(trace::trace, module)?)?;
    module.add_function(wrap_pyfunction!(report::report, module)?)?;
    module.add_function(wrap_pyfunction!(report::pack, module)?)?;
    module.add_function(wrap_pyfunction!(report::fabric, module)?)?;
    module.add_function(wrap_pyfunction!(report::layout, module)?)?;
    module.add_function(wrap_pyfunction!(report::paths, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue, module)?)?;
    module.add_function(wrap_pyfunction!(json_schema, module)?)?;
    module.add_function(wrap_pyfunction!(seconds, module)?)?;
    module.add_function(wrap_pyfunction!(bytes, module)?)?;
    Ok(())
}
