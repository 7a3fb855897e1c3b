//! A user-defined marking policy, in Python, C or another language.
//!
//! # What it does
//! It runs the user's code: `becalm run scenario.toml --marking mine.py:Mine`.
//!
//! # Source
//! The user's code.
//!
//! # Parameters
//! - `name`, `parameters`, `sha256`: as for `[response.external]`.
//!
//! # Departures from the source
//! None. An external policy cannot delay credit and has no congestion state for the counters. The run ends with a
//! message after an exception or a query for a port that the switch does not have.

use becalm_external::{Faults, RunningMarker, abi};
use becalm_fabric::policy::{Arrival, Attention, Departure, Marker, SwitchShape, SwitchView};
use becalm_schema::Conflict;

pub use becalm_external::Params;

use crate::scheme::MarkingScheme;

/// The marker. Its state is boxed, since each entry of a list of schemes is as large as the largest scheme.
#[derive(Clone, Debug)]
pub struct External(Box<RunningMarker>);

impl External {
    /// Sets where the marker reports its failures.
    pub fn watched_by(&mut self, faults: Faults) {
        self.0.watched_by(faults);
    }
}

fn has(params: &Params, flag: u32) -> bool {
    params.linked().is_some_and(|linked| linked.scheme.properties().flags & flag != 0)
}

impl MarkingScheme for External {
    type Params = Params;

    fn new(params: &Params, shape: SwitchShape) -> External {
        External(Box::new(RunningMarker::new(params, shape)))
    }

    fn needs_finite_buffer(params: &Params) -> bool {
        has(params, abi::NEEDS_BUFFER)
    }

    fn needs_credit(params: &Params) -> Option<Conflict> {
        has(params, abi::NEEDS_CREDIT).then(|| Conflict::new("name", "reads credit, which does not exist with pfc"))
    }
}

impl Marker for External {
    fn arrived<V: SwitchView>(&mut self, arrival: &Arrival, switch: &V) {
        self.0.arrived(arrival, switch);
    }

    fn stored<V: SwitchView>(&mut self, arrival: &Arrival, switch: &V) {
        self.0.stored(arrival, switch);
    }

    fn departing<V: SwitchView>(&mut self, departure: &Departure, switch: &V) -> bool {
        self.0.departing(departure, switch)
    }

    fn attention(&self) -> Attention {
        self.0.attention()
    }

    fn sees_passing(&self) -> bool {
        self.0.sees_passing()
    }
}
