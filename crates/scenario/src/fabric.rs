//! The network of a scenario for those who show it: its nodes, links and paths.

use std::ops::Range;

use becalm_engine::Time;
use becalm_fabric::{FlowId, Kind, LaneChanges, NodeId, NodeKind, PathSelection, Paths, PortId};
use becalm_metrics::{Ports, Table};

use crate::resolve::Flow;
use crate::scenario::Scenario;

/// One direction of a cable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Direction {
    /// The port that sends.
    pub from: PortId,
    /// The port that receives.
    pub to: PortId,
    /// Bytes per second.
    pub rate: f64,
    /// Propagation delay.
    pub delay: Time,
}

/// The links that the packets of every flow cross, in their order: those of flow `i` are
/// `links[starts[i]..starts[i + 1]]`, as places in the list of links.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowPaths {
    /// One more than there are flows.
    pub starts: Vec<u32>,
    /// Places in [`Scenario::directions`] and in the table `links`.
    pub links: Vec<u32>,
}

impl FlowPaths {
    /// The links of one flow.
    pub fn of(&self, flow: usize) -> &[u32] {
        &self.links[self.starts[flow] as usize..self.starts[flow + 1] as usize]
    }
}

impl Scenario {
    /// All links, in the order of the table `links`: node by node and port by port.
    pub fn directions(&self) -> Vec<Direction> {
        let topology = &self.network.topology;
        let mut links = Vec::with_capacity(2 * topology.cables().len());
        for (node, ports) in (0u32..).zip(&topology.peers()) {
            for (port, &(to, cable)) in (0u16..).zip(ports) {
                let cable = &topology.cables()[cable];
                let from = PortId { node: NodeId(node), port };
                links.push(Direction { from, to, rate: cable.rate.bytes_per_second(), delay: cable.delay });
            }
        }
        links
    }

    /// The source, the destination and the number of the group of every flow.
    pub fn flow_ends(&self) -> impl Iterator<Item = (NodeId, NodeId, u32)> {
        self.plan.flows.iter().map(|flow| (flow.source, flow.destination, flow.group))
    }

    /// The names of the groups.
    pub fn group_names(&self) -> Vec<String> {
        self.sections.groups().map(|group| group.name.to_string()).collect()
    }

    /// The links that every flow crosses in the first replication: all that its packets can take.
    pub fn flow_paths(&self) -> FlowPaths {
        let topology = &self.network.topology;
        let (paths, ports) = (Paths::new(topology, &self.network.routes), Ports::new(topology));
        let mut found = FlowPaths { starts: vec![0], links: Vec::new() };
        for flow in 0..self.plan.flows.len() {
            let links = self.ways(&paths, flow as u32, *self.sections.run.seed);
            found.links.extend(links.iter().map(|&port| ports.index(port) as u32));
            found.starts.push(found.links.len() as u32);
        }
        found
    }

    /// The ports by which the data packets of a flow can leave, in the order of its path, with a run's seed. Several at a
    /// switch, if it chooses anew for every packet.
    pub(crate) fn ways(&self, paths: &Paths<'_>, flow: u32, seed: u64) -> Vec<PortId> {
        let &Flow { source, destination, .. } = &self.plan.flows[flow as usize];
        let ways = match self.sections.switch.paths.config() {
            PathSelection::Destination => paths.path(source, destination),
            PathSelection::Flow { salted } => {
                paths.hashed((source, destination), (FlowId(flow), Kind::Data), seed, salted)
            }
            _ => paths.ports(source, destination),
        };
        ways.expect("the paths are checked")
    }

    /// The virtual lanes that a flow of a service level uses.
    pub(crate) fn lanes(&self, sl: u32) -> Range<u8> {
        let first = self.sections.switch.vl(sl).expect("checked") as u8;
        let lanes = if self.network.routes.lanes().is_some() { LaneChanges::LANES } else { 1 };
        first..first + lanes
    }

    /// The tables `nodes` and `cables`.
    ///
    /// The level of a host is 0, that of a switch its distance from the nearest host.
    pub fn fabric_tables(&self) -> [Table; 2] {
        let topology = &self.network.topology;
        let nodes = topology.nodes();
        let kind = |kind| if kind == NodeKind::Host { "host" } else { "switch" };
        let name = |port: PortId| topology.node(port.node).name.clone();
        let cables = topology.cables();
        let nodes = Table::new("nodes")
            .with("node", "", nodes.iter().map(|node| node.name.clone()).collect::<Vec<_>>())
            .with("kind", "", nodes.iter().map(|node| kind(node.kind).to_string()).collect::<Vec<_>>())
            .with("level", "", topology.levels().into_iter().map(u64::from).collect::<Vec<_>>())
            .with("ports", "", nodes.iter().map(|node| u64::from(node.degree)).collect::<Vec<_>>());
        let cables = Table::new("cables")
            .with("a", "", cables.iter().map(|cable| name(cable.a)).collect::<Vec<_>>())
            .with("a_port", "", cables.iter().map(|cable| u64::from(cable.a.port)).collect::<Vec<_>>())
            .with("b", "", cables.iter().map(|cable| name(cable.b)).collect::<Vec<_>>())
            .with("b_port", "", cables.iter().map(|cable| u64::from(cable.b.port)).collect::<Vec<_>>())
            .with("rate", "B/s", cables.iter().map(|cable| cable.rate.bytes_per_second()).collect::<Vec<_>>())
            .with("delay", "s", cables.iter().map(|cable| cable.delay.as_secs()).collect::<Vec<_>>());
        [nodes, cables]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_metrics::Data;

    #[test]
    fn a_flow_crosses_the_links_of_its_way() {
        let text = "[run]\nduration = \"1 ms\"\n[topology.dumbbell]\nremote = 1\nlocal = 1\n[[flows]]\nname = \"f\"\n\
                    from = [\"A1\", \"B1\"]\nto = [\"BC\"]\n";
        let scenario = Scenario::parse(text, "paths.toml").unwrap();
        let (links, paths) = (scenario.directions(), scenario.flow_paths());
        let name = |node: NodeId| scenario.topology().node(node).name.as_str();
        let way = |flow| {
            let ends = paths.of(flow).iter().map(|&link| &links[link as usize]);
            ends.map(|link| format!("{}->{}", name(link.from.node), name(link.to.node))).collect::<Vec<_>>()
        };
        assert_eq!([way(0), way(1)], [vec!["A1->A", "A->B", "B->BC"], vec!["B1->B", "B->BC"]]);
        assert_eq!(scenario.flow_ends().map(|(from, ..)| name(from)).collect::<Vec<_>>(), ["A1", "B1"]);
        let names: Vec<&str> = scenario.network.links.iter().map(|link| link.name.as_str()).collect();
        let own: Vec<String> =
            links.iter().map(|link| format!("{}->{}", name(link.from.node), name(link.to.node))).collect();
        assert_eq!(own, names);
    }

    #[test]
    fn levels_are_distances_from_hosts() {
        let text = "[run]\nduration = \"1 ms\"\n[topology.tree]\nports = 4\nlevels = 3\n[[flows]]\nname = \"f\"\n\
                    from = [\"H1\"]\nto = [\"H0\"]\n";
        let [nodes, cables] = Scenario::parse(text, "levels.toml").unwrap().fabric_tables();
        let Some(Data::U64(levels)) = nodes.column("level") else { panic!("numbers") };
        let count = |level| levels.iter().filter(|&&each| each == level).count();
        assert_eq!([0, 1, 2, 3].map(count), [16, 8, 8, 4]);
        assert_eq!(cables.rows(), 48);
    }
}
