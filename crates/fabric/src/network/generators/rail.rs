use becalm_engine::Time;

use crate::ids::NodeId;
use crate::network::link::Rate;
use crate::network::topology::Topology;

/// Nodes of GPUs on a rail-optimised fabric.
///
/// NIC `g` of every node is connected to a leaf switch of rail `g mod rails`. Consecutive nodes share the leaves of their
/// rails. A NIC has one port in each plane. Planes meet only in the hosts. Within a node, every GPU has a port on an
/// NVLink switch.
///
/// The ports of NICs are added first: plane by plane, GPU by GPU, and node by node. The hosts of a leaf switch are
/// therefore numbered consecutively, and routes by destination use all spine switches equally. NVLink ports follow, node
/// by node.
#[derive(Clone, Copy, Debug)]
pub struct RailSpec {
    /// Number of nodes.
    pub nodes: u32,
    /// Number of GPUs of each node.
    pub gpus: u32,
    /// Number of rails.
    pub rails: u32,
    /// Number of leaf switches of each rail in each plane.
    pub leaves: u32,
    /// Number of spine switches in each plane. Each is connected to all leaf switches of its plane.
    pub spines: u32,
    /// Number of planes.
    pub planes: u32,
    /// Rate of a port of a NIC, and of the cables between switches.
    pub rate: Rate,
    /// Propagation delay of their cables.
    pub delay: Time,
    /// Rate and propagation delay of NVLink; `None` without it.
    pub local: Option<(Rate, Time)>,
}

impl RailSpec {
    /// Number of hosts of each GPU: the ports of its NIC, and its NVLink port.
    pub fn hosts_per_gpu(&self) -> u32 {
        self.planes + u32::from(self.local.is_some())
    }

    /// The number, among the hosts, of a NIC's port.
    pub fn nic(&self, node: u32, gpu: u32, plane: u32) -> u32 {
        (plane * self.gpus + gpu) * self.nodes + node
    }

    /// The number, among the hosts, of a GPU's NVLink port.
    pub fn port(&self, node: u32, gpu: u32) -> u32 {
        (self.planes * self.nodes + node) * self.gpus + gpu
    }

    /// The leaf of its rail and plane to which a node is connected.
    pub fn leaf_of(&self, node: u32) -> u32 {
        node / self.nodes.div_ceil(self.leaves)
    }

    /// The name of a leaf switch.
    pub fn leaf(&self, rail: u32, leaf: u32, plane: u32) -> String {
        self.in_plane(format!("R{rail}L{leaf}"), plane)
    }

    fn in_plane(&self, name: String, plane: u32) -> String {
        if self.planes > 1 { format!("{name}P{plane}") } else { name }
    }

    fn add_nics(&self, leaves: &[NodeId], topology: &mut Topology) {
        for (plane, gpu) in (0..self.planes).flat_map(|plane| (0..self.gpus).map(move |gpu| (plane, gpu))) {
            for node in 0..self.nodes {
                let host = topology.add_host(self.in_plane(format!("N{node}G{gpu}"), plane));
                let place = (plane * self.rails + gpu % self.rails) * self.leaves + self.leaf_of(node);
                topology.connect(host, leaves[place as usize], self.rate, self.delay);
            }
        }
    }

    fn add_ports(&self, (rate, delay): (Rate, Time), topology: &mut Topology) {
        for node in 0..self.nodes {
            let switch = topology.add_switch(format!("N{node}"));
            for gpu in 0..self.gpus {
                let port = topology.add_host(format!("N{node}V{gpu}"));
                topology.connect(port, switch, rate, delay);
            }
        }
    }
}

impl Topology {
    /// Generates a rail-optimised fabric.
    pub fn rail(spec: &RailSpec) -> Topology {
        let mut topology = Topology::default();
        let mut leaves = Vec::new();
        for plane in 0..spec.planes {
            for rail in 0..spec.rails {
                leaves.extend((0..spec.leaves).map(|leaf| topology.add_switch(spec.leaf(rail, leaf, plane))));
            }
        }
        spec.add_nics(&leaves, &mut topology);
        spec.local.into_iter().for_each(|local| spec.add_ports(local, &mut topology));
        let of_plane = (spec.rails * spec.leaves) as usize;
        for (plane, leaves) in (0u32..).zip(leaves.chunks(of_plane)) {
            for spine in 0..spec.spines {
                let spine = topology.add_switch(spec.in_plane(format!("S{spine}"), plane));
                leaves.iter().for_each(|&leaf| topology.connect(leaf, spine, spec.rate, spec.delay));
            }
        }
        topology
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::routing::{Paths, Routes};

    fn spec() -> RailSpec {
        let rate = Rate::from_bits_per_second(8e9);
        RailSpec {
            nodes: 4,
            gpus: 2,
            rails: 2,
            leaves: 2,
            spines: 0,
            planes: 1,
            rate,
            delay: Time::ZERO,
            local: Some((rate, Time::ZERO)),
        }
    }

    #[test]
    fn numbers_of_nodes_and_links_are_those_of_simai() {
        // Spectrum-X for 16 GPUs in its template: 90 nodes, where a GPU is one node, and 544 links.
        let topology = Topology::rail(&RailSpec { nodes: 2, gpus: 8, rails: 8, leaves: 1, spines: 64, ..spec() });
        assert_eq!((16 + topology.switch_count(), topology.cables().len()), (90, 544));
        assert_eq!(topology.host_count(), 2 * 16);
    }

    #[test]
    fn rails_meet_only_in_spines_and_planes_never() {
        let joined = |spec: &RailSpec, a: &str, b: &str| {
            let topology = Topology::rail(spec);
            let ends = (topology.find(a).unwrap(), topology.find(b).unwrap());
            let routes = Routes::shortest(&topology);
            Paths::new(&topology, &routes).path(ends.0, ends.1).ok().map(|path| path.len())
        };
        let only = spec();
        assert_eq!(joined(&only, "N0G0", "N1G0"), Some(2));
        assert_eq!(joined(&only, "N0G0", "N1G1"), None);
        assert_eq!(joined(&only, "N0G0", "N2G0"), None, "on another leaf");
        assert_eq!(joined(&only, "N0V0", "N0V1"), Some(2));
        let full = RailSpec { spines: 2, planes: 2, ..spec() };
        assert_eq!(joined(&full, "N0G0P1", "N2G1P1"), Some(4));
        assert_eq!(joined(&full, "N0G0P0", "N2G1P1"), None);
    }
}
