//! The traffic that every flow offered and delivered in the measured window, and the criterion for a loss.

use std::collections::BTreeMap;
use std::ops::Range;

use super::counters::FlowCounts;
use crate::fabric::FlowPaths;
use crate::scenario::Scenario;

/// A flow loses if it delivers less than its due and the difference exceeds this share.
const LOST: f64 = 0.05;
/// Minimum loss in packets. A smaller difference counts as chance.
const FEWEST: f64 = 10.0;
/// If messages go to random destinations, a difference of fewer standard deviations counts as chance.
const DEVIATIONS: f64 = 4.0;

/// Flows of one group from one host.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Account {
    pub flows: u64,
    /// Bytes of messages that were posted.
    pub posted: f64,
    /// Bytes that flows with endless data could have sent.
    pub greedy: f64,
    pub delivered: f64,
}

/// The offers of all flows. Lists have one value for each flow, and rates are in bytes per second.
pub(super) struct Offers {
    /// Length of the measured window in seconds.
    pub seconds: f64,
    /// The rate at which the flow could have sent, within the rate of its source's link.
    pub offered: Vec<f64>,
    pub delivered: Vec<f64>,
    /// Whether the flow had endless data at some time. Its offer then has no definite value.
    pub greedy: Vec<bool>,
    /// The flow's account, as an index into [`Offers::accounts`].
    pub account: Vec<u32>,
    /// Accounts with the numbers of their group and host.
    pub accounts: Vec<((u32, u32), Account)>,
    /// Whether messages go to random destinations.
    random: Vec<bool>,
    /// Mean number of packets of each group's messages.
    message: Vec<f64>,
    /// Bytes of a packet of the largest size.
    packet: f64,
}

impl Offers {
    /// The offers of flows in this many `seconds`.
    pub fn new(scenario: &Scenario, paths: &FlowPaths, counts: &FlowCounts, seconds: f64) -> Offers {
        let plan = &scenario.plan;
        let mut posted: Vec<f64> = counts.posted_bytes.iter().map(|&bytes| bytes as f64).collect();
        let random = spread_by_shares(scenario, &mut posted);
        let rates = plan.flows.iter().map(|flow| scenario.source_rate(flow));
        let greedy = rates.clone().zip(&counts.greedy).map(|(rate, time)| rate * time);
        let mut accounts: BTreeMap<(u32, u32), Account> = BTreeMap::new();
        let each = plan.flows.iter().zip(rates).zip(greedy.clone()).zip(&posted).zip(&counts.delivered_bytes);
        for ((((flow, rate), greedy), posted), delivered) in each {
            let account = accounts.entry((flow.group, flow.source.0)).or_default();
            account.flows += 1;
            account.posted += posted;
            account.greedy = (account.greedy + greedy).min(rate * seconds);
            account.delivered += *delivered as f64;
        }
        let places: BTreeMap<(u32, u32), u32> = accounts.keys().copied().zip(0..).collect();
        let account: Vec<u32> = plan.flows.iter().map(|flow| places[&(flow.group, flow.source.0)]).collect();
        let mut wanted = posted;
        wanted.iter_mut().zip(greedy.clone()).for_each(|(wanted, greedy)| *wanted = (*wanted + greedy) / seconds);
        Offers {
            seconds,
            offered: within_links(scenario, paths, wanted),
            delivered: counts.delivered_bytes.iter().map(|&bytes| bytes as f64 / seconds).collect(),
            greedy: greedy.map(|bytes| bytes > 0.0).collect(),
            account,
            accounts: accounts.into_iter().collect(),
            random,
            message: packets_per_message(scenario, counts),
            packet: f64::from(scenario.sections.packet.sizes().largest()),
        }
    }

    /// Mean number of packets of a flow's messages.
    fn message(&self, flow: usize) -> f64 {
        let ((group, _), _) = self.accounts[self.account[flow] as usize];
        self.message[group as usize]
    }

    /// Number of packets of a message that may be in flight when the window ends.
    fn in_flight(&self, flow: usize) -> f64 {
        if self.greedy[flow] { 0.0 } else { self.message(flow) }
    }

    /// Standard deviation of a flow's part in packets, if messages go to random destinations.
    fn deviation(&self, flow: usize) -> f64 {
        if !self.random[flow] {
            return 0.0;
        }
        let expected = self.offered[flow] * self.seconds / self.packet;
        (expected * self.message(flow)).sqrt()
    }

    /// The amount by which a flow may fall short of `due` without a loss.
    fn room(&self, due: f64, deviation: f64, message: f64) -> f64 {
        let packets = FEWEST.max(DEVIATIONS * deviation).max(message);
        (LOST * due).max(packets * self.packet / self.seconds)
    }

    /// Whether a flow falls short of its due by more than chance.
    pub fn loses(&self, flow: usize, due: f64) -> bool {
        due - self.delivered[flow] > self.room(due, self.deviation(flow), self.in_flight(flow))
    }

    /// Whether each of the chosen flows loses part of its offer, by itself or together with the other chosen
    /// flows of its group and host. If a host sends to many destinations, each flow has too few packets to
    /// rule out chance, and only their sum shows the loss.
    pub fn lose_together(&self, chosen: &[bool]) -> Vec<bool> {
        #[derive(Clone, Copy, Default)]
        struct Sum {
            whole: f64,
            offered: f64,
            delivered: f64,
            squares: f64,
            message: f64,
        }
        let mut sums = vec![Sum::default(); self.accounts.len()];
        for (flow, &chosen) in chosen.iter().enumerate() {
            let sum = &mut sums[self.account[flow] as usize];
            sum.whole += self.offered[flow];
            if chosen {
                sum.offered += self.offered[flow];
                sum.delivered += self.delivered[flow];
                sum.squares += self.deviation(flow).powi(2);
                sum.message = sum.message.max(self.in_flight(flow));
            }
        }
        // A host's total offer is known, and only its distribution among the flows is random. If all flows
        // are chosen, nothing is random.
        let lost = |sum: &Sum| {
            let others = (1.0 - sum.offered / sum.whole.max(1e-9)).max(0.0);
            sum.offered - sum.delivered > self.room(sum.offered, (sum.squares * others).sqrt(), sum.message)
        };
        let lost: Vec<bool> = sums.iter().map(lost).collect();
        let each = |(flow, &chosen): (usize, &bool)| {
            chosen && (self.loses(flow, self.offered[flow]) || lost[self.account[flow] as usize])
        };
        chosen.iter().enumerate().map(each).collect()
    }
}

/// Divides the posted bytes of each source among its flows, by their shares. Returns whether each flow shares its
/// source with others. The messages of a shared source go to random destinations, so the part of each flow is
/// random.
fn spread_by_shares(scenario: &Scenario, posted: &mut [f64]) -> Vec<bool> {
    let mut random = vec![false; posted.len()];
    for source in scenario.plan.sources.iter().filter(|source| source.flows.len() > 1) {
        let flows = source.flows.start as usize..source.flows.end as usize;
        let sum = posted[flows.clone()].iter().sum::<f64>();
        source.shares().for_each(|(flow, share)| posted[flow as usize] = sum * share);
        random[flows].fill(true);
    }
    random
}

/// Mean number of packets of each group's messages that were delivered, at least 1.
fn packets_per_message(scenario: &Scenario, counts: &FlowCounts) -> Vec<f64> {
    let sum = |values: &[u64], flows: &Range<u32>| values[flows.start as usize..flows.end as usize].iter().sum::<u64>();
    let packets = |flows| sum(&counts.delivered_packets, flows) as f64 / (sum(&counts.messages, flows) as f64).max(1.0);
    scenario.plan.groups.iter().map(|flows| packets(flows).max(1.0)).collect()
}

/// Scales the offers of a host's flows so that their sum does not exceed the rate of its link.
fn within_links(scenario: &Scenario, paths: &FlowPaths, mut wanted: Vec<f64>) -> Vec<f64> {
    let first = |flow: usize| paths.of(flow)[0] as usize;
    let mut totals = vec![0.0; scenario.network.links.len()];
    (0..wanted.len()).for_each(|flow| totals[first(flow)] += wanted[flow]);
    for (flow, wanted) in wanted.iter_mut().enumerate() {
        let carried = scenario.source_rate(&scenario.plan.flows[flow]);
        *wanted *= (carried / totals[first(flow)].max(1e-9)).min(1.0);
    }
    wanted
}
