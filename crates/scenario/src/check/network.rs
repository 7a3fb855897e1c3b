//! Checks of the sections against the network.

use std::collections::HashMap;

use becalm_control::{Marking, MarkingScheme};
use becalm_engine::{Time, order};
use becalm_fabric::{NodeKind, Rate};
use becalm_schema::{Choice, Review};

use super::paths;
use crate::names::unknown;
use crate::resolve::Network;
use crate::sections::Sections;

/// Limit on the number of queues of all switches. It prevents a switch with very many ports from exhausting memory.
const MOST_QUEUES: u64 = 500_000_000;

pub(super) fn check(sections: &Sections, network: &Network, review: &mut Review<'_>) {
    queues(sections, network, review);
    marking(sections, network, review);
    changes(sections, network, review);
    paths::check(sections, network, review);
}

/// Checks the number of queues. A switch has one queue for each pair of ports and each virtual lane.
fn queues(sections: &Sections, network: &Network, review: &mut Review<'_>) {
    let vls = sections.switch.get().and_then(|switch| switch.vls.get()).map_or(1, |_| u64::from(sections.vls()));
    let switches = network.topology.nodes().iter().filter(|node| node.kind == NodeKind::Switch);
    let queues = switches.map(|switch| u64::from(switch.degree).pow(2)).sum::<u64>() * vls;
    if queues > MOST_QUEUES {
        let problem = format!(
            "its switches have {queues} queues (one per virtual lane of each pair of ports), more than {MOST_QUEUES}"
        );
        review.add(sections.topology.place(), problem);
    }
}

/// Reports parameters of the marking that are not possible on the switches.
fn marking(sections: &Sections, network: &Network, review: &mut Review<'_>) {
    let Some(marking) = sections.marking.get() else { return };
    let vls = sections.switch.get().and_then(|switch| switch.vls.get()).map_or(1, |_| sections.vls());
    for mut conflict in Marking::conflicts(marking, &network.switch_shapes(vls, 0)) {
        conflict.key = format!("{}.{}", marking.name(), conflict.key).into();
        review.conflict(sections.marking.place(), conflict);
    }
}

/// Checks that changes of rates name existing links, occur before the end of the run, and have an effect.
fn changes(sections: &Sections, network: &Network, review: &mut Review<'_>) {
    let duration = sections.run.get().and_then(|run| run.duration.get());
    let mut changes: Vec<_> = sections.changes.items().iter().filter_map(|change| change.complete()).collect();
    let all_read = changes.len() == sections.changes.items().len();
    order::sort_by_key(&mut changes, |change| *change.at);
    let mut last: HashMap<&str, (Time, Rate)> =
        network.links.iter().map(|link| (link.name.as_str(), (Time::ZERO, link.rate))).collect();
    for change in changes {
        let at = *change.at;
        let Some((time, rate)) = last.get_mut(change.link.as_str()) else {
            unknown("link", &change.link, &network.link_names(), change.link.place(), review);
            continue;
        };
        if *time == at && at > Time::ZERO {
            review.add(change.at.place(), "is also the time of another change to this link");
        }
        if all_read && *rate == change.rate.rate() {
            review.add(change.rate.place(), "does nothing: the link already has this rate");
        }
        if let Some(duration) = duration.filter(|&&duration| at >= duration) {
            review.add(change.at.place(), format!("must be before the run's end at {duration}"));
        }
        (*time, *rate) = (at, change.rate.rate());
    }
}
