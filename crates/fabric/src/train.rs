//! Trains: several packets of one message that are simulated as one packet.
//!
//! A train is made at the source, and takes the time and the space of its packets: it has as many headers, and needs as
//! much credit. It moves as they would if they followed each other without a gap, as a switch begins to forward a train
//! once its first header has arrived. Everything that counts packets counts those of a train. Its destination answers each
//! of them, and the answers travel as a train as well, which the source takes apart.
//!
//! What changes is that no other packet comes between those of a train, that they wait for credit together, and that a
//! switch marks all of them or none.

use becalm_engine::Time;

use crate::config::PacketConfig;
use crate::packet::Packet;
use crate::policy::Pace;

/// Number of trains of a long message, at least: fewer would take long to pass a switch, compared to the message.
const LEAST_IN_MESSAGE: u64 = 32;

/// Number of trains in a window, at least: a window opens only when an entire train has arrived.
const LEAST_IN_WINDOW: u32 = 8;

/// The packets that a packet stands for, and whether the last of them ends its message. An ACK is the last if it
/// acknowledges the end of a message.
// The lowest bit is the end. The others are the number of packets less 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Train(u8);

impl Train {
    /// A single packet that ends its message.
    pub const LAST: Train = Train(1);
    /// Largest number of packets.
    pub const MOST: u32 = 16;

    /// A train of 1 to [`Train::MOST`] packets.
    #[inline(always)]
    pub const fn new(packets: u32, is_last: bool) -> Train {
        Train((packets as u8 - 1) << 1 | is_last as u8)
    }

    /// Number of packets.
    #[inline(always)]
    pub const fn packets(self) -> u32 {
        (self.0 >> 1) as u32 + 1
    }

    /// Whether the last packet ends its message.
    #[inline(always)]
    pub const fn is_last(self) -> bool {
        self.0 & 1 != 0
    }

    /// Whether this is a single packet.
    #[inline(always)]
    pub const fn is_single(self) -> bool {
        self.0 < 2
    }

    /// The same packets, of which the last ends a message if that of either train does.
    pub(crate) fn ending_with(self, other: Train) -> Train {
        Train(self.0 | other.0 & 1)
    }
}

/// Number of packets of a flow's next train, at least 1, for a message of this many bytes, of which `rest` are left.
///
/// It is the largest number that leaves the message enough trains, that does not exceed the packets which the pace allows
/// in the time of the longest train, and that leaves the window enough trains.
pub(crate) fn length(packets: &PacketConfig, (bytes, rest): (u64, u32), pace: Pace, in_flight: u32) -> u32 {
    let mtu = u64::from(packets.mtu);
    let of_message = (bytes / mtu / LEAST_IN_MESSAGE).min(u64::from(packets.train)) as u32;
    let of_pace = (f64::from(packets.train) / (1.0 + pace.gap)) as u32;
    let of_window = (pace.window / LEAST_IN_WINDOW).min(pace.window.saturating_sub(in_flight));
    of_message.min(of_pace).min(of_window).min(rest.div_ceil(packets.mtu)).max(1)
}

/// The data packets of a train, each as if it had been sent alone, where full packets have `full` bytes.
pub(crate) fn data(train: &Packet, full: u32) -> impl Iterator<Item = Packet> + use<> {
    let (train, count) = (*train, train.train.packets());
    (0..count).map(move |i| {
        let last = i + 1 == count;
        let size = if last { train.size - i * full } else { full };
        Packet { size, sequence: train.sequence + i, train: Train::new(1, last && train.train.is_last()), ..train }
    })
}

/// A train of this many copies of an answer, which contains what all of them report.
pub(crate) fn of_answers(answer: Packet, count: u32) -> Packet {
    Packet { size: answer.size * count, train: Train::new(count, answer.train.is_last()), ..answer }
}

/// The ACKs or congestion notification packets of a train. `early` is the time by which the first packet that they answer
/// was sent before the last one.
pub(crate) fn answers(train: &Packet, early: Time) -> impl Iterator<Item = Packet> + use<> {
    let (train, count) = (*train, train.train.packets());
    // The share of each, of which the first ones take what is left over.
    let share = move |all: u16, i: u32| (u32::from(all) / count + u32::from(i < u32::from(all) % count)) as u16;
    let mut covered = 0;
    (0..count).map(move |i| {
        let (covers, marks) = (share(train.covers, i), share(train.marks, i));
        covered += covers;
        Packet {
            size: train.size / count,
            covers,
            marks,
            sequence: train.sequence - u32::from(train.covers - covered),
            injected: train.injected + early,
            train: Train::new(1, i + 1 == count && train.train.is_last()),
            ..train
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Kind;

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

    #[test]
    fn a_train_falls_into_the_packets_that_it_stands_for() {
        let train = Packet { size: 2 * 1010 + 310, sequence: 40, train: Train::new(3, true), ..Packet::default() };
        let parts: Vec<_> = data(&train, 1010).map(|part| (part.sequence, part.size, part.train)).collect();
        let middle = Train::default();
        assert_eq!(parts, [(40, 1010, middle), (41, 1010, middle), (42, 310, Train::LAST)]);
    }

    #[test]
    fn answers_share_what_they_cover_and_report() {
        let one = Packet { kind: Kind::Ack, size: 20, covers: 7, marks: 4, sequence: 49, ..Packet::default() };
        let train = of_answers(Packet { train: Train::LAST, ..one }, 3);
        assert_eq!((train.size, train.train.packets()), (60, 3));
        let parts: Vec<_> = answers(&train, Time(5)).collect();
        let shares: Vec<_> = parts.iter().map(|part| (part.covers, part.marks, part.sequence, part.size)).collect();
        assert_eq!(shares, [(3, 2, 45, 20), (2, 1, 47, 20), (2, 1, 49, 20)]);
        assert_eq!(parts.iter().map(|part| part.train.is_last()).collect::<Vec<_>>(), [false, false, true]);
        assert!(parts.iter().all(|part| part.injected == Time(5)));
    }
}
