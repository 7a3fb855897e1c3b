//! Flows of jobs whose two ends are made when the first message is posted.

use becalm_engine::mix;

use crate::config::PathSelection;
use crate::host::entropy::Entropy;
use crate::host::receiver::Receiver;
use crate::host::sender::Sender;
use crate::ids::FlowId;

/// The ends of a flow, by the ranks of its hosts, and the virtual lane of its data packets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends {
    pub source: u32,
    pub destination: u32,
    pub vl: u8,
}

/// What all senders and receivers have in common when they are made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Common {
    /// Bytes per packet in addition to the payload.
    pub header: u32,
    /// Whether packets that fill the window request ACKs.
    pub requests: bool,
    pub paths: PathSelection,
    pub seed: u64,
    /// Whether packets may be lost.
    pub is_lossy: bool,
}

impl Common {
    /// The sending end of a flow, without messages. `trail` are the bytes that its packets' trails take.
    pub fn sender(&self, flow: FlowId, pacer: u32, ends: Ends, trail: u32) -> Sender {
        let mut sender = Sender::new(pacer, ends.destination, ends.vl);
        if self.requests {
            sender.request_acks();
        }
        if let PathSelection::Entropy { values, balancer } = self.paths {
            sender.spread(Entropy::new(balancer, values, mix(self.seed, u64::from(flow.0))));
        }
        sender.header = self.header + trail;
        sender
    }

    /// The receiving end of a flow from the host of rank `source`, with `header` bytes per packet.
    pub fn receiver(&self, header: u32, source: u32) -> Receiver {
        let plain = Receiver::new(header, source);
        if self.is_lossy { plain.lossy() } else { plain }
    }
}

/// The flows that are made later, and the steady response of each.
#[derive(Debug)]
pub(crate) struct Later<R> {
    pub first: usize,
    pub ends: Vec<Ends>,
    pub response: Option<R>,
}

impl<R> Later<R> {
    /// The ranks of the sending hosts.
    pub fn sources(&self) -> impl Iterator<Item = u32> {
        self.ends.iter().map(|ends| ends.source)
    }

    /// The ends of a flow that is made later.
    pub fn ends_of(&self, flow: FlowId) -> Option<Ends> {
        self.ends.get(flow.index().wrapping_sub(self.first)).copied()
    }
}
