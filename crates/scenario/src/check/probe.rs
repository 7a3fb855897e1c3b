//! Properties of a response, determined by a trial.

use becalm_control::{Feedback, Responding, ResponseParams, ResponseScheme};
use becalm_engine::Time;
use becalm_fabric::policy::{Ack, FlowShape, Hop, Notice, Response};
use becalm_fabric::{NodeId, PortId, Rate};

/// Number of ACKs in a trial. A response that has not changed after this many ACKs never will.
pub(super) const TRIES: u32 = 1000;
/// A round-trip time above any threshold.
const LONG: Time = Time::from_ms(10_000);

/// A response for a trial.
pub(crate) fn response(params: &ResponseParams) -> Responding {
    let (rate, rtt) = (Rate::from_bits_per_second(8e9), Time::from_us(10));
    let mut response = Responding::new(params);
    response.start(&FlowShape { rate, mtu: 2048, header: 20, base_rtt: rtt, longest_rtt: rtt, hops: 2 });
    response
}

/// Lets a response handle an ACK with every sign of congestion: a mark, a long round trip and a full queue.
fn congest(response: &mut Responding, number: u32) {
    congest_at(response, number, LONG * u64::from(number + 1));
}

fn congest_at(response: &mut Responding, number: u32, now: Time) {
    let (output, rate) = (PortId { node: NodeId(0), port: 0 }, Rate::from_bits_per_second(8e9));
    let at = Time::from_us(100 * u64::from(number));
    let trail = [Hop { output, at, sent: 100_000 * u64::from(number), waiting: 1 << 30, rate }];
    let (sequence, next, held) = (number, number + 1, Time::ZERO);
    let ack = Ack { marked: 1, covers: 1, sequence, next, in_flight: 0, rtt: LONG, held, trail: &trail };
    response.notice(now, &Notice::Ack(ack));
}

/// Whether a response changes only with marked ACKs.
pub(super) fn idles_without_marks(params: &ResponseParams) -> bool {
    if !Responding::can_be_tried(params) {
        return false;
    }
    let moves = |marked: bool| {
        let mut response = response(params);
        let first = response.pace();
        (0..TRIES).any(|_| {
            response.notice(Time::ZERO, &Notice::ack(marked));
            response.pace() != first
        })
    };
    Responding::feedback(params) == Feedback::Marks && moves(true) && !moves(false)
}

/// Whether a response never delays a packet, even after much congestion.
pub(super) fn never_delays(params: &ResponseParams) -> bool {
    if !Responding::can_be_tried(params) {
        return false;
    }
    // Timers undo the effect of marks. Responses that depend on the round-trip time change once per round
    // trip.
    [Time::ZERO, LONG].into_iter().all(|step| {
        let mut response = response(params);
        (0..TRIES).all(|number| {
            let gap = response.pace().gap;
            congest_at(&mut response, number, step * u64::from(number + 1));
            gap == 0.0
        })
    })
}

/// Whether a response returns to its initial state only because its flow restarts.
pub(super) fn loses_state(params: &ResponseParams) -> bool {
    if !Responding::can_be_tried(params) {
        return true;
    }
    let first = response(params).pace();
    let moved = |notify: fn(&mut Responding, u32)| {
        let mut response = response(params);
        let moved = (0..TRIES).any(|number| {
            notify(&mut response, number);
            response.pace() != first
        });
        (moved, response)
    };
    let moves = [
        moved(congest),
        moved(|response, _| response.notice(Time::ZERO, &Notice::Becn)),
        moved(|response, _| response.notice(Time::ZERO, &Notice::ack(false))),
    ];
    let mut moving = moves.into_iter().filter(|(moves, _)| *moves).map(|(_, response)| response).peekable();
    // Packets in flight from an earlier message do not fill the window of the next message.
    if moving.peek().is_none() {
        return first.window < u32::MAX;
    }
    moving.all(|mut response| {
        response.notice(Time::ZERO, &Notice::Restart);
        response.pace() == first
    })
}

/// The smallest window that a response may reach. Only ACKs reopen a window.
pub(super) fn least_window(params: &ResponseParams) -> u32 {
    match Responding::moves_window(params) {
        true => 1,
        false if Responding::can_be_tried(params) => response(params).pace().window,
        false => u32::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_control::response::{Window, fixed, ibta, lipd};

    #[test]
    fn tells_a_response_that_waits_for_marks_from_one_that_does_not() {
        assert!(idles_without_marks(&ResponseParams::Lipd(lipd::Params::default())));
        assert!(!idles_without_marks(&ResponseParams::default()));
        let slow = lipd::Params { initial: Some(0.1), ..lipd::Params::default() };
        assert!(!idles_without_marks(&ResponseParams::Lipd(slow)));
    }

    #[test]
    fn tells_a_response_that_restarts_from_one_that_does_not() {
        assert!(loses_state(&ResponseParams::Lipd(lipd::Params { persistent: false, ..lipd::Params::default() })));
        assert!(!loses_state(&ResponseParams::Lipd(lipd::Params { persistent: true, ..lipd::Params::default() })));
        assert!(!loses_state(&ResponseParams::default()));
        assert!(loses_state(&ResponseParams::Fixed(fixed::Params {
            rate: 1.0,
            window: Window(4),
            pacing: fixed::Pacing::Gap
        })));
    }

    #[test]
    fn tells_a_response_that_delays_from_one_that_does_not() {
        let fixed = |rate| ResponseParams::Fixed(fixed::Params { rate, window: Window(1), pacing: fixed::Pacing::Gap });
        assert!(never_delays(&ResponseParams::default()) && never_delays(&fixed(1.0)));
        assert!(!never_delays(&fixed(0.5)) && !never_delays(&ResponseParams::Lipd(lipd::Params::default())));
        assert!(!never_delays(&ResponseParams::Ibta(ibta::Params::default())), "its timer removes the delay");
    }
}
