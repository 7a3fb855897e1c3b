//! Failures of schemes from outside: what a run reports in place of results.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use becalm_engine::Time;

/// The failure of a scheme.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The scheme, as a user knows it: `mine.py:Mine`.
    pub scheme: String,
    /// Whom it served.
    pub place: Place,
    /// The simulated time.
    pub at: Time,
    /// What went wrong.
    pub problem: String,
}

/// Whom a scheme served when it failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A flow, or the flows that share a response, by the number of the response.
    Response(u32),
    /// A switch, by its name.
    Switch(String),
    /// A flow, by its number.
    Flow(u32),
    /// Whoever it is, in words.
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

/// Where the schemes of a run leave their first failure.
#[derive(Clone, Debug, Default)]
pub struct Faults(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    any: AtomicBool,
    first: Mutex<Option<Failure>>,
}

impl Faults {
    /// Leaves a failure; of several, the one that is earliest in simulated time stays.
    pub fn leave(&self, failure: Failure) {
        let mut first = self.0.first.lock().unwrap_or_else(PoisonError::into_inner);
        if first.as_ref().is_none_or(|first| failure.at < first.at) {
            *first = Some(failure);
        }
        self.0.any.store(true, Ordering::Release);
    }

    /// Whether there is one.
    pub fn any(&self) -> bool {
        self.0.any.load(Ordering::Acquire)
    }

    /// The first one.
    pub fn first(&self) -> Option<Failure> {
        if !self.any() {
            return None;
        }
        self.0.first.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
