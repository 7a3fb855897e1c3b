//! The unchanging part of a payload: nodes, links, layout.

use becalm_engine::order;
use becalm_scenario::Scenario;
use serde_json::{Value, json};

use crate::layout::Layout;
use crate::pack::{Filter, Pack};

/// Names, levels and positions of the nodes; ends, rates and delays of the links.
pub(crate) fn fabric(scenario: &Scenario, pack: &mut Pack) -> Value {
    let (topology, links) = (scenario.topology(), scenario.directions());
    let layout = Layout::new(topology);
    let levels: Vec<u8> = layout.levels.iter().map(|&level| level.min(255) as u8).collect();
    let names: Vec<&str> = topology.nodes().iter().map(|node| node.name.as_str()).collect();
    let mut rates: Vec<f64> = links.iter().map(|link| link.rate).collect();
    order::sort_and_dedup(&mut rates, f64::total_cmp);
    let mut delays: Vec<u64> = links.iter().map(|link| link.delay.as_ps()).collect();
    order::sort_and_dedup(&mut delays, Ord::cmp);
    let place_of = |rate: f64| rates.partition_point(|&other| other < rate) as u16;
    json!({
        "form": layout.form.name(),
        "hosts": topology.host_count(),
        "switches": topology.switch_count(),
        "names": names,
        "level": pack.bytes(&levels, Filter::None),
        "x": pack.reals(&layout.x),
        "y": pack.reals(&layout.y),
        "from": pack.words(&links.iter().map(|link| link.from.node.0).collect::<Vec<_>>()),
        "to": pack.words(&links.iter().map(|link| link.to.node.0).collect::<Vec<_>>()),
        "port": pack.shorts(&links.iter().map(|link| link.from.port).collect::<Vec<_>>()),
        "rates": rates,
        "rate": pack.shorts(&links.iter().map(|link| place_of(link.rate)).collect::<Vec<_>>()),
        "delays": delays.iter().map(|&delay| delay as f64 / 1e12).collect::<Vec<_>>(),
        "delay": pack.shorts(
            &links.iter().map(|link| delays.partition_point(|&d| d < link.delay.as_ps()) as u16).collect::<Vec<_>>(),
        ),
    })
}
