//! Identifiers, as distinct number types that cannot be confused.

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
    /// A host or a switch, as an index into the topology's nodes.
    NodeId
}
id! {
    /// A flow (a queue pair): packets from one host to another.
    FlowId
}
id! {
    /// A generator of messages.
    SourceId
}
id! {
    /// A rank of a job. The ranks of all jobs are numbered consecutively.
    RankId
}

/// A port of a node: the input from a link and the output to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortId {
    /// The node.
    pub node: NodeId,
    /// Number of the port on its node, starting at 0.
    pub port: u16,
}
