//! The length of trains (`run.fidelity = "trains"`).

use becalm_control::{EchoScheme, Echoing, Marking, MarkingScheme};
use becalm_engine::Time;
use becalm_fabric::Train;

use crate::resolve::{Buffers, Network};
use crate::sections::Sections;
use crate::sections::run::Fidelity;

/// Number of trains that an input buffer holds, at least: the sender waits for space for an entire train.
pub(crate) const LEAST_IN_BUFFER: u64 = 8;

/// Number of trains in the queue at which a switch begins to mark, at least: a queue rises and falls by entire trains.
pub(crate) const LEAST_BEFORE_MARKS: u64 = 32;

/// Share of the time between two congestion notification packets of a flow over which the packets of a train may spread.
/// With longer trains, a flow whose packets are all marked gets fewer notifications.
const SPAN: u64 = 8;

/// Longest time over which the packets of a train may spread if other flows of the host take turns with them.
pub(crate) fn span(sections: &Sections) -> Time {
    let interval = Echoing::cnp_interval(&sections.echo).filter(|interval| *interval > Time::ZERO);
    interval.map_or(Time::MAX, |interval| Time(interval.0 / SPAN))
}

/// Largest number of packets that a simulated packet may stand for, as far as buffers and marking allow; at least 1.
///
/// # Panics
/// If the scenario has errors.
pub(crate) fn longest(sections: &Sections, network: &Network, buffers: Buffers) -> u32 {
    if *sections.run.fidelity == Fidelity::Packets {
        return 1;
    }
    let packet = u64::from(sections.largest(&sections.packet));
    let most = u64::from(buffers.bytes) / LEAST_IN_BUFFER / packet;
    let shapes = network.switch_shapes(sections.vls(), buffers.bytes);
    let at = |rate| shapes.iter().filter_map(move |shape| Marking::marks_at(&sections.marking, shape, rate)).min();
    let marked = network.links.iter().filter_map(|link| at(link.rate)).min().unwrap_or(u64::MAX);
    most.min(marked / LEAST_BEFORE_MARKS / packet).clamp(1, u64::from(Train::MOST)) as u32
}
