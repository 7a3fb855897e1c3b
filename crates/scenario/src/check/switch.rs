//! Checks of buffers and virtual lanes.

use becalm_control::{Cnps, EchoScheme, Echoing};
use becalm_schema::{Place, Review};

use crate::sections::Sections;
use crate::sections::packet::CnpLane;
use crate::sections::quantities::Buffer;
use crate::sections::switch::{Arbiter, Bypass, InputReads, Switch, Switching, VlArbitration};

pub(super) fn check(sections: &Sections, review: &mut Review<'_>) {
    let Some(switch) = sections.switch.get() else { return };
    buffer(switch, sections, review);
    storing(switch, sections, review);
    bypass(switch, review);
    answers(switch, sections, review);
    notifications(sections, review);
    weights(switch, sections, review);
}

fn buffer(switch: &Switch, sections: &Sections, review: &mut Review<'_>) {
    let (Some(buffer), Some(packet)) = (switch.buffer.get(), sections.packet.complete()) else { return };
    let largest = sections.largest(packet);
    // With PFC, a packet that exceeds XOFF still fits into the headroom.
    let Some(control) = switch.flow_control.get().filter(|control| control.pfc().is_none()) else { return };
    if let Buffer::Bytes(bytes) = *buffer
        && control.room(bytes).holds(largest) == 0
    {
        let problem =
            format!("a buffer of {bytes} B is too small for a packet of {largest} B; no packet could be sent");
        review.add(Place::first_given(&[switch.buffer.place(), packet.mtu.place()]), problem);
    }
}

/// Reports settings that are not possible with cut-through switching.
fn storing(switch: &Switch, sections: &Sections, review: &mut Review<'_>) {
    if switch.switching.get() != Some(&Switching::CutThrough) {
        return;
    }
    let why = "needs switching = \"store_and_forward\": with cut-through, the rest of a packet could arrive too late";
    if switch.service.get().is_some_and(|service| service.varies()) {
        review.add(switch.service.place(), why);
    }
    if !sections.changes.items().is_empty() {
        review.add(sections.changes.place(), why);
    }
}

/// Reports a bound on overtaking if nothing can be overtaken.
fn bypass(switch: &Switch, review: &mut Review<'_>) {
    let (Some(Arbiter::OldestFirst(order)), Some(InputReads::Many)) = (switch.arbiter.get(), switch.input_reads.get())
    else {
        return;
    };
    if order.bypass == Bypass::Output {
        let problem =
            "needs input_reads = \"one\" for bypass = \"output\"; otherwise, packets for one output stay in order";
        review.add(Place::first_given(&[switch.input_reads.place(), switch.arbiter.place()]), problem);
    }
}

/// The lanes that groups and jobs use; `None` for one whose service level could not be read.
fn of_flows<'a>(switch: &'a Switch, sections: &'a Sections) -> impl Iterator<Item = Option<u32>> + 'a {
    let groups = sections.flows.items().iter().map(|group| group.get()?.sl.get());
    let jobs = sections.jobs.items().iter().map(|job| job.get()?.sl.get());
    let of_paths = sections.path_levels().map(|path| path.sl.get());
    groups.chain(jobs).chain(of_paths).map(|sl| Some(switch.vl(*sl?).unwrap_or(0)))
}

/// The lane of answers, if they have a separate one.
fn of_answers(switch: &Switch, sections: &Sections) -> Option<u32> {
    let sl = sections.packet.get()?.answers_sl.set()?;
    Some(switch.vl(*sl).unwrap_or(0))
}

/// The lanes in use; `None` for one whose service level could not be read.
fn used<'a>(switch: &'a Switch, sections: &'a Sections) -> impl Iterator<Item = Option<u32>> + 'a {
    of_flows(switch, sections).chain(of_answers(switch, sections).map(Some))
}

/// Reports a service level of answers that all flows also use.
fn answers(switch: &Switch, sections: &Sections, review: &mut Review<'_>) {
    let (Some(packet), Some(vl)) = (sections.packet.get(), of_answers(switch, sections)) else { return };
    let Some(flows) = of_flows(switch, sections).collect::<Option<Vec<u32>>>() else { return };
    if flows.iter().all(|&flow| flow == vl) {
        review.add(packet.answers_sl.place(), format!("does nothing: all flows also use VL {vl}"));
    }
}

/// Reports a lane for notification packets if there are no such packets, or if no lane is left.
fn notifications(sections: &Sections, review: &mut Review<'_>) {
    let (Some(packet), Some(echo)) = (sections.packet.get(), sections.echo.get()) else { return };
    let (Some(place), Some(lane)) = (packet.cnp_lane.given(), packet.cnp_lane.set()) else { return };
    if Echoing::cnps(echo) == Cnps::None {
        review.add(place, "does nothing: no destination sends congestion notification packets");
    } else if *lane == CnpLane::Own
        && sections.switch.get().is_some_and(|switch| switch.vls.get().is_some())
        && sections.cnp_vl().is_none()
    {
        review.add(place, "needs a lane beyond switch.vls, but none is free (the maximum is 15, or 8 with pfc)");
    }
}

/// The number of lanes in use, if it is smaller than the given number.
///
/// # Panics
/// If the scenario has errors.
pub(crate) fn lanes_in_use(sections: &Sections) -> Option<u32> {
    let switch = &sections.switch;
    switch.vls.given()?;
    let most = used(switch, sections).flatten().max()?;
    Some(most + sections.lanes_of_level()).filter(|&lanes| lanes < *switch.vls)
}

/// Checks that weighted arbitration lists all lanes in use, and only existing lanes.
fn weights(switch: &Switch, sections: &Sections, review: &mut Review<'_>) {
    let (Some(&vls), Some(VlArbitration::Tables(tables))) = (switch.vls.get(), switch.vl_arbitration.get()) else {
        return;
    };
    let Some(read) = tables.get() else { return };
    let weights = || read.high.iter().chain(&read.low);
    if let Some(entry) = weights().find(|entry| entry.vl >= vls) {
        review.add(tables.place(), format!("names VL {}, but switch.vls = {vls}", entry.vl));
    }
    let further = sections.lanes_of_level() - 1;
    let lacking = used(switch, sections)
        .flatten()
        .flat_map(|vl| vl..=vl + further)
        .filter(|&vl| vl < vls)
        .find(|&vl| weights().all(|entry| entry.vl != vl || entry.weight == 0));
    if let Some(vl) = lacking {
        review.add(tables.place(), format!("has no weight for VL {vl}, whose packets would never be sent"));
    }
}
