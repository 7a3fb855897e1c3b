//! Pacers: responses, and the times at which they let flows send.

use becalm_engine::Time;

use crate::host::send_queue::SendQueue;
use crate::ids::FlowId;
use crate::policy::{Notice, Pace, Response, Sent};

/// State of a pacer at its adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PacerState {
    /// No flow has a packet to send and an open window.
    Idle,
    /// Listed at the adapter as one that may send.
    Ready,
    /// Waits for this time.
    Paced(Time),
}

/// The unit of congestion control: a response and the pace that it sets, for one flow or for all of a service level.
#[derive(Debug)]
pub(crate) struct Pacer<R> {
    pub host: u32,
    pub state: PacerState,
    pub response: R,
    pub pace: Pace,
    /// Time from which the pace allows the next packet.
    due: Time,
    pub flows: EligibleFlows,
    /// Start and duration of the last packet's transmission.
    last: Option<(Time, Time)>,
    /// Time of the pending timer event.
    pub timer: Option<Time>,
}

/// The flows of a pacer that may be eligible to send.
#[derive(Debug)]
pub(crate) enum EligibleFlows {
    /// Its only flow.
    One(FlowId),
    /// Those of several flows that have a packet to send.
    Several(SendQueue),
}

impl<R: Response> Pacer<R> {
    pub fn new(host: u32, flows: EligibleFlows, response: R) -> Pacer<R> {
        let (state, pace, due) = (PacerState::Idle, response.pace(), Time::ZERO);
        Pacer { host, state, pace, due, response, flows, last: None, timer: None }
    }

    /// Time from which the pace allows the next packet.
    #[inline]
    pub fn due(&self) -> Time {
        self.due
    }

    /// Adopts a pace; returns whether it is new.
    #[inline]
    pub fn adopt(&mut self, pace: Pace) -> bool {
        let is_new = pace != self.pace;
        if is_new {
            self.pace = pace;
            self.due = self.due_by_pace();
        }
        is_new
    }

    #[inline]
    fn due_by_pace(&self) -> Time {
        match self.last {
            Some((start, transmission)) if self.pace.gap == 0.0 => start + transmission,
            Some((start, transmission)) => start + transmission + transmission.scaled(self.pace.gap),
            None => Time::ZERO,
        }
    }

    /// Whether the gap still holds, counted from the start of the last packet, so that a gap of 0 never holds.
    pub fn rests(&self, now: Time) -> bool {
        self.last.is_some_and(|(start, transmission)| now < start + transmission.scaled(self.pace.gap))
    }

    /// Has the response begin anew, as for a flow that has not sent.
    pub fn restart(&mut self, now: Time) {
        (self.pace, _) = self.response.react(now, &Notice::Restart);
        (self.last, self.due) = (None, Time::ZERO);
    }

    /// Records a packet that goes out, which takes this time on the link.
    pub fn sent(&mut self, sent: &Sent, transmission: Time) {
        self.last = Some((sent.now, transmission));
        self.state = PacerState::Idle;
        self.pace = self.response.paced_by(sent);
        self.due = self.due_by_pace();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SENT: Sent = Sent { now: Time::from_us(10), bytes: 2068, in_flight: 1 };

    #[derive(Debug)]
    struct Thrice;
    impl Response for Thrice {
        fn pace(&self) -> Pace {
            Pace { gap: 3.0, window: 1 }
        }
        fn notice(&mut self, _: Time, _: &Notice) {}
    }

    #[test]
    fn the_gap_is_a_multiple_of_the_packets_own_time() {
        let mut pacer = Pacer::new(0, EligibleFlows::One(FlowId(0)), Thrice);
        assert_eq!(pacer.due(), Time::ZERO);
        pacer.sent(&SENT, Time::from_us(2));
        assert_eq!(pacer.due(), Time::from_us(10 + 2 + 6));
    }

    #[test]
    fn a_pacer_rests_for_its_gap() {
        let mut pacer = Pacer::new(0, EligibleFlows::One(FlowId(0)), Thrice);
        assert!(!pacer.rests(Time::ZERO));
        pacer.sent(&SENT, Time::from_us(2));
        assert!(pacer.rests(Time::from_us(16) - Time(1)));
        assert!(!pacer.rests(Time::from_us(16)));
        pacer.pace.gap = 0.0;
        assert!(!pacer.rests(Time::from_us(10)));
    }
}
