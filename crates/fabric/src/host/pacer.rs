//! Pacers: the times at which responses allow flows to send.

use becalm_engine::Time;

use crate::ids::FlowId;
use crate::policy::{Pace, Response};

/// State of a pacer at its adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PacerState {
    /// No flow has both a packet to send and an open window.
    Idle,
    /// Listed at the adapter as ready to send.
    Ready,
    /// Waiting until this time.
    Paced(Time),
}

/// The flows of a pacer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PacerFlows {
    /// A single flow.
    One(FlowId),
    /// Several flows. Those with a packet to send are on the list with this index.
    Several(u32),
}

/// The unit of congestion control: the pace set by a response, for one flow or for all flows of a service
/// level.
// One cache line, whatever the response; see `Flows::responses`. Missing times are therefore sentinel values.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Pacer {
    /// The pace: [`Pace::gap`] and [`Pace::window`].
    gap: f64,
    window: u32,
    /// The rank of the pacer's host.
    pub host: u32,
    /// Time at which the pace allows the next packet.
    due: Time,
    /// Start and duration of the last packet's transmission; [`NONE`] if none was sent.
    last_start: Time,
    last_duration: Time,
    /// [`IDLE`], [`READY`], or the time until which the pacer waits.
    state: Time,
    /// Time of the pending timer event, or [`NONE`].
    timer: Time,
    /// The pacer's only flow, or the index of its list.
    flows: u32,
    has_several: bool,
    /// Whether the response is [steady](Response::is_steady).
    pub is_steady: bool,
    /// Whether the response [follows sending](Response::follows_sending).
    pub follows_sending: bool,
}

const _: () = assert!(size_of::<Pacer>() == 64);

const NONE: Time = Time::MAX;
const IDLE: Time = Time::MAX;
const READY: Time = Time(u64::MAX - 1);

impl Pacer {
    pub fn new(host: u32, flows: PacerFlows, response: &impl Response) -> Pacer {
        let Pace { gap, window } = response.pace();
        let (flows, has_several) = match flows {
            PacerFlows::One(flow) => (flow.0, false),
            PacerFlows::Several(list) => (list, true),
        };
        let is_steady = response.is_steady();
        Pacer {
            gap,
            window,
            host,
            due: Time::ZERO,
            last_start: NONE,
            last_duration: Time::ZERO,
            state: IDLE,
            timer: NONE,
            flows,
            has_several,
            is_steady,
            follows_sending: !is_steady && response.follows_sending(),
        }
    }

    #[inline(always)]
    pub fn flows(&self) -> PacerFlows {
        if self.has_several { PacerFlows::Several(self.flows) } else { PacerFlows::One(FlowId(self.flows)) }
    }

    #[inline(always)]
    pub fn state(&self) -> PacerState {
        match self.state {
            IDLE => PacerState::Idle,
            READY => PacerState::Ready,
            time => PacerState::Paced(time),
        }
    }

    #[inline(always)]
    pub fn set_state(&mut self, state: PacerState) {
        self.state = match state {
            PacerState::Idle => IDLE,
            PacerState::Ready => READY,
            PacerState::Paced(time) => time,
        };
    }

    #[inline(always)]
    pub fn pace(&self) -> Pace {
        Pace { gap: self.gap, window: self.window }
    }

    fn set_pace(&mut self, pace: Pace) {
        (self.gap, self.window) = (pace.gap, pace.window);
    }

    /// Time of the pending timer event.
    pub fn timer(&self) -> Option<Time> {
        (self.timer != NONE).then_some(self.timer)
    }

    pub fn set_timer(&mut self, timer: Option<Time>) {
        self.timer = timer.unwrap_or(NONE);
    }

    /// Time at which the pace allows the next packet.
    #[inline]
    pub fn due(&self) -> Time {
        self.due
    }

    /// Adopts a pace. Returns whether it has changed.
    #[inline]
    pub fn adopt(&mut self, pace: Pace) -> bool {
        let is_new = pace != self.pace();
        if is_new {
            self.set_pace(pace);
            self.due = self.due_by_pace();
        }
        is_new
    }

    #[inline]
    fn due_by_pace(&self) -> Time {
        if self.last_start == NONE {
            return Time::ZERO;
        }
        let end = self.last_start + self.last_duration;
        if self.gap == 0.0 { end } else { end + self.last_duration.scaled(self.gap) }
    }

    /// Whether the gap is still in effect. It is measured from the start of the last packet, so a gap of 0 is
    /// never in effect.
    pub fn rests(&self, now: Time) -> bool {
        self.last_start != NONE && now < self.last_start + self.last_duration.scaled(self.gap)
    }

    /// Restarts with a pace, as if no packet had been sent.
    pub fn restart(&mut self, pace: Pace) {
        self.set_pace(pace);
        (self.last_start, self.due) = (NONE, Time::ZERO);
    }

    /// The start and the transmission time of the last packet of a train, which is sent now, at the current pace.
    #[cold]
    pub fn last_of_train(&self, now: Time, transmission: Time, before: u32) -> (Time, Time) {
        let packet = Time(transmission.0 / u64::from(before + 1));
        (now + (transmission - packet).scaled(1.0 + self.gap), packet)
    }

    /// Records a packet that is sent, with this transmission time, and the new pace.
    #[inline]
    pub fn sent(&mut self, now: Time, transmission: Time, pace: Pace) {
        (self.last_start, self.last_duration) = (now, transmission);
        self.state = IDLE;
        self.set_pace(pace);
        self.due = self.due_by_pace();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Notice;

    const THRICE: Pace = Pace { gap: 3.0, window: 1 };
    const START: Time = Time::from_us(10);

    #[derive(Debug)]
    struct Thrice;
    impl Response for Thrice {
        fn pace(&self) -> Pace {
            THRICE
        }
        fn notice(&mut self, _: Time, _: &Notice) {}
    }

    fn pacer() -> Pacer {
        Pacer::new(0, PacerFlows::One(FlowId(0)), &Thrice)
    }

    #[test]
    fn the_gap_is_a_multiple_of_the_packets_own_time() {
        let mut pacer = pacer();
        assert_eq!(pacer.due(), Time::ZERO);
        pacer.sent(START, Time::from_us(2), THRICE);
        assert_eq!(pacer.due(), Time::from_us(10 + 2 + 6));
        pacer.restart(Pace::FREE);
        assert_eq!((pacer.due(), pacer.pace()), (Time::ZERO, Pace::FREE));
    }

    #[test]
    fn a_pacer_rests_for_its_gap() {
        let mut pacer = pacer();
        assert!(!pacer.rests(Time::ZERO));
        pacer.sent(START, Time::from_us(2), THRICE);
        assert!(pacer.rests(Time::from_us(16) - Time(1)));
        assert!(!pacer.rests(Time::from_us(16)));
        assert!(pacer.adopt(Pace { gap: 0.0, ..THRICE }) && !pacer.rests(START));
    }

    #[test]
    fn what_is_packed_is_read_as_it_was_set() {
        let mut pacer = pacer();
        for state in [PacerState::Ready, PacerState::Paced(START), PacerState::Idle] {
            pacer.set_state(state);
            assert_eq!(pacer.state(), state);
        }
        for timer in [None, Some(START), None] {
            pacer.set_timer(timer);
            assert_eq!(pacer.timer(), timer);
        }
        assert!(matches!(pacer.flows(), PacerFlows::One(FlowId(0))));
        assert!(!pacer.is_steady && pacer.follows_sending, "the defaults assume nothing about the response");
        let several = Pacer::new(7, PacerFlows::Several(3), &Thrice);
        assert!(matches!(several.flows(), PacerFlows::Several(3)) && several.host == 7);
    }
}
