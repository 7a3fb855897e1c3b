//! Sets of equal ports: all ports by which a switch may send to a host.

use std::collections::HashMap;

use crate::ids::NodeId;
use crate::network::routing::d_mod_k::TreeRoutes;
use crate::network::routing::port_set::PortSet;
use crate::network::topology::Topology;

/// Indicates that there is no set: the forwarding table's entry is the only port.
const NO_SET: u32 = u32::MAX;

/// Stored sets. Hosts with the same sets at all switches, such as the hosts of one switch, form a class.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sets {
    /// Class of each host.
    classes: Vec<u32>,
    /// Number of hosts in each class.
    sizes: Vec<u32>,
    switches: usize,
    /// Index into `sets` by (class, switch), or [`NO_SET`].
    places: Vec<u32>,
    sets: Vec<Set>,
    ports: Vec<u16>,
    /// Number of sets of each switch.
    counts: Vec<u32>,
    /// Classes by switch, and indices of sets; needed only by [`Sets::add`].
    of_leaf: HashMap<u32, u32>,
    known: HashMap<(u32, Vec<u16>), u32>,
}

#[derive(Clone, Copy, Debug)]
struct Set {
    /// Number of the set within its switch.
    number: u32,
    start: u32,
    len: u16,
}

impl Sets {
    /// An empty collection in which the hosts of each switch form a class. Every host must be connected.
    pub fn new(topology: &Topology) -> Sets {
        let peers = topology.peers();
        let leaf = |host: NodeId| topology.node(peers[host.index()][0].0.node).rank;
        Sets::of_leaves(topology.hosts().map(leaf), topology.switch_count() as usize)
    }

    /// An empty collection for hosts on these switches.
    fn of_leaves(leaves: impl Iterator<Item = u32>, switches: usize) -> Sets {
        let mut sets = Sets { switches, counts: vec![0; switches], ..Sets::default() };
        for leaf in leaves {
            let next = sets.sizes.len() as u32;
            let class = *sets.of_leaf.entry(leaf).or_insert(next);
            if class == next {
                sets.sizes.push(0);
            }
            sets.sizes[class as usize] += 1;
            sets.classes.push(class);
        }
        sets.places = vec![NO_SET; sets.sizes.len() * switches];
        sets
    }

    /// The sets of a fat tree.
    pub fn of_tree(tree: &TreeRoutes) -> Sets {
        let leaves = || (0..tree.hosts()).map(|host| tree.leaf(host));
        let mut sets = Sets::of_leaves(leaves(), tree.switches() as usize);
        let mut last = None;
        for (host, leaf) in (0u32..).zip(leaves()) {
            // The hosts of a leaf switch are consecutive.
            if last.replace(leaf) == Some(leaf) {
                continue;
            }
            for switch in (0..tree.switches()).filter(|&switch| switch != leaf) {
                let ports: Vec<u16> = tree.ports(switch, host).iter().collect();
                sets.add(switch, leaf, &ports);
            }
        }
        sets.finish();
        sets
    }

    /// Adds the equal ports of a switch towards the hosts of another switch. A single port is not stored.
    pub fn add(&mut self, switch: u32, leaf: u32, ports: &[u16]) {
        if ports.len() < 2 {
            return;
        }
        let class = self.of_leaf[&leaf];
        let place = match self.known.get(&(switch, ports.to_vec())) {
            Some(&place) => place,
            None => {
                let number = self.counts[switch as usize];
                self.counts[switch as usize] += 1;
                self.sets.push(Set { number, start: self.ports.len() as u32, len: ports.len() as u16 });
                self.ports.extend(ports);
                let place = self.sets.len() as u32 - 1;
                self.known.insert((switch, ports.to_vec()), place);
                place
            }
        };
        self.places[class as usize * self.switches + switch as usize] = place;
    }

    /// Frees the data that only [`Sets::add`] needs.
    pub fn finish(&mut self) {
        (self.of_leaf, self.known) = (HashMap::new(), HashMap::new());
    }

    /// Removes a switch's set towards one host, leaving the forwarding table's port. The host moves to its
    /// own class.
    pub fn remove(&mut self, switch: u32, host: u32) {
        let class = self.classes[host as usize] as usize;
        let at = |class: usize| class * self.switches + switch as usize;
        if self.places[at(class)] == NO_SET {
            return;
        }
        let mut own = class;
        if self.sizes[class] > 1 {
            own = self.sizes.len();
            self.sizes[class] -= 1;
            self.sizes.push(1);
            self.places.extend_from_within(class * self.switches..(class + 1) * self.switches);
            self.classes[host as usize] = own as u32;
        }
        self.places[own * self.switches + switch as usize] = NO_SET;
    }

    /// The set of a switch towards a host, if it has several ports.
    #[inline]
    pub fn get(&self, switch: u32, host: u32) -> Option<PortSet<'_>> {
        let class = self.classes[host as usize] as usize;
        let place = self.places[class * self.switches + switch as usize];
        let &Set { number, start, len } = self.sets.get(place as usize)?;
        Some(PortSet::list(number, &self.ports[start as usize..][..usize::from(len)]))
    }

    /// Whether any switch has several equal ports towards any host.
    pub fn any(&self) -> bool {
        self.places.iter().any(|&place| place != NO_SET)
    }
}
