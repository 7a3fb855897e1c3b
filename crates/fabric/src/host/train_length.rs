//! The number of packets of a train.

use crate::config::PacketConfig;
use crate::policy::Pace;

/// Number of trains of a long message, at least: fewer would take long to pass a switch, compared to the message.
const LEAST_IN_MESSAGE: u64 = 32;

/// Number of trains in a window, at least: a window opens only when an entire train has arrived.
const LEAST_IN_WINDOW: u32 = 8;

/// Number of packets of a flow's next train, at least 1, for a message of this many bytes, of which `rest` are left.
///
/// It is the largest number that leaves the message enough trains, that does not exceed the packets which the pace allows
/// in the time of the longest train, and that leaves the window enough trains.
pub(super) fn length(packets: &PacketConfig, (bytes, rest): (u64, u32), pace: Pace, in_flight: u32) -> u32 {
    let mtu = u64::from(packets.mtu);
    let of_message = (bytes / mtu / LEAST_IN_MESSAGE).min(u64::from(packets.train)) as u32;
    let of_pace = (f64::from(packets.train) / (1.0 + pace.gap)) as u32;
    let of_window = (pace.window / LEAST_IN_WINDOW).min(pace.window.saturating_sub(in_flight));
    of_message.min(of_pace).min(of_window).min(rest.div_ceil(packets.mtu)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKETS: PacketConfig =
        PacketConfig { mtu: 1000, header: 10, ack: 20, cnp: 20, answers_vl: None, cnp_vl: None, train: 16 };

    /// The length of a train from a message of this many packets.
    fn of(message: u64, rest: u32, gap: f64, window: u32) -> u32 {
        length(&PACKETS, (1000 * message, 1000 * rest), Pace { gap, window }, 3)
    }

    #[test]
    fn a_message_has_many_trains_and_so_have_gaps_and_windows() {
        let free = |message| of(message, u32::MAX / 1000, 0.0, u32::MAX);
        assert_eq!([1, 63, 64, 512, 9999].map(free), [1, 1, 2, 16, 16]);
        assert_eq!([0.0, 1.0, 7.0, 99.0].map(|gap| of(9999, 5000, gap, u32::MAX)), [16, 8, 2, 1]);
        assert_eq!([1, 7, 24, 500].map(|window| of(9999, 5000, 0.0, window)), [1, 1, 3, 16]);
        assert_eq!([5, 1].map(|rest| of(9999, rest, 0.0, u32::MAX)), [5, 1], "the end of a message");
    }
}
