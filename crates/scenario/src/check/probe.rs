//! Properties of a response, found by a trial.

use becalm_control::{Responding, ResponseParams, ResponseScheme};
use becalm_engine::Time;
use becalm_fabric::policy::{Notice, Response};

/// ACKs in a trial: a response that has not moved by then never will.
const TRIES: u32 = 1000;

/// Whether a response would move on marked ACKs, but never moves where there are none.
pub(super) fn idles_without_marks(params: &ResponseParams) -> bool {
    let moves = |marked: bool| {
        let mut response = Responding::new(params);
        let first = response.pace();
        (0..TRIES).any(|_| {
            response.notice(Time::ZERO, &Notice::ack(marked));
            response.pace() != first
        })
    };
    moves(true) && !moves(false)
}

/// Whether a response never delays a packet, even after many marks.
pub(super) fn never_delays(params: &ResponseParams) -> bool {
    let mut response = Responding::new(params);
    (0..TRIES).all(|_| {
        let gap = response.pace().gap;
        response.notice(Time::ZERO, &Notice::ack(true));
        gap == 0.0
    })
}

/// Whether a response is in its initial state again after a flow begins anew, and would otherwise not be.
pub(super) fn begins_anew(params: &ResponseParams) -> bool {
    let first = Responding::new(params).pace();
    let moved = |notice: fn() -> Notice| {
        let mut response = Responding::new(params);
        let marked = (0..TRIES).any(|_| {
            response.notice(Time::ZERO, &notice());
            response.pace() != first
        });
        (marked, response)
    };
    let moves = [moved(|| Notice::ack(true)), moved(|| Notice::Becn), moved(|| Notice::ack(false))];
    let mut moving = moves.into_iter().filter(|(moves, _)| *moves).map(|(_, response)| response).peekable();
    // The packets under way of an earlier message do not fill the window of the next one.
    if moving.peek().is_none() {
        return first.window < u32::MAX;
    }
    moving.all(|mut response| {
        response.notice(Time::ZERO, &Notice::Restart);
        response.pace() == first
    })
}

/// The smallest window that a response may come to, which only ACKs open again.
pub(super) fn least_window(params: &ResponseParams) -> u32 {
    if Responding::moves_window(params) { 1 } else { Responding::new(params).pace().window }
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_control::response::{Window, fixed, lipd};

    #[test]
    fn tells_a_response_that_waits_for_marks_from_one_that_does_not() {
        assert!(idles_without_marks(&ResponseParams::Lipd(lipd::Params::default())));
        assert!(!idles_without_marks(&ResponseParams::default()));
        let slow = lipd::Params { initial: Some(0.1), ..lipd::Params::default() };
        assert!(!idles_without_marks(&ResponseParams::Lipd(slow)));
    }

    #[test]
    fn tells_a_response_that_begins_anew_from_one_that_does_not() {
        assert!(begins_anew(&ResponseParams::Lipd(lipd::Params { persistent: false, ..lipd::Params::default() })));
        assert!(!begins_anew(&ResponseParams::Lipd(lipd::Params { persistent: true, ..lipd::Params::default() })));
        assert!(!begins_anew(&ResponseParams::default()));
        assert!(begins_anew(&ResponseParams::Fixed(fixed::Params { rate: 1.0, window: Window(4) })));
    }

    #[test]
    fn tells_a_response_that_delays_from_one_that_does_not() {
        let fixed = |rate| ResponseParams::Fixed(fixed::Params { rate, window: Window(1) });
        assert!(never_delays(&ResponseParams::default()) && never_delays(&fixed(1.0)));
        assert!(!never_delays(&fixed(0.5)) && !never_delays(&ResponseParams::Lipd(lipd::Params::default())));
    }
}
