//! One replication, with progress and Ctrl-C.

use std::time::{Duration, Instant};

use becalm_scenario::{Progress, Results, Stopper};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::scenario::Scenario;
use crate::{columns, errors};

/// Wall time between two calls of the progress function.
const PROGRESS_EVERY: Duration = Duration::from_millis(50);

/// Run one replication of a scenario on up to `threads` threads, without holding the interpreter.
///
/// `progress(time, duration, events, packet_hops)` is called about every 50 ms of wall time, and once at the
/// end, with times in seconds. If it returns `True`, the run ends at the simulated time that it has reached. An
/// exception in it ends the run and is passed on. So does Ctrl-C on the main thread.
///
/// Returns `{"tables": ..., "fingerprint": ..., "events": ..., "packet_hops": ..., "end": ..., "stopped": ...,
/// "guards": [...]}`; the end is the simulated time in seconds.
/// Raises `FabricError` or `DeadlockError`.
#[pyfunction]
#[pyo3(signature = (scenario, replication = 0, threads = 1, progress = None))]
pub fn run<'py>(
    py: Python<'py>,
    scenario: &Bound<'py, Scenario>,
    replication: u32,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let inner = &scenario.get().inner;
    let mut raised: Option<PyErr> = None;
    let outcome = py.detach(|| {
        let prepared = inner.prepare(replication, threads)?;
        let stopper = prepared.stopper();
        prepared.run(&mut reporter(progress.as_ref(), &mut raised, &stopper))
    });
    match outcome {
        Ok(results) => {
            report(progress.as_ref(), &end(inner, &results))?;
            to_python(py, results)
        }
        Err(error) => Err(errors::from_run(py, error, raised)),
    }
}

/// The last report, at the end of the run.
fn end(scenario: &becalm_scenario::Scenario, results: &Results) -> Progress {
    let duration = *scenario.sections().run.duration;
    Progress { time: duration, duration, events: results.events, packet_hops: results.packet_hops }
}

/// Reports to Python about every 50 ms of wall time. Returns whether to continue, passes on a request to stop, and keeps
/// an exception from Python.
pub(crate) fn reporter(
    progress: Option<&Py<PyAny>>,
    raised: &mut Option<PyErr>,
    stopper: &Stopper,
) -> impl FnMut(&Progress) -> bool {
    let mut reported = Instant::now();
    move |now| {
        if reported.elapsed() < PROGRESS_EVERY {
            return true;
        }
        reported = Instant::now();
        match report(progress, now) {
            Ok(true) => stopper.ask(),
            Ok(false) => {}
            Err(error) => *raised = Some(error),
        }
        raised.is_none()
    }
}

/// Reports to Python; returns whether the run is to stop.
fn report(progress: Option<&Py<PyAny>>, now: &Progress) -> PyResult<bool> {
    Python::attach(|py| {
        py.check_signals()?;
        let Some(progress) = progress else { return Ok(false) };
        let answer = progress.call1(py, (now.time.as_secs(), now.duration.as_secs(), now.events, now.packet_hops))?;
        answer.bind(py).is_truthy()
    })
}

pub(crate) fn to_python(py: Python<'_>, results: Results) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("fingerprint", results.fingerprint)?;
    dict.set_item("events", results.events)?;
    dict.set_item("packet_hops", results.packet_hops)?;
    dict.set_item("train_hops", results.train_hops)?;
    dict.set_item("left_out", results.left_out.as_secs())?;
    dict.set_item("end", results.end.as_secs())?;
    dict.set_item("stopped", results.stopped)?;
    dict.set_item("guards", results.guards)?;
    dict.set_item("tables", columns::to_python(py, results.tables)?)?;
    Ok(dict)
}
