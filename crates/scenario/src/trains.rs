//! The length of trains (`run.fidelity = "trains"`).

use becalm_control::{Marking, MarkingParams, MarkingScheme};
use becalm_fabric::Train;

use crate::resolve::{Buffers, Network};
use crate::scenario::Scenario;
use crate::sections::Sections;
use crate::sections::run::Fidelity;

/// Number of trains that an input buffer holds, at least: the sender waits for space for an entire train.
pub(crate) const LEAST_IN_BUFFER: u64 = 8;

/// Number of trains in the queue at which a switch begins to mark, at least: it marks an entire train or none of it, so a
/// rate falls later than with single packets, and the queue is then longer.
pub(crate) const LEAST_BEFORE_MARKS: u64 = 32;

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

impl Scenario {
    /// Largest number of packets that a simulated packet may stand for: 1 in an exact run.
    pub fn train(&self) -> u32 {
        longest(&self.sections, &self.network, self.buffers)
    }

    /// A warning about trains that switches mark: an all-to-all with DCQCN got a fifteenth of the marks of single packets,
    /// and ended 21% too soon (docs/performance.md).
    pub(crate) fn marked_trains(&self) -> Option<String> {
        let marks = *self.sections.marking != MarkingParams::default();
        (self.train() > 1 && marks).then(|| {
            "run.fidelity: with trains, switches mark fewer packets, and times with congestion control were up to 21% too \
             short; `becalm run --check` measures the error on smaller jobs"
                .to_string()
        })
    }
}
