//! Failures of external schemes, which a run reports instead of results.

use std::cell::RefCell;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use becalm_engine::Time;

/// The failure of a scheme.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The scheme, as the user named it: `mine.py:Mine`.
    pub scheme: String,
    /// The flow or switch that it served.
    pub place: Place,
    /// The simulated time.
    pub at: Time,
    /// The problem.
    pub problem: String,
}

/// The flow or switch that a scheme served when it failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A flow, or flows that share a response, given by the number of the response.
    Response(u32),
    /// A switch, given by its name.
    Switch(String),
    /// A flow, given by its number.
    Flow(u32),
    /// A description in words.
    Named(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} at {}: {}", self.scheme, self.place, self.at, self.problem)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Response(number) => write!(f, "response {number}"),
            Place::Switch(name) => write!(f, "switch {name}"),
            Place::Flow(number) => write!(f, "flow {number}"),
            Place::Named(words) => f.write_str(words),
        }
    }
}

thread_local! {
    static RAISED: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Keeps the description of an exception in a compiled scheme, until the call that raised it returns.
pub fn raised(problem: String) {
    RAISED.set(Some(problem));
}

/// The description of the exception that the last call on this thread has raised.
pub(crate) fn take_raised() -> Option<String> {
    RAISED.take()
}

/// The problem of a call of a compiled scheme that has set `failed`.
#[cold]
pub(crate) fn of_call(function: &str) -> String {
    take_raised().unwrap_or_else(|| format!("its function `{function}` reports a failure"))
}

/// The first failure among the schemes of a run.
#[derive(Clone, Debug, Default)]
pub struct Faults(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    any: AtomicBool,
    first: Mutex<Option<Failure>>,
}

impl Faults {
    /// Records a failure. Of several failures, the earliest in simulated time is kept.
    pub fn leave(&self, failure: Failure) {
        let mut first = self.0.first.lock().unwrap_or_else(PoisonError::into_inner);
        if first.as_ref().is_none_or(|first| failure.at < first.at) {
            *first = Some(failure);
        }
        self.0.any.store(true, Ordering::Release);
    }

    /// Whether any scheme has failed.
    pub fn any(&self) -> bool {
        self.0.any.load(Ordering::Acquire)
    }

    /// The first failure.
    pub fn first(&self) -> Option<Failure> {
        if !self.any() {
            return None;
        }
        self.0.first.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
