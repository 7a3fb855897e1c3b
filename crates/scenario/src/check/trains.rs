//! Checks of what trains can be combined with.

use becalm_control::{
    EchoScheme, Echoing, Feedback, Marking, MarkingScheme, Responding, ResponseParams, ResponseScheme,
};
use becalm_fabric::AdapterConfig;
use becalm_schema::{Choice, Field, Place, Review};

use crate::resolve::{Buffers, Network};
use crate::sections::Sections;
use crate::sections::adapter::Adapter;
use crate::sections::flow_control::FlowControl;
use crate::sections::run::Fidelity;
use crate::sections::switch::{Arbiter, Switch, Switching, VlArbitration};
use crate::trains::{LEAST_BEFORE_MARKS, LEAST_IN_BUFFER, longest};

pub(super) fn check(sections: &Sections, review: &mut Review<'_>) {
    let Some(run) = sections.run.get() else { return };
    let Some(fidelity) = run.fidelity.get().filter(|fidelity| **fidelity != Fidelity::Packets) else { return };
    let word = fidelity.to_json();
    let switches = sections.switch.get().map_or(Vec::new(), of_switches);
    let adapters = sections.adapter.get().map_or(Vec::new(), of_adapters);
    let faults = sections.faults.items().first().map(|_| "faults, which affect single packets".to_string());
    let steady = if *fidelity == Fidelity::Steady { of_steady(sections) } else { Vec::new() };
    let others = [switches, adapters, of_schemes(sections), faults.into_iter().collect(), steady].concat();
    for other in others {
        review.add_valid(place(sections), format!("{word} cannot be combined with {other}"), "\"packets\"");
    }
}

/// Reports trains that are always single packets.
pub(super) fn length(sections: &Sections, network: &Network, buffers: Buffers, review: &mut Review<'_>) {
    let asked = sections.run.get().is_some_and(|run| run.fidelity.get() == Some(&Fidelity::Trains));
    if !asked || review.count() > 0 || longest(sections, network, buffers) > 1 {
        return;
    }
    let (packets, bytes) = (2 * LEAST_IN_BUFFER, buffers.bytes);
    let problem = format!(
        "\"trains\" does nothing: a train is at most 1/{LEAST_IN_BUFFER} of an input buffer and 1/{LEAST_BEFORE_MARKS} of \
         the queue at which marks begin; a buffer of {bytes} B holds fewer than {packets} packets, or marks begin too early"
    );
    review.add_valid(place(sections), problem, "\"packets\"");
}

fn place(sections: &Sections) -> Place {
    sections.run.get().expect("read").fidelity.place()
}

/// What can change while all rates stay the same, or is measured over such a time.
fn of_steady(sections: &Sections) -> Vec<String> {
    let mut found = Vec::new();
    let mut add = |is: bool, what: &str| found.extend(is.then(|| what.to_string()));
    add(!sections.flows.items().is_empty(), "flows: only messages of jobs are left out");
    add(!sections.changes.items().is_empty(), "changes of link rates");
    let observe = sections.observe.get();
    let messages = observe.is_some_and(|observe| observe.messages.get() == Some(&true));
    add(messages, "observe.messages, since a message takes the time that is left out");
    let limited = sections.adapter.get().and_then(|adapter| adapter.queue.get());
    add(limited.is_some_and(|queue| queue.0 != AdapterConfig::UNLIMITED), "an adapter.queue");
    found
}

/// Settings of switches that count packets, or that treat the packets of a flow differently.
fn of_switches(switch: &Switch) -> Vec<String> {
    let mut found = Vec::new();
    let mut add = |is: bool, what: &str| found.extend(is.then(|| what.to_string()));
    let stores = switch.switching.get() == Some(&Switching::StoreAndForward);
    add(stores, "switch.switching = \"store_and_forward\": a switch would wait for the whole train");
    let spread = switch.paths.get().is_some_and(|paths| !paths.config().keeps_order());
    add(spread, "this choice of switch.paths: the packets of a train take one path");
    let bounded = matches!(switch.arbiter.get(), Some(Arbiter::OldestFirst(p)) if p.max_bypass.0 != u32::MAX);
    add(bounded, "switch.arbiter.oldest_first.max_bypass, which counts packets");
    let weighted = matches!(switch.vl_arbitration.get(), Some(VlArbitration::Tables(_)));
    add(weighted, "switch.vl_arbitration.tables: a train may exceed a weight");
    let control = switch.flow_control.get();
    let batched = control.is_some_and(|control| control.cbfc().is_some());
    add(batched, "switch.flow_control.cbfc, whose credit returns between the packets of a train");
    let pfc = control.and_then(FlowControl::pfc);
    let watched = pfc.is_some_and(|pfc| pfc.watchdog.given().is_some());
    add(watched, "switch.flow_control.pfc.watchdog, which discards single packets");
    found
}

/// Settings of hosts that receive slowly.
fn of_adapters(adapter: &Adapter) -> Vec<String> {
    let own = adapter.caps.items().iter().any(|caps| caps.get().is_some_and(|caps| caps.drain_rate.given().is_some()));
    let drains = own || adapter.drain_rate.set().is_some();
    drains.then(|| "a drain_rate: a host would receive the whole train at once".to_string()).into_iter().collect()
}

/// Schemes that read single packets.
fn of_schemes(sections: &Sections) -> Vec<String> {
    let marking = sections.marking.get().filter(|params| !Marking::takes_trains(params)).map(|params| {
        format!("marking `{}`: it counts packets, or depends on their sizes or their credit", params.name())
    });
    let echo = sections.echo.get().filter(|params| !Echoing::takes_trains(params));
    let echo = echo.map(|params| format!("echo `{}`: it depends on the times of single packets", params.name()));
    let mut found: Vec<String> = marking.into_iter().chain(echo).collect();
    for params in responses(sections).filter(|params| !hears_trains(params)) {
        let name = params.name();
        let problem = format!("response `{name}`: it depends on the delays of single packets");
        if !found.contains(&problem) {
            found.push(problem);
        }
    }
    found
}

/// Whether a response depends only on the marks and the number of ACKs.
fn hears_trains(params: &ResponseParams) -> bool {
    Responding::feedback(params) == Feedback::Marks && Responding::can_be_tried(params)
}

fn responses(sections: &Sections) -> impl Iterator<Item = &ResponseParams> {
    let groups = sections.flows.items().iter().filter_map(|group| group.get()?.response.set());
    let jobs = sections.jobs.items().iter().filter_map(|job| job.get()?.response.set());
    sections.response.get().into_iter().chain(groups).chain(jobs)
}
