//! Runs that advance in steps.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::thread::JoinHandle;

use becalm_engine::Time;
use becalm_fabric::policy::Pace;
use becalm_scenario::{Course, RunError, Stopper};
use numpy::ndarray::Array2;
use numpy::{IntoPyArray, PyArray2};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::scenario::Scenario;
use crate::{columns, errors, run};

/// The live columns of flows, in the order of rows in `Run.live`.
const COLUMNS: [&str; 12] = [
    "gap",
    "window",
    "in_flight",
    "rtt",
    "sent_packets",
    "sent_bytes",
    "delivered_packets",
    "delivered_bytes",
    "delivered_marked",
    "acks",
    "acks_marked",
    "posted_bytes",
];
/// Number of checks for work before a thread sleeps: about 100 us.
const SPINS: u32 = 20_000;

type Shared = Arc<Mutex<Option<Course>>>;

/// A run that advances in steps.
#[pyclass(frozen, module = "becalm._core")]
pub struct Run {
    scenario: Arc<becalm_scenario::Scenario>,
    course: Shared,
}

impl Run {
    fn lock(&self) -> PyResult<MutexGuard<'_, Option<Course>>> {
        match self.course.try_lock() {
            Ok(guard) => Ok(guard),
            Err(TryLockError::WouldBlock) => Err(PyRuntimeError::new_err("another thread is advancing this run")),
            Err(TryLockError::Poisoned(_)) => Err(over()),
        }
    }

    fn with<T>(&self, look: impl FnOnce(&mut Course) -> T) -> PyResult<T> {
        Ok(look(self.lock()?.as_mut().ok_or_else(over)?))
    }

    fn flows(&self, flows: &[u32]) -> PyResult<()> {
        let count = self.scenario.flow_count();
        match flows.iter().find(|&&flow| flow as usize >= count) {
            Some(flow) => {
                Err(PyValueError::new_err(format!("flow {flow}: the run has {count} flows, numbered from 0")))
            }
            None => Ok(()),
        }
    }
}

fn over() -> PyErr {
    PyRuntimeError::new_err("the run is over: it was finished or has failed")
}

#[pymethods]
impl Run {
    /// Set up a replication of a scenario at time zero.
    #[new]
    #[pyo3(signature = (scenario, replication = 0, threads = 1))]
    fn new(py: Python<'_>, scenario: &Bound<'_, Scenario>, replication: u32, threads: usize) -> PyResult<Run> {
        let scenario = scenario.get().inner.clone();
        let course = py.detach(|| Course::new(&scenario, replication, threads));
        let mut course = course.map_err(|error| errors::from_run(py, error, None))?;
        course.note_rtts();
        Ok(Run { scenario, course: Arc::new(Mutex::new(Some(course))) })
    }

    /// Simulated time in ps.
    #[getter]
    fn now(&self) -> PyResult<u64> {
        self.with(|course| course.now().0)
    }

    /// Whether the run has ended.
    #[getter]
    fn ended(&self) -> PyResult<bool> {
        self.with(|course| course.has_ended())
    }

    /// Number of times that a packet has crossed a link.
    #[getter]
    fn packet_hops(&self) -> PyResult<u64> {
        self.with(|course| course.work().work)
    }

    /// The names of the rows in `live`.
    #[classattr]
    fn columns() -> Vec<&'static str> {
        COLUMNS.to_vec()
    }

    /// Advance to a time in ps, or to the end of the run. `progress` is the same as for `run`.
    #[pyo3(signature = (until, progress = None))]
    fn advance(&self, py: Python<'_>, until: u64, progress: Option<Py<PyAny>>) -> PyResult<()> {
        let mut guard = self.lock()?;
        let course = guard.as_mut().ok_or_else(over)?;
        let mut raised: Option<PyErr> = None;
        let stopper = course.stopper();
        let mut report = run::reporter(progress.as_ref(), &mut raised, &stopper);
        let done = py.detach(|| course.advance(&self.scenario, Time(until), &mut report));
        drop(report);
        done.map_err(|error| errors::from_run(py, error, raised))
    }

    /// Return the tables `frames` and `frames_groups` so far, as in the results of `run`.
    fn frames<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let tables = self.with(|course| course.frames(&self.scenario))?;
        columns::to_python(py, tables.into())
    }

    /// Return the current columns of flows, indexed by column and flow.
    fn live<'py>(&self, py: Python<'py>, flows: Vec<u32>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.flows(&flows)?;
        let values = self.with(|course| live(course, &flows))?;
        let array = Array2::from_shape_vec((COLUMNS.len(), flows.len()), values);
        Ok(array.map_err(|error| PyRuntimeError::new_err(error.to_string()))?.into_pyarray(py))
    }

    /// Return the properties of flows on an empty fabric, with one row for each flow: rate of the source's
    /// link in B/s, round-trip time in s, bytes of a full packet.
    fn unloaded<'py>(&self, py: Python<'py>, flows: Vec<u32>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.flows(&flows)?;
        let rows = self.scenario.unloaded(&flows);
        let array = Array2::from_shape_vec((rows.len(), 3), rows.into_flattened());
        Ok(array.map_err(|error| PyRuntimeError::new_err(error.to_string()))?.into_pyarray(py))
    }

    /// Set the pace of flows from now, instead of their responses. None means no window.
    #[pyo3(signature = (flows, gap, window = None))]
    fn set_pace(&self, flows: Vec<u32>, gap: f64, window: Option<u32>) -> PyResult<()> {
        self.flows(&flows)?;
        if !(gap >= 0.0 && gap.is_finite()) {
            return Err(PyValueError::new_err(format!("gap = {gap}: must be a finite number, at least 0")));
        }
        if window == Some(0) {
            return Err(PyValueError::new_err("window = 0: must be at least 1"));
        }
        let pace = Pace { gap, window: window.unwrap_or(u32::MAX) };
        self.with(|course| flows.iter().for_each(|&flow| course.set_pace(flow, pace)))
    }

    /// Run to the end. Returns the same as `run`.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mut course = self.lock()?.take().ok_or_else(over)?;
        let mut raised: Option<PyErr> = None;
        let outcome = py.detach(|| {
            let never = Stopper::default();
            let mut report = run::reporter(None, &mut raised, &never);
            course.advance(&self.scenario, Time::MAX, &mut report)?;
            course.finish(&self.scenario, &mut report)
        });
        match outcome {
            Ok(results) => run::to_python(py, results),
            Err(error) => Err(errors::from_run(py, error, raised)),
        }
    }
}

fn live(course: &Course, flows: &[u32]) -> Vec<f64> {
    let mut values = vec![0.0; COLUMNS.len() * flows.len()];
    for (place, &flow) in flows.iter().enumerate() {
        let view = course.flow(flow);
        let window = if view.pace.window == u32::MAX { f64::INFINITY } else { f64::from(view.pace.window) };
        let row = [
            view.pace.gap,
            window,
            f64::from(view.in_flight),
            view.rtt.as_secs(),
            view.sent_packets as f64,
            view.sent_bytes as f64,
            view.delivered_packets as f64,
            view.delivered_bytes as f64,
            view.delivered_marked as f64,
            view.acks as f64,
            view.acks_marked as f64,
            view.posted_bytes as f64,
        ];
        for (column, value) in row.into_iter().enumerate() {
            values[column * flows.len() + place] = value;
        }
    }
    values
}

/// A run to advance.
struct Job {
    scenario: Arc<becalm_scenario::Scenario>,
    course: Shared,
    until: Time,
    place: usize,
}

impl Job {
    fn work(self) -> (usize, Result<(), RunError>) {
        let mut guard = self.course.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let done = match guard.as_mut() {
            Some(course) => course.advance(&self.scenario, self.until, &mut |_| true),
            None => Ok(()),
        };
        (self.place, done)
    }
}

/// Threads that advance runs in parallel.
#[pyclass(frozen, module = "becalm._core")]
pub struct Workers {
    inner: Inner,
}

struct Inner {
    jobs: Vec<Sender<Job>>,
    done: Mutex<Receiver<(usize, Result<(), RunError>)>>,
    threads: Vec<JoinHandle<()>>,
}

/// The next message. A thread polls for a while before it sleeps.
fn next<T>(from: &Receiver<T>) -> Option<T> {
    for _ in 0..SPINS {
        if let Ok(message) = from.try_recv() {
            return Some(message);
        }
        std::hint::spin_loop();
    }
    from.recv().ok()
}

#[pymethods]
impl Workers {
    /// Create workers with this number of threads, including the calling thread.
    #[new]
    fn new(threads: usize) -> Workers {
        let (tell, done) = channel();
        let (mut jobs, mut handles) = (Vec::new(), Vec::new());
        for _ in 1..threads {
            let (give, take) = channel::<Job>();
            let tell = tell.clone();
            handles.push(std::thread::spawn(move || {
                while let Some(job) = next(&take) {
                    if tell.send(job.work()).is_err() {
                        break;
                    }
                }
            }));
            jobs.push(give);
        }
        Workers { inner: Inner { jobs, done: Mutex::new(done), threads: handles } }
    }

    /// Advance each run to its time in ps. Runs with Python schemes are not supported.
    fn advance(&self, py: Python<'_>, runs: Vec<Py<Run>>, until: Vec<u64>) -> PyResult<()> {
        let jobs: Vec<Job> = (0..)
            .zip(runs.iter().zip(&until))
            .map(|(place, (run, &until))| {
                let run = run.get();
                Job { scenario: run.scenario.clone(), course: run.course.clone(), until: Time(until), place }
            })
            .collect();
        let failed = py.detach(|| self.inner.share(jobs));
        failed.map_or(Ok(()), |error| Err(errors::from_run(py, error, None)))
    }
}

impl Inner {
    /// Executes jobs in parallel. Returns the failure of the first job that failed.
    fn share(&self, jobs: Vec<Job>) -> Option<RunError> {
        let done = self.done.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let width = self.jobs.len() + 1;
        let (mut own, mut given) = (Vec::new(), 0);
        for (number, job) in jobs.into_iter().enumerate() {
            match number % width {
                0 => own.push(job),
                worker => match self.jobs[worker - 1].send(job) {
                    Ok(()) => given += 1,
                    Err(unsent) => own.push(unsent.0),
                },
            }
        }
        let mut failed: Vec<(usize, RunError)> = Vec::new();
        let mut note = |(place, done): (usize, Result<(), RunError>)| failed.extend(done.err().map(|e| (place, e)));
        own.into_iter().for_each(|job| note(job.work()));
        for _ in 0..given {
            next(&done).into_iter().for_each(&mut note);
        }
        failed.into_iter().min_by_key(|(place, _)| *place).map(|(_, error)| error)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.jobs.clear();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
