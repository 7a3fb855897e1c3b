use becalm_engine::Time;

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

/// A notice to a source flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// An ACK arrived.
    Ack {
        /// Whether it echoes a mark.
        marked: bool,
    },
    /// A congestion notification packet arrived.
    Becn,
    /// The time of [`Response::deadline`] has come.
    Timer,
    /// A new flow begins between the same pair of hosts after a pause. A response that persists ignores it;
    /// another goes back to its initial state.
    Restart,
}

/// The reaction of a source flow to feedback. A pure state machine: it has no clock but the `now` it is given.
pub trait Response {
    /// The current pace. The fabric asks after every notice and after every packet.
    fn pace(&self) -> Pace;

    /// Handles a notice.
    fn notice(&mut self, now: Time, notice: Notice);

    /// A packet of the flow goes out, and with it this many are not yet acknowledged.
    fn sent(&mut self, in_flight: u32) {
        let _ = in_flight;
    }

    /// When the flow wants a [`Notice::Timer`]; asked after every notice, and once when the run begins.
    fn deadline(&self) -> Option<Time> {
        None
    }
}
