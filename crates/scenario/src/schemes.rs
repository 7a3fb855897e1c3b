//! What the choice of schemes means as a whole.

use becalm_control::{EchoParams, MarkingParams, Responding, ResponseParams, echo, marking, response};
use becalm_engine::Time;
use becalm_fabric::policy::{Notice, Response};

/// ACKs after which a response that has not moved never will.
const TRIES: u32 = 1000;

/// No marking, unless a scenario asks for it.
pub(crate) fn default_marking() -> MarkingParams {
    MarkingParams::NoMarks(marking::none::Params {})
}

/// Marks come back with ACKs, unless a scenario asks for something else.
pub(crate) fn default_echo() -> EchoParams {
    EchoParams::AckEcho(echo::ack::Params {})
}

/// No response, unless a scenario asks for one.
pub(crate) fn default_response() -> ResponseParams {
    ResponseParams::Unlimited(response::none::Params::default())
}

/// Whether a response would move on marked ACKs, but never moves where there are none.
pub(crate) fn idles_without_marks(params: &ResponseParams) -> bool {
    let moves = |marked: bool| {
        let mut response = Responding::new(params);
        let first = response.pace();
        (0..TRIES).any(|_| {
            response.notice(Time::ZERO, Notice::Ack { marked });
            response.pace() != first
        })
    };
    moves(true) && !moves(false)
}

/// Whether a response never delays a packet, however many marks come.
pub(crate) fn never_delays(params: &ResponseParams) -> bool {
    let mut response = Responding::new(params);
    (0..TRIES).all(|_| {
        let gap = response.pace().gap;
        response.notice(Time::ZERO, Notice::Ack { marked: true });
        gap == 0.0
    })
}

/// The window of a response in its initial state, which only ACKs open again.
pub(crate) fn window(params: &ResponseParams) -> u32 {
    Responding::new(params).pace().window
}

/// The smallest window that a response may come to.
pub(crate) fn least_window(params: &ResponseParams) -> u32 {
    match params {
        ResponseParams::BinaryFeedback(_) => 1,
        _ => window(params),
    }
}

/// Whether a marker goes by how full a buffer of limited size is.
pub(crate) fn needs_limited_buffer(params: &MarkingParams) -> bool {
    match params {
        MarkingParams::NoMarks(_)
        | MarkingParams::RegenerationCycle(_)
        | MarkingParams::QueueHysteresis(_)
        | MarkingParams::IntervalAverage(_)
        | MarkingParams::ExponentialAverage(_) => false,
        MarkingParams::Naive(_)
        | MarkingParams::InputTriggered(_)
        | MarkingParams::InputOutputTriggered(_)
        | MarkingParams::Ibta(_)
        | MarkingParams::QueueThreshold(_) => true,
    }
}

/// How many data packets one ACK stands for at the most; `None` where there are no ACKs.
pub(crate) fn ack_every(params: &EchoParams) -> Option<u32> {
    match params {
        EchoParams::AckEcho(_) => Some(1),
        EchoParams::Ibta(p) => (p.transport == echo::ibta::Transport::Reliable).then_some(p.ack_every),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_control::response::{Window, fixed, lipd};

    #[test]
    fn tells_a_response_that_waits_for_marks_from_one_that_does_not() {
        assert!(idles_without_marks(&ResponseParams::Lipd(lipd::Params::default())));
        assert!(!idles_without_marks(&default_response()));
        let slow = lipd::Params { initial: Some(0.1), ..lipd::Params::default() };
        assert!(!idles_without_marks(&ResponseParams::Lipd(slow)));
    }

    #[test]
    fn tells_a_response_that_delays_from_one_that_does_not() {
        let fixed = |rate| ResponseParams::Fixed(fixed::Params { rate, window: Window(1) });
        assert!(never_delays(&default_response()) && never_delays(&fixed(1.0)));
        assert!(!never_delays(&fixed(0.5)) && !never_delays(&ResponseParams::Lipd(lipd::Params::default())));
    }
}
