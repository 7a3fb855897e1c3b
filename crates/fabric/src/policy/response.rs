use becalm_engine::Time;

use crate::ids::PortId;
use crate::network::link::Rate;

/// The limits on the sending of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// Idle time after a packet, as a multiple of the packet's own transmission time, at least 0.
    ///
    /// The rate is the link's divided by 1 + `gap`: an inter-packet delay, and the injection-rate
    /// delay of IBTA congestion control.
    pub gap: f64,
    /// Packets that may be sent and not yet acknowledged, at least 1; `u32::MAX` for no limit.
    pub window: u32,
}

impl Pace {
    /// Line rate without a window.
    pub const FREE: Pace = Pace { gap: 0.0, window: u32::MAX };
}

/// The shape of a flow: the path of its packets, as far as a response may know it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowShape {
    /// Rate of the source's link at the start of the run.
    pub rate: Rate,
    /// Payload of a full packet, in bytes.
    pub mtu: u32,
    /// Header of a data packet, in bytes, including that of [`Response::trail`].
    pub header: u32,
    /// Round-trip time of a full packet and its ACK on an empty fabric, measured as [`Ack::rtt`].
    pub base_rtt: Time,
    /// The longest base RTT of all flows of the run.
    pub longest_rtt: Time,
    /// Links between the source and the destination.
    pub hops: u32,
}

/// Telemetry: what a switch records of an output as the header of a packet leaves by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// The output.
    pub output: PortId,
    /// The time.
    pub at: Time,
    /// Bytes that the output has sent since the start of the run, without this packet.
    pub sent: u64,
    /// Bytes that wait for the output, without this packet.
    pub waiting: u64,
    /// Rate of its link.
    pub rate: Rate,
}

/// An ACK, as its source receives it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ack<'a> {
    /// Number of marked packets that it reports.
    pub marked: u32,
    /// Packets that it covers: those since the ACK before it.
    pub covers: u32,
    /// Sequence number of the last packet that it covers.
    pub sequence: u32,
    /// Sequence number of the next packet that the flow sends.
    pub next: u32,
    /// Time since the header of the last packet that it covers left the source.
    pub rtt: Time,
    /// Part of `rtt` that the receiver held the packet or its ACK, in whole nanoseconds: the receive buffer's delay, and
    /// the wait of the ACK for the link.
    pub held: Time,
    /// What the switches on the path of the last packet that it covers have recorded, in their order; empty unless the
    /// response asks for it by [`Response::trail`].
    pub trail: &'a [Hop],
}

impl Ack<'_> {
    /// Whether it reports a mark.
    pub const fn is_marked(&self) -> bool {
        self.marked > 0
    }
}

/// A packet of a flow that goes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The time.
    pub now: Time,
    /// Size on the wire, in bytes.
    pub bytes: u32,
    /// Packets of the flow that are not yet acknowledged, this one included.
    pub in_flight: u32,
}

/// A notice to a source flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice<'a> {
    /// An ACK arrived.
    Ack(Ack<'a>),
    /// A congestion notification packet arrived.
    Becn,
    /// The time of [`Response::deadline`] has come.
    Timer,
    /// A new flow begins between the same pair of hosts after a pause. A response that persists ignores it;
    /// another goes back to its initial state.
    Restart,
}

impl Notice<'_> {
    /// An ACK of a single packet, with or without a mark, for responses that look at nothing else.
    pub const fn ack(marked: bool) -> Notice<'static> {
        let (rtt, held) = (Time::ZERO, Time::ZERO);
        Notice::Ack(Ack { marked: marked as u32, covers: 1, sequence: 0, next: 1, rtt, held, trail: &[] })
    }
}

/// The reaction of a source flow to feedback. A pure state machine: it has no clock but the `now` it is given.
pub trait Response {
    /// Prepares for a flow of this shape, once, before the run begins. Where several flows share a response, the shape is
    /// that of the flow with the longest base RTT.
    fn start(&mut self, flow: &FlowShape) {
        let _ = flow;
    }

    /// If switches are to record the path of the flow's packets, for [`Ack::trail`]: the bytes that their records take in
    /// each packet. Asked once, before the run begins.
    fn trail(&self) -> Option<u32> {
        None
    }

    /// Whether the pace stays what it is whatever happens, and no timer is wanted. Then the fabric calls nothing else, which
    /// saves looking the response up in memory. Asked once, before the run begins.
    fn is_steady(&self) -> bool {
        false
    }

    /// Whether packets that go out matter: to the pace, or to the answers to later notices. If not, the fabric does not
    /// call [`Response::sent`], which saves looking the response up. Asked once, before the run begins.
    fn follows_sending(&self) -> bool {
        true
    }

    /// The current pace. The fabric asks after every notice, and after every packet if that matters.
    fn pace(&self) -> Pace;

    /// Handles a notice.
    fn notice(&mut self, now: Time, notice: &Notice);

    /// Handles a packet that goes out.
    fn sent(&mut self, sent: &Sent) {
        let _ = sent;
    }

    /// When the flow wants a [`Notice::Timer`]; asked after every notice, and once when the run begins.
    fn deadline(&self) -> Option<Time> {
        None
    }

    /// Handles a notice; returns the pace and the deadline from then on. A list of schemes answers in one call.
    fn react(&mut self, now: Time, notice: &Notice) -> (Pace, Option<Time>) {
        self.notice(now, notice);
        (self.pace(), self.deadline())
    }

    /// Handles a packet that goes out; returns the pace from then on.
    fn paced_by(&mut self, sent: &Sent) -> Pace {
        self.sent(sent);
        self.pace()
    }
}
