//! Groups of flows that cross a link, and the flows with the highest rates.

use std::collections::BTreeSet;

use becalm_scenario::{FlowPaths, Scenario};
use serde_json::{Value, json};

use crate::pack::Pack;
use crate::tables::Tables;

/// Number of flows named for a link.
const NAMED: usize = 2;

/// Traffic that crosses one link.
#[derive(Clone, Debug, Default)]
struct Crossing {
    /// Each group with its sources and rate.
    groups: Vec<(u32, BTreeSet<u32>, f64)>,
    /// The flows with the highest rates: rate and flow number.
    top: Vec<(f64, u32)>,
}

/// For every link its groups, as slices of shared lists between `starts`, and its fastest flows; null without flows.
pub(crate) fn crossing(scenario: &Scenario, tables: &Tables, paths: &FlowPaths, pack: &mut Pack) -> Value {
    let rates = tables.numbers("flows", "rate");
    let ends: Vec<_> = scenario.flow_ends().collect();
    if rates.len() != ends.len() {
        return Value::Null;
    }
    let links = scenario.directions();
    let mut crossings = vec![Crossing::default(); links.len()];
    for (flow, (&rate, &(source, _, group))) in rates.iter().zip(&ends).enumerate() {
        for &link in paths.of(flow) {
            crossings[link as usize].add(flow as u32, source.0, group as usize, rate);
        }
    }
    // In steps of 1/4096, since finer ones are not visible and would increase the size.
    let share =
        |rate: f64, link: usize| ((rate / links[link].rate * 4096.0).round() * 16.0).clamp(0.0, 65_520.0) as u16;
    let (mut starts, mut group, mut flows, mut sources, mut shares) = (vec![0u32], vec![], vec![], vec![], vec![]);
    let (mut top_starts, mut from, mut to, mut of, mut top_shares) = (vec![0u32], vec![], vec![], vec![], vec![]);
    for (link, crossing) in crossings.iter().enumerate() {
        for (number, (count, hosts, rate)) in (0u16..).zip(&crossing.groups).filter(|(_, (count, ..))| *count > 0) {
            group.push(number);
            flows.push(*count);
            sources.push(hosts.len() as u32);
            shares.push(share(*rate, link));
        }
        starts.push(group.len() as u32);
        for &(rate, flow) in crossing.top.iter().filter(|(rate, _)| *rate > 0.0) {
            let (source, destination, number) = ends[flow as usize];
            from.push(source.0);
            to.push(destination.0);
            of.push(number as u16);
            top_shares.push(share(rate, link));
        }
        top_starts.push(from.len() as u32);
    }
    json!({
        "starts": pack.words(&starts),
        "group": pack.shorts(&group),
        "flows": pack.words(&flows),
        "sources": pack.words(&sources),
        "share": pack.shorts(&shares),
        "topStarts": pack.words(&top_starts),
        "from": pack.words(&from),
        "to": pack.words(&to),
        "of": pack.shorts(&of),
        "topShare": pack.shorts(&top_shares),
    })
}

impl Crossing {
    fn add(&mut self, flow: u32, source: u32, group: usize, rate: f64) {
        if self.groups.len() <= group {
            self.groups.resize(group + 1, Default::default());
        }
        let (flows, sources, sum) = &mut self.groups[group];
        *flows += 1;
        sources.insert(source);
        *sum += rate;
        if self.top.len() < NAMED || self.top.last().is_some_and(|&(least, _)| rate > least) {
            let at = self.top.partition_point(|&(other, _)| other >= rate);
            self.top.insert(at, (rate, flow));
            self.top.truncate(NAMED);
        }
    }
}
