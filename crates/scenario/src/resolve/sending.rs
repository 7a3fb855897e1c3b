//! What one source of a group sends to.

use becalm_engine::Time;
use becalm_fabric::NodeId;

use crate::sections::quantities::Bytes;

/// One source and its destinations.
pub(crate) struct Sending {
    pub source: NodeId,
    pub destinations: Vec<NodeId>,
    /// Payload of its messages, if it has one of its own.
    pub message: Option<Bytes>,
    /// When it starts, if it has a time of its own.
    pub start: Option<Time>,
}

impl Sending {
    /// A source as its group says.
    pub fn new(source: NodeId, destinations: Vec<NodeId>) -> Sending {
        Sending { source, destinations, message: None, start: None }
    }
}
