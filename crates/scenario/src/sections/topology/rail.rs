//! `[topology.rail]`: nodes of GPUs on a rail-optimised fabric.

use becalm_engine::Time;
use becalm_fabric::{RailSpec, Rate, Routes, Topology};
use becalm_schema::{Located, Place, Review};

use super::generator::{Choices, Generator};
use super::size::Size;
use crate::names::{expand_list, unknown};
use crate::sections::nodes::{Gpu, Node};
use crate::sections::quantities::LinkRate;
use crate::sections::routes::Route;

becalm_schema::table! {
    /// Nodes of GPUs on a rail-optimised fabric. NIC `g` of every node is connected to a leaf switch of rail `g` modulo
    /// `rails`.
    ///
    /// The topology makes its own nodes, `N0`, `N1`, ..., for `jobs.nodes`. The NIC of GPU `g` of node `n` is the host
    /// `N<n>G<g>`, its NVLink port the host `N<n>V<g>`, and the node's NVLink switch `N<n>`. Leaf switches are
    /// `R<rail>L<leaf>`, spine switches `S0`, `S1`, ... With several planes, the names of NIC ports, leaves and spines
    /// end with the plane: `N0G0P1`, `R0L0P1`, `S0P1`. Planes meet only in the hosts. Without spine switches, different
    /// rails (and leaves of one rail) are not connected; ranks on them exchange messages only with `nics = "pxn"`.
    pub located struct Rail {
        /// Number of nodes.
        pub nodes: u32; ""; 1..=16384,
        /// Number of GPUs of each node, each with a NIC.
        pub gpus: u32 = 8; ""; 1..=64,
        /// Number of rails; one per GPU if left out. 1 stands for a leaf switch to which all NICs of a node are connected.
        pub rails: Option<u32> = None; ""; 1..=64,
        /// Number of leaf switches of each rail in each plane. Each has equally many consecutive nodes.
        pub leaves: u32 = 1; ""; 1..=4096,
        /// Number of spine switches in each plane, each connected to all leaf switches of the plane.
        pub spines: u32 = 0; ""; 0..=4096,
        /// Number of planes. Each NIC has one port in each plane.
        pub planes: u32 = 1; ""; 1..=8,
        /// Rate of a NIC. Its ports share it equally, and the links between switches have the rate of a port.
        pub rate: LinkRate = LinkRate::gigabytes(50.0),
        /// Propagation delay of links, except those within a node.
        pub delay: Time = Time::ZERO; ""; ..=Time::from_ms(1000),
        /// Rate of a GPU's NVLink port. Nodes with one GPU have no NVLink.
        pub local_rate: LinkRate = LinkRate::gigabytes(450.0),
        /// Propagation delay of links within a node.
        pub local_delay: Time = Time::ZERO; ""; ..=Time::from_ms(1000),
        /// Names of leaf switches that have failed. No rank uses the ports that are connected to them.
        pub lost: Vec<Located<String>> = Vec::new(),
        /// Forwarding entries that replace the topology's defaults.
        pub routes: Vec<Located<Route>> = Vec::new(),
    }
}

impl Rail {
    fn spec(&self) -> RailSpec {
        let planes = *self.planes;
        RailSpec {
            nodes: *self.nodes,
            gpus: *self.gpus,
            rails: self.rails.unwrap_or(*self.gpus),
            leaves: *self.leaves,
            spines: *self.spines,
            planes,
            rate: Rate::from_bits_per_second(self.rate.rate().bits_per_second() / f64::from(planes)),
            delay: *self.delay,
            local: (*self.gpus > 1).then(|| (self.local_rate.rate(), *self.local_delay)),
        }
    }

    /// Whether the leaf of a NIC's port has failed.
    fn is_lost(&self, spec: &RailSpec, node: u32, gpu: u32, plane: u32) -> bool {
        let leaf = || spec.leaf(gpu % spec.rails, spec.leaf_of(node), plane);
        !self.lost.is_empty() && self.lost.iter().any(|name| becalm_schema::names::covers(name, &leaf()))
    }

    fn check(&self, spec: &RailSpec, review: &mut Review<'_>) {
        if spec.rails > spec.gpus {
            review.add(self.rails.place(), format!("must be at most {}, the number of GPUs of a node", spec.gpus));
        }
        if spec.leaves > spec.nodes {
            review.add(self.leaves.place(), format!("must be at most {}, the number of nodes", spec.nodes));
        }
        let places = (0..spec.planes).flat_map(|plane| (0..spec.rails).map(move |rail| (plane, rail)));
        let leaves: Vec<String> =
            places.flat_map(|(plane, rail)| (0..spec.leaves).map(move |leaf| spec.leaf(rail, leaf, plane))).collect();
        for (name, place) in expand_list(self.lost.items(), review) {
            if !leaves.contains(&name) {
                unknown("leaf switch", &name, &leaves.iter().map(String::as_str).collect::<Vec<_>>(), place, review);
            }
        }
    }
}

impl Generator for Rail {
    fn size(&self, _: Place, review: &mut Review<'_>) -> Option<Size> {
        let (spec, before) = (self.spec(), review.count());
        self.check(&spec, review);
        if review.count() > before {
            return None;
        }
        let of = u64::from;
        let leaves = of(spec.planes) * of(spec.rails) * of(spec.leaves);
        let hosts = of(spec.nodes) * of(spec.gpus) * of(spec.hosts_per_gpu());
        let inner = if spec.local.is_some() { of(spec.nodes) } else { 0 };
        let switches = leaves + inner + of(spec.planes) * of(spec.spines);
        Some(Size::new(hosts, switches, hosts + leaves * of(spec.spines)))
    }

    fn build(&self, choices: Choices, _: &mut Review<'_>) -> Option<(Topology, Routes)> {
        Some(choices.shortest(Topology::rail(&self.spec())))
    }

    fn routes(&self) -> Option<&Located<Vec<Located<Route>>>> {
        Some(&self.routes)
    }

    fn nodes(&self, topology: &Topology) -> Vec<Node> {
        let spec = self.spec();
        let hosts: Vec<_> = topology.hosts().collect();
        let gpu = |node: u32, gpu: u32| {
            let nic = |plane: u32| {
                let works = !self.is_lost(&spec, node, gpu, plane);
                works.then(|| hosts[spec.nic(node, gpu, plane) as usize])
            };
            let local = spec.local.map(|_| hosts[spec.port(node, gpu) as usize]);
            Gpu { nics: (0..spec.planes).map(nic).collect(), local, rail: gpu % spec.rails }
        };
        let node = |n: u32| Node { name: format!("N{n}"), gpus: (0..spec.gpus).map(|g| gpu(n, g)).collect() };
        (0..spec.nodes).map(node).collect()
    }
}
