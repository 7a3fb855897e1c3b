//! The table of pauses, with priority-based flow control.

use becalm_engine::Time;
use becalm_fabric::Headroom;
use becalm_metrics::{Paused, Table, Watch, schema};

use super::counters::Counters;
use crate::resolve::Link;
use crate::scenario::Scenario;

/// One row per link and virtual lane whose buffer can pause the sender.
pub(super) fn table(scenario: &Scenario, watch: &Watch, before: &Counters, after: &Counters) -> Option<Table> {
    let pauses = watch.pauses.as_ref()?;
    let vls = scenario.sections.vls();
    let lanes = scenario.network.links.iter().flat_map(|link| (0..vls).map(move |vl| (link, vl)));
    let row = |((link, vl), headroom): ((_, u8), &Option<Headroom>)| -> Option<(&Link, u8, Paused, Headroom)> {
        let link: &Link = link;
        Some((link, vl, pauses.until(link.to, vl, after.simulated), (*headroom)?))
    };
    let rows: Vec<_> = lanes.zip(&after.headrooms).filter_map(row).collect();
    let name = |node| scenario.network.name(node).to_string();
    let window = before.simulated_until(after).as_secs();
    let seconds = |time: Time| time.as_secs();
    let table = Table::new(&schema::PAUSES)
        .with("from", rows.iter().map(|(link, ..)| name(link.from.node)).collect::<Vec<_>>())
        .with("from_port", rows.iter().map(|(link, ..)| u64::from(link.from.port)).collect::<Vec<_>>())
        .with("to", rows.iter().map(|(link, ..)| name(link.to.node)).collect::<Vec<_>>())
        .with("vl", rows.iter().map(|(_, vl, ..)| u64::from(*vl)).collect::<Vec<_>>())
        .with("pauses", rows.iter().map(|(_, _, paused, _)| paused.pauses).collect::<Vec<_>>())
        .with("paused", rows.iter().map(|(_, _, paused, _)| seconds(paused.time)).collect::<Vec<_>>())
        .with("paused_share", rows.iter().map(|(_, _, paused, _)| seconds(paused.time) / window).collect::<Vec<_>>())
        .with("headroom", rows.iter().map(|(.., headroom)| u64::from(headroom.bytes)).collect::<Vec<_>>())
        .with("headroom_used", rows.iter().map(|(.., headroom)| u64::from(headroom.most)).collect::<Vec<_>>());
    Some(table)
}
