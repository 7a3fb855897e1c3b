//! The Python module `becalm._core`: parses scenarios, runs them without holding the interpreter, and returns
//! columns.
//!
//! - `scenario`: a checked scenario as a Python object.
//! - `run`: one replication, with progress and Ctrl-C.
//! - `step`: runs that advance in steps, one or several in parallel.
//! - `trace`: a run that records individual packets.
//! - `report`: results as the payload of a page.
//! - `columns`: result tables as NumPy arrays.
//! - `external`, `seen`: external schemes, and the objects that Python schemes get.
//! - `crash`: messages about crashes in compiled schemes.
//! - `lines`: line numbers of keys in files that Python checks.
//! - `errors`: converts Rust errors to Python exceptions.
//!
//! The user interface is in the Python package. This crate makes no decisions.

mod columns;
#[cfg(unix)]
mod crash;
mod driving;
mod errors;
mod external;
mod lines;
mod report;
mod run;
mod scenario;
mod seen;
mod step;
mod trace;

use becalm_control::cct::CctEntry;
use becalm_control::response::ibta::TIMER_UNIT;
use pyo3::prelude::*;

/// Return all choices in a scenario as JSON: topologies, traffic, schemes and their parameters.
#[pyfunction]
fn catalogue() -> String {
    becalm_scenario::catalogue().to_string()
}

/// Return the seconds of a text such as `2.5 ms` or `4us`, with the syntax of scenarios; None if it is not a
/// time.
#[pyfunction]
fn seconds(text: &str) -> Option<f64> {
    becalm_schema::seconds(text)
}

/// Return the bytes of a text such as `4 GB` or `512MiB`; None if it is not a size.
#[pyfunction]
fn bytes(text: &str) -> Option<f64> {
    becalm_schema::bytes(text)
}

/// Return x to the power of y, with the same bits on every machine.
#[pyfunction]
fn power(x: f64, y: f64) -> f64 {
    libm::pow(x, y)
}

/// Return e to the power of x, with the same bits on every machine.
#[pyfunction]
fn exponential(x: f64) -> f64 {
    libm::exp(x)
}

/// Return the natural logarithm of x, with the same bits on every machine.
#[pyfunction]
fn logarithm(x: f64) -> f64 {
    libm::log(x)
}

/// Return the max-min fair rate of each flow, as if each always had data. `paths` are the links of each flow, as
/// indices into `capacities`.
#[pyfunction]
fn max_min(paths: Vec<Vec<u32>>, capacities: Vec<f64>) -> Vec<f64> {
    let path = |flow: usize| paths[flow].iter().map(|&link| (link, 1.0));
    becalm_metrics::sharing::max_min(path, &vec![f64::INFINITY; paths.len()], &capacities)
}

/// Return the entry of a congestion control table nearest to a delay in packet times, as `(shift, multiplier)`; None if
/// no entry expresses it.
#[pyfunction]
fn cct_entry(gap: f64) -> Option<(u8, u16)> {
    CctEntry::nearest(gap).map(|entry| (entry.shift(), entry.multiplier()))
}

/// Return the addresses of the C functions for `power`, `exponential` and `logarithm`.
#[pyfunction]
fn addresses() -> [usize; 3] {
    becalm_external::addresses()
}

/// Return the sizes and offsets of the core's C interface types in bytes, by `type.` and `type.field`.
#[pyfunction]
fn abi_layout() -> Vec<(String, usize)> {
    becalm_external::layout()
}

/// Return the C header of external schemes, `becalm.h`.
#[pyfunction]
fn header() -> &'static str {
    becalm_external::HEADER
}

/// Return the declaration of every result table and its columns as JSON.
#[pyfunction]
fn result_schema() -> String {
    becalm_scenario::result_schema().to_string()
}

/// Return the JSON Schema of scenario files as JSON.
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
    module.add_class::<external::Scheme>()?;
    module.add_function(wrap_pyfunction!(external::drive, module)?)?;
    module.add_function(wrap_pyfunction!(external::loading, module)?)?;
    module.add_function(wrap_pyfunction!(external::raised, module)?)?;
    module.add_class::<step::Run>()?;
    module.add_class::<step::Workers>()?;
    module.add_class::<seen::Flow>()?;
    module.add_class::<seen::Ack>()?;
    module.add_class::<seen::Hop>()?;
    module.add_class::<seen::Sent>()?;
    module.add_class::<seen::Shape>()?;
    module.add_class::<seen::Packet>()?;
    module.add_class::<seen::Received>()?;
    module.add_class::<seen::Switch>()?;
    module.add_function(wrap_pyfunction!(scenario::parse, module)?)?;
    module.add_function(wrap_pyfunction!(run::run, module)?)?;
    module.add_function(wrap_pyfunction!(trace::trace, module)?)?;
    module.add_function(wrap_pyfunction!(report::report, module)?)?;
    module.add_function(wrap_pyfunction!(report::verdict, module)?)?;
    module.add_function(wrap_pyfunction!(report::versus, module)?)?;
    module.add_function(wrap_pyfunction!(report::pack, module)?)?;
    module.add_function(wrap_pyfunction!(report::layout, module)?)?;
    module.add_function(wrap_pyfunction!(result_schema, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue, module)?)?;
    module.add_function(wrap_pyfunction!(json_schema, module)?)?;
    module.add("TIMER_UNIT", TIMER_UNIT.as_secs())?;
    module.add("MAX_SHIFT", CctEntry::MAX_SHIFT)?;
    module.add("MAX_MULTIPLIER", CctEntry::MAX_MULTIPLIER)?;
    module.add_function(wrap_pyfunction!(cct_entry, module)?)?;
    module.add_function(wrap_pyfunction!(max_min, module)?)?;
    module.add_function(wrap_pyfunction!(power, module)?)?;
    module.add_function(wrap_pyfunction!(exponential, module)?)?;
    module.add_function(wrap_pyfunction!(logarithm, module)?)?;
    module.add_function(wrap_pyfunction!(header, module)?)?;
    module.add_function(wrap_pyfunction!(abi_layout, module)?)?;
    module.add_function(wrap_pyfunction!(addresses, module)?)?;
    module.add_function(wrap_pyfunction!(seconds, module)?)?;
    module.add_function(wrap_pyfunction!(bytes, module)?)?;
    module.add_function(wrap_pyfunction!(lines::toml_lines, module)?)?;
    Ok(())
}
