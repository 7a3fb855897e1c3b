//! The nodes, links and paths of a scenario's network, for display.

use std::ops::Range;

use becalm_engine::Time;
use becalm_fabric::{FabricError, FlowId, Kind, NodeId, PathSelection, Paths, PortId, Routes};
use becalm_metrics::Ports;

use crate::resolve::Flow;
use crate::scenario::Scenario;

/// One direction of a cable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Direction {
    /// The sending port.
    pub from: PortId,
    /// The receiving port.
    pub to: PortId,
    /// Bytes per second.
    pub rate: f64,
    /// Propagation delay.
    pub delay: Time,
}

/// The links on the path of every flow, in order, as indices into the list of links. The links of flow `i`
/// are `links[starts[i]..starts[i + 1]]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowPaths {
    /// Start of each flow's links in `links`, followed by the length of `links`.
    pub starts: Vec<u32>,
    /// Indices into [`Scenario::directions`] and into the rows of the table `links`.
    pub links: Vec<u32>,
    /// The share of the flow's packets on each of these links; empty if all packets of each flow take the
    /// same path.
    shares: Vec<f32>,
}

impl FlowPaths {
    /// The links of one flow.
    pub fn of(&self, flow: usize) -> &[u32] {
        &self.links[self.places(flow)]
    }

    /// The positions of one flow's links in `links`.
    pub fn places(&self, flow: usize) -> Range<usize> {
        self.starts[flow] as usize..self.starts[flow + 1] as usize
    }

    /// The share of the flow's packets that take the link at a position in `links`.
    pub fn share(&self, place: usize) -> f64 {
        self.shares.get(place).map_or(1.0, |&share| f64::from(share))
    }

    /// Whether the packets of a flow may take different paths.
    pub fn is_split(&self) -> bool {
        !self.shares.is_empty()
    }

    /// Whether the packets of a flow take different paths.
    pub fn varies(&self, flow: usize) -> bool {
        self.is_split() && self.places(flow).any(|place| self.share(place) < 1.0)
    }
}

impl Scenario {
    /// All links, in the order of the table `links`: by node and port.
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

    /// The source, destination and group number of every flow.
    pub fn flow_ends(&self) -> impl Iterator<Item = (NodeId, NodeId, u32)> {
        self.plan.flows.iter().map(|flow| (flow.source, flow.destination, flow.group))
    }

    /// The names of the groups.
    pub fn group_names(&self) -> Vec<String> {
        self.sections.groups().map(|group| group.name.to_string()).collect()
    }

    /// The links of every flow with a run's seed: all links that its packets can take.
    pub fn flow_paths(&self, seed: u64) -> FlowPaths {
        let topology = &self.network.topology;
        let (paths, ports) = (Paths::new(topology, &self.network.routes), Ports::new(topology));
        let mut found = FlowPaths { starts: vec![0], ..FlowPaths::default() };
        let varies = !self.sections.switch.paths.config().keeps_order();
        for flow in 0..self.plan.flows.len() {
            let links = self.ports_of_flow(&paths, flow as u32, seed);
            found.links.extend(links.iter().map(|&(port, _)| ports.index(port) as u32));
            if varies {
                found.shares.extend(links.iter().map(|&(_, share)| share as f32));
            }
            found.starts.push(found.links.len() as u32);
        }
        found
    }

    /// The output ports on the path of a flow's data packets with a run's seed, in order, each with its share
    /// of the packets. A switch that selects a port for each packet has several.
    pub(crate) fn ports_of_flow(&self, paths: &Paths<'_>, flow: u32, seed: u64) -> Vec<(PortId, f64)> {
        let &Flow { source, destination, .. } = &self.plan.flows[flow as usize];
        let ports = match self.sections.switch.paths.config() {
            PathSelection::Destination => paths.path(source, destination).map(evenly),
            PathSelection::Flow { salted } => {
                paths.hashed((source, destination), (FlowId(flow), Kind::Data), seed, salted).map(evenly)
            }
            _ => ports_of_pair(paths, &self.network.routes, (source, destination)),
        };
        ports.expect("the paths are checked")
    }

    /// The virtual lanes that a flow on a service level uses.
    pub(crate) fn lanes(&self, sl: u32) -> Range<u8> {
        let first = self.sections.switch.vl(sl).expect("checked") as u8;
        first..first + self.sections.lanes_of_level() as u8
    }
}

/// The output ports that packets from one host to another can take, starting at the source. Each has its
/// share of the packets if equal ports are used evenly.
pub(crate) fn ports_of_pair(
    paths: &Paths<'_>,
    routes: &Routes,
    (source, destination): (NodeId, NodeId),
) -> Result<Vec<(PortId, f64)>, FabricError> {
    if routes.has_equal_ports() || routes.detours().is_some() {
        return paths.shares(source, destination);
    }
    Ok(evenly(paths.path(source, destination)?))
}

/// The ports of a path, each with a share of 1.
fn evenly(ports: Vec<PortId>) -> Vec<(PortId, f64)> {
    ports.into_iter().map(|port| (port, 1.0)).collect()
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
        let (links, paths) = (scenario.directions(), scenario.flow_paths(0));
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
        let scenario = Scenario::parse(text, "levels.toml").unwrap();
        let tables = scenario.network_tables();
        let Some(Data::U64(levels)) = tables[0].column("level") else { panic!("numbers") };
        let count = |level| levels.iter().filter(|&&each| each == level).count();
        assert_eq!([0, 1, 2, 3].map(count), [16, 8, 8, 4]);
        assert_eq!(tables[1].rows(), 2 * 48);
    }

    #[test]
    fn equal_ports_share_the_packets_of_a_flow() {
        let text = "[run]\nduration = \"1 ms\"\n[topology.tree]\nports = 4\nlevels = 3\n[switch.paths.packet]\n[[flows]]\n\
                    name = \"f\"\nfrom = [\"H15\"]\nto = [\"H0\"]\n";
        let scenario = Scenario::parse(text, "shares.toml").unwrap();
        let paths = scenario.flow_paths(0);
        let shares: Vec<f64> = (0..paths.links.len()).map(|place| paths.share(place)).collect();
        // The host's port, 2 up, 4 up, 4 down, 2 down, and the port to the host.
        assert_eq!((shares.len(), shares[0], shares[1], shares[3], *shares.last().unwrap()), (14, 1.0, 0.5, 0.25, 1.0));
        assert!((shares.iter().sum::<f64>() - 6.0).abs() < 1e-6);
    }
}
