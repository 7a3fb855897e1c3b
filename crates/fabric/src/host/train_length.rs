//! The number of packets of a train.

use crate::config::PacketConfig;
use crate::policy::Pace;

/// Number of trains of a long message, at least: fewer would take long to pass a switch, compared to the message.
const LEAST_IN_MESSAGE: u64 = 32;

/// Number of trains in a window, at least: a window opens only when an entire train has arrived.
const LEAST_IN_WINDOW: u32 = 8;

/// What the length of a train depends on, in addition to the sizes of packets.
pub(super) struct Next {
    /// Size of the message.
    pub bytes: u64,
    /// Bytes of the message that are left; `None` if the train begins the message.
    pub rest: Option<u32>,
    pub pace: Pace,
    pub in_flight: u32,
    /// Pacers of the host that may send now, including this one.
    pub ready: usize,
    /// A number that differs between flows.
    pub flow: u32,
}

/// Number of packets of a flow's next train, at least 1.
///
/// It is the largest number that leaves the message enough trains, that does not exceed the packets which the pace allows
/// in the time of the longest train, and that leaves the window enough trains. If other pacers of the host are ready, the
/// pace must allow fewer packets in that time only if it is slower than the flow's turns.
///
/// The first train of a message is shorter in some flows than in others. Otherwise, trains of messages that begin together
/// would stay in step.
pub(super) fn length(packets: &PacketConfig, next: &Next) -> u32 {
    let &Next { bytes, rest, pace, in_flight, ready, flow } = next;
    let of_message = (bytes / u64::from(packets.mtu) / LEAST_IN_MESSAGE).min(u64::from(packets.train)) as u32;
    let of_rest = match rest {
        Some(rest) => rest.div_ceil(packets.mtu),
        None => 1 + flow % of_message.max(1),
    };
    let share = ready.max(1) as f64 / (1.0 + pace.gap);
    let of_pace = (f64::from(packets.train) * share.min(1.0)) as u32;
    let of_window = (pace.window / LEAST_IN_WINDOW).min(pace.window.saturating_sub(in_flight));
    of_message.min(of_rest).min(of_pace).min(of_window).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKETS: PacketConfig =
        PacketConfig { mtu: 1000, header: 10, ack: 20, cnp: 20, answers_vl: None, cnp_vl: None, train: 16 };

    /// The only flow of a host, with a message of this many packets.
    fn next(message: u64) -> Next {
        let (rest, pace) = (Some(u32::MAX), Pace { gap: 0.0, window: u32::MAX });
        Next { bytes: 1000 * message, rest, pace, in_flight: 3, ready: 1, flow: 0 }
    }

    fn paced(gap: f64, ready: usize) -> u32 {
        length(&PACKETS, &Next { pace: Pace { gap, window: u32::MAX }, ready, ..next(9999) })
    }

    fn within(window: u32) -> u32 {
        length(&PACKETS, &Next { pace: Pace { gap: 0.0, window }, ..next(9999) })
    }

    #[test]
    fn a_message_has_many_trains_and_so_have_gaps_and_windows() {
        assert_eq!([1, 63, 64, 512, 9999].map(|message| length(&PACKETS, &next(message))), [1, 1, 2, 16, 16]);
        assert_eq!([0.0, 1.0, 7.0, 99.0].map(|gap| paced(gap, 1)), [16, 8, 2, 1]);
        assert_eq!([1, 7, 24, 500].map(within), [1, 1, 3, 16]);
        let ends = |rest: u32| length(&PACKETS, &Next { rest: Some(1000 * rest), ..next(9999) });
        assert_eq!([5, 1].map(ends), [5, 1], "the end of a message");
    }

    #[test]
    fn a_pace_that_is_faster_than_the_turns_of_a_host_shortens_no_train() {
        assert_eq!([1, 4, 8, 100].map(|ready| paced(7.0, ready)), [2, 8, 16, 16]);
    }

    #[test]
    fn first_trains_of_messages_that_begin_together_differ() {
        let begins = |flow| length(&PACKETS, &Next { rest: None, flow, ..next(128) });
        assert_eq!([0, 1, 2, 3, 4].map(begins), [1, 2, 3, 4, 1]);
        assert_eq!(length(&PACKETS, &Next { rest: None, flow: 7, ..next(1) }), 1);
    }
}
