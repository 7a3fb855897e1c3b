//! `[[nodes]]`: nodes with several adapters.

use becalm_fabric::NodeId;
use becalm_schema::Located;

becalm_schema::table! {
    /// Nodes of one kind, with several adapters each, which `jobs.nodes` names. Every adapter is a host with its own
    /// cable.
    ///
    /// A rank owns one GPU: a NIC and, optionally, an NVLink port. A node without GPUs is one with a single "GPU".
    /// `topology.rail` makes its own nodes.
    pub located struct Nodes {
        /// Name of the node, or a range such as `"N0..N7"`.
        pub name: String,
        /// Number of GPUs of each node.
        pub gpus: u32 = 1; ""; 1..=64,
        /// Number of rails, over which the NICs of a node are distributed in order; one per GPU if left out.
        pub rails: Option<u32> = None; ""; 1..=64,
        /// For each port of a NIC, a list of hosts or ranges: the port of every GPU, node by node.
        pub nics: Vec<Located<Vec<Located<String>>>>,
        /// The NVLink ports of all GPUs, node by node. If left out, ranks of a node exchange messages at
        /// `jobs.local_rate`.
        pub local: Vec<Located<String>> = Vec::new(),
    }
}

/// A node of a network.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// Its name.
    pub name: String,
    /// Its GPUs, each of which can have a rank.
    pub gpus: Vec<Gpu>,
}

/// The adapters of a GPU.
#[derive(Clone, Debug)]
pub(crate) struct Gpu {
    /// The ports of its NIC; `None` for one that has failed.
    pub nics: Vec<Option<NodeId>>,
    /// Its NVLink port.
    pub local: Option<NodeId>,
    /// The rail of its NIC.
    pub rail: u32,
}

impl Node {
    /// Its name, or that of one of its GPUs, in words.
    pub fn owner(&self, gpu: usize) -> String {
        let node = format!("node {}", self.name);
        if self.gpus.len() > 1 { format!("GPU {gpu} of {node}") } else { node }
    }
}

impl Gpu {
    /// All adapters.
    pub fn adapters(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.nics.iter().copied().flatten().chain(self.local)
    }
}
