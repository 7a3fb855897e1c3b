//! The table of storms that watchdogs found.

use becalm_engine::Time;
use becalm_fabric::StormReport;
use becalm_metrics::{Table, schema};
use becalm_model::Whole;

use crate::resolve::Link;
use crate::scenario::Scenario;

/// One row per output and virtual lane on which a watchdog found a storm; none without watchdogs.
pub(super) fn table(scenario: &Scenario, model: &Whole, now: Time) -> Option<Table> {
    scenario.sections.switch.flow_control.pfc()?.watchdog.as_ref()?;
    let lanes = scenario.network.links.iter().flat_map(|link| (0..scenario.sections.vls()).map(move |vl| (link, vl)));
    let row = |(link, vl): (_, u8)| -> Option<(&Link, u8, StormReport)> {
        let link: &Link = link;
        let report = model.storms(link.from, vl, now)?;
        (report.detected > 0).then_some((link, vl, report))
    };
    let rows: Vec<_> = lanes.filter_map(row).collect();
    let name = |node| scenario.network.name(node).to_string();
    let count = |value: fn(&StormReport) -> u64| rows.iter().map(|(.., report)| value(report)).collect::<Vec<_>>();
    let seconds =
        |value: fn(&StormReport) -> Time| rows.iter().map(|(.., report)| value(report).as_secs()).collect::<Vec<_>>();
    let table = Table::new(&schema::STORMS)
        .with("switch", rows.iter().map(|(link, ..)| name(link.from.node)).collect::<Vec<_>>())
        .with("port", rows.iter().map(|(link, ..)| u64::from(link.from.port)).collect::<Vec<_>>())
        .with("peer", rows.iter().map(|(link, ..)| name(link.to.node)).collect::<Vec<_>>())
        .with("vl", rows.iter().map(|(_, vl, _)| u64::from(*vl)).collect::<Vec<_>>())
        .with("detected", count(|report| u64::from(report.detected)))
        .with("restored", count(|report| u64::from(report.restored)))
        .with("first", seconds(|report| report.first.unwrap_or(Time::ZERO)))
        .with("stormed", seconds(|report| report.stormed))
        .with("tx_dropped", count(|report| report.queue.0))
        .with("tx_dropped_bytes", count(|report| report.queue.1))
        .with("rx_dropped", count(|report| report.group.0))
        .with("rx_dropped_bytes", count(|report| report.group.1))
        .with("overflowed", count(|report| report.overflow.0))
        .with("overflowed_bytes", count(|report| report.overflow.1));
    Some(table)
}
