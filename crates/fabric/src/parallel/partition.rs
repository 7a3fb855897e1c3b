//! Partitions: the nodes that each thread handles.

use std::collections::BinaryHeap;

use becalm_engine::Time;

use crate::ids::{NodeId, PortId};
use crate::network::routing::{Paths, Routes};
use crate::network::topology::{Cable, NodeKind, Topology};
use crate::sim::spec::FlowSpec;

/// A partition of the nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// The part of every node; parts are numbered from 0.
    pub of_node: Vec<u16>,
    /// Number of parts.
    pub parts: usize,
    /// The smallest delay of a cable between two parts; [`Time::MAX`] if there is none.
    pub lookahead: Time,
}

/// Nodes that must stay together: a switch with its hosts, nodes joined by cables without delay, and adapters of one
/// node.
struct Clumps {
    of_node: Vec<u32>,
    /// Load of each clump, in packet shares.
    load: Vec<u64>,
    /// Neighbours of each clump, with the packet shares on the connecting cables.
    links: Vec<Vec<(u32, u64)>>,
    /// Sum of data packet shares on all links between switches.
    between_switches: u64,
}

/// The share of a flow that is alone on a link.
const WHOLE: u64 = 1 << 20;

impl Partition {
    /// All nodes in one part.
    pub fn whole(topology: &Topology) -> Partition {
        Partition { of_node: vec![0; topology.nodes().len()], parts: 1, lookahead: Time::MAX }
    }

    /// A partition into at most `parts` parts, with about equal loads if flows share the links of their hosts equally.
    ///
    /// Parts are grown one by one. Each starts from the busiest remaining clump and repeatedly adds the clump
    /// that exchanges most traffic with it. If there are too few clumps, there are fewer parts.
    pub fn balanced(
        topology: &Topology,
        routes: &Routes,
        flows: &[FlowSpec],
        together: &[(NodeId, NodeId)],
        parts: usize,
    ) -> Partition {
        if parts <= 1 {
            return Partition::whole(topology);
        }
        Self::balanced_by(topology, routes, flows, together, |_| parts)
    }

    /// As [`Partition::balanced`], with a number of parts that suits the traffic: `parts` receives the number
    /// of links between switches that the flows' data packets can fill, and returns the number of parts.
    pub fn balanced_by(
        topology: &Topology,
        routes: &Routes,
        flows: &[FlowSpec],
        together: &[(NodeId, NodeId)],
        parts: impl FnOnce(f64) -> usize,
    ) -> Partition {
        let clumps = Clumps::new(topology, routes, flows, together);
        let parts = parts(clumps.between_switches as f64 / WHOLE as f64);
        if parts <= 1 {
            return Partition::whole(topology);
        }
        let n = clumps.load.len();
        let parts = parts.clamp(1, n.max(1)).min(usize::from(u16::MAX));
        let mut part_of = vec![u16::MAX; n];
        let mut left: u64 = clumps.load.iter().sum();
        for part in 0..parts {
            let share = left / (parts - part) as u64;
            left -= clumps.grow(part as u16, share, part + 1 == parts, &mut part_of);
        }
        let of_node: Vec<u16> = clumps.of_node.iter().map(|&clump| part_of[clump as usize]).collect();
        Partition::new(topology, of_node, parts)
    }

    /// A partition with the given parts.
    ///
    /// # Panics
    /// If a cable without delay joins two parts.
    pub fn new(topology: &Topology, of_node: Vec<u16>, parts: usize) -> Partition {
        let part = |end: PortId| of_node[end.node.index()];
        let cut = topology.cables().iter().filter(|cable| part(cable.a) != part(cable.b));
        let lookahead = cut.map(|cable| cable.delay).min().unwrap_or(Time::MAX);
        assert!(lookahead > Time::ZERO, "a cable without delay is cut");
        Partition { of_node, parts, lookahead }
    }
}

impl Clumps {
    fn new(topology: &Topology, routes: &Routes, flows: &[FlowSpec], together: &[(NodeId, NodeId)]) -> Clumps {
        let (of_node, count) = clumps(topology, together);
        let mut clumps = Clumps { of_node, load: vec![1; count], links: vec![Vec::new(); count], between_switches: 0 };
        let paths = Paths::new(topology, routes);
        let peers = paths.peers();
        let mut on_cable = vec![1u64; topology.cables().len()];
        for (flow, share) in flows.iter().zip(shares(topology, flows)) {
            for (from, to) in [(flow.source, flow.destination), (flow.destination, flow.source)] {
                let Ok(path) = paths.path(from, to) else { continue };
                if from == flow.source {
                    // The first and last links belong to hosts.
                    clumps.between_switches += share * (path.len() as u64).saturating_sub(2);
                }
                for port in path {
                    clumps.load[clumps.of_node[port.node.index()] as usize] += share;
                    on_cable[peers[port.node.index()][usize::from(port.port)].1] += share;
                }
            }
        }
        for (cable, load) in topology.cables().iter().zip(on_cable) {
            let [a, b] = [cable.a, cable.b].map(|end| clumps.of_node[end.node.index()]);
            if a != b {
                clumps.links[a as usize].push((b, load));
                clumps.links[b as usize].push((a, load));
            }
        }
        clumps
    }

    /// Grows a part to about `share` of the load, or to all remaining clumps; returns its load.
    fn grow(&self, part: u16, share: u64, takes_all: bool, part_of: &mut [u16]) -> u64 {
        let mut load = 0;
        let mut shared = vec![0u64; part_of.len()];
        let mut frontier: BinaryHeap<(u64, u32)> = BinaryHeap::new();
        let unassigned = |part_of: &[u16]| (0..part_of.len()).filter(|&i| part_of[i] == u16::MAX).collect::<Vec<_>>();
        loop {
            let next = frontier.pop().map(|(_, clump)| clump as usize);
            let next = next.or_else(|| unassigned(part_of).into_iter().max_by_key(|&i| (self.load[i], usize::MAX - i)));
            let Some(clump) = next else { return load };
            if part_of[clump] != u16::MAX {
                continue;
            }
            // Add the last clump only if that brings the part closer to its share.
            if !takes_all && load > 0 && load + self.load[clump] / 2 > share {
                return load;
            }
            part_of[clump] = part;
            load += self.load[clump];
            for &(other, traffic) in &self.links[clump] {
                shared[other as usize] += traffic;
                frontier.push((shared[other as usize], other));
            }
        }
    }
}

/// Each flow's share of the link at the busier one of its hosts. Many flows to one host cause no more work
/// than one.
fn shares(topology: &Topology, flows: &[FlowSpec]) -> impl Iterator<Item = u64> {
    let mut at_host = vec![[0u64; 2]; topology.nodes().len()];
    for flow in flows {
        at_host[flow.source.index()][0] += 1;
        at_host[flow.destination.index()][1] += 1;
    }
    flows.iter().map(move |flow| {
        let sharing = at_host[flow.source.index()][0].max(at_host[flow.destination.index()][1]);
        (WHOLE / sharing).max(1)
    })
}

/// The clump of every node, and the number of clumps.
fn clumps(topology: &Topology, together: &[(NodeId, NodeId)]) -> (Vec<u32>, usize) {
    let mut leader: Vec<u32> = (0..topology.nodes().len() as u32).collect();
    let is_host = |node: NodeId| topology.node(node).kind == NodeKind::Host;
    let joined = |cable: &&Cable| cable.delay == Time::ZERO || is_host(cable.a.node) || is_host(cable.b.node);
    let cables = topology.cables().iter().filter(joined).map(|cable| (cable.a.node, cable.b.node));
    for (a, b) in cables.chain(together.iter().copied()) {
        let (a, b) = (find(&mut leader, a.0), find(&mut leader, b.0));
        leader[a.max(b) as usize] = a.min(b);
    }
    let mut number = vec![u32::MAX; leader.len()];
    let mut count = 0;
    let of_node = (0..leader.len() as u32).map(|node| {
        let lead = find(&mut leader, node) as usize;
        if number[lead] == u32::MAX {
            number[lead] = count;
            count += 1;
        }
        number[lead]
    });
    let of_node: Vec<u32> = of_node.collect();
    (of_node, count as usize)
}

/// Finds the leader of a node's clump, and shortens the path to it.
fn find(leader: &mut [u32], mut node: u32) -> u32 {
    while leader[node as usize] != node {
        leader[node as usize] = leader[leader[node as usize] as usize];
        node = leader[node as usize];
    }
    node
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::link::Rate;

    /// A ring of switches with `hosts` hosts each. Cables between switches have a delay of 100 ns; those to
    /// hosts have none.
    fn ring(switches: usize, hosts: usize) -> Topology {
        let mut topology = Topology::default();
        let rate = Rate::from_bits_per_second(8e9);
        let ring: Vec<_> = (0..switches).map(|i| topology.add_switch(format!("s{i}"))).collect();
        for i in 0..switches {
            topology.connect(ring[i], ring[(i + 1) % switches], rate, Time::from_ns(100));
            for j in 0..hosts {
                let host = topology.add_host(format!("h{i}.{j}"));
                topology.connect(ring[i], host, rate, Time::ZERO);
            }
        }
        topology
    }

    fn neighbours(topology: &Topology) -> Vec<FlowSpec> {
        let hosts: Vec<_> = topology.hosts().collect();
        let pair = |i: usize| FlowSpec {
            source: hosts[i],
            destination: hosts[(i + 1) % hosts.len()],
            vl: 0,
            answers_vl: 0,
            response: 0,
            restart: false,
        };
        (0..hosts.len()).map(pair).collect()
    }

    #[test]
    fn parts_are_alike_and_cut_few_cables() {
        let topology = ring(8, 3);
        let partition = Partition::balanced(&topology, &Routes::shortest(&topology), &neighbours(&topology), &[], 2);
        let part = |node: NodeId| partition.of_node[node.index()];
        let cut = topology.cables().iter().filter(|cable| part(cable.a.node) != part(cable.b.node)).count();
        let size = topology.switches().filter(|&switch| part(switch) == 0).count();
        assert_eq!((partition.parts, partition.lookahead, cut, size), (2, Time::from_ns(100), 2, 4));
    }

    #[test]
    fn flows_to_one_host_weigh_as_one() {
        let topology = ring(8, 3);
        let mut flows = neighbours(&topology);
        let hot = FlowSpec { source: flows[3].source, ..flows[0] };
        flows.extend([hot; 30]);
        let shares: Vec<u64> = shares(&topology, &flows).collect();
        assert_eq!((shares[1], shares[24], shares[3]), (1 << 20, (1 << 20) / 31, (1 << 20) / 31));
        let partition = Partition::balanced(&topology, &Routes::shortest(&topology), &flows, &[], 2);
        let size = topology.switches().filter(|switch| partition.of_node[switch.index()] == 0).count();
        assert_eq!(size, 4);
    }

    #[test]
    fn hosts_stay_with_their_switch_and_a_switch_alone_stays_whole() {
        let topology = ring(3, 2);
        let partition = Partition::balanced(&topology, &Routes::shortest(&topology), &neighbours(&topology), &[], 8);
        assert_eq!(partition.parts, 3);
        let one = {
            let mut topology = Topology::default();
            let (switch, host) = (topology.add_switch("s"), topology.add_host("h"));
            topology.connect(switch, host, Rate::from_bits_per_second(8e9), Time::from_ns(5));
            topology
        };
        assert_eq!(Partition::balanced(&one, &Routes::shortest(&one), &[], &[], 4), Partition::whole(&one));
    }

    #[test]
    fn adapters_of_a_node_stay_together() {
        let topology = ring(4, 2);
        let hosts: Vec<NodeId> = topology.hosts().collect();
        let together = [(hosts[0], hosts[4])];
        let routes = Routes::shortest(&topology);
        let partition = Partition::balanced(&topology, &routes, &neighbours(&topology), &together, 8);
        let part = |host: usize| partition.of_node[hosts[host].index()];
        assert_eq!((partition.parts, part(0)), (3, part(4)));
        assert!(part(2) != part(0) && part(6) != part(0));
    }
}
