//! One source of a group and its destinations.

use becalm_engine::Time;
use becalm_fabric::{Mix, NodeId};

use crate::sections::quantities::Payload;

/// One source and its destinations.
pub(crate) struct Sending {
    pub source: NodeId,
    pub destinations: Vec<NodeId>,
    /// The shares of the destinations.
    pub mix: Mix,
    /// Payload of its messages, if it differs from the group's.
    pub message: Option<Payload>,
    /// Start time, if it differs from the group's.
    pub start: Option<Time>,
}

impl Sending {
    /// A source with the settings of its group.
    pub fn new(source: NodeId, destinations: Vec<NodeId>) -> Sending {
        Sending { source, destinations, mix: Mix::default(), message: None, start: None }
    }
}
