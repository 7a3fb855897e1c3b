//! Detours: packets first go to another region, whatever their destination (Valiant 1982).
//!
//! A region is a switch of a torus, or a group of a dragonfly. After reaching it, a packet continues to its
//! destination.

use crate::network::routing::hash::pick;
use crate::network::topology::{NodeKind, Topology};

/// The entry of a port that connects to a host, not a switch.
const HOST: u32 = u32::MAX;

/// The regions of a network.
#[derive(Clone, Debug)]
pub struct Detours {
    /// Switches of each region. Switches and hosts are numbered region by region.
    switches: u32,
    hosts: u32,
    regions: u32,
    /// Indexed by switch and port: the rank of the switch at the other end, or [`HOST`].
    next: Vec<Vec<u32>>,
}

impl Detours {
    /// Maximum number of regions: a packet stores its region in 16 bits.
    pub const MOST_REGIONS: u32 = 65_534;

    /// Divides a network into regions of `switches` switches, with `hosts` hosts each.
    pub fn new(topology: &Topology, switches: u32, hosts: u32) -> Detours {
        let peers = topology.peers();
        let behind = |peer| match topology.node(peer) {
            node if node.kind == NodeKind::Host => HOST,
            node => node.rank,
        };
        let of = |switch: crate::NodeId| peers[switch.index()].iter().map(|(peer, _)| behind(peer.node)).collect();
        Detours {
            switches,
            hosts: switches * hosts,
            regions: topology.switch_count() / switches,
            next: topology.switches().map(of).collect(),
        }
    }

    /// The number of regions.
    pub fn regions(&self) -> u32 {
        self.regions
    }

    /// The region of a switch.
    #[inline]
    pub fn region_of(&self, switch: u32) -> u32 {
        switch / self.switches
    }

    /// The region of a host.
    pub fn region_of_host(&self, host: u32) -> u32 {
        host / self.hosts
    }

    /// Whether packets that arrive at this port come from a host.
    #[inline]
    pub fn begins(&self, switch: u32, input: u16) -> bool {
        self.next[switch as usize][usize::from(input)] == HOST
    }

    /// A random region other than those of a switch and a host. `None` if the switch and the host are in the
    /// same region, or if there is no other region.
    pub fn draw(&self, switch: u32, host: u32, lot: u64) -> Option<u32> {
        let (own, last) = (self.region_of(switch), self.region_of_host(host));
        if own == last || self.regions < 3 {
            return None;
        }
        let mut region = pick(lot, self.regions as usize - 2) as u32;
        for taken in [own.min(last), own.max(last)] {
            region += u32::from(region >= taken);
        }
        Some(region)
    }

    /// A random host of a region.
    pub fn host_in(&self, region: u32, lot: u64) -> u32 {
        region * self.hosts + pick(lot, self.hosts as usize) as u32
    }

    /// All hosts of a region.
    pub fn hosts_in(&self, region: u32) -> std::ops::Range<u32> {
        region * self.hosts..(region + 1) * self.hosts
    }

    /// Number of hops from a switch towards a host, and the switch reached: the first one in the host's
    /// region if `to_region`, otherwise the host's switch. `port` returns the port by which a switch sends to
    /// a host.
    pub fn hops(
        &self,
        port: impl Fn(u32, u32) -> Option<u16>,
        (switch, host): (u32, u32),
        to_region: bool,
    ) -> (u32, u32) {
        let (mut at, mut hops) = (switch, 0);
        while !(to_region && self.region_of(at) == self.region_of_host(host)) {
            let port = port(at, host).expect("regions are joined");
            match self.next[at as usize][usize::from(port)] {
                HOST => break,
                next => at = next,
            }
            hops += 1;
        }
        (hops, at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::generators::TorusSpec;
    use crate::network::link::Rate;
    use becalm_engine::{Time, mix};

    #[test]
    fn any_other_region_is_as_likely() {
        let rate = Rate::from_bits_per_second(8e9);
        let spec = TorusSpec { sides: vec![5], hosts: 2, rate, delay: Time::ZERO };
        let topology = Topology::torus(&spec);
        let detours = Detours::new(&topology, 1, 2);
        let mut drawn = [0u32; 5];
        for i in 0..3_000 {
            drawn[detours.draw(3, 2, mix(7, i)).expect("three others") as usize] += 1;
        }
        assert_eq!((drawn[1], drawn[3]), (0, 0), "the regions of the switch and the host");
        assert!([0, 2, 4].iter().all(|&region| drawn[region].abs_diff(1_000) < 120), "{drawn:?}");
        assert_eq!(detours.draw(3, 6, 9), None, "a host of the same switch");
        let routes = spec.routes(&topology, false);
        assert_eq!(
            (
                detours.hops(|switch, host| routes.port(switch, host), (0, 9), false),
                detours.hops(|switch, host| routes.port(switch, host), (0, 5), true)
            ),
            ((1, 4), (2, 2))
        );
        assert!(detours.begins(2, 1) && !detours.begins(2, 2));
    }
}
