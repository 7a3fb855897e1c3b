use becalm_engine::Time;

use crate::ids::{FlowId, NodeId, PortId};
use crate::packet::Packet;

/// A message that has arrived whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Its flow.
    pub flow: FlowId,
    /// Its number within the flow, from 0.
    pub number: u64,
    /// The number of its last packet within the flow.
    pub last: u32,
    /// Time at which it was posted; for a flow that always has data, when its first packet was injected.
    pub posted: Time,
    /// Time at which its first packet's header left the source.
    pub began: Time,
    /// Its payload, in bytes.
    pub bytes: u64,
}

/// An observer of a run. The default of every method does nothing and costs nothing; `()` observes nothing.
pub trait Observer {
    /// A packet's header goes out on the link behind `from`, a port of a switch or of an adapter.
    /// The packet's marks are final for this hop.
    fn hop(&mut self, now: Time, from: PortId, packet: &Packet) {
        let _ = (now, from, packet);
    }

    /// A packet's last byte has arrived at its destination.
    fn delivered(&mut self, now: Time, packet: &Packet) {
        let _ = (now, packet);
    }

    /// All bytes of a message have arrived at its destination, and of those before it.
    fn message(&mut self, now: Time, delivery: &Delivery) {
        let _ = (now, delivery);
    }

    /// The contents of a switch's input buffer changed to `packets` (a packet in transmission counts until its
    /// last byte has left). Calls for each buffer are in the order of time, but a departure may be reported later than
    /// it happens.
    fn buffer(&mut self, now: Time, input: PortId, vl: u8, packets: u32) {
        let _ = (now, input, vl, packets);
    }

    /// Several changes of one input buffer, one after the other: `tell` reports each as [`Observer::buffer`] would get it.
    #[inline]
    fn buffers(&mut self, input: PortId, vl: u8, tell: impl FnOnce(&mut dyn FnMut(Time, u32))) {
        tell(&mut |now, packets| self.buffer(now, input, vl, packets));
    }

    /// The bytes that wait for a switch's output changed to `bytes`; a packet in transmission does not wait.
    fn queue(&mut self, now: Time, output: PortId, vl: u8, bytes: u64) {
        let _ = (now, output, vl, bytes);
    }

    /// An output (of a switch or an adapter) that is free and has a packet to send begins (`true`) or ends
    /// (`false`) to wait for credit.
    fn stalled(&mut self, now: Time, output: PortId, vl: u8, stalled: bool) {
        let _ = (now, output, vl, stalled);
    }

    /// A buffer behind a link tells its sender to stop (`true`) or to go on (`false`): with priority-based flow control.
    /// The sender obeys after the delay of the pause.
    fn paused(&mut self, now: Time, input: PortId, vl: u8, paused: bool) {
        let _ = (now, input, vl, paused);
    }

    /// Adds what has been put off, before the observations are read.
    fn settle(&mut self) {}

    /// A switch's output enters (`true`) or leaves (`false`) the congestion state of its
    /// [`Marker`](super::Marker::is_congested).
    fn congested(&mut self, now: Time, output: PortId, vl: u8, congested: bool) {
        let _ = (now, output, vl, congested);
    }
}

impl Observer for () {}

/// An observer of a run on several threads: each thread has its own, and they are joined at the end.
pub trait Joint {
    /// Takes over the observations of another observer of the same run, which has seen only the nodes for which
    /// `theirs` is true.
    fn join(&mut self, other: Self, theirs: &dyn Fn(NodeId) -> bool);
}

impl Joint for () {
    fn join(&mut self, (): (), _: &dyn Fn(NodeId) -> bool) {}
}
