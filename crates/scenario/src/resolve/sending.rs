//! One source of a group and its destinations.

use becalm_engine::Time;
use becalm_fabric::NodeId;

use crate::sections::quantities::Bytes;

/// One source and its destinations.
pub(crate) struct Sending {
    pub source: NodeId,
    pub destinations: Vec<NodeId>,
    /// Payload of its messages, if it has one of its own.
    pub message: Option<Bytes>,
    /// Its own start time, if it has one.
    pub start: Option<Time>,
}

impl Sending {
    /// A source with the settings of its group.
    pub fn new(source: NodeId, destinations: Vec<NodeId>) -> Sending {
        Sending { source, destinations, message: None, start: None }
    }
}
