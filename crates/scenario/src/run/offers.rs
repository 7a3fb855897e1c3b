//! The traffic that every flow offered and delivered in the measured window, and the criterion for a loss.

use std::collections::BTreeMap;

use super::counters::{Counters, FlowCounters};
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
    /// Standard deviation of the flow's part in packets, if messages go to random destinations.
    deviation: Vec<f64>,
    /// Number of packets of a message that may be in flight when the window ends.
    message: Vec<f64>,
    /// Bytes of a packet of the largest size.
    packet: f64,
}

impl Offers {
    pub fn new(scenario: &Scenario, paths: &FlowPaths, before: &Counters, after: &Counters) -> Offers {
        let seconds = after.time.since(before.time).as_secs();
        let views = || before.flows_until(after);
        let plan = &scenario.plan;
        let greedy_time = |(start, end): (&FlowCounters, &FlowCounters)| {
            end.greedy_until(after.time).as_secs() - start.greedy_until(before.time).as_secs()
        };
        // A message that is posted again by another port no longer counts at its first.
        let of_window =
            |(start, end): (&FlowCounters, &FlowCounters)| end.posted_bytes.saturating_sub(start.posted_bytes);
        let mut posted: Vec<f64> = views().map(|views| of_window(views) as f64).collect();
        let random = spread_by_shares(scenario, &mut posted);
        let rates = plan.flows.iter().map(|flow| scenario.source_rate(flow));
        let greedy: Vec<f64> = rates.clone().zip(views()).map(|(rate, views)| rate * greedy_time(views)).collect();
        let delivered: Vec<f64> =
            views().map(|(start, end)| (end.delivered_bytes - start.delivered_bytes) as f64).collect();
        let mut accounts: BTreeMap<(u32, u32), Account> = BTreeMap::new();
        for (number, (flow, rate)) in plan.flows.iter().zip(rates).enumerate() {
            let account = accounts.entry((flow.group, flow.source.0)).or_default();
            account.flows += 1;
            account.posted += posted[number];
            account.greedy = (account.greedy + greedy[number]).min(rate * seconds);
            account.delivered += delivered[number];
        }
        let places: BTreeMap<(u32, u32), u32> = accounts.keys().copied().zip(0..).collect();
        let account: Vec<u32> = plan.flows.iter().map(|flow| places[&(flow.group, flow.source.0)]).collect();
        let wanted: Vec<f64> = posted.iter().zip(&greedy).map(|(posted, greedy)| (posted + greedy) / seconds).collect();
        let mut offers = Offers {
            seconds,
            offered: within_links(scenario, paths, wanted),
            delivered: delivered.iter().map(|bytes| bytes / seconds).collect(),
            greedy: greedy.iter().map(|&bytes| bytes > 0.0).collect(),
            account,
            accounts: accounts.into_iter().collect(),
            deviation: Vec::new(),
            message: Vec::new(),
            packet: f64::from(scenario.sections.packet.sizes().largest()),
        };
        offers.set_chance(scenario, &random, before, after);
        offers
    }

    /// Records the amount by which the delivered traffic of a flow may fall short of its offer by chance.
    fn set_chance(&mut self, scenario: &Scenario, random: &[bool], before: &Counters, after: &Counters) {
        let views = || before.flows_until(after);
        let of_group = |value: fn(&FlowCounters) -> u64, flows: &std::ops::Range<u32>| {
            let views = views().skip(flows.start as usize).take(flows.len());
            views.map(|(start, end)| value(end) - value(start)).sum::<u64>() as f64
        };
        let packets = scenario.plan.groups.iter().map(|flows| {
            of_group(|view| view.delivered_packets, flows) / of_group(|view| view.messages_delivered, flows).max(1.0)
        });
        let packets: Vec<f64> = packets.map(|packets| packets.max(1.0)).collect();
        for (flow, planned) in scenario.plan.flows.iter().enumerate() {
            let message = packets[planned.group as usize];
            let expected = self.offered[flow] * self.seconds / self.packet;
            self.deviation.push(if random[flow] { (expected * message).sqrt() } else { 0.0 });
            self.message.push(if self.greedy[flow] { 0.0 } else { message });
        }
    }

    /// The amount by which a flow may fall short of `due` without a loss.
    fn room(&self, due: f64, deviation: f64, message: f64) -> f64 {
        let packets = FEWEST.max(DEVIATIONS * deviation).max(message);
        (LOST * due).max(packets * self.packet / self.seconds)
    }

    /// Whether a flow falls short of its due by more than chance.
    pub fn loses(&self, flow: usize, due: f64) -> bool {
        due - self.delivered[flow] > self.room(due, self.deviation[flow], self.message[flow])
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
                sum.squares += self.deviation[flow].powi(2);
                sum.message = sum.message.max(self.message[flow]);
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
