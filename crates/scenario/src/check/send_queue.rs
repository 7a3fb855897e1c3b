//! Checks of the hosts' send queues.

use becalm_fabric::AdapterConfig;
use becalm_schema::Review;

use crate::sections::Sections;
use crate::sections::adapter::WhenFull;
use crate::sections::flows::Traffic;

/// Checks that a send queue can hold a packet, and that some source posts messages to it.
pub(super) fn check(sections: &Sections, review: &mut Review<'_>) {
    let Some(adapter) = sections.adapter.get() else { return };
    let Some(queue) = adapter.queue.get() else { return };
    if queue.0 == AdapterConfig::UNLIMITED {
        if adapter.when_full.get() == Some(&WhenFull::Drop) {
            review.add(adapter.when_full.place(), "does nothing, because adapter.queue is unlimited");
        }
        return;
    }
    if queue.0 == 0 {
        return review.add(adapter.queue.place(), "must be at least 1; otherwise, no message could be posted");
    }
    let idle = |traffic: Option<&Traffic>| matches!(traffic, Some(Traffic::Greedy(_) | Traffic::OnOff(_)));
    let groups = sections.flows.items();
    let jobs = !sections.jobs.items().is_empty();
    if !jobs
        && !groups.is_empty()
        && groups.iter().all(|group| group.get().is_some_and(|group| idle(group.traffic.get())))
    {
        let problem = "does nothing: no flow posts messages; greedy and on_off flows always have data to send";
        review.add(adapter.queue.place(), problem);
    }
}
