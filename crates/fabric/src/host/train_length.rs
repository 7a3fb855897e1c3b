//! The number of packets of a train.

use becalm_engine::Time;

use crate::config::PacketConfig;
use crate::policy::Pace;

/// Number of trains of a long message, at least: fewer would take long to pass a switch, compared to the message.
const LEAST_IN_MESSAGE: u64 = 32;

/// Number of trains in a window, at least: a window opens only when an entire train has arrived.
const LEAST_IN_WINDOW: u32 = 8;

/// The turns of a host's flows.
#[derive(Clone, Copy)]
pub(crate) struct Turns {
    /// Number of pacers that may send now, at least 1.
    pub ready: usize,
    /// Transmission time of a full packet.
    pub packet: Time,
}

/// Number of packets of a flow's next train, at least 1, for a message of this many bytes, of which `rest` are left.
///
/// It is the largest number that leaves the message enough trains, that does not exceed the packets which the pace allows
/// in the time of the longest train, and that leaves the window enough trains. If other pacers take turns with the flow,
/// the pace matters only if it is slower than the turns. Alone, the packets would not spread over more than the span.
pub(super) fn length(
    packets: &PacketConfig,
    (bytes, rest): (u64, u32),
    pace: Pace,
    in_flight: u32,
    turns: Turns,
) -> u32 {
    let mtu = u64::from(packets.mtu);
    let of_message = (bytes / mtu / LEAST_IN_MESSAGE).min(u64::from(packets.train)) as u32;
    // Between two packets of the flow, in transmission times.
    let ready = turns.ready as f64;
    let spacing = ready.max(1.0 + pace.gap);
    let of_pace = (f64::from(packets.train) * ready / spacing) as u32;
    let of_span = (packets.train_span.0 as f64 / turns.packet.0 as f64 / spacing) as u32;
    let of_window = (pace.window / LEAST_IN_WINDOW).min(pace.window.saturating_sub(in_flight));
    of_message.min(of_pace).min(of_span).min(of_window).min(rest.div_ceil(packets.mtu)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKETS: PacketConfig = PacketConfig {
        mtu: 1000,
        header: 10,
        ack: 20,
        cnp: 20,
        answers_vl: None,
        cnp_vl: None,
        train: 16,
        train_span: Time::MAX,
    };

    /// The only flow of a host, in a message that has this many packets and many left.
    fn of(message: u64, rest: u32, gap: f64, window: u32) -> u32 {
        among(1, &PACKETS, message, rest, Pace { gap, window })
    }

    fn among(ready: usize, packets: &PacketConfig, message: u64, rest: u32, pace: Pace) -> u32 {
        length(packets, (1000 * message, 1000 * rest), pace, 3, Turns { ready, packet: Time(100) })
    }

    #[test]
    fn a_message_has_many_trains_and_so_have_gaps_and_windows() {
        let free = |message| of(message, u32::MAX / 1000, 0.0, u32::MAX);
        assert_eq!([1, 63, 64, 512, 9999].map(free), [1, 1, 2, 16, 16]);
        assert_eq!([0.0, 1.0, 7.0, 99.0].map(|gap| of(9999, 5000, gap, u32::MAX)), [16, 8, 2, 1]);
        assert_eq!([1, 7, 24, 500].map(|window| of(9999, 5000, 0.0, window)), [1, 1, 3, 16]);
        assert_eq!([5, 1].map(|rest| of(9999, rest, 0.0, u32::MAX)), [5, 1], "the end of a message");
    }

    #[test]
    fn a_pace_matters_if_it_is_slower_than_the_turns_of_others() {
        let paced = |ready, gap| among(ready, &PACKETS, 9999, 5000, Pace { gap, window: u32::MAX });
        assert_eq!([(8, 6.0), (8, 7.0), (8, 15.0), (2, 15.0)].map(|(ready, gap)| paced(ready, gap)), [16, 16, 8, 2]);
    }

    #[test]
    fn packets_that_would_spread_over_the_span_are_not_taken_together() {
        // The span has the time of 40 packets.
        let packets = PacketConfig { train_span: Time(4000), ..PACKETS };
        let of = |ready, gap| among(ready, &packets, 9999, 5000, Pace { gap, window: u32::MAX });
        assert_eq!([1, 2, 4, 10, 40, 127].map(|ready| of(ready, 0.0)), [16, 16, 10, 4, 1, 1]);
        assert_eq!([of(10, 3.0), of(10, 19.0)], [4, 2]);
    }
}
