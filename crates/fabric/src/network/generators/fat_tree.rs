use becalm_engine::Time;

use crate::ids::NodeId;
use crate::network::link::Rate;
use crate::network::topology::Topology;

/// One level of a fat tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// Number of nodes of the level below that are connected to each switch of this level.
    pub children: u32,
    /// Number of switches of this level that are connected to each node of the level below.
    pub parents: u32,
    /// Number of cables between a node and each of its parents.
    pub parallel: u32,
    /// Rate of these cables.
    pub rate: Rate,
}

/// A fat tree of any shape: the parallel-ports generalized fat tree of Zahavi (2012).
///
/// At each level, `children`, `parents` and `parallel` are that paper's m, w and p. Special cases are two-
/// and three-level folded Clos networks with any oversubscription, and m-port n-trees. Hosts are `H0`, `H1`,
/// ... The switches of level l are `L<l>S0`, `L<l>S1`, ...; level 1 is next to the hosts.
#[derive(Clone, Debug)]
pub struct FatTreeSpec {
    /// The levels, starting with the level next to the hosts.
    pub levels: Vec<Level>,
    /// Propagation delay of every link.
    pub delay: Time,
}

impl FatTreeSpec {
    /// The m-port n-tree of Lin, Chung and Huang (2004): `levels` levels of switches with `ports` ports each.
    /// The top switches use all of their ports downwards. There are 2 (m/2)^n hosts.
    ///
    /// # Panics
    /// If `ports` is odd or less than 2, or `levels` is 0.
    pub fn ports_tree(ports: u32, levels: u32, rate: Rate, delay: Time) -> FatTreeSpec {
        assert!(ports >= 2 && ports.is_multiple_of(2) && levels >= 1, "{ports} ports, {levels} levels");
        let half = ports / 2;
        let level = |l: u32| Level {
            children: if l + 1 == levels { ports } else { half },
            parents: if l == 0 { 1 } else { half },
            parallel: 1,
            rate,
        };
        FatTreeSpec { levels: (0..levels).map(level).collect(), delay }
    }

    /// Number of hosts.
    pub fn hosts(&self) -> u64 {
        self.levels.iter().map(|level| u64::from(level.children)).product()
    }

    /// Number of hosts and switches; `None` if it exceeds 64 bits.
    pub fn nodes(&self) -> Option<u64> {
        let product = |mut factors: Box<dyn Iterator<Item = u32> + '_>| {
            factors.try_fold(1u64, |product, factor| product.checked_mul(u64::from(factor)))
        };
        let hosts = product(Box::new(self.levels.iter().map(|level| level.children)))?;
        (0..self.levels.len()).try_fold(hosts, |sum, l| {
            let above = self.levels[l + 1..].iter().map(|level| level.children);
            let below = self.levels[..=l].iter().map(|level| level.parents);
            sum.checked_add(product(Box::new(above.chain(below)))?)
        })
    }

    /// Number of switches of level `l`, counted from 0 next to the hosts.
    pub fn switches(&self, l: usize) -> u64 {
        let above = self.levels[l + 1..].iter().map(|level| u64::from(level.children));
        let below = self.levels[..=l].iter().map(|level| u64::from(level.parents));
        above.chain(below).product()
    }

    /// Number of cables.
    pub fn cables(&self) -> u64 {
        let down =
            |(l, level): (usize, &Level)| self.switches(l) * u64::from(level.children) * u64::from(level.parallel);
        self.levels.iter().enumerate().map(down).sum()
    }

    /// Number of ports of a switch of level `l`, counted from 0 next to the hosts.
    pub fn radix(&self, l: usize) -> u64 {
        let up = self.levels.get(l + 1).map_or(0, |up| u64::from(up.parents) * u64::from(up.parallel));
        u64::from(self.levels[l].children) * u64::from(self.levels[l].parallel) + up
    }
}

impl Topology {
    /// Generates a fat tree.
    ///
    /// A node of level l is identified by digits. Those of its subtree (one per level above, in base
    /// `children`) are followed by those of its position among the roots of that subtree (one per level
    /// below, in base `parents`). It is connected to the nodes of level l + 1 that agree in all common
    /// digits.
    pub fn fat_tree(spec: &FatTreeSpec) -> Topology {
        let mut topology = Topology::default();
        let mut below: Vec<NodeId> = (0..spec.hosts()).map(|i| topology.add_host(format!("H{i}"))).collect();
        for (l, level) in spec.levels.iter().enumerate() {
            let count = spec.switches(l);
            let row: Vec<NodeId> = (0..count).map(|i| topology.add_switch(format!("L{}S{i}", l + 1))).collect();
            // A switch is (subtree, position). A subtree of this level has `children` subtrees of the level
            // below.
            let (children, parents) = (u64::from(level.children), u64::from(level.parents));
            let places_below: u64 = spec.levels[..l].iter().map(|level| u64::from(level.parents)).product();
            let places = places_below * parents;
            for (i, &switch) in (0u64..).zip(&row) {
                let (subtree, place) = (i / places, i % places);
                let place_below = place % places_below;
                for child in 0..children {
                    let node = below[((subtree * children + child) * places_below + place_below) as usize];
                    for _ in 0..level.parallel {
                        topology.connect(node, switch, level.rate, spec.delay);
                    }
                }
            }
            below = row;
        }
        topology
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::routing::{Paths, Routes};
    use crate::network::topology::NodeKind;

    fn rate() -> Rate {
        Rate::from_bits_per_second(8e9)
    }

    fn level(children: u32, parents: u32, parallel: u32) -> Level {
        Level { children, parents, parallel, rate: rate() }
    }

    /// Checks that every pair of hosts in the tree is connected.
    fn check(spec: &FatTreeSpec) -> Topology {
        let topology = Topology::fat_tree(spec);
        let hosts: Vec<_> = topology.hosts().collect();
        let pairs = hosts.iter().flat_map(|&a| hosts.iter().map(move |&b| (a, b)));
        let routes = Routes::d_mod_k(spec);
        Paths::new(&topology, &routes).check(pairs.filter(|(a, b)| a != b)).expect("all hosts are joined");
        topology
    }

    #[test]
    fn ports_trees_have_the_sizes_of_the_papers() {
        for (ports, levels, hosts, switches) in
            [(2, 3, 2, 5), (4, 2, 8, 6), (8, 2, 32, 12), (16, 2, 128, 24), (8, 3, 128, 80), (12, 3, 432, 180)]
        {
            let spec = FatTreeSpec::ports_tree(ports, levels, rate(), Time::ZERO);
            let topology = check(&spec);
            assert_eq!(
                (topology.host_count(), topology.switch_count()),
                (hosts, switches),
                "{ports}-port {levels}-tree"
            );
            let radixes = topology.nodes().iter().filter(|node| node.kind == NodeKind::Switch).map(|node| node.degree);
            assert!(radixes.into_iter().all(|radix| u32::from(radix) == ports));
        }
    }

    #[test]
    fn oversubscribed_and_parallel_trees_are_joined_too() {
        for levels in [
            vec![level(6, 1, 1), level(4, 2, 1)],
            vec![level(4, 1, 1), level(3, 2, 3)],
            vec![level(2, 1, 1), level(3, 2, 1), level(2, 3, 1)],
            vec![level(5, 1, 1)],
        ] {
            let spec = FatTreeSpec { levels, delay: Time::ZERO };
            let topology = check(&spec);
            assert_eq!(u64::from(topology.host_count()), spec.hosts());
        }
    }

    #[test]
    fn d_mod_k_spreads_a_shift_permutation_without_conflict() {
        let spec = FatTreeSpec::ports_tree(8, 3, rate(), Time::ZERO);
        let (topology, routes) = (Topology::fat_tree(&spec), Routes::d_mod_k(&spec));
        let paths = Paths::new(&topology, &routes);
        let hosts: Vec<_> = topology.hosts().collect();
        for shift in [1, 4, 16, 37, 64] {
            let mut used = std::collections::HashSet::new();
            for (i, &source) in hosts.iter().enumerate() {
                let path = paths.path(source, hosts[(i + shift) % hosts.len()]).expect("joined");
                assert!(path.into_iter().all(|port| used.insert(port)), "shift {shift}");
            }
        }
    }
}
