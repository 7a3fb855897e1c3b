//! The tables of a run.
//!
//! Rates are in bytes on the wire per second. Summary tables cover the measured window, from the end of the
//! warm-up to the end of the run.

use becalm_engine::Time;
use becalm_fabric::{NodeId, NodeKind, PortId};
use becalm_metrics::{Names, Received, Series, Summary, Table, Watch, jain, schema, snapshots, tree};

use super::congestion::victims;
use super::counters::{Counters, FlowCounts, Observed};
use super::outputs::Outputs;
use super::parts::{Part, Parts};
use super::{messages, pauses};
use crate::resolve::{Flow, Link};
use crate::scenario::Scenario;

/// All tables.
pub(crate) fn all(
    scenario: &Scenario,
    observed: Observed<'_>,
    seed: u64,
    mut counts: FlowCounts,
    (before, after): (&Counters, &Counters),
) -> Vec<Table> {
    let Observed { watch, followed, series, paces, snapshots: taken, frames } = observed;
    let observe = &scenario.sections.observe;
    let groups: Vec<String> = scenario.sections.groups().map(|group| group.name.to_string()).collect();
    let outputs = Outputs::new(scenario, watch, before, after);
    let parts = Parts::new(scenario, &outputs, seed, &counts, (before, after));
    let of_messages = messages::tables(scenario, watch, std::mem::take(&mut counts.unfinished), seed);
    let (of_tree, of_victims) = (outputs.table(scenario, &parts), victims(scenario, &parts));
    // With many flows, lists and columns are large: they move to the table of flows after all else has read them.
    let flows = Flows::new(scenario, counts, after.time.since(before.time).as_secs());
    let of_groups = flows.groups(scenario, watch, &parts);
    let mut tables = vec![
        flows.table(scenario, watch, parts),
        of_groups,
        watch.latency.table(&groups),
        links_table(scenario, watch, before, after),
        buffers(scenario, watch, after),
        hosts(scenario, watch, before, after),
        of_tree,
        of_victims,
        series_table(scenario, followed, &series),
    ];
    if *observe.paces {
        tables.push(paces.table(&groups));
    }
    if !observe.snapshots.is_empty() {
        tables.push(snapshots::table(&taken, &ends(scenario)));
    }
    if observe.frames.is_some() {
        tables.extend(frames.tables(&groups));
    }
    if let Some(queues) = &watch.queues {
        let (outputs, ends) = switch_outputs(scenario);
        tables.push(queues.table(&outputs, &ends, after.simulated));
    }
    if *observe.spans {
        tables.push(tree::table(&watch.tree.spans(after.simulated), &ends(scenario)));
    }
    tables.extend(pauses::table(scenario, watch, before, after));
    tables.extend(of_messages);
    tables
}

/// Both ends of every link, with the sending port.
fn ends(scenario: &Scenario) -> Vec<(String, u64, String)> {
    let name = |node| scenario.network.name(node).to_string();
    let links = scenario.network.links.iter();
    links.map(|link| (name(link.from.node), u64::from(link.from.port), name(link.to.node))).collect()
}

/// The outputs of all switches, and both ends of their links.
fn switch_outputs(scenario: &Scenario) -> (Vec<PortId>, Vec<(String, u64, String)>) {
    let of_switch = |link: &Link| scenario.network.topology.node(link.from.node).kind == NodeKind::Switch;
    let links = scenario.network.links.iter().zip(ends(scenario)).filter(|(link, _)| of_switch(link));
    links.map(|(link, ends)| (link.from, ends)).unzip()
}

/// The counters and rates of every flow in the measured window.
struct Flows {
    counts: FlowCounts,
    seconds: f64,
    rate: Vec<f64>,
    share: Vec<f64>,
}

impl Flows {
    fn new(scenario: &Scenario, counts: FlowCounts, seconds: f64) -> Flows {
        let rate: Vec<f64> = counts.delivered_bytes.iter().map(|&bytes| bytes as f64 / seconds).collect();
        let share = rate.iter().zip(link_rates(scenario)).map(|(rate, link)| rate / link).collect();
        Flows { counts: FlowCounts { posted_bytes: Vec::new(), greedy: Vec::new(), ..counts }, seconds, rate, share }
    }

    /// The table `flows`. With many flows, a list ends as soon as it is a column.
    fn table(self, scenario: &Scenario, watch: &Watch, parts: Parts) -> Table {
        let (offered, of) = parts.into_lists();
        let (flows, counts) = (&scenario.plan.flows, self.counts);
        let nodes = scenario.network.topology.nodes().iter();
        let nodes: Vec<String> = nodes.map(|node| node.name.clone()).collect();
        let host =
            |end: fn(&Flow) -> NodeId| Names { list: nodes.clone(), of: flows.iter().map(|f| end(f).0).collect() };
        let groups = scenario.sections.groups().map(|group| group.name.to_string()).collect();
        let table = Table::new(&schema::FLOWS)
            .with("flow", (0..flows.len() as u64).collect::<Vec<_>>())
            .with("group", Names { list: groups, of: flows.iter().map(|flow| flow.group).collect() })
            .with("source", host(|flow| flow.source))
            .with("destination", host(|flow| flow.destination))
            .with("sent_packets", counts.sent_packets)
            .with("delivered_packets", counts.delivered_packets)
            .with("delivered_bytes", counts.delivered_bytes)
            .with("messages", counts.messages)
            .with("rate", self.rate)
            .with("share", self.share)
            .with("offered", offered)
            .with("role", Part::roles(&of))
            .with("lost", of.iter().map(|part| part.lost).collect::<Vec<_>>())
            .with("own_link", of.iter().map(|part| u64::from(part.own_link)).collect::<Vec<_>>())
            .with("marked", counts.marked)
            .with("out_of_order", counts.out_of_order)
            .with("dropped", counts.dropped);
        drop(of);
        with_latencies(table, flows.len(), |flow| watch.latency.flow(flow))
    }

    fn groups(&self, scenario: &Scenario, watch: &Watch, parts: &Parts) -> Table {
        let groups: Vec<_> = scenario.plan.groups.iter().map(|g| g.start as usize..g.end as usize).collect();
        let sum = |values: &[u64]| groups.iter().map(|g| values[g.clone()].iter().sum()).collect::<Vec<u64>>();
        let (bytes, packets, marked) =
            (sum(&self.counts.delivered_bytes), sum(&self.counts.delivered_packets), sum(&self.counts.marked));
        let rate: Vec<f64> = bytes.iter().map(|&bytes| bytes as f64 / self.seconds).collect();
        let count = |of: fn(&Part) -> bool| {
            groups.iter().map(|g| parts.of[g.clone()].iter().filter(|part| of(part)).count() as u64).collect::<Vec<_>>()
        };
        let lost = |flows: &[Part]| flows.iter().filter(|part| part.suffers).map(|part| part.lost).sum::<f64>();
        let links = group_link_rates(scenario);
        let table = Table::new(&schema::GROUPS)
            .with("group", scenario.sections.groups().map(|g| g.name.to_string()).collect::<Vec<_>>())
            .with("flows", groups.iter().map(|g| g.len() as u64).collect::<Vec<_>>())
            .with("rate", rate.clone())
            .with("share", ratios(&rate, &links))
            .with("contributors", count(|part| part.contributes))
            .with("victims", count(|part| part.suffers))
            .with("lost", groups.iter().map(|g| lost(&parts.of[g.clone()])).collect::<Vec<_>>())
            .with("jain", groups.iter().map(|g| jain(&self.share[g.clone()])).collect::<Vec<_>>())
            .with("marked_share", marked.iter().zip(&packets).map(|(m, n)| *m as f64 / *n as f64).collect::<Vec<_>>());
        with_latencies(table, groups.len(), |group| watch.latency.group(group))
    }
}

fn ratios(values: &[f64], units: &[f64]) -> Vec<f64> {
    values.iter().zip(units).map(|(value, unit)| value / unit).collect()
}

/// The rate of each flow's source link in bytes per second.
fn link_rates(scenario: &Scenario) -> impl Iterator<Item = f64> {
    let rates = &scenario.network.rates;
    scenario.plan.flows.iter().map(|flow| rates[flow.source.index()].bytes_per_second())
}

/// The mean rate of the source links of each group's flows in bytes per second. A group's share is relative
/// to one link.
fn group_link_rates(scenario: &Scenario) -> Vec<f64> {
    let rates: Vec<f64> = link_rates(scenario).collect();
    let mean = |flows: &std::ops::Range<u32>| {
        let own = &rates[flows.start as usize..flows.end as usize];
        own.iter().sum::<f64>() / own.len() as f64
    };
    scenario.plan.groups.iter().map(mean).collect()
}

fn with_latencies(table: Table, rows: usize, latency: impl Fn(usize) -> Summary) -> Table {
    let mut columns = [(); 4].map(|()| Vec::with_capacity(rows));
    for Summary { mean, p50, p99, max, .. } in (0..rows).map(latency) {
        columns.iter_mut().zip([mean, p50, p99, max]).for_each(|(column, value)| column.push(value));
    }
    let names = ["latency_mean", "latency_p50", "latency_p99", "latency_max"];
    names.into_iter().zip(columns).fold(table, |table, (name, values)| table.with(name, values))
}

fn links_table(scenario: &Scenario, watch: &Watch, before: &Counters, after: &Counters) -> Table {
    let name = |node| scenario.network.name(node).to_string();
    let seconds = after.time.since(before.time).as_secs();
    let pairs = || before.links.iter().zip(&after.links);
    let bytes: Vec<u64> = pairs().map(|(b, a)| a.bytes - b.bytes).collect();
    let rate: Vec<f64> = bytes.iter().map(|&bytes| bytes as f64 / seconds).collect();
    let capacity: Vec<f64> = scenario.network.links.iter().map(|link| link.rate.bytes_per_second()).collect();
    let stalls: Vec<Time> = before.stalls.iter().zip(&after.stalls).map(|(b, a)| a.since(*b)).collect();
    let window = after.time.since(before.time);
    let congestion = |link: &Link| watch.congestion.time(link.from, after.simulated).as_secs();
    Table::new(&schema::LINKS)
        .with("from", scenario.network.links.iter().map(|link| name(link.from.node)).collect::<Vec<_>>())
        .with("from_port", scenario.network.links.iter().map(|link| u64::from(link.from.port)).collect::<Vec<_>>())
        .with("to", scenario.network.links.iter().map(|link| name(link.to.node)).collect::<Vec<_>>())
        .with("rate", rate.clone())
        .with("utilization", ratios(&rate, &capacity))
        .with("packets", pairs().map(|(b, a)| a.packets - b.packets).collect::<Vec<_>>())
        .with("bytes", bytes)
        .with("marked", pairs().map(|(b, a)| a.marked - b.marked).collect::<Vec<_>>())
        .with(
            "stalled_share",
            stalls.iter().map(|time| time.as_ps() as f64 / window.as_ps() as f64).collect::<Vec<_>>(),
        )
        .with("xmit_wait", stalls.iter().map(|time| time.as_secs()).collect::<Vec<_>>())
        .with("xmit_time_cong", scenario.network.links.iter().map(congestion).collect::<Vec<_>>())
}

fn buffers(scenario: &Scenario, watch: &Watch, after: &Counters) -> Table {
    let topology = &scenario.network.topology;
    let name = |node| scenario.network.name(node).to_string();
    let vls = scenario.sections.vls();
    let at_switch = scenario.network.links.iter().filter(|link| topology.node(link.from.node).kind == NodeKind::Switch);
    // The input of a port is the opposite direction of its link.
    let rows: Vec<_> = at_switch.flat_map(|link| (0..vls).map(move |vl| (link.from, link.to, vl))).collect();
    Table::new(&schema::BUFFERS)
        .with("switch", rows.iter().map(|(port, ..)| name(port.node)).collect::<Vec<_>>())
        .with("port", rows.iter().map(|(port, ..)| u64::from(port.port)).collect::<Vec<_>>())
        .with("peer", rows.iter().map(|(_, peer, _)| name(peer.node)).collect::<Vec<_>>())
        .with("vl", rows.iter().map(|(.., vl)| u64::from(*vl)).collect::<Vec<_>>())
        .with(
            "mean_packets",
            rows.iter().map(|(port, _, vl)| watch.occupancy.mean(*port, *vl, after.simulated)).collect::<Vec<_>>(),
        )
        .with(
            "max_packets",
            rows.iter().map(|(port, _, vl)| u64::from(watch.occupancy.max(*port, *vl))).collect::<Vec<_>>(),
        )
}

/// Numbers of packets that every host's adapter sent and received, by kind.
fn hosts(scenario: &Scenario, watch: &Watch, before: &Counters, after: &Counters) -> Table {
    let topology = &scenario.network.topology;
    let (mut names, mut sent_packets, mut sent_bytes) = (vec![], vec![], vec![]);
    for (link, (before, after)) in scenario.network.links.iter().zip(before.links.iter().zip(&after.links)) {
        let node = topology.node(link.from.node);
        if node.kind == NodeKind::Host {
            names.push(node.name.clone());
            sent_packets.push(after.packets - before.packets);
            sent_bytes.push(after.bytes - before.bytes);
        }
    }
    let column = |value: fn(&Received) -> u64| watch.hosts.received().iter().map(value).collect::<Vec<_>>();
    Table::new(&schema::HOSTS)
        .with("host", names)
        .with("sent_packets", sent_packets)
        .with("sent_bytes", sent_bytes)
        .with("received_packets", column(|host| host.packets))
        .with("received_bytes", column(|host| host.bytes))
        .with("rcv_fecn", column(|host| host.fecn))
        .with("rcv_becn", column(|host| host.becn))
}

/// Rates over time of groups, of the recorded links and, if requested, of flows.
fn series_table(scenario: &Scenario, followed: &[usize], series: &Series) -> Table {
    let groups = scenario.sections.groups().map(|group| group.name.to_string()).zip(group_link_rates(scenario));
    let followed = followed.iter().map(|&i| {
        let link = &scenario.network.links[i];
        (link.name.clone(), link.rate.bytes_per_second())
    });
    let flows = link_rates(scenario).enumerate().map(|(i, rate)| (i.to_string(), rate));
    let flows = flows.filter(|_| *scenario.sections.observe.flows);
    let named = groups
        .map(|named| ("group", named))
        .chain(followed.map(|named| ("link", named)))
        .chain(flows.map(|named| ("flow", named)));
    let times: Vec<f64> = series.times().iter().map(|time| time.as_secs()).collect();
    let (mut time, mut kinds, mut names, mut rates, mut shares) = (vec![], vec![], vec![], vec![], vec![]);
    for (counter, (kind, (name, link))) in named.enumerate() {
        let values = series.rates(counter);
        time.extend_from_slice(&times);
        kinds.extend(std::iter::repeat_n(kind.to_string(), values.len()));
        names.extend(std::iter::repeat_n(name, values.len()));
        shares.extend(values.iter().map(|rate| rate / link));
        rates.extend(values);
    }
    Table::new(&schema::SERIES)
        .with("time", time)
        .with("kind", kinds)
        .with("name", names)
        .with("rate", rates)
        .with("share", shares)
}
