//! The role of every flow in the congestion (contributor, victim, both or none), and the losses of victims.
//!
//! - A *contributor* crosses a root that counts; see [`super::roots`].
//! - A *victim* crosses a branch while the branch lasts, crosses no such root, and loses, that is, its delivered
//!   traffic falls short of its offer by more than chance. The output was a branch for at least 5% of the window. A
//!   flow with endless data loses if it delivers less than its max-min fair share of the capacity that the
//!   contributors' delivered traffic leaves.
//! - A contributor is *also* a victim if it crosses a branch in the tree of a root that it does not cross,
//!   and delivers less than its max-min fair share among all flows. A branch belongs to the tree whose root
//!   most contributors reach through it.

use becalm_engine::Time;
use becalm_metrics::Names;

use super::counters::{Counters, FlowCounts};
use super::offers::Offers;
use super::outputs::Outputs;
use super::roots::{Crossing, Loads, Search};
use crate::fabric::FlowPaths;
use crate::offered::Spans;
use crate::scenario::Scenario;

/// The role of one flow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Part {
    pub contributes: bool,
    pub suffers: bool,
    /// Loss in bytes per second, as a victim or for another reason; 0 for a pure contributor, NaN if unknown.
    pub lost: f64,
    /// Whether the flow is a victim and its source contributes.
    pub own_link: bool,
}

impl Part {
    /// The names of the roles.
    pub fn roles(parts: &[Part]) -> Names {
        let place = |part: &Part| u32::from(part.contributes) << 1 | u32::from(part.suffers);
        let list = ["none", "victim", "contributor", "both"].map(str::to_string).to_vec();
        Names { list, of: parts.iter().map(place).collect() }
    }
}

/// The roles of all flows in the congestion of a run.
pub(crate) struct Parts {
    pub offers: Offers,
    /// The role of each flow.
    pub of: Vec<Part>,
    /// Offered traffic on each link, as a multiple of the link's rate.
    pub demand: Vec<f64>,
    /// Number of contributors to each output and virtual lane, in the order of the table `tree`.
    pub contributors: Vec<u64>,
}

/// The input from which roles are derived.
struct Scene<'a> {
    scenario: &'a Scenario,
    paths: &'a FlowPaths,
    offers: &'a Offers,
    outputs: &'a Outputs<'a>,
    /// Whether each output and virtual lane is a root that counts.
    roots: &'a [bool],
    /// The start and end times of each flow.
    spans: Spans,
}

impl Parts {
    pub fn new(
        scenario: &Scenario,
        outputs: &Outputs<'_>,
        seed: u64,
        counts: &FlowCounts,
        (before, after): (&Counters, &Counters),
    ) -> Parts {
        let paths = &scenario.flow_paths(seed);
        let offers = Offers::new(scenario, paths, counts, after.time.since(before.time).as_secs());
        let links = &scenario.network.links;
        let (crossing, loads) = (Crossing::new(paths, links.len()), Loads::new(scenario, before, after));
        let offered = |link| crossing.sum(link, |flow| offers.offered[flow]);
        let demand: Vec<f64> =
            links.iter().enumerate().map(|(link, own)| offered(link) / own.rate.bytes_per_second()).collect();
        let search =
            Search { scenario, paths, offers: &offers, outputs, crossing: &crossing, demand: &demand, loads: &loads };
        let roots = &search.run();
        let scene = Scene { scenario, paths, offers: &offers, outputs, roots, spans: spans(scenario, seed) };
        let (of, contributors) = (scene.parts(), scene.contributors());
        Parts { offers, of, demand, contributors }
    }

    /// The offer of each flow in bytes per second, and its role.
    pub fn into_lists(self) -> (Vec<f64>, Vec<Part>) {
        (self.offers.offered, self.of)
    }
}

impl Scene<'_> {
    /// The outputs and virtual lanes that a flow can cross, as row numbers of the table `tree`.
    fn rows(&self, flow: usize) -> impl Iterator<Item = usize> {
        let lanes = self.scenario.lanes(u32::from(self.scenario.plan.flows[flow].sl));
        let all = self.outputs.lanes;
        let links = self.paths.of(flow).iter();
        links.flat_map(move |&link| lanes.clone().map(move |vl| link as usize * all + usize::from(vl)))
    }

    /// Whether a flow sent or offered anything.
    fn takes_part(&self, flow: usize) -> bool {
        self.offers.offered[flow] > 0.0 || self.offers.delivered[flow] > 0.0
    }

    fn contributes(&self, flow: usize) -> bool {
        self.takes_part(flow) && self.rows(flow).any(|row| self.roots[row])
    }

    /// The branches that a flow crosses while they last.
    fn branches(&self, flow: usize) -> impl Iterator<Item = usize> {
        let span = self.spans.of(flow);
        let lasts = move |row: &usize| {
            let row = &self.outputs.rows[*row];
            row.holds_up() && row.episode.is_some_and(|episode| span.start < episode.until && episode.since < span.end)
        };
        self.rows(flow).filter(lasts)
    }

    fn contributors(&self) -> Vec<u64> {
        let mut found = vec![0; self.roots.len()];
        for flow in (0..self.offers.offered.len()).filter(|&flow| self.takes_part(flow)) {
            self.rows(flow).filter(|&row| self.roots[row]).for_each(|row| found[row] += 1);
        }
        found
    }

    fn parts(&self) -> Vec<Part> {
        let flows = 0..self.offers.offered.len();
        let contributes: Vec<bool> = flows.clone().map(|flow| self.contributes(flow)).collect();
        let waits: Vec<bool> =
            flows.clone().map(|flow| !contributes[flow] && self.branches(flow).next().is_some()).collect();
        let mut parts: Vec<Part> =
            contributes.iter().map(|&contributes| Part { contributes, ..Part::default() }).collect();
        self.find_other_losses(&contributes, &mut parts);
        // Without a root there are no victims. Any waiting then has another cause.
        if contributes.contains(&true) {
            self.find_victims(&waits, &mut parts);
            self.find_both(&mut parts);
            self.name_own_links(&mut parts);
        }
        parts
    }

    /// Records the losses of flows that do not contribute. The losses of victims are recorded separately.
    fn find_other_losses(&self, contributes: &[bool], parts: &mut [Part]) {
        for flow in (0..parts.len()).filter(|&flow| !contributes[flow]) {
            let offered = self.offers.offered[flow];
            if self.offers.loses(flow, offered) {
                parts[flow].lost = offered - self.offers.delivered[flow];
            }
        }
    }

    fn find_victims(&self, waits: &[bool], parts: &mut [Part]) {
        let offers = self.offers;
        let limited: Vec<bool> = waits.iter().zip(&offers.greedy).map(|(waits, greedy)| waits & !greedy).collect();
        for (flow, lost) in offers.lose_together(&limited).into_iter().enumerate() {
            if lost {
                parts[flow].suffers = true;
                parts[flow].lost = (offers.offered[flow] - offers.delivered[flow]).max(0.0);
            }
        }
        let endless = |flow: usize| waits[flow] && offers.greedy[flow];
        if !(0..waits.len()).any(endless) {
            return;
        }
        let due = self.fair(|flow| if parts[flow].contributes { offers.delivered[flow] } else { self.wish(flow) });
        for flow in (0..waits.len()).filter(|&flow| endless(flow)) {
            parts[flow].lost = if self.paths.varies(flow) { f64::NAN } else { 0.0 };
            if !self.paths.varies(flow) && offers.loses(flow, due[flow]) {
                parts[flow].suffers = true;
                parts[flow].lost = due[flow] - offers.delivered[flow];
            }
        }
    }

    fn find_both(&self, parts: &mut [Part]) {
        // With a single root, no contributor waits because of another root.
        let links = |row: &usize| row / self.outputs.lanes;
        let mut roots: Vec<usize> =
            (0..self.roots.len()).filter(|&row| self.roots[row]).map(|row| links(&row)).collect();
        roots.dedup();
        if roots.len() < 2 {
            return;
        }
        let trees = self.trees(parts);
        let candidates: Vec<usize> = (0..parts.len())
            .filter(|&flow| parts[flow].contributes && !self.paths.varies(flow))
            .filter(|&flow| {
                self.branches(flow).any(|row| {
                    let most = |own: bool| {
                        let trees = trees[row].iter().filter(|(root, _)| self.paths.of(flow).contains(root) == own);
                        trees.map(|&(_, flows)| flows).max().unwrap_or(0)
                    };
                    most(false) > most(true)
                })
            })
            .collect();
        if candidates.is_empty() {
            return;
        }
        let due = self.fair(|flow| self.wish(flow));
        for flow in candidates {
            if self.offers.loses(flow, due[flow]) {
                parts[flow].suffers = true;
                parts[flow].lost = due[flow] - self.offers.delivered[flow];
            }
        }
    }

    /// The roots of the trees to which each branch belongs, as links. Each has the number of contributors
    /// that cross the branch before the root.
    fn trees(&self, parts: &[Part]) -> Vec<Vec<(u32, u32)>> {
        let mut trees: Vec<Vec<(u32, u32)>> = vec![Vec::new(); self.roots.len()];
        for flow in (0..parts.len()).filter(|&flow| parts[flow].contributes) {
            let rows: Vec<usize> = self.rows(flow).collect();
            for (place, &root) in rows.iter().enumerate().filter(|(_, row)| self.roots[**row]) {
                let link = (root / self.outputs.lanes) as u32;
                for &row in rows[..place].iter().filter(|&&row| self.outputs.rows[row].holds_up()) {
                    match trees[row].iter_mut().find(|(root, _)| *root == link) {
                        Some((_, flows)) => *flows += 1,
                        None => trees[row].push((link, 1)),
                    }
                }
            }
        }
        trees
    }

    /// The demand of a flow: its offer. For endless data on varying paths, it is the delivered traffic.
    fn wish(&self, flow: usize) -> f64 {
        match (self.offers.greedy[flow], self.paths.varies(flow)) {
            (true, true) => self.offers.delivered[flow],
            // The offer of a flow that is not active throughout the window is correspondingly smaller.
            _ => self.offers.offered[flow],
        }
    }

    /// Max-min fair rates for these demands.
    fn fair(&self, demand: impl Fn(usize) -> f64) -> Vec<f64> {
        let demands: Vec<f64> = (0..self.offers.offered.len()).map(demand).collect();
        self.scenario.fair_for(self.paths, &demands)
    }

    fn name_own_links(&self, parts: &mut [Part]) {
        let mut contributes = vec![false; self.scenario.network.topology.nodes().len()];
        let flows = &self.scenario.plan.flows;
        let of = |flow: usize| flows[flow].source.index();
        (0..parts.len()).filter(|&flow| parts[flow].contributes).for_each(|flow| contributes[of(flow)] = true);
        for (flow, part) in parts.iter_mut().enumerate() {
            part.own_link = part.suffers && !part.contributes && contributes[of(flow)];
        }
    }
}

/// The start and end times of every flow. Messages posted before the end may still be in flight after it.
fn spans(scenario: &Scenario, seed: u64) -> Spans {
    let mut spans = scenario.spans(seed);
    for source in scenario.plan.sources.iter().filter(|source| source.traffic.posts()) {
        let flows = source.flows.start as usize..source.flows.end as usize;
        spans.others[flows].iter_mut().for_each(|span| span.end = Time::MAX);
    }
    spans
}
