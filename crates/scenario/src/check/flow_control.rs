//! Checks of flow control.

use becalm_control::{Marking, MarkingScheme};
use becalm_schema::{Choice, Place, Review};

use crate::resolve::Buffers;
use crate::sections::Sections;
use crate::sections::flow_control::{CLASSES, MOST_UNITS, Pfc, Thresholds};
use crate::sections::quantities::Buffer;
use crate::sections::switch::Switch;

pub(super) fn check(sections: &Sections, review: &mut Review<'_>) {
    let Some(switch) = sections.switch.get() else { return };
    units(switch, review);
    let Some(pfc) = switch.flow_control.get().and_then(|control| control.pfc()) else { return };
    switches(switch, review);
    delays(pfc, review);
    marking(sections, review);
}

/// Reports buffers that CBFC cannot count.
fn units(switch: &Switch, review: &mut Review<'_>) {
    let (Some(control), Some(buffer)) = (switch.flow_control.get(), switch.buffer.get()) else { return };
    let problem = match *buffer {
        _ if control.cbfc().is_none() => return,
        Buffer::Unlimited => "must be finite with cbfc, where it limits units of credit",
        Buffer::Slots(_) => "must be in bytes or packets with cbfc, which counts units of credit, not slots",
        _ => return,
    };
    review.add(Place::first_given(&[switch.buffer.place(), switch.flow_control.place()]), problem);
}

/// Reports settings that are not possible with PFC.
fn switches(switch: &Switch, review: &mut Review<'_>) {
    let control = switch.flow_control.place();
    if switch.buffer.get().is_some_and(|buffer| *buffer == Buffer::Unlimited) {
        let problem = "must be finite with pfc, where it sets XOFF: an unlimited buffer never pauses its sender";
        review.add(Place::first_given(&[switch.buffer.place(), control]), problem);
    }
    if switch.service.get().is_some_and(|service| service.varies()) {
        let problem = "must be \"fixed\" with pfc: headroom follows from the rate at which packets arrive";
        review.add(switch.service.place(), problem);
    }
    if let Some(vls) = switch.vls.get().filter(|&&vls| vls > CLASSES) {
        review.add(
            switch.vls.place(),
            format!("must be at most {CLASSES}, the number of traffic classes of pfc, not {vls}"),
        );
    }
}

fn delays(pfc: &Pfc, review: &mut Review<'_>) {
    if let (Some(place), Some(_)) = (pfc.response.given(), pfc.delay.set()) {
        review.add(place, "does nothing: delay is set and includes the response");
    }
}

/// Checks that CBFC can count the buffers, that XON is not above XOFF, and that the shared memory is large enough for a
/// packet.
pub(super) fn thresholds(sections: &Sections, buffers: Buffers, review: &mut Review<'_>) {
    let Some(switch) = sections.switch.get() else { return };
    let Some(control) = switch.flow_control.get() else { return };
    if let Some(cbfc) = control.cbfc().filter(|_| buffers.room.capacity() > MOST_UNITS) {
        let problem = format!("has more than {MOST_UNITS} units of {} B, which cbfc cannot count", cbfc.credit.0);
        review.add(switch.buffer.place(), problem);
    }
    let Some(pfc) = control.pfc() else { return };
    let Some(packet) = sections.packet.complete() else { return };
    let largest = sections.largest(packet);
    match pfc.thresholds.get() {
        Some(Thresholds::Static(own)) => {
            let xoff = buffers.bytes;
            if own.xon.set().is_some_and(|xon| xon.0 > xoff) {
                review.add(own.xon.place(), format!("must be at most XOFF (switch.buffer), which is {xoff} B"));
            }
        }
        Some(Thresholds::Dynamic(of)) if of.shared.set().is_some_and(|shared| shared.0 < largest) => {
            review.add(of.shared.place(), format!("is too small for a packet of {largest} B"));
        }
        _ => {}
    }
}

/// Reports markers that depend on credits, which PFC does not have.
fn marking(sections: &Sections, review: &mut Review<'_>) {
    let Some(marking) = sections.marking.get() else { return };
    if let Some(mut conflict) = Marking::needs_credit(marking) {
        conflict.key = format!("{}.{}", marking.name(), conflict.key).into();
        review.conflict(sections.marking.place(), conflict);
    }
}
