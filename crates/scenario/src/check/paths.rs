//! Checks of the choice among equal ports, and of changes of the virtual lane along a path.

use becalm_control::{EchoScheme, Echoing, Marking, MarkingParams, MarkingScheme};
use becalm_fabric::policy::{Attention, Marker};
use becalm_fabric::{Detours, LaneChanges};
use becalm_schema::{Choice, Place, Review};

use crate::resolve::Network;
use crate::sections::Sections;
use crate::sections::paths::{BalancerWord, PathLaw};
use crate::sections::switch::{Queueing, Switch};

pub(super) fn check(sections: &Sections, network: &Network, review: &mut Review<'_>) {
    let Some(switch) = sections.switch.get() else { return };
    choice(switch, sections, network, review);
    balancer(switch, sections, review);
    detours(switch, sections, network, review);
    if network.routes.lanes().is_some() {
        lanes(switch, sections, review);
        shared(switch, sections, network, review);
    }
}

/// Reports a choice of paths if there is nothing to choose.
fn choice(switch: &Switch, sections: &Sections, network: &Network, review: &mut Review<'_>) {
    if !switch.paths.get().is_some_and(|law| law.chooses()) || network.routes.has_equal_ports() {
        return;
    }
    let given = sections.topology.complete().is_some_and(|choice| !choice.routes().is_empty());
    let problem = match given {
        true => {
            "does nothing: the topology's routes set one port for each destination; without routes, packets use all \
             equal ports on shortest paths"
        }
        false => "does nothing: every switch has one port for each destination",
    };
    review.add(switch.paths.place(), problem);
}

/// Reports a balancer of entropy values that learns nothing.
fn balancer(switch: &Switch, sections: &Sections, review: &mut Review<'_>) {
    let Some(PathLaw::Entropy(law)) = switch.paths.get() else { return };
    let problem = match law.balancer {
        BalancerWord::Oblivious => return,
        _ if sections.echo.get().is_some_and(|echo| Echoing::ack_every(echo).is_none()) => {
            "learns from ACKs, but no data packet is acknowledged; choose balancer = \"oblivious\""
        }
        BalancerWord::Bitmap if sections.marking.get() == Some(&MarkingParams::default()) => {
            "with balancer = \"bitmap\" equals \"oblivious\", because no switch marks packets; choose a [marking]"
        }
        _ => return,
    };
    review.add(switch.paths.place(), problem);
}

/// Reports detours if the network has none.
fn detours(switch: &Switch, sections: &Sections, network: &Network, review: &mut Review<'_>) {
    if !switch.paths.get().is_some_and(|law| law.makes_detours()) {
        return;
    }
    let given = sections.topology.complete().is_some_and(|choice| !choice.routes().is_empty());
    let problem = match network.routes.detours().filter(|_| !given) {
        None => "needs a torus or a dragonfly without routes; other networks have no detours".to_string(),
        Some(detours) if detours.regions() < 3 => {
            "does nothing: detours need at least 3 switches in a torus or 3 groups in a dragonfly".to_string()
        }
        Some(detours) if detours.regions() > Detours::MOST_REGIONS => {
            format!("supports at most {} switches of a torus, or groups of a dragonfly", Detours::MOST_REGIONS)
        }
        Some(_) => return,
    };
    review.add(switch.paths.place(), problem);
}

/// Checks that every service level in use starts on a first lane and has all lanes that it needs.
fn lanes(switch: &Switch, sections: &Sections, review: &mut Review<'_>) {
    let Some(&vls) = switch.vls.get() else { return };
    let lanes = sections.lanes_of_level();
    let groups = sections.flows.items().iter().filter_map(|group| Some(&group.get()?.sl));
    let jobs = sections.jobs.items().iter().filter_map(|job| Some(&job.get()?.sl));
    let of_paths = sections.path_levels().map(|path| &path.sl);
    let levels = groups.chain(jobs).chain(of_paths).filter_map(|sl| Some((*sl.get()?, sl.place())));
    let answers = sections.packet.get().and_then(|packet| Some((*packet.answers_sl.set()?, packet.answers_sl.place())));
    let mut most = 0;
    for (sl, place) in levels.chain(answers) {
        let Some(vl) = switch.vl(sl) else { continue };
        if vl % lanes != 0 {
            let problem = format!(
                "uses VL {vl}, but packets change lanes along the path: the {lanes} lanes of a service level must \
                 start at a multiple of {lanes}; set the first in switch.sl_to_vl"
            );
            review.add(Place::first_given(&[switch.sl_to_vl.place(), place]), problem);
            continue;
        }
        most = most.max(vl + lanes);
    }
    if most > vls {
        let problem = format!(
            "must be at least {most}: packets use {lanes} virtual lanes along their path, so that buffers never wait \
             in a cycle; change_vls = false in the topology keeps packets on one lane"
        );
        review.add(switch.vls.place(), problem);
    }
}

/// Reports settings that require packets to leave on the lane on which they arrived.
fn shared(switch: &Switch, sections: &Sections, network: &Network, review: &mut Review<'_>) {
    if switch.queueing.get() == Some(&Queueing::Fifo) {
        let problem = "needs switch.queueing = \"voq\": packets of one input buffer leave on several virtual lanes";
        review.add(switch.queueing.place(), problem);
    }
    let Some(marking) = sections.marking.get() else { return };
    let shape = network.switch_shapes(LaneChanges::MOST, 0).into_iter().next();
    if shape.is_some_and(|shape| Marking::new(marking, shape).attention() > Attention::Packets) {
        let problem = format!(
            "{} monitors input buffers, but packets leave them on other virtual lanes; choose a marking that monitors \
             outputs, or set change_vls = false in the topology",
            marking.name()
        );
        review.add(sections.marking.place(), problem);
    }
}
