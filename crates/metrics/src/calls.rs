//! Calls of schemes and their answers, for comparison with another implementation of a scheme, such as hardware.

use becalm_engine::Time;
use becalm_fabric::policy::{
    Arrival, Attention, Departure, FlowShape, Marker, Notice, Pace, Response, Sent, SwitchView,
};

/// A scheme whose calls can be recorded. It behaves like the scheme itself.
#[derive(Clone, Debug)]
pub struct Heard<S, C> {
    scheme: S,
    /// The recorded calls so far; `None` if calls are not recorded.
    pub calls: Option<Vec<C>>,
}

impl<S, C> Heard<S, C> {
    /// Wraps a scheme; records its calls if `recorded`.
    pub fn new(scheme: S, recorded: bool) -> Heard<S, C> {
        Heard { scheme, calls: recorded.then(Vec::new) }
    }

    /// Number of calls recorded so far.
    pub fn count(&self) -> usize {
        self.calls.as_ref().map_or(0, Vec::len)
    }

    fn note(&mut self, call: impl FnOnce() -> C) {
        if let Some(calls) = &mut self.calls {
            calls.push(call());
        }
    }
}

/// Functions of a marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkerFunction {
    /// [`Marker::arrived`].
    Arrived,
    /// [`Marker::stored`].
    Stored,
    /// [`Marker::departing`].
    Departing,
    /// [`Marker::left`].
    Left,
}

impl MarkerFunction {
    /// Name of the function.
    pub const fn name(self) -> &'static str {
        match self {
            MarkerFunction::Arrived => "arrived",
            MarkerFunction::Stored => "stored",
            MarkerFunction::Departing => "departing",
            MarkerFunction::Left => "left",
        }
    }
}

/// A call of a marker. Fields that the function neither receives nor returns are zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarkerCall {
    /// Time of the call.
    pub time: Time,
    /// Called function.
    pub function: MarkerFunction,
    /// Input port of the packet.
    pub input: u16,
    /// Output port of the packet.
    pub output: u16,
    /// Virtual lane of the packet.
    pub vl: u8,
    /// Position of the packet in the order of arrival.
    pub order: u64,
    /// Size of the packet in bytes.
    pub size: u32,
    /// Whether the packet has to wait.
    pub waits: bool,
    /// Number of packets for which the input has buffer space, according to the view.
    pub room: u32,
    /// Number of packets that wait for the output.
    pub waiting: u32,
    /// Number of packets in the switch for the output.
    pub present: u32,
    /// Whether the packet is marked (the result).
    pub marked: bool,
}

impl MarkerCall {
    fn of_arrival<V: SwitchView>(function: MarkerFunction, arrival: &Arrival, switch: &V) -> MarkerCall {
        let &Arrival { now, order, input, output, vl, size, waits, .. } = arrival;
        MarkerCall {
            time: now,
            function,
            input,
            output,
            vl,
            order,
            size,
            waits,
            room: switch.room(input, vl),
            waiting: switch.waiting(output, vl),
            present: switch.present(output, vl),
            marked: false,
        }
    }

    fn of_departure<V: SwitchView>(departure: &Departure, switch: &V, marked: bool) -> MarkerCall {
        let &Departure { now, order, input, output, vl, size, .. } = departure;
        MarkerCall {
            time: now,
            function: MarkerFunction::Departing,
            input,
            output,
            vl,
            order,
            size,
            waits: false,
            room: switch.room(input, vl),
            waiting: switch.waiting(output, vl),
            present: switch.present(output, vl),
            marked,
        }
    }

    fn of_tail(time: Time, input: u16, output: u16, vl: u8) -> MarkerCall {
        MarkerCall {
            time,
            function: MarkerFunction::Left,
            input,
            output,
            vl,
            order: 0,
            size: 0,
            waits: false,
            room: 0,
            waiting: 0,
            present: 0,
            marked: false,
        }
    }
}

impl<K: Marker> Marker for Heard<K, MarkerCall> {
    fn arrived<V: SwitchView>(&mut self, arrival: &Arrival, switch: &V) {
        self.note(|| MarkerCall::of_arrival(MarkerFunction::Arrived, arrival, switch));
        self.scheme.arrived(arrival, switch);
    }

    fn stored<V: SwitchView>(&mut self, arrival: &Arrival, switch: &V) {
        self.note(|| MarkerCall::of_arrival(MarkerFunction::Stored, arrival, switch));
        self.scheme.stored(arrival, switch);
    }

    fn departing<V: SwitchView>(&mut self, departure: &Departure, switch: &V) -> bool {
        let marked = self.scheme.departing(departure, switch);
        self.note(|| MarkerCall::of_departure(departure, switch, marked));
        marked
    }

    fn left(&mut self, now: Time, input: u16, output: u16, vl: u8) -> Time {
        self.note(|| MarkerCall::of_tail(now, input, output, vl));
        self.scheme.left(now, input, output, vl)
    }

    fn attention(&self) -> Attention {
        self.scheme.attention()
    }

    // A recording includes packets that pass without meeting another, since a marker may count packets.
    fn sees_passing(&self) -> bool {
        self.scheme.sees_passing() || self.calls.is_some() && self.attention() > Attention::Nothing
    }

    fn is_congested(&self, output: u16, vl: u8) -> bool {
        self.scheme.is_congested(output, vl)
    }
}

/// Functions of a response, with each kind of notice listed separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseFunction {
    /// [`Response::start`].
    Start,
    /// [`Response::notice`] for an ACK.
    Ack,
    /// [`Response::notice`] for a congestion notification packet.
    Becn,
    /// [`Response::notice`] at the deadline.
    Timer,
    /// [`Response::notice`] for a new flow.
    Restart,
    /// [`Response::sent`].
    Sent,
}

impl ResponseFunction {
    /// Name of the function.
    pub const fn name(self) -> &'static str {
        match self {
            ResponseFunction::Start => "start",
            ResponseFunction::Ack => "ack",
            ResponseFunction::Becn => "becn",
            ResponseFunction::Timer => "timer",
            ResponseFunction::Restart => "restart",
            ResponseFunction::Sent => "sent",
        }
    }

    const fn of(notice: &Notice) -> ResponseFunction {
        match notice {
            Notice::Ack(_) => ResponseFunction::Ack,
            Notice::Becn => ResponseFunction::Becn,
            Notice::Timer => ResponseFunction::Timer,
            Notice::Restart => ResponseFunction::Restart,
        }
    }
}

/// A call of a response. Fields that the function does not receive are zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResponseCall {
    /// Time of the call; zero for the start.
    pub time: Time,
    /// Called function.
    pub function: ResponseFunction,
    /// Number of marked packets that an ACK reports.
    pub marked: u32,
    /// Number of packets that an ACK covers.
    pub covers: u32,
    /// Size of a departing packet; at the start, the size of a full packet.
    pub size: u32,
    /// Number of packets not yet acknowledged.
    pub in_flight: u32,
    /// The pace after the call (the result).
    pub pace: Pace,
    /// Time for which the response requests its timer (the result).
    pub deadline: Option<Time>,
}

impl<R: Response> Heard<R, ResponseCall> {
    fn note_call(&mut self, time: Time, function: ResponseFunction, shown: [u32; 4]) {
        let (pace, deadline) = (self.scheme.pace(), self.scheme.deadline());
        let [marked, covers, size, in_flight] = shown;
        self.note(|| ResponseCall { time, function, marked, covers, size, in_flight, pace, deadline });
    }
}

impl<R: Response> Response for Heard<R, ResponseCall> {
    fn start(&mut self, flow: &FlowShape) {
        self.scheme.start(flow);
        self.note_call(Time::ZERO, ResponseFunction::Start, [0, 0, flow.mtu + flow.header, 0]);
    }

    fn trail(&self) -> Option<u32> {
        self.scheme.trail()
    }

    // A recording includes calls that do not change the result.
    fn is_steady(&self) -> bool {
        self.scheme.is_steady() && self.calls.is_none()
    }

    fn follows_sending(&self) -> bool {
        self.scheme.follows_sending() || self.calls.is_some()
    }

    fn pace(&self) -> Pace {
        self.scheme.pace()
    }

    fn notice(&mut self, now: Time, notice: &Notice) {
        self.scheme.notice(now, notice);
        let (marked, covers) = match notice {
            Notice::Ack(ack) => (ack.marked, ack.covers),
            _ => (0, 0),
        };
        self.note_call(now, ResponseFunction::of(notice), [marked, covers, 0, 0]);
    }

    fn sent(&mut self, sent: &Sent) {
        self.scheme.sent(sent);
        self.note_call(sent.now, ResponseFunction::Sent, [0, 0, sent.bytes, sent.in_flight]);
    }

    fn deadline(&self) -> Option<Time> {
        self.scheme.deadline()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends at line rate until the first mark, and requests a timer after that.
    #[derive(Clone, Debug)]
    struct Once(f64);
    impl Response for Once {
        fn pace(&self) -> Pace {
            Pace { gap: self.0, window: 1 }
        }
        fn notice(&mut self, _: Time, notice: &Notice) {
            if matches!(notice, Notice::Ack(ack) if ack.is_marked()) {
                self.0 = 3.0;
            }
        }
        fn deadline(&self) -> Option<Time> {
            (self.0 > 0.0).then_some(Time::from_us(9))
        }
    }

    #[test]
    fn a_call_is_noted_with_its_answer_and_changes_none() {
        let (mut heard, mut deaf) = (Heard::new(Once(0.0), true), Heard::<_, ResponseCall>::new(Once(0.0), false));
        for response in [&mut heard, &mut deaf] {
            response.paced_by(&Sent { now: Time::from_us(1), bytes: 2068, in_flight: 1 });
            let answer = response.react(Time::from_us(5), &Notice::ack(true));
            assert_eq!(answer, (Pace { gap: 3.0, window: 1 }, Some(Time::from_us(9))));
        }
        assert_eq!((heard.count(), deaf.count()), (2, 0));
        let calls = heard.calls.unwrap();
        assert_eq!((calls[0].function, calls[0].size, calls[0].pace.gap), (ResponseFunction::Sent, 2068, 0.0));
        assert_eq!((calls[1].function, calls[1].marked, calls[1].covers), (ResponseFunction::Ack, 1, 1));
        assert_eq!((calls[1].pace.gap, calls[1].deadline), (3.0, Some(Time::from_us(9))));
    }
}
