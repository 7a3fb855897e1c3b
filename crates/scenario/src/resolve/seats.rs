//! The seats of ranks, hosts or GPUs of nodes, and the adapters that their messages take.

use std::collections::HashSet;

use becalm_engine::{mix, order};
use becalm_fabric::{FaultKind, NodeId};
use becalm_workload::{Channel, Way, Ways};

use super::faults::PortFault;
use super::network::Network;
use crate::sections::jobs::Nics;
use crate::sections::nodes::{Gpu, Node};

/// The domain of the hash that selects ports.
const PORTS: u64 = 0x706f_7274;

/// Where a rank runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seat {
    /// A host.
    Host(NodeId),
    /// A GPU of a node, by their indices.
    Gpu(u32, u32),
}

/// The seats of all ranks.
pub(super) struct Seats<'a> {
    network: &'a Network,
    law: Nics,
    piece: u64,
    seed: u64,
    /// The hosts whose cables go down at some time.
    cut: HashSet<NodeId>,
    of_rank: Vec<Seat>,
    /// The rank of each GPU of each node; [`u32::MAX`] if it has none.
    rank_of: Vec<Vec<u32>>,
}

impl<'a> Seats<'a> {
    pub fn new(
        (network, faults): (&'a Network, &[PortFault]),
        of_rank: Vec<Seat>,
        (law, piece): (Nics, u64),
        seed: u64,
    ) -> Seats<'a> {
        let cuts = faults.iter().map(|each| each.fault).filter(|fault| fault.kind == FaultKind::LinkDown);
        let cut = cuts.map(|fault| fault.port.node).collect();
        let mut rank_of: Vec<Vec<u32>> = network.nodes.iter().map(|node| vec![u32::MAX; node.gpus.len()]).collect();
        for (rank, seat) in (0u32..).zip(&of_rank) {
            if let Seat::Gpu(node, gpu) = *seat {
                let first = &mut rank_of[node as usize][gpu as usize];
                *first = rank.min(*first);
            }
        }
        Seats { network, law, piece, seed, cut, of_rank, rank_of }
    }

    fn gpu(&self, rank: u32) -> Option<&Gpu> {
        match self.of_rank[rank as usize] {
            Seat::Gpu(node, gpu) => Some(&self.network.nodes[node as usize].gpus[gpu as usize]),
            Seat::Host(_) => None,
        }
    }

    /// The host of a rank: its own, or the first adapter of its GPU.
    pub fn host(&self, rank: u32) -> NodeId {
        match self.of_rank[rank as usize] {
            Seat::Host(host) => host,
            Seat::Gpu(node, gpu) => {
                let gpu = &self.network.nodes[node as usize].gpus[gpu as usize];
                gpu.adapters().next().expect("a GPU has an adapter")
            }
        }
    }

    /// Whether two ranks are on one node, or on one host.
    fn share_node(&self, a: u32, b: u32) -> bool {
        match (self.of_rank[a as usize], self.of_rank[b as usize]) {
            (Seat::Gpu(a, _), Seat::Gpu(b, _)) => a == b,
            (a, b) => a == b,
        }
    }

    /// The hosts at the ends of a channel; `None` if its messages do not cross the network.
    pub fn ends(&self, (from, to, port): Channel) -> Option<(NodeId, NodeId)> {
        if self.of_rank[from as usize] == self.of_rank[to as usize] {
            return None;
        }
        let (Some(sender), Some(receiver)) = (self.gpu(from), self.gpu(to)) else {
            return Some((self.host(from), self.host(to)));
        };
        if self.share_node(from, to) {
            return sender.local.zip(receiver.local);
        }
        let nic = |gpu: &Gpu| gpu.nics.get(usize::from(port)).copied().flatten();
        nic(sender).zip(nic(receiver))
    }

    /// Pairs of hosts that one thread must handle: adapters of one node, which exchange messages without the network, and
    /// all of them if ranks learn at once which messages have not arrived elsewhere.
    pub fn together(&self) -> Vec<(NodeId, NodeId)> {
        let pairs = self.used_nodes().flat_map(|node| {
            let mut adapters = node.gpus.iter().flat_map(Gpu::adapters);
            let first = adapters.next();
            adapters.filter_map(move |other| Some((first?, other))).collect::<Vec<_>>()
        });
        let mut firsts = self.used_nodes().filter_map(|node| node.gpus.iter().flat_map(Gpu::adapters).next());
        let first = firsts.next().filter(|_| self.makes_detours());
        pairs.chain(firsts.filter_map(|other| Some((first?, other)))).collect()
    }

    /// A rank's channels, and those over other ports that messages take while a cable of their port is down, in order.
    pub fn with_detours(&self, mut channels: Vec<Channel>) -> Vec<Channel> {
        if self.cut.is_empty() {
            return channels;
        }
        let is_cut = |channel: Channel| {
            let mut ends = self.ends(channel).into_iter().flat_map(<[NodeId; 2]>::from);
            ends.any(|host| self.cut.contains(&host))
        };
        for (from, to, port) in channels.clone() {
            if is_cut((from, to, port)) && !self.share_node(from, to) {
                channels.extend(self.common(from, to).into_iter().map(|port| (from, to, port)));
            }
        }
        order::sort_and_dedup(&mut channels, Ord::cmp);
        channels
    }

    /// Whether messages take another port at some time.
    fn makes_detours(&self) -> bool {
        let nics = |gpu: &Gpu| gpu.nics.iter().flatten().count() > 1;
        let mut ports = self.used_nodes().flat_map(|node| &node.gpus).filter(|gpu| nics(gpu)).flat_map(Gpu::adapters);
        !self.cut.is_empty() && ports.any(|host| self.cut.contains(&host))
    }

    /// The nodes with ranks.
    fn used_nodes(&self) -> impl Iterator<Item = &Node> {
        let used = self.network.nodes.iter().zip(&self.rank_of);
        used.filter(|(_, ranks)| ranks.iter().any(|&rank| rank != u32::MAX)).map(|(node, _)| node)
    }

    /// The ports that the NICs of two ranks have in common.
    fn common(&self, from: u32, to: u32) -> Vec<u8> {
        let (Some(a), Some(b)) = (self.gpu(from), self.gpu(to)) else { return vec![0] };
        let both = a.nics.iter().zip(&b.nics).zip(0..);
        both.filter(|((a, b), _)| a.is_some() && b.is_some()).map(|(_, port)| port).collect()
    }

    /// Two ranks whose NICs have no port in common, if there are any, for these channels.
    pub fn parted(&self, channels: &[Channel]) -> Option<(u32, u32)> {
        let parted = |&&(from, to, _): &&Channel| {
            self.gpu(from).is_some() && !self.share_node(from, to) && self.common(from, to).is_empty()
        };
        channels.iter().find(parted).map(|&(from, to, _)| (from, to))
    }

    /// The rank that forwards messages with PXN.
    fn via(&self, from: u32, to: u32) -> Option<u32> {
        let (Seat::Gpu(node, _), Seat::Gpu(_, gpu)) = (self.of_rank[from as usize], self.of_rank[to as usize]) else {
            return None;
        };
        if self.law != Nics::Pxn || self.gpu(from)?.rail == self.gpu(to)?.rail {
            return None;
        }
        let rank = *self.rank_of[node as usize].get(gpu as usize)?;
        (rank != u32::MAX && rank != from).then_some(rank)
    }
}

impl Ways for Seats<'_> {
    fn way(&self, from: u32, to: u32) -> Way {
        if self.gpu(from).is_none() || self.share_node(from, to) {
            return Way::direct();
        }
        let via = self.via(from, to);
        let common = self.common(via.unwrap_or(from), to);
        let place = match self.law {
            _ if common.len() < 2 => 0,
            Nics::Stripe => return Way { via, ports: common },
            Nics::Hash => mix(mix(self.seed, PORTS), u64::from(from) << 32 | u64::from(to)) as usize % common.len(),
            Nics::SameRail | Nics::Pxn => to as usize % common.len(),
        };
        Way { via, ports: vec![common.get(place).copied().unwrap_or(0)] }
    }

    fn is_direct(&self, from: u32, to: u32) -> bool {
        // A hash may choose the direct way, but with another seed, another one.
        let chosen = self.law == Nics::Hash && !self.share_node(from, to) && self.common(from, to).len() > 1;
        !chosen && self.way(from, to) == Way::direct()
    }

    fn piece(&self) -> u64 {
        self.piece
    }
}
