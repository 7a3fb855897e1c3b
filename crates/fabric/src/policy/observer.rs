use becalm_engine::Time;

use crate::ids::{FlowId, NodeId, PortId};
use crate::packet::Packet;

/// A message that has arrived completely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Flow of the message.
    pub flow: FlowId,
    /// Number of the message within its flow, starting at 0.
    pub number: u64,
    /// Sequence number of its last packet within the flow.
    pub last: u32,
    /// Time at which the message was posted. For a flow that always has data, the injection time of the
    /// message's first packet.
    pub posted: Time,
    /// Time at which the first packet's header left the source.
    pub began: Time,
    /// Payload in bytes.
    pub bytes: u64,
}

/// An observer of a run. By default, every method does nothing and costs nothing. `()` observes nothing.
pub trait Observer {
    /// A packet's header leaves on the link at `from`, a port of a switch or of an adapter. The packet's
    /// marks are final for this hop.
    fn hop(&mut self, now: Time, from: PortId, packet: &Packet) {
        let _ = (now, from, packet);
    }

    /// A port sends a packet, and its last byte leaves at `tail`. Until then, no lane of the port can send another.
    fn sending(&mut self, now: Time, from: PortId, tail: Time) {
        let _ = (now, from, tail);
    }

    /// A packet's last byte has arrived at its destination.
    fn delivered(&mut self, now: Time, packet: &Packet) {
        let _ = (now, packet);
    }

    /// All bytes of a message and of its flow's earlier messages have arrived at the destination.
    fn message(&mut self, now: Time, delivery: &Delivery) {
        let _ = (now, delivery);
    }

    /// The contents of a switch's input buffer changed to `packets`. A packet in transmission counts until
    /// its last byte has left. The calls for each buffer are in time order, but a departure may be reported
    /// late.
    fn buffer(&mut self, now: Time, input: PortId, vl: u8, packets: u32) {
        let _ = (now, input, vl, packets);
    }

    /// Several successive changes of one input buffer. `tell` reports each with the arguments of
    /// [`Observer::buffer`].
    #[inline]
    fn buffers(&mut self, input: PortId, vl: u8, tell: impl FnOnce(&mut dyn FnMut(Time, u32))) {
        tell(&mut |now, packets| self.buffer(now, input, vl, packets));
    }

    /// The number of bytes waiting for a switch's output changed to `bytes`. A packet in transmission does
    /// not wait.
    fn queue(&mut self, now: Time, output: PortId, vl: u8, bytes: u64) {
        let _ = (now, output, vl, bytes);
    }

    /// A lane of an output (of a switch or an adapter) starts (`true`) or stops (`false`) waiting for credit. The
    /// output decides this when it is free: the lane has a packet to send, and lacks or has credit for it. The lane
    /// also waits while other lanes of the output send; see [`Observer::sending`].
    fn stalled(&mut self, now: Time, output: PortId, vl: u8, stalled: bool) {
        let _ = (now, output, vl, stalled);
    }

    /// With priority-based flow control, a buffer tells its sender to stop (`true`) or to resume (`false`).
    /// The sender obeys after the pause delay.
    fn paused(&mut self, now: Time, input: PortId, vl: u8, paused: bool) {
        let _ = (now, input, vl, paused);
    }

    /// Records postponed observations before they are read.
    fn settle(&mut self) {}

    /// A switch's output enters (`true`) or leaves (`false`) the congestion state of its
    /// [`Marker`](super::Marker::is_congested).
    fn congested(&mut self, now: Time, output: PortId, vl: u8, congested: bool) {
        let _ = (now, output, vl, congested);
    }
}

impl Observer for () {}

/// An observer of a run on several threads. Each thread has one, and they are joined at the end.
pub trait Joint {
    /// Takes over the observations of another observer of the same run, which has only observed the nodes for
    /// which `theirs` is true.
    fn join(&mut self, other: Self, theirs: &dyn Fn(NodeId) -> bool);
}

impl Joint for () {
    fn join(&mut self, (): (), _: &dyn Fn(NodeId) -> bool) {}
}
