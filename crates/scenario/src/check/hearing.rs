//! Trials that determine which marks echoes report and whether responses react to marks.

use becalm_control::{EchoParams, EchoScheme, Echoing, Responding, ResponseParams, ResponseScheme};
use becalm_engine::Time;
use becalm_fabric::policy::{Ack, Echo, Notice, Response, Unanswered};
use becalm_fabric::{Packet, Train};

use super::probe::{TRIES, response};

/// Whether an echo skips marks of a flow that arrive soon after a reported mark.
pub(crate) fn limits_marks(echo: &EchoParams) -> bool {
    let unanswered = Unanswered { packets: 1, marked: 1, notified: Some(Time::ZERO), ..Unanswered::default() };
    let packet = Packet { size: 2068, train: Train::LAST, marked: true, ..Packet::default() };
    let mut echo = Echoing::new(echo);
    echo.answer(Time::ZERO, &packet, &Unanswered { notified: None, ..unanswered });
    let answer = echo.answer(Time::from_ns(1), &packet, &unanswered);
    !answer.cnp && answer.ack.is_none_or(|marks| marks == 0)
}

/// Whether marks ever change the behaviour of a response, at a short or a long round trip.
pub(crate) fn hears_marks(params: &ResponseParams) -> bool {
    Responding::can_be_tried(params) && [Time::from_us(10), Time::from_ms(10)].iter().any(|&rtt| hears_at(params, rtt))
}

fn hears_at(params: &ResponseParams, rtt: Time) -> bool {
    let (mut marked_one, mut clear_one) = (response(params), response(params));
    let tell = |response: &mut Responding, number: u32, marked: u32| {
        let (sequence, next) = (number, number + 1);
        let ack = Ack { marked, covers: 1, sequence, next, rtt, ..Ack::default() };
        response.notice(rtt * u64::from(number + 1), &Notice::Ack(ack));
    };
    (0..TRIES).any(|number| {
        tell(&mut marked_one, number, 1);
        tell(&mut clear_one, number, 0);
        marked_one.pace() != clear_one.pace()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_control::response::{dcqcn, dctcp, hpcc, lipd, nscc, timely};

    #[test]
    fn responses_that_go_by_marks_hear_them() {
        let hears = |params| hears_marks(&params);
        assert!(hears(ResponseParams::Dctcp(dctcp::Params::default())));
        assert!(hears(ResponseParams::Dcqcn(dcqcn::Params::default())));
        assert!(hears(ResponseParams::Lipd(lipd::Params::default())));
        assert!(hears(ResponseParams::Nscc(nscc::Params::default())), "with a long delay");
        assert!(!hears(ResponseParams::Timely(timely::Params::default())));
        assert!(!hears(ResponseParams::Hpcc(hpcc::Params::default())));
        assert!(!hears(ResponseParams::default()));
    }
}
