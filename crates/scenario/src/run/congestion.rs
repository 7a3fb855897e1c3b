//! The tables of the congestion tree: roots, branches and victims.

use std::collections::{BTreeMap, HashMap};

use becalm_fabric::{FlowView, NodeId, Paths, PortId};
use becalm_metrics::tree::Episode;
use becalm_metrics::{Table, Watch};

use super::counters::Counters;
use crate::resolve::{Flow, Link};
use crate::scenario::Scenario;

/// Share of the measured window from which an output counts as a root or a branch.
const LEAST_SHARE: f64 = 0.01;

/// One output and virtual lane.
struct Row<'a> {
    link: &'a Link,
    vl: u8,
    role: &'static str,
    episode: Option<Episode>,
    shares: [f64; 2],
}

/// The roles of all outputs.
pub(crate) struct Roles<'a> {
    rows: Vec<Row<'a>>,
}

impl<'a> Roles<'a> {
    /// The most frequent role of each output, while it had one.
    pub fn new(scenario: &'a Scenario, watch: &Watch, before: &Counters, after: &Counters) -> Roles<'a> {
        let seconds = after.time.since(before.time).as_secs();
        let lanes = scenario
            .network
            .links
            .iter()
            .flat_map(|link| (0..*scenario.sections.switch.vls as u8).map(move |vl| (link, vl)));
        let row = |(link, vl): (&'a Link, u8)| {
            let (root, branch) = watch.tree.episodes(link.from, vl, after.time);
            let shares = [root, branch].map(|episode| episode.total.as_secs() / seconds);
            let (role, episode) = match shares {
                [root, branch] if root.max(branch) < LEAST_SHARE => ("calm", None),
                [root_share, branch_share] if root_share >= branch_share => ("root", Some(root)),
                _ => ("branch", Some(branch)),
            };
            Row { link, vl, role, episode, shares }
        };
        Roles { rows: lanes.map(row).collect() }
    }

    /// The table `tree`.
    pub fn table(&self, scenario: &Scenario) -> Table {
        let name = |node| scenario.network.name(node).to_string();
        let time = |value: fn(&Episode) -> f64| {
            self.rows.iter().map(|row| row.episode.as_ref().map_or(f64::NAN, value)).collect::<Vec<_>>()
        };
        Table::new("tree")
            .with("from", "", self.rows.iter().map(|row| name(row.link.from.node)).collect::<Vec<_>>())
            .with("from_port", "", self.rows.iter().map(|row| u64::from(row.link.from.port)).collect::<Vec<_>>())
            .with("to", "", self.rows.iter().map(|row| name(row.link.to.node)).collect::<Vec<_>>())
            .with("vl", "", self.rows.iter().map(|row| u64::from(row.vl)).collect::<Vec<_>>())
            .with("role", "", self.rows.iter().map(|row| row.role.to_string()).collect::<Vec<_>>())
            .with("since", "s", time(|episode| episode.since.as_secs()))
            .with("until", "s", time(|episode| episode.until.as_secs()))
            .with("longest", "s", time(|episode| episode.longest.as_secs()))
            .with("longest_since", "s", time(|episode| episode.longest_since.as_secs()))
            .with("root_share", "", self.rows.iter().map(|row| row.shares[0]).collect::<Vec<_>>())
            .with("branch_share", "", self.rows.iter().map(|row| row.shares[1]).collect::<Vec<_>>())
    }

    fn by_port(&self) -> HashMap<(PortId, u8), &'static str> {
        self.rows.iter().map(|row| ((row.link.from, row.vl), row.role)).collect()
    }
}

/// Offered and delivered bytes of the flows of a group from one host.
#[derive(Clone, Copy, Debug, Default)]
struct Account {
    flows: u64,
    contributors: u64,
    victims: u64,
    /// Bytes of messages that were posted.
    posted: f64,
    /// Bytes that flows with endless data could have sent.
    greedy: f64,
    delivered: f64,
}

/// The table `victims`: one row per group and source host.
pub(crate) fn victims(scenario: &Scenario, roles: &Roles<'_>, seed: u64, before: &Counters, after: &Counters) -> Table {
    let seconds = after.time.since(before.time).as_secs();
    let topology = &scenario.network.topology;
    let (roles, rates) = (roles.by_port(), &scenario.network.rates);
    let paths = Paths::new(topology, &scenario.network.routes);
    let link_rate = |flow: &Flow| {
        let cap = scenario.plan.adapters[topology.node(flow.source).rank as usize].injection_rate;
        let link = rates[flow.source.index()].bytes_per_second();
        cap.map_or(link, |cap| link.min(cap.bytes_per_second()))
    };
    let mut accounts: BTreeMap<(u32, u32), Account> = BTreeMap::new();
    let views = before.flows.iter().zip(&after.flows);
    for (number, (flow, (start, end))) in (0u32..).zip(scenario.plan.flows.iter().zip(views)) {
        let account = accounts.entry((flow.group, flow.source.0)).or_default();
        let greedy = |view: &FlowView, counters: &Counters| view.greedy_until(counters.time).as_secs();
        let rate = link_rate(flow);
        account.flows += 1;
        account.posted += (end.posted_bytes - start.posted_bytes) as f64;
        account.greedy += rate * (greedy(end, after) - greedy(start, before));
        account.greedy = account.greedy.min(rate * seconds);
        account.delivered += (end.delivered_bytes - start.delivered_bytes) as f64;
        let lanes = scenario.lanes(scenario.sections.group(flow.group).sl);
        let ways = scenario.ways(&paths, number, seed);
        let meets = |role: &str| ways.iter().any(|&port| lanes.clone().any(|vl| roles.get(&(port, vl)) == Some(&role)));
        match (meets("root"), meets("branch")) {
            (true, _) => account.contributors += 1,
            (false, true) => account.victims += 1,
            (false, false) => {}
        }
    }
    let accounts: Vec<_> = accounts.into_iter().collect();
    let column = |value: &dyn Fn(&Account) -> f64| accounts.iter().map(|(_, a)| value(a)).collect::<Vec<_>>();
    let count = |value: fn(&Account) -> u64| accounts.iter().map(|(_, a)| value(a)).collect::<Vec<_>>();
    let host = |node: u32| scenario.network.name(NodeId(node)).to_string();
    let group = |group: u32| scenario.sections.group(group).name.to_string();
    let offered = |account: &Account| account.posted + account.greedy;
    // Late arrivals of an earlier offer are not a share of this one.
    let share =
        |account: &Account| if offered(account) > 0.0 { account.delivered / offered(account) } else { f64::NAN };
    Table::new("victims")
        .with("host", "", accounts.iter().map(|((_, node), _)| host(*node)).collect::<Vec<_>>())
        .with("group", "", accounts.iter().map(|((number, _), _)| group(*number)).collect::<Vec<_>>())
        .with("flows", "", count(|account| account.flows))
        .with("contributors", "flows", count(|account| account.contributors))
        .with("victims", "flows", count(|account| account.victims))
        .with("offered", "B/s", column(&|account| offered(account) / seconds))
        .with("delivered", "B/s", column(&|account| account.delivered / seconds))
        .with("delivered_share", "", column(&share))
}
