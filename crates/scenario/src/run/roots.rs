//! Roots that count, which are oversubscribed outputs that do not wait themselves.
//!
//! A long queue is not sufficient, because it can occur by chance at high load. An output counts if its flows
//! offer more than it can carry. It also counts if it was a root for a long time, or if it is full and its
//! flows lose, provided that its sources mostly send to it, its host receives slowly or its rate changes.
//! Congestion control may keep queues short. An output without a queue therefore counts if it is overloaded
//! by flows that no other root explains.

use becalm_control::MarkingParams;
use becalm_engine::order;
use becalm_fabric::{FaultKind, NodeKind};

use super::counters::Counters;
use super::offers::Offers;
use super::outputs::Outputs;
use crate::fabric::FlowPaths;
use crate::scenario::Scenario;

/// A link is overloaded if its flows offer more than this multiple of its rate.
const OVERLOADED: f64 = 1.05;
/// A root is persistent if its longest period is at least this share of the measured window.
const LASTING: f64 = 0.1;
/// Sources aim at a link if at least this share of their total offer crosses it.
const AIMED: f64 = 0.5;
/// A link is full if it was busy for at least this share of the measured window.
const FULL: f64 = 0.9;
/// A host receives slowly if the output to it waits for at least this share of the window.
const STALLED: f64 = 0.1;
/// An output that waits for this share of the window is behind another root.
const STANDING: f64 = 0.25;
/// Jobs share a root if the output was one for at least this share of the measured window.
const SHARED: f64 = 0.05;

/// The input of the search for roots.
pub(super) struct Search<'a> {
    pub scenario: &'a Scenario,
    pub paths: &'a FlowPaths,
    pub offers: &'a Offers,
    pub outputs: &'a Outputs<'a>,
    pub crossing: &'a Crossing<'a>,
    pub demand: &'a [f64],
    pub loads: &'a Loads,
}

/// The flows that cross each link, each with the share of its packets on that link.
pub(super) struct Crossing<'a> {
    paths: &'a FlowPaths,
    /// Where each link's flows begin in `flows`, and the length of `flows`.
    starts: Vec<u32>,
    /// Flows, link by link.
    flows: Vec<u32>,
    /// The position of the link on each of these flows' paths; empty if all packets of a flow take the same path.
    places: Vec<u32>,
}

impl<'a> Crossing<'a> {
    pub fn new(paths: &'a FlowPaths, links: usize) -> Crossing<'a> {
        let mut starts = vec![0; links + 1];
        paths.links.iter().for_each(|&link| starts[link as usize + 1] += 1);
        (0..links).for_each(|link| starts[link + 1] += starts[link]);
        let mut next = starts.clone();
        let mut flows = vec![0; paths.links.len()];
        let mut places = vec![0; if paths.is_split() { flows.len() } else { 0 }];
        for flow in 0..paths.starts.len() - 1 {
            for place in paths.places(flow) {
                let at = &mut next[paths.links[place] as usize];
                flows[*at as usize] = flow as u32;
                if let Some(own) = places.get_mut(*at as usize) {
                    *own = place as u32;
                }
                *at += 1;
            }
        }
        Crossing { paths, starts, flows, places }
    }

    /// The flows that cross a link, in order, each with the share of its packets.
    pub fn of(&self, link: usize) -> impl Iterator<Item = (u32, f64)> {
        let share = |at: usize| self.places.get(at).map_or(1.0, |&place| self.paths.share(place as usize));
        (self.starts[link] as usize..self.starts[link + 1] as usize).map(move |at| (self.flows[at], share(at)))
    }

    /// Sum of a value over the flows that cross a link.
    pub fn sum(&self, link: usize, value: impl Fn(usize) -> f64) -> f64 {
        self.of(link).map(|(flow, share)| share * value(flow as usize)).sum()
    }
}

/// The shares of the measured window for which each link was busy and for which it waited for credit.
pub(super) struct Loads {
    busy: Vec<f64>,
    stalled: Vec<f64>,
}

impl Loads {
    pub fn new(scenario: &Scenario, before: &Counters, after: &Counters) -> Loads {
        let seconds = after.time.since(before.time).as_secs();
        let rates = scenario.network.links.iter().map(|link| link.rate.bytes_per_second());
        let bytes = before.links.iter().zip(&after.links).map(|(start, end)| (end.bytes - start.bytes) as f64);
        let stalled = before.stalls.iter().zip(&after.stalls).map(|(start, end)| end.since(*start).as_secs() / seconds);
        Loads {
            busy: bytes.zip(rates).map(|(bytes, rate)| bytes / rate / seconds).collect(),
            stalled: stalled.collect(),
        }
    }
}

impl Search<'_> {
    /// Whether each output and virtual lane, in the order of the table `tree`, is a root that counts.
    pub fn run(&self) -> Vec<bool> {
        let lanes = self.outputs.lanes;
        let mut found: Vec<bool> = (0..self.outputs.rows.len()).map(|row| self.is_root(row)).collect();
        let mut explained = vec![false; self.offers.offered.len()];
        let mark = |link: usize, explained: &mut Vec<bool>| {
            self.crossing.of(link).for_each(|(flow, _)| explained[flow as usize] = true);
        };
        (0..found.len()).filter(|&row| found[row]).for_each(|row| mark(row / lanes, &mut explained));
        let marks = *self.scenario.sections.marking != MarkingParams::default();
        let held = |link: usize| {
            let spared = marks && self.outputs.branch_share(link) < STANDING;
            self.of_switch(link) && self.demand[link] > OVERLOADED && (self.loads.busy[link] >= FULL || spared)
        };
        let mut overloaded: Vec<usize> = (0..self.demand.len()).filter(|&link| held(link)).collect();
        order::sort_by(&mut overloaded, |&a, &b| self.demand[b].total_cmp(&self.demand[a]).then(a.cmp(&b)));
        for link in overloaded {
            let comes =
                |flow: usize| if explained[flow] { self.offers.delivered[flow] } else { self.offers.offered[flow] };
            let capacity = self.scenario.network.links[link].rate.bytes_per_second();
            if self.crossing.sum(link, comes) > OVERLOADED * capacity {
                mark(link, &mut explained);
                found[link * lanes..][..lanes].fill(true);
            }
        }
        found
    }

    fn of_switch(&self, link: usize) -> bool {
        let from = self.scenario.network.links[link].from.node;
        self.scenario.network.topology.node(from).kind == NodeKind::Switch
    }

    /// Whether an output that was a root is oversubscribed.
    fn is_root(&self, row: usize) -> bool {
        let link = row / self.outputs.lanes;
        if !self.outputs.rows[row].is("root") || !self.of_switch(link) {
            return false;
        }
        if self.demand[link] > OVERLOADED {
            return true;
        }
        let offers = self.offers;
        let losing = || self.crossing.of(link).any(|(f, _)| offers.loses(f as usize, offers.offered[f as usize]));
        let lasting = self.outputs.rows[row].longest() >= LASTING * self.outputs.seconds;
        if self.waits_for_host(link) || self.changes(link) {
            return lasting || losing();
        }
        if self.outputs.rows[row].shares[0] >= SHARED && self.is_shared_by_job(link) {
            return true;
        }
        self.is_aimed_at(link) && (lasting || (self.loads.busy[link] >= FULL && losing()))
    }

    fn waits_for_host(&self, link: usize) -> bool {
        let to = self.scenario.network.links[link].to.node;
        let host = self.scenario.network.topology.node(to).kind == NodeKind::Host;
        host && self.loads.stalled[link] >= STALLED && self.loads.busy[link] < FULL
    }

    /// Whether the scenario changes the rate of a link that is not full, or takes it down.
    fn changes(&self, link: usize) -> bool {
        let name = &self.scenario.network.links[link].name;
        let changes = &self.scenario.sections.changes;
        let (from, faults) = (self.scenario.network.links[link].from, &self.scenario.plan.faults);
        let down = || faults.iter().any(|each| each.fault.port == from && each.fault.kind == FaultKind::LinkDown);
        self.loads.busy[link] < FULL && (changes.iter().any(|change| *change.link == *name) || down())
    }

    /// Whether flows of a job and of another group or job cross a link. A job posts its next messages only when others
    /// have arrived, so it never offers more than a link carries on average, however long its messages wait there.
    fn is_shared_by_job(&self, link: usize) -> bool {
        let group = |(flow, _): (u32, f64)| self.scenario.plan.flows[flow as usize].group;
        let mut groups: Vec<_> = self.crossing.of(link).filter(|each| self.sends(each.0)).map(group).collect();
        order::sort_and_dedup(&mut groups, Ord::cmp);
        let jobs_from = self.scenario.sections.flows.len();
        groups.len() > 1 && groups.iter().any(|&group| group as usize >= jobs_from)
    }

    fn sends(&self, flow: u32) -> bool {
        self.offers.offered[flow as usize] > 0.0
    }

    /// Whether sources send most of their traffic over a link. Otherwise, a long queue can be chance.
    fn is_aimed_at(&self, link: usize) -> bool {
        let first = |flow: usize| self.paths.of(flow)[0] as usize;
        // Sorted, because the order of a sum can affect its last bit.
        let mut sources: Vec<usize> = self.crossing.of(link).map(|(flow, _)| first(flow as usize)).collect();
        order::sort_and_dedup(&mut sources, usize::cmp);
        let all: f64 = sources.iter().map(|&source| self.crossing.sum(source, |flow| self.offers.offered[flow])).sum();
        self.crossing.sum(link, |flow| self.offers.offered[flow]) >= AIMED * all
    }
}
