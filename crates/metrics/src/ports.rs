//! Ports as indices into flat arrays.

use std::sync::Arc;

use becalm_fabric::{NodeId, PortId, Topology};

/// Consecutive numbers of the ports of all nodes, in the order of the nodes.
#[derive(Clone, Debug)]
pub struct Ports {
    /// First port of every node. Clones share this array, so the cache holds it only once.
    first: Arc<[u32]>,
    count: usize,
}

impl Ports {
    /// The ports of a topology.
    pub fn new(topology: &Topology) -> Ports {
        let mut count = 0;
        let first = topology
            .nodes()
            .iter()
            .map(|node| {
                count += node.degree as u32;
                count - node.degree as u32
            })
            .collect();
        Ports { first, count: count as usize }
    }

    /// Number of ports.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is no port.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Index of a port, below [`Ports::len`].
    #[inline]
    pub fn index(&self, port: PortId) -> usize {
        self.first[port.node.index()] as usize + port.port as usize
    }

    /// Copies values from another array for the ports of all nodes for which `theirs` is true. Both arrays have the
    /// same number of values per port.
    pub(crate) fn take_over<T: Clone>(&self, mine: &mut [T], other: &[T], theirs: &dyn Fn(NodeId) -> bool) {
        let each = mine.len() / self.count.max(1);
        for (node, &first) in self.first.iter().enumerate().filter(|(node, _)| theirs(NodeId(*node as u32))) {
            let end = self.first.get(node + 1).map_or(self.count, |&next| next as usize);
            let range = first as usize * each..end * each;
            mine[range.clone()].clone_from_slice(&other[range]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_engine::Time;
    use becalm_fabric::{NodeId, Rate};

    #[test]
    fn numbers_the_ports_node_by_node() {
        let mut topology = Topology::default();
        let switch = topology.add_switch("S");
        let rate = Rate::from_bits_per_second(8e9);
        for name in ["a", "b", "c"] {
            let host = topology.add_host(name);
            topology.connect(host, switch, rate, Time::ZERO);
        }
        let ports = Ports::new(&topology);
        assert_eq!(ports.len(), 6);
        assert_eq!(ports.index(PortId { node: switch, port: 2 }), 2);
        assert_eq!(ports.index(PortId { node: NodeId(3), port: 0 }), 5);
    }
}
