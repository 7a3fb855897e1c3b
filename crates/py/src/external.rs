//! External schemes: declarations at an address, and schemes that are Python objects.
#![allow(unsafe_code, reason = "a declaration is read at an address passed by Python")]

use std::sync::Arc;

use becalm_external::parameters::Value;
use becalm_external::scheme::{Call, EchoObject, MarkerObject, Objects, Properties, ResponseObject};
use becalm_external::{Provided, abi, read};
use becalm_fabric::policy::{FlowShape, SwitchShape};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use crate::driving::{self, Paces};
use crate::seen::{Ack, Flow, Packet, Received, Sent, Shape, Switch};

/// The problem of a run that Ctrl-C ended inside a scheme.
pub const INTERRUPTED: &str = "interrupted";

/// An external scheme that can be provided to a scenario.
#[pyclass(frozen, module = "becalm._core")]
pub struct Scheme {
    inner: Arc<becalm_external::Scheme>,
    /// The owner of the declaration's memory.
    _keep: Py<PyAny>,
}

#[pymethods]
impl Scheme {
    /// Read the declaration at an address, a `becalm_scheme` of `becalm.h`. `keep` owns its memory.
    ///
    /// `factory` creates objects that replace functions. It is called with the values of the parameters, in
    /// their order, and returns an object and its methods, in the order of the seam's calls; None for a
    /// missing method. `properties` are `(trail_bytes, flags, sent, attention, ack_every)`. Raises
    /// `ValueError` with the reason if the declaration is refused.
    #[new]
    #[pyo3(signature = (address, origin, sha256, keep, factory = None, properties = (0, 0, false, 0, 1)))]
    fn new(
        address: usize,
        origin: &str,
        sha256: &str,
        keep: Py<PyAny>,
        factory: Option<Py<PyAny>>,
        properties: (u32, u32, bool, u32, u32),
    ) -> PyResult<Scheme> {
        let (trail_bytes, flags, sent, attention, ack_every) = properties;
        let properties = Properties { trail_bytes, flags, sent, attention, ack_every };
        let objects = factory.map(|factory| Box::new(PyObjects { factory, properties }) as Box<dyn Objects>);
        #[cfg(unix)]
        if objects.is_none() {
            crate::crash::watch();
        }
        // SAFETY: the address comes from a library or from memory that `keep` owns. Neither is freed.
        let inner = unsafe { read::scheme(address, origin, sha256, objects) };
        let inner = Arc::new(inner.map_err(|problem| PyValueError::new_err(format!("{origin}: {problem}")))?);
        Ok(Scheme { inner, _keep: keep })
    }

    /// `response`, `marking` or `echo`.
    #[getter]
    fn seam(&self) -> &str {
        self.inner.seam.word()
    }

    /// Its name in scenarios.
    #[getter]
    fn name(&self) -> &str {
        &self.inner.name
    }

    /// A one-sentence description.
    #[getter]
    fn doc(&self) -> &str {
        &self.inner.doc
    }

    /// Its origin.
    #[getter]
    fn origin(&self) -> &str {
        &self.inner.origin
    }

    /// SHA-256 of its file.
    #[getter]
    fn sha256(&self) -> &str {
        &self.inner.sha256
    }

    /// Whether it is compiled and so may run on several threads.
    #[getter]
    fn native(&self) -> bool {
        self.inner.is_native()
    }

    /// Whether it is a response that reacts to marks.
    #[getter]
    fn needs_marks(&self) -> bool {
        let properties = self.inner.properties();
        properties.flags & abi::USES_RTT == 0 && properties.trail_bytes == 0
    }

    /// Whether it is a response that requests telemetry.
    #[getter]
    fn trails(&self) -> bool {
        self.inner.properties().trail_bytes > 0
    }

    /// Its parameters, as JSON.
    #[getter]
    fn parameters(&self) -> String {
        let all: Vec<_> = self.inner.parameters.iter().map(|parameter| parameter.to_json()).collect();
        serde_json::Value::Array(all).to_string()
    }
}

/// A step of `drive`: its kind (`ack`, `becn`, `timer`, `restart` or `sent`), the time in ps, the numbers of
/// marked packets and of packets of an ACK, and the ACK's round-trip time in ps.
type Step = (String, u64, u32, u32, u64);

/// Run responses with their default parameters without a fabric. Every flow goes through its list of steps.
///
/// Returns the paces `(gap, window, timer)` of each flow, starting with the pace after its start, and the
/// first failure. A timer expires before any later step.
#[pyfunction]
pub fn drive(scheme: &Bound<'_, Scheme>, flows: Vec<Vec<Step>>) -> (Vec<Paces>, Option<String>) {
    let scheme = scheme.get().inner.clone();
    driving::drive(&scheme, &flows)
}

/// Call a function that loads a library, and name the library if it crashes.
#[pyfunction]
pub fn loading<'py>(origin: &str, load: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    #[cfg(unix)]
    crate::crash::watch();
    becalm_external::loading(origin, || load.call0())
}

/// Keep the description of an exception in a compiled class, for the message of the run that called it.
#[pyfunction]
pub fn raised(problem: String) {
    becalm_external::raised(problem);
}

/// The schemes of Python handles.
pub fn provided(schemes: &[Py<Scheme>]) -> Provided {
    Provided(schemes.iter().map(|scheme| scheme.get().inner.clone()).collect())
}

struct PyObjects {
    factory: Py<PyAny>,
    properties: Properties,
}

impl PyObjects {
    /// An object and its methods.
    fn make<const N: usize>(&self, py: Python<'_>, values: &[Value]) -> Result<[Option<Py<PyAny>>; N], String> {
        let value = |value: &Value| match *value {
            Value::Number(number) => number.into_py_any(py),
            Value::Integer(integer) => integer.into_py_any(py),
        };
        let made = values.iter().map(value).collect::<PyResult<Vec<_>>>();
        let made = made.and_then(|values| self.factory.call1(py, (PyList::new(py, values)?,))?.extract(py));
        made.map_err(|error| explained(py, &error, "__init__", None))
    }
}

/// The message about an exception in a call: file, line, call and arguments.
fn explained(py: Python<'_>, error: &PyErr, call: &str, arguments: Option<&Bound<'_, PyTuple>>) -> String {
    if error.is_instance_of::<PyKeyboardInterrupt>(py) {
        return INTERRUPTED.to_string();
    }
    let message = || -> PyResult<String> {
        let (module, value) = (py.import("becalm.schemes.failure")?, error.value(py));
        if let Some(traceback) = error.traceback(py) {
            value.setattr(intern!(py, "__traceback__"), traceback)?;
        }
        module.getattr("explain")?.call1((value, call, arguments))?.extract()
    };
    message().unwrap_or_else(|_| format!("{call}: {error}"))
}

/// Calls a method. An exception is converted to a sentence.
fn called<'py>(
    py: Python<'py>,
    method: &Py<PyAny>,
    name: &str,
    arguments: Bound<'py, PyTuple>,
) -> Result<Bound<'py, PyAny>, String> {
    method.bind(py).call1(&arguments).map_err(|error| explained(py, &error, name, Some(&arguments)))
}

impl Objects for PyObjects {
    fn properties(&self) -> Properties {
        self.properties
    }

    fn response(&self, values: &[Value], flow: &FlowShape) -> Result<(Box<dyn ResponseObject>, abi::Pace), String> {
        Python::attach(|py| {
            let [Some(object), Some(start), ack, becn, timer, restart, sent] = self.make(py, values)? else {
                return Err(BROKEN.to_string());
            };
            let arguments = (Flow::of(flow),).into_pyobject(py).map_err(|_| BROKEN)?;
            called(py, &start, "start", arguments)?;
            let response = PyResponse { object, ack, becn, timer, restart, sent };
            let mut pace = abi::Pace::FREE;
            response.read(py, &mut pace)?;
            Ok((Box::new(response) as Box<dyn ResponseObject>, pace))
        })
    }

    fn marker(&self, values: &[Value], shape: &SwitchShape) -> Result<Box<dyn MarkerObject>, String> {
        Python::attach(|py| {
            let [Some(_), start, arrived, stored, Some(departing)] = self.make(py, values)? else {
                return Err(BROKEN.to_string());
            };
            if let Some(start) = start {
                let arguments = (Shape::of(shape),).into_pyobject(py).map_err(|_| BROKEN)?;
                called(py, &start, "start", arguments)?;
            }
            let view = Py::new(py, Switch::new()).map_err(|_| BROKEN)?;
            Ok(Box::new(PyMarker { arrived, stored, departing, view }) as Box<dyn MarkerObject>)
        })
    }

    fn echo(&self, values: &[Value]) -> Result<Box<dyn EchoObject>, String> {
        Python::attach(|py| {
            let [Some(_), Some(answer)] = self.make(py, values)? else {
                return Err(BROKEN.to_string());
            };
            Ok(Box::new(PyEcho { answer }) as Box<dyn EchoObject>)
        })
    }
}

/// The factory is part of becalm.
const BROKEN: &str = "becalm's own code for Python schemes is broken";

struct PyResponse {
    object: Py<PyAny>,
    ack: Option<Py<PyAny>>,
    becn: Option<Py<PyAny>>,
    timer: Option<Py<PyAny>>,
    restart: Option<Py<PyAny>>,
    sent: Option<Py<PyAny>>,
}

impl PyResponse {
    /// Reads `gap`, `window` and `timer`.
    fn read(&self, py: Python<'_>, pace: &mut abi::Pace) -> Result<(), String> {
        let object = self.object.bind(py);
        let gap = object.getattr(intern!(py, "gap")).and_then(|gap| gap.extract::<f64>());
        pace.gap = gap.map_err(|_| wrong(object, "gap", "a number, at least 0"))?;
        let window = object.getattr(intern!(py, "window")).map_err(|_| wrong(object, "window", WINDOW))?;
        pace.window = match window.is_none() {
            true => u32::MAX,
            false => {
                let packets = window.extract::<i64>().ok().filter(|&packets| packets >= 0);
                packets.ok_or_else(|| wrong(object, "window", WINDOW))?.min(i64::from(u32::MAX)) as u32
            }
        };
        let timer = object.getattr(intern!(py, "timer")).map_err(|_| wrong(object, "timer", TIMER))?;
        pace.timer = match timer.is_none() {
            true => abi::NEVER,
            false => match timer.extract::<u64>().map_err(|_| wrong(object, "timer", TIMER))? {
                time if time >= i64::MAX as u64 => abi::NEVER,
                time => time,
            },
        };
        Ok(())
    }
}

const WINDOW: &str = "a whole number of packets, at least 1, or None for no limit";
const TIMER: &str = "a whole number of ps, or None for no timer";

fn wrong(object: &Bound<'_, PyAny>, name: &str, valid: &str) -> String {
    let shown = object.getattr(name).and_then(|value| value.repr().map(|text| text.to_string()));
    format!("self.{name} = {}: must be {valid}", shown.unwrap_or_else(|_| "missing".to_string()))
}

impl ResponseObject for PyResponse {
    fn call(&mut self, now: u64, call: Call<'_>, pace: &mut abi::Pace) -> Result<(), String> {
        let (method, name) = match call {
            Call::Ack(_) => (&self.ack, "on_ack"),
            Call::Becn => (&self.becn, "on_becn"),
            Call::Timer => (&self.timer, "on_timer"),
            Call::Restart => (&self.restart, "on_restart"),
            Call::Sent(_) => (&self.sent, "on_sent"),
        };
        let Some(method) = method else { return Ok(()) };
        Python::attach(|py| {
            if pace.timer == abi::NEVER {
                // The expired timer is no longer set.
                let _ = self.object.bind(py).setattr(intern!(py, "timer"), py.None());
            }
            let arguments = match call {
                Call::Ack(ack) => (now, Ack::of(ack)).into_pyobject(py),
                Call::Sent(sent) => (now, Sent::of(sent)).into_pyobject(py),
                _ => (now,).into_pyobject(py),
            };
            called(py, method, name, arguments.map_err(|_| BROKEN)?)?;
            self.read(py, pace)
        })
    }
}

struct PyMarker {
    arrived: Option<Py<PyAny>>,
    stored: Option<Py<PyAny>>,
    departing: Py<PyAny>,
    view: Py<Switch>,
}

impl PyMarker {
    fn ask<'py>(
        &self,
        py: Python<'py>,
        method: &Py<PyAny>,
        name: &str,
        packet: &abi::Packet,
        view: &abi::View,
    ) -> Result<Bound<'py, PyAny>, String> {
        let arguments = (Packet(*packet), self.view.clone_ref(py)).into_pyobject(py).map_err(|_| BROKEN)?;
        self.view.get().open(view);
        let answer = called(py, method, name, arguments);
        self.view.get().close();
        answer
    }
}

impl MarkerObject for PyMarker {
    fn arrived(&mut self, packet: &abi::Packet, view: &abi::View, stored: bool) -> Result<(), String> {
        let (method, name) = if stored { (&self.stored, "stored") } else { (&self.arrived, "arrived") };
        let Some(method) = method else { return Ok(()) };
        Python::attach(|py| self.ask(py, method, name, packet, view).map(|_| ()))
    }

    fn departing(&mut self, packet: &abi::Packet, view: &abi::View) -> Result<bool, String> {
        Python::attach(|py| {
            let answer = self.ask(py, &self.departing, "departing", packet, view)?;
            answer.is_truthy().map_err(|error| explained(py, &error, "departing", None))
        })
    }
}

struct PyEcho {
    answer: Py<PyAny>,
}

impl EchoObject for PyEcho {
    fn answer(&mut self, packet: &abi::Received) -> Result<abi::Answer, String> {
        Python::attach(|py| {
            let arguments = (Received(*packet),).into_pyobject(py).map_err(|_| BROKEN)?;
            let answer = called(py, &self.answer, "answer", arguments)?;
            let (ack, cnp) = answer.extract::<(Option<i64>, bool)>().map_err(|_| {
                let shown = answer.repr().map_or_else(|_| String::new(), |text| text.to_string());
                format!("answer returns {shown}; it must be becalm.Answer(ack, cnp): the marks that an ACK reports or None, and a bool")
            })?;
            let (marks, cnp, failed) = (ack.and_then(|marks| u32::try_from(marks).ok()), u32::from(cnp), 0);
            Ok(abi::Answer { ack: u32::from(marks.is_some()), marks: marks.unwrap_or(0), cnp, failed })
        })
    }
}
