//! A run that records individual packets.

use becalm_engine::Time;
use becalm_scenario::{Stopper, TraceSpec};

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::scenario::Scenario;
use crate::{columns, errors, run};

/// Run one replication of a scenario and record flows and links, given by number, from `start` to `stop` in
/// ps. Each table has at most `most` rows. None means all flows or all links. If `calls` is a list, also
/// record the calls of the flows' responses, and of the markers of the listed switches, which are indices
/// into the list of switches.
///
/// `progress` is the same as for `run`. Returns `{"tables": ..., "fingerprint": ..., "end": ...}`; `end` is
/// in ps. Raises `FabricError`.
#[pyfunction]
#[pyo3(signature = (scenario, replication, flows, links, start, stop, most, calls = None, progress = None))]
#[expect(clippy::too_many_arguments, reason = "the arguments are those of the function in Python")]
pub fn trace<'py>(
    py: Python<'py>,
    scenario: &Bound<'py, Scenario>,
    replication: u32,
    flows: Option<Vec<u32>>,
    links: Option<Vec<u32>>,
    start: u64,
    stop: u64,
    most: usize,
    calls: Option<Vec<u32>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let inner = &scenario.get().inner;
    let spec = TraceSpec { flows, links, calls, from: Time(start), until: Time(stop), most };
    let mut raised: Option<PyErr> = None;
    let never = Stopper::default();
    let mut report = run::reporter(progress.as_ref(), &mut raised, &never);
    let outcome = py.detach(|| inner.trace(replication, &spec, &mut report));
    drop(report);
    match outcome {
        Ok(trace) => {
            let dict = PyDict::new(py);
            dict.set_item("tables", columns::to_python(py, trace.tables)?)?;
            dict.set_item("fingerprint", trace.fingerprint)?;
            dict.set_item("end", trace.end.0)?;
            Ok(dict)
        }
        Err(error) => Err(errors::from_run(py, error, raised)),
    }
}
