//! The tables of the congestion tree: roots, branches and victims.

use becalm_fabric::NodeId;
use becalm_metrics::tree::Episode;
use becalm_metrics::{Table, schema};

use super::offers::Account;
use super::outputs::Outputs;
use super::parts::{Part, Parts};
use crate::scenario::Scenario;

impl Outputs<'_> {
    /// The table `tree`.
    pub fn table(&self, scenario: &Scenario, parts: &Parts) -> Table {
        let name = |node| scenario.network.name(node).to_string();
        let time = |value: fn(&Episode) -> f64| {
            self.rows.iter().map(|row| row.episode.as_ref().map_or(f64::NAN, value)).collect::<Vec<_>>()
        };
        Table::new(&schema::TREE)
            .with("from", self.rows.iter().map(|row| name(row.link.from.node)).collect::<Vec<_>>())
            .with("from_port", self.rows.iter().map(|row| u64::from(row.link.from.port)).collect::<Vec<_>>())
            .with("to", self.rows.iter().map(|row| name(row.link.to.node)).collect::<Vec<_>>())
            .with("vl", self.rows.iter().map(|row| u64::from(row.vl)).collect::<Vec<_>>())
            .with("role", self.rows.iter().map(|row| row.role.to_string()).collect::<Vec<_>>())
            .with("since", time(|episode| episode.since.as_secs()))
            .with("until", time(|episode| episode.until.as_secs()))
            .with("longest", time(|episode| episode.longest.as_secs()))
            .with("longest_since", time(|episode| episode.longest_since.as_secs()))
            .with("root_share", self.rows.iter().map(|row| row.shares[0]).collect::<Vec<_>>())
            .with("branch_share", self.rows.iter().map(|row| row.shares[1]).collect::<Vec<_>>())
            .with("offered", (0..self.rows.len()).map(|row| parts.demand[row / self.lanes]).collect::<Vec<_>>())
            .with("contributors", parts.contributors.clone())
    }
}

/// The table `victims`: one row per group and source host.
pub(crate) fn victims(scenario: &Scenario, parts: &Parts) -> Table {
    let offers = &parts.offers;
    let accounts = &offers.accounts;
    let column = |value: &dyn Fn(&Account) -> f64| accounts.iter().map(|(_, a)| value(a)).collect::<Vec<_>>();
    let sum = |value: fn(&Part) -> f64| {
        let mut sums = vec![0.0; accounts.len()];
        parts.of.iter().zip(&offers.account).for_each(|(part, &account)| sums[account as usize] += value(part));
        sums
    };
    let count = |value: fn(&Part) -> f64| sum(value).into_iter().map(|sum| sum as u64).collect::<Vec<_>>();
    let host = |node: u32| scenario.network.name(NodeId(node)).to_string();
    let group = |group: u32| scenario.sections.group(group).name.to_string();
    let offered = |account: &Account| account.posted + account.greedy;
    // Late arrivals of earlier traffic do not count towards the share of this offer.
    let share =
        |account: &Account| if offered(account) > 0.0 { account.delivered / offered(account) } else { f64::NAN };
    Table::new(&schema::VICTIMS)
        .with("host", accounts.iter().map(|((_, node), _)| host(*node)).collect::<Vec<_>>())
        .with("group", accounts.iter().map(|((number, _), _)| group(*number)).collect::<Vec<_>>())
        .with("flows", accounts.iter().map(|(_, account)| account.flows).collect::<Vec<_>>())
        .with("contributors", count(|part| f64::from(part.contributes)))
        .with("victims", count(|part| f64::from(part.suffers)))
        .with("own_link", count(|part| f64::from(part.own_link)))
        .with("offered", column(&|account| offered(account) / offers.seconds))
        .with("delivered", column(&|account| account.delivered / offers.seconds))
        .with("delivered_share", column(&share))
        .with("lost", sum(|part| if part.suffers { part.lost } else { 0.0 }))
}
