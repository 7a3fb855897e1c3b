//! The table of faults.

use becalm_engine::Time;
use becalm_fabric::{NodeId, PortId, Toll};
use becalm_metrics::{Table, schema};
use becalm_model::Whole;

use crate::resolve::PortFault;
use crate::scenario::Scenario;

/// One row per fault and port; none without faults.
pub(super) fn table(scenario: &Scenario, model: &Whole, now: Time) -> Option<Table> {
    let faults = &scenario.plan.faults;
    if faults.is_empty() {
        return None;
    }
    let name = |node: NodeId| scenario.network.name(node).to_string();
    let peer = |port: PortId| {
        let link = scenario.network.links.iter().find(|link| link.from == port).expect("every port has a link");
        name(link.to.node)
    };
    let tolls: Vec<Toll> = (0..faults.len()).map(|fault| model.toll(fault, now)).collect();
    let column = |value: &dyn Fn(&Toll) -> u64| tolls.iter().map(value).collect::<Vec<_>>();
    let each = |value: &dyn Fn(&PortFault) -> String| faults.iter().map(value).collect::<Vec<_>>();
    let time = |value: &dyn Fn(&PortFault) -> Time| faults.iter().map(|each| value(each).as_secs()).collect::<Vec<_>>();
    let table = Table::new(&schema::FAULTS)
        .with("fault", faults.iter().map(|each| each.number as u64).collect::<Vec<_>>())
        .with("kind", each(&|each| each.kind(&scenario.sections).to_string()))
        .with("node", each(&|each| name(each.fault.port.node)))
        .with("port", faults.iter().map(|each| u64::from(each.fault.port.port)).collect::<Vec<_>>())
        .with("peer", each(&|each| peer(each.fault.port)))
        .with("begin", time(&|each| each.fault.begin))
        .with("end", time(&|each| each.fault.end.min(now.max(each.fault.begin))))
        .with("on_wire", column(&|toll| toll.on_wire))
        .with("on_wire_bytes", column(&|toll| toll.on_wire_bytes))
        .with("moved", column(&|toll| toll.moved))
        .with("held", column(&|toll| toll.held))
        .with("held_bytes", column(&|toll| toll.held_bytes));
    Some(table)
}
