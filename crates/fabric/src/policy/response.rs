use becalm_engine::Time;

use crate::ids::PortId;
use crate::network::link::Rate;

/// The limits on the sending of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// Idle time after a packet, as a multiple of the packet's transmission time; at least 0.
    ///
    /// The rate is the link's divided by 1 + `gap`. The gap can represent an inter-packet delay, including
    /// the injection-rate delay of IBTA congestion control.
    pub gap: f64,
    /// Maximum number of unacknowledged packets, at least 1; `u32::MAX` for no limit.
    pub window: u32,
}

impl Pace {
    /// Line rate without a window.
    pub const FREE: Pace = Pace { gap: 0.0, window: u32::MAX };
}

/// The shape of a flow, that is, the properties of its path that a response may use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowShape {
    /// Rate of the source's link at the start of the run.
    pub rate: Rate,
    /// Payload of a full packet, in bytes.
    pub mtu: u32,
    /// Header of a data packet, in bytes, including the telemetry header ([`Response::trail`]).
    pub header: u32,
    /// Round-trip time of a full packet and its ACK on an idle fabric, measured as [`Ack::rtt`].
    pub base_rtt: Time,
    /// The longest base RTT of any flow in the run.
    pub longest_rtt: Time,
    /// Number of links between the source and the destination.
    pub hops: u32,
}

/// A telemetry record of an output, which a switch makes when a packet's header leaves by this output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// The output.
    pub output: PortId,
    /// Time of the record.
    pub at: Time,
    /// Bytes that the output has sent since the start of the run, excluding this packet.
    pub sent: u64,
    /// Bytes waiting for the output, excluding this packet.
    pub waiting: u64,
    /// Rate of the output's link.
    pub rate: Rate,
}

/// An ACK as received by its source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ack<'a> {
    /// Number of marked packets reported.
    pub marked: u32,
    /// Number of packets acknowledged since the previous ACK.
    pub covers: u32,
    /// Sequence number of the last packet acknowledged.
    pub sequence: u32,
    /// Sequence number of the next packet that the flow sends.
    pub next: u32,
    /// Packets of the flow that are still unacknowledged.
    pub in_flight: u32,
    /// Time since the header of the last acknowledged packet left the source.
    pub rtt: Time,
    /// Part of `rtt` for which the receiver held the packet or its ACK, in whole nanoseconds. It includes the receive
    /// buffer's delay and the ACK's wait for the link.
    pub held: Time,
    /// Records of the switches on the path of the last acknowledged packet, in path order. Empty unless the
    /// response requests them with [`Response::trail`].
    pub trail: &'a [Hop],
}

impl Ack<'_> {
    /// Whether the ACK reports a mark.
    pub const fn is_marked(&self) -> bool {
        self.marked > 0
    }
}

/// A packet that a flow sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Time at which the packet is sent.
    pub now: Time,
    /// Size on the wire, in bytes.
    pub bytes: u32,
    /// Unacknowledged packets of the flow, including this one.
    pub in_flight: u32,
}

/// A notice to a flow's response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice<'a> {
    /// An ACK arrived.
    Ack(Ack<'a>),
    /// A congestion notification packet arrived.
    Becn,
    /// The time returned by [`Response::deadline`] has been reached.
    Timer,
    /// A new flow begins between the same pair of hosts after a pause. A response that persists across flows ignores
    /// this notice. Any other response returns to its initial state.
    Restart,
}

impl Notice<'_> {
    /// An ACK of a single packet, with or without a mark, for responses that use no other fields.
    pub const fn ack(marked: bool) -> Notice<'static> {
        let (rtt, held) = (Time::ZERO, Time::ZERO);
        Notice::Ack(Ack { marked: marked as u32, covers: 1, sequence: 0, next: 1, in_flight: 0, rtt, held, trail: &[] })
    }
}

/// The reaction of a source flow to feedback. A response is a pure state machine, whose only clock is the `now` that it
/// receives.
pub trait Response {
    /// Prepares the response for a flow of this shape. Called once, before the run begins. If several flows
    /// share the response, the shape is that of the flow with the longest base RTT.
    fn start(&mut self, flow: &FlowShape) {
        let _ = flow;
    }

    /// Whether switches should record the path of the flow's packets for [`Ack::trail`]. If so, returns the
    /// bytes that the records add to each packet. Called once, before the run begins.
    fn trail(&self) -> Option<u32> {
        None
    }

    /// Whether the pace never changes and no timer is needed. The fabric then calls no other methods, which
    /// avoids loading the response from memory. Called once, before the run begins.
    fn is_steady(&self) -> bool {
        false
    }

    /// Whether sent packets affect the pace, or reactions to later notices. If not, the fabric does not call
    /// [`Response::sent`], which avoids loading the response from memory. Called once, before the run begins.
    fn follows_sending(&self) -> bool {
        true
    }

    /// Returns the current pace. Called after every notice and, if sent packets matter, after every packet.
    fn pace(&self) -> Pace;

    /// Handles a notice.
    fn notice(&mut self, now: Time, notice: &Notice);

    /// Handles a packet that is sent.
    fn sent(&mut self, sent: &Sent) {
        let _ = sent;
    }

    /// Returns the time at which the response needs a [`Notice::Timer`]. Called after every notice, and once
    /// when the run begins.
    fn deadline(&self) -> Option<Time> {
        None
    }

    /// Handles a notice; returns the new pace and deadline. A registry of schemes can override this to
    /// dispatch only once.
    fn react(&mut self, now: Time, notice: &Notice) -> (Pace, Option<Time>) {
        self.notice(now, notice);
        (self.pace(), self.deadline())
    }

    /// Handles a packet that is sent; returns the new pace.
    fn paced_by(&mut self, sent: &Sent) -> Pace {
        self.sent(sent);
        self.pace()
    }
}
