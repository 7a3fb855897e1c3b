//! The scheme calls in a trace.

use becalm_engine::Time;
use becalm_metrics::calls::{MarkerCall, ResponseCall};
use becalm_metrics::{Table, schema};
use becalm_model::Spec;

use super::spec::{TraceSpec, Traced};

/// The value in a table that means no time.
const NEVER: u64 = u64::MAX;

/// The schemes whose calls are recorded.
pub(super) struct Selected {
    /// Whether calls are recorded, for each response.
    pub responses: Vec<bool>,
    /// Whether calls are recorded, for each switch.
    pub switches: Vec<bool>,
    /// The first flow of each response.
    first_flows: Vec<u32>,
}

impl Selected {
    /// The schemes whose calls are recorded in a trace. Flows that share a response share its calls, with the
    /// number of the first flow.
    pub fn of(fabric: &Spec, spec: &TraceSpec) -> Selected {
        let flows = || (0u32..).zip(&fabric.flows).map(|(flow, of)| (flow, of.response as usize));
        let mut first_flows = vec![u32::MAX; fabric.responses.len()];
        let mut responses = vec![false; fabric.responses.len()];
        for (flow, response) in flows() {
            first_flows[response] = first_flows[response].min(flow);
            responses[response] |=
                spec.calls.is_some() && spec.flows.as_ref().is_none_or(|chosen| chosen.contains(&flow));
        }
        let chosen = |switch: u32| spec.calls.as_ref().is_some_and(|switches| switches.contains(&switch));
        Selected { responses, switches: (0..fabric.markers.len() as u32).map(chosen).collect(), first_flows }
    }
}

/// Number of calls so far.
pub(super) fn count(model: &Traced) -> usize {
    let markers: usize = model.markers().map(|marker| marker.count()).sum();
    markers + model.responses().map(|response| response.count()).sum::<usize>()
}

/// All calls in chronological order. Simultaneous calls of a scheme stay in order.
pub(super) struct Calls {
    /// Calls with the switches that made them.
    markers: Vec<(u64, MarkerCall)>,
    /// Calls with the flows that made them.
    responses: Vec<(u64, ResponseCall)>,
    /// The end of the recording: the time of the first call that does not fit.
    pub end: Time,
}

impl Calls {
    /// The calls of a run up to `until`, limited to `most`.
    pub fn of(model: &Traced, selected: &Selected, until: Time, most: usize) -> Calls {
        let (mut markers, mut responses) = (Vec::new(), Vec::new());
        for (switch, marker) in (0u64..).zip(model.markers()) {
            markers.extend(marker.calls.iter().flatten().map(|&call| (switch, call)));
        }
        for (response, &flow) in model.responses().zip(&selected.first_flows) {
            responses.extend(response.calls.iter().flatten().map(|&call| (u64::from(flow), call)));
        }
        markers.sort_by_key(|(_, call)| call.time);
        responses.sort_by_key(|(_, call)| call.time);
        let mut times: Vec<Time> = markers.iter().map(|(_, call)| call.time).collect();
        times.extend(responses.iter().map(|(_, call)| call.time));
        let end = match times.len() > most {
            true => *times.select_nth_unstable(most).1,
            false => until,
        };
        Calls { markers, responses, end: end.min(until) }
    }

    /// The tables `marker_calls` and `response_calls`, up to an end time.
    pub fn tables(mut self, end: Time) -> [Table; 2] {
        self.markers.retain(|(_, call)| call.time < end);
        self.responses.retain(|(_, call)| call.time < end);
        [self.marker_table(), self.response_table()]
    }

    fn marker_table(&self) -> Table {
        let column =
            |value: &dyn Fn(&MarkerCall) -> u64| self.markers.iter().map(|(_, call)| value(call)).collect::<Vec<_>>();
        let names: Vec<String> = self.markers.iter().map(|(_, call)| call.function.name().to_string()).collect();
        Table::new(&schema::MARKER_CALLS)
            .with("time", column(&|call| call.time.0))
            .with("switch", self.markers.iter().map(|&(switch, _)| switch).collect::<Vec<_>>())
            .with("call", names)
            .with("input", column(&|call| u64::from(call.input)))
            .with("output", column(&|call| u64::from(call.output)))
            .with("vl", column(&|call| u64::from(call.vl)))
            .with("order", column(&|call| call.order))
            .with("size", column(&|call| u64::from(call.size)))
            .with("waits", column(&|call| u64::from(call.waits)))
            .with("room", column(&|call| u64::from(call.room)))
            .with("waiting", column(&|call| u64::from(call.waiting)))
            .with("present", column(&|call| u64::from(call.present)))
            .with("mark", column(&|call| u64::from(call.marked)))
    }

    fn response_table(&self) -> Table {
        let column = |value: &dyn Fn(&ResponseCall) -> u64| {
            self.responses.iter().map(|(_, call)| value(call)).collect::<Vec<_>>()
        };
        let names: Vec<String> = self.responses.iter().map(|(_, call)| call.function.name().to_string()).collect();
        Table::new(&schema::RESPONSE_CALLS)
            .with("time", column(&|call| call.time.0))
            .with("flow", self.responses.iter().map(|&(flow, _)| flow).collect::<Vec<_>>())
            .with("call", names)
            .with("marked", column(&|call| u64::from(call.marked)))
            .with("covers", column(&|call| u64::from(call.covers)))
            .with("size", column(&|call| u64::from(call.size)))
            .with("in_flight", column(&|call| u64::from(call.in_flight)))
            .with("gap", self.responses.iter().map(|(_, call)| call.pace.gap).collect::<Vec<_>>())
            .with("window", column(&|call| u64::from(call.pace.window)))
            .with("deadline", column(&|call| call.deadline.map_or(NEVER, |time| time.0)))
    }
}
