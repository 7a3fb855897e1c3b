use becalm_engine::Time;

use crate::ids::NodeId;
use crate::network::link::Rate;
use crate::network::routing::{Detours, LaneChanges, PortClass, Routes};
use crate::network::topology::Topology;

/// A torus (k-ary n-cube, also with sides of different lengths): a grid of switches in which every row is a
/// ring.
///
/// Hosts are `H0`, `H1`, ..., numbered switch by switch. The switch at (x, y, z) is `S<x>_<y>_<z>`. The last coordinate
/// varies fastest. A ring of two switches has one cable.
#[derive(Clone, Debug)]
pub struct TorusSpec {
    /// Number of switches along each dimension, at least 2.
    pub sides: Vec<u32>,
    /// Number of hosts per switch.
    pub hosts: u32,
    /// Rate of every link.
    pub rate: Rate,
    /// Propagation delay of every link.
    pub delay: Time,
}

impl TorusSpec {
    /// Number of switches; `None` if it exceeds 32 bits.
    pub fn switches(&self) -> Option<u32> {
        self.sides.iter().try_fold(1u32, |product, &side| product.checked_mul(side))
    }

    /// Difference in rank between neighbours in a dimension.
    fn stride(&self, dimension: usize) -> u32 {
        self.sides[dimension + 1..].iter().product()
    }

    fn coordinate(&self, switch: u32, dimension: usize) -> u32 {
        switch / self.stride(dimension) % self.sides[dimension]
    }

    fn name(&self, switch: u32) -> String {
        let coordinates: Vec<String> =
            (0..self.sides.len()).map(|dimension| self.coordinate(switch, dimension).to_string()).collect();
        format!("S{}", coordinates.join("_"))
    }

    /// The cables between switches, ordered by dimension and switch: dimension, switch and next switch up.
    fn cables(&self) -> impl Iterator<Item = (usize, u32, u32)> + '_ {
        let switches = self.switches().expect("the number of switches was checked");
        (0..self.sides.len()).flat_map(move |dimension| {
            let (side, stride) = (self.sides[dimension], self.stride(dimension));
            (0..switches).filter_map(move |switch| match self.coordinate(switch, dimension) + 1 {
                next if next < side => Some((dimension, switch, switch + stride)),
                _ if side > 2 => Some((dimension, switch, switch - (side - 1) * stride)),
                _ => None,
            })
        })
    }

    /// Minimal routes in dimension order. Towards a host half a ring away, both directions are equally short;
    /// if `all`, both are included.
    pub fn routes(&self, topology: &Topology, all: bool) -> Routes {
        let onward = self.ports(topology);
        Routes::by_rule(topology, all, |from, to| {
            let differs = |&dimension: &usize| self.coordinate(from, dimension) != self.coordinate(to, dimension);
            let dimension = (0..self.sides.len()).find(differs).expect("two switches differ");
            let side = self.sides[dimension];
            let up = (side + self.coordinate(to, dimension) - self.coordinate(from, dimension)) % side;
            let [ahead, back] = onward[from as usize][dimension];
            match side - up {
                _ if side == 2 => vec![ahead],
                down if up < down => vec![ahead],
                down if up > down => vec![back],
                _ => vec![ahead, back],
            }
        })
    }

    /// The ports that lead up and down, indexed by switch and dimension.
    fn ports(&self, topology: &Topology) -> Vec<Vec<[u16; 2]>> {
        let switches: Vec<NodeId> = topology.switches().collect();
        let mut next = vec![self.hosts as u16; switches.len()];
        let mut ports = vec![vec![[0; 2]; self.sides.len()]; switches.len()];
        let mut take = |switch: u32| {
            next[switch as usize] += 1;
            next[switch as usize] - 1
        };
        for (dimension, switch, up) in self.cables() {
            let (from, to) = (take(switch), take(up));
            ports[switch as usize][dimension][0] = from;
            ports[up as usize][dimension][1] = to;
            if self.sides[dimension] == 2 {
                ports[up as usize][dimension][0] = to;
            }
        }
        ports
    }

    /// The virtual-lane changes at the datelines, which keep the routes free of deadlocks.
    pub fn lane_changes(&self) -> LaneChanges {
        let switches = self.switches().expect("the number of switches was checked");
        let mut classes = vec![vec![PortClass::Host; self.hosts as usize]; switches as usize];
        for (dimension, switch, up) in self.cables() {
            let class = |up| PortClass::Ring { dimension: dimension as u8, up };
            classes[switch as usize].push(class(true));
            classes[up as usize].push(class(false));
        }
        let dimensions = self.sides.len();
        let places = (0..switches).flat_map(|switch| (0..dimensions).map(move |d| self.coordinate(switch, d)));
        let hosts = (0..switches).flat_map(|switch| std::iter::repeat_n(switch, self.hosts as usize));
        LaneChanges::new(classes, dimensions, places.collect(), hosts.collect())
    }

    /// Detours through any switch.
    pub fn detours(&self, topology: &Topology) -> Detours {
        Detours::new(topology, 1, self.hosts)
    }
}

impl Topology {
    /// Generates a torus.
    ///
    /// # Panics
    /// If there are more than 2^32 switches.
    pub fn torus(spec: &TorusSpec) -> Topology {
        let mut topology = Topology::default();
        let count = spec.switches().expect("the number of switches was checked");
        let switches: Vec<NodeId> = (0..count).map(|i| topology.add_switch(spec.name(i))).collect();
        for i in 0..count * spec.hosts {
            let host = topology.add_host(format!("H{i}"));
            topology.connect(host, switches[(i / spec.hosts) as usize], spec.rate, spec.delay);
        }
        for (_, switch, up) in spec.cables() {
            topology.connect(switches[switch as usize], switches[up as usize], spec.rate, spec.delay);
        }
        topology
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::routing::Paths;

    fn spec(sides: &[u32], hosts: u32) -> TorusSpec {
        TorusSpec { sides: sides.to_vec(), hosts, rate: Rate::from_bits_per_second(8e9), delay: Time::ZERO }
    }

    fn pairs(topology: &Topology) -> Vec<(NodeId, NodeId)> {
        let hosts: Vec<NodeId> = topology.hosts().collect();
        let all = hosts.iter().flat_map(|&a| hosts.iter().map(move |&b| (a, b)));
        all.filter(|(a, b)| a != b).collect()
    }

    #[test]
    fn a_torus_has_its_cables_and_names() {
        let topology = Topology::torus(&spec(&[4, 3], 2));
        assert_eq!((topology.host_count(), topology.switch_count(), topology.cables().len()), (24, 12, 24 + 24));
        assert_eq!(topology.node(topology.find("S3_2").expect("a corner")).rank, 11);
        assert!(topology.switches().all(|switch| topology.node(switch).degree == 6));
        let hypercube = Topology::torus(&spec(&[2, 2, 2], 1));
        assert_eq!((hypercube.switch_count(), hypercube.cables().len()), (8, 8 + 12));
    }

    #[test]
    fn paths_are_minimal() {
        for (sides, hosts) in [(vec![4, 3], 2), (vec![5], 1), (vec![2, 2, 2], 1), (vec![4, 2, 3], 1)] {
            let spec = spec(&sides, hosts);
            let topology = Topology::torus(&spec);
            for all in [false, true] {
                let routes = spec.routes(&topology, all);
                let paths = Paths::new(&topology, &routes);
                paths.check(pairs(&topology).into_iter()).expect("all hosts are joined");
                for (a, b) in pairs(&topology) {
                    let [from, to] = [a, b].map(|host| topology.node(host).rank / hosts);
                    let along = |d: usize| {
                        let apart = spec.coordinate(from, d).abs_diff(spec.coordinate(to, d));
                        apart.min(sides[d] - apart)
                    };
                    let hops: u32 = (0..sides.len()).map(along).sum();
                    assert_eq!(paths.path(a, b).expect("joined").len() as u32, hops + 2);
                }
            }
        }
    }

    #[test]
    fn datelines_leave_no_cycle() {
        for sides in [vec![5], vec![5, 4], vec![3, 6, 2]] {
            let spec = spec(&sides, 1);
            let topology = Topology::torus(&spec);
            let pairs = pairs(&topology);
            for all in [false, true] {
                let routes = spec.routes(&topology, all);
                let cycle = Paths::new(&topology, &routes).dependency_cycle(pairs.iter().copied());
                assert!(cycle.is_some_and(|cycle| cycle.len() >= 3), "{sides:?}");
                let routes = routes.with_lanes(spec.lane_changes());
                assert_eq!(Paths::new(&topology, &routes).dependency_cycle(pairs.iter().copied()), None, "{sides:?}");
                let routes = routes.with_detours(spec.detours(&topology));
                assert_eq!(Paths::new(&topology, &routes).dependency_cycle(pairs.iter().copied()), None, "{sides:?}");
            }
            let routes = spec.routes(&topology, false).with_detours(spec.detours(&topology));
            let cycle = Paths::new(&topology, &routes).dependency_cycle(pairs.iter().copied());
            assert!(cycle.is_some(), "{sides:?}: detours on one lane");
        }
    }

    #[test]
    fn both_ways_around_are_equal_at_half_a_ring() {
        let routes = |side| {
            let spec = spec(&[side], 1);
            spec.routes(&Topology::torus(&spec), true)
        };
        assert!(routes(4).has_equal_ports() && !routes(5).has_equal_ports());
        assert_eq!(routes(4).ports(0, 2).iter().collect::<Vec<_>>().len(), 2);
    }
}
