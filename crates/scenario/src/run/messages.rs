//! The tables of messages.

use std::collections::HashMap;

use becalm_engine::Time;
use becalm_fabric::{AdapterConfig, NodeId, Paths, PortId, Unloaded};
use becalm_metrics::{Completion, MessageRecord, Table, Watch, completion, schema};

use crate::scenario::Scenario;
use crate::sections::flows::Traffic;

/// The requested tables; none if messages are not recorded. `unfinished` is the number of each group's messages that
/// were posted but not delivered.
pub(super) fn tables(scenario: &Scenario, watch: &Watch, unfinished: Vec<u64>, seed: u64) -> Vec<Table> {
    let Some(messages) = &watch.messages else { return Vec::new() };
    let groups: Vec<String> = scenario.sections.groups().map(|group| group.name.to_string()).collect();
    let records = messages.records();
    let ideals = ideals(scenario, &records, seed);
    let completion = |(record, ideal): (&MessageRecord, &Time)| {
        let time = record.delivered.since(record.posted).as_secs();
        let group = scenario.plan.flows[record.flow as usize].group;
        Completion { group, bytes: record.bytes, time, slowdown: time / ideal.as_secs() }
    };
    let completions: Vec<Completion> = records.iter().zip(&ideals).map(completion).collect();
    let mut tables = vec![
        completion::by_group(&completions, &groups, unfinished),
        completion::by_size(&completions, &groups),
        completion::histogram(&completions, &groups),
    ];
    if records.len() <= *scenario.sections.observe.message_rows as usize {
        tables.push(one_by_one(&records, &ideals, &completions, &groups));
    }
    tables
}

/// The completion time of each message on an empty network, from the time of posting.
fn ideals(scenario: &Scenario, records: &[MessageRecord], seed: u64) -> Vec<Time> {
    let network = &scenario.network;
    let (switch, packets) = (scenario.switch_config(), scenario.sections.packet.sizes());
    let paths = Paths::new(&network.topology, &network.routes);
    let unloaded = Unloaded::new(&network.topology, &paths, &switch);
    let mut known: HashMap<u32, Vec<PortId>> = HashMap::new();
    let mut spread: HashMap<(u32, u64), Time> = HashMap::new();
    // On a dragonfly, a detour may have fewer hops than the path over one global link.
    let several = network.routes.has_equal_ports() || network.routes.detours().is_some();
    let spreads = several && !switch.paths.keeps_order();
    let ideal = |record: &MessageRecord| {
        let flow = &scenario.plan.flows[record.flow as usize];
        let adapter = |host: NodeId| scenario.plan.adapters[network.topology.node(host).rank as usize];
        let (mut from, to, bytes) = (adapter(flow.source), adapter(flow.destination), record.bytes);
        if !posts(scenario, flow.group) {
            // The host has already processed such a message when it counts as posted.
            from = AdapterConfig { message_overhead: Time::ZERO, ..from };
        }
        if spreads {
            let ends = (flow.source, flow.destination);
            let ideal = || unloaded.spread_message(ends, bytes, &packets, (&from, &to));
            return *spread.entry((record.flow, bytes)).or_insert_with(ideal);
        }
        let path = || match switch.paths.keeps_order() {
            true => scenario.ports_of_flow(&paths, record.flow, seed).into_iter().map(|(port, _)| port).collect(),
            false => paths.path(flow.source, flow.destination).expect("the paths are checked"),
        };
        let path = known.entry(record.flow).or_insert_with(path);
        unloaded.message(path, bytes, &packets, (&from, &to))
    };
    records.iter().map(ideal).collect()
}

/// Whether messages of a group are posted. A flow with endless data generates each message when it sends the
/// message's first packet.
fn posts(scenario: &Scenario, group: u32) -> bool {
    let own = scenario.sections.flows.items().get(group as usize);
    own.is_none_or(|group| !matches!(*group.traffic, Traffic::Greedy(_) | Traffic::OnOff(_)))
}

/// The table `messages`: a row for each message, in order of delivery.
fn one_by_one(records: &[MessageRecord], ideals: &[Time], completions: &[Completion], groups: &[String]) -> Table {
    let times = |time: fn(&MessageRecord) -> Time| {
        let seconds = |time: Time| if time == Time::MAX { f64::NAN } else { time.as_secs() };
        records.iter().map(|record| seconds(time(record))).collect::<Vec<_>>()
    };
    Table::new(&schema::MESSAGES)
        .with("group", completions.iter().map(|own| groups[own.group as usize].clone()).collect::<Vec<_>>())
        .with("flow", records.iter().map(|record| u64::from(record.flow)).collect::<Vec<_>>())
        .with("bytes", records.iter().map(|record| record.bytes).collect::<Vec<_>>())
        .with("posted", times(|record| record.posted))
        .with("first_byte", times(|record| record.first_byte))
        .with("delivered", times(|record| record.delivered))
        .with("acknowledged", times(|record| record.acknowledged))
        .with("completion", completions.iter().map(|own| own.time).collect::<Vec<_>>())
        .with("ideal", ideals.iter().map(|ideal| ideal.as_secs()).collect::<Vec<_>>())
        .with("slowdown", completions.iter().map(|own| own.slowdown).collect::<Vec<_>>())
}
