//! Identifiers: numbers with types of their own, so that they cannot be mixed up.

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The number as an index.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id! {
    /// A host or a switch, in the order of the topology's list of nodes.
    NodeId
}
id! {
    /// A flow (a queue pair): packets from one host to one other, kept in order.
    FlowId
}
id! {
    /// A generator of messages.
    SourceId
}
id! {
    /// A rank of a job; the ranks of all jobs are numbered one after the other.
    RankId
}

/// A port of a node: the input from a link and the output to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortId {
    /// The node.
    pub node: NodeId,
    /// The port's number on that node, from 0.
    pub port: u16,
}
