//! Priority-based flow control (IEEE 802.1Qbb): thresholds, pause delay and headroom.

use becalm_engine::Time;

use crate::config::Cbfc;
use crate::network::link::Rate;

/// The policy that keeps a sender from overflowing a buffer.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum FlowControl {
    /// A sender tracks the free space in the next buffer and reserves it before it sends.
    #[default]
    Credits,
    /// As [`FlowControl::Credits`], but credit returns in messages, which take a share of the link.
    Cbfc(Cbfc),
    /// A buffer pauses its sender, separately for each virtual lane.
    Pfc(Pfc),
}

impl FlowControl {
    /// The settings of PFC, if it is in use.
    pub fn pfc(&self) -> Option<&Pfc> {
        match self {
            FlowControl::Credits | FlowControl::Cbfc(_) => None,
            FlowControl::Pfc(pfc) => Some(pfc),
        }
    }

    /// The settings of CBFC, if it is in use.
    pub fn cbfc(&self) -> Option<Cbfc> {
        match self {
            FlowControl::Cbfc(cbfc) => Some(*cbfc),
            FlowControl::Credits | FlowControl::Pfc(_) => None,
        }
    }

    /// Whether buffers pause their senders, which then need no credit.
    pub(crate) fn pauses(&self) -> bool {
        self.pfc().is_some()
    }
}

/// Settings of PFC. XOFF is the size of a buffer, [`SwitchConfig::buffer`](crate::SwitchConfig::buffer), in
/// bytes. Headroom is additional.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pfc {
    /// Fill level, in bytes, to which a buffer must drain before its sender resumes; at most XOFF. `None` for
    /// two packets of the largest size below XOFF.
    pub xon: Option<u32>,
    /// Memory shared by the input buffers of a switch; `None` if each has its own. A host's buffers are never
    /// shared.
    pub pool: Option<SharedPool>,
    /// Bytes of headroom above XOFF; `None` for the most that a buffer can need.
    pub headroom: Option<u32>,
    /// Time from a buffer's decision until its sender obeys, excluding the cable's delay; `None` for the
    /// worst case.
    pub delay: Option<Time>,
    /// The sender's response time in the worst case; `None` for the standard's maximum at the link's rate,
    /// [`standard_quanta`].
    pub response: Option<PauseResponse>,
    /// The watchdog of switches against storms of pauses, if there is one.
    pub watchdog: Option<Watchdog>,
}

/// A watchdog polls the queues of a switch's outputs, and acts on those that have been paused for too long.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Watchdog {
    /// The rule by which it finds a storm.
    pub rule: WatchdogRule,
    /// What it does.
    pub action: WatchdogAction,
    /// Interval of polls, longer than 0.
    pub poll: Time,
    /// Time for which a storm must last.
    pub detection: Time,
    /// Time without any pause after which a queue is restored.
    pub restoration: Time,
}

impl Watchdog {
    /// Whether packets may be lost.
    pub fn loses(&self) -> bool {
        self.action != WatchdogAction::Alert
    }
}

/// The rule by which a watchdog finds a storm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchdogRule {
    /// Packets wait, none has been sent since the last poll, and the queue was paused for over 99% of the time.
    Mellanox,
    /// The queue was paused at both polls and did not resume in between.
    Broadcom,
}

/// What a watchdog does with a queue in a storm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchdogAction {
    /// Discards the packets that wait, that come for the queue, and that arrive at its port on its lane.
    Drop,
    /// Sends in spite of pauses. What the buffer at the other end has no room for is lost.
    Forward,
    /// Only counts.
    Alert,
}

/// Memory shared by the input buffers of a switch, excluding their headroom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SharedPool {
    /// Size in bytes; `None` for the sum of the sizes that separate buffers would have.
    pub bytes: Option<u64>,
    /// Ratio of XOFF to the free memory.
    pub alpha: f64,
    /// Bytes between XOFF and XON; `None` for two packets of the largest size.
    pub offset: Option<u32>,
}

/// Bytes of a pause frame on the wire, including preamble and interframe gap.
pub const PAUSE_FRAME_BYTES: u32 = 84;

/// The time in which a sender responds to a pause.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PauseResponse {
    /// A time.
    Time(Time),
    /// Pause quanta, the transmission times of 512 bits on the link.
    Quanta(u32),
}

/// Bytes transmitted in one quantum.
const QUANTUM_BYTES: u32 = 64;

/// Maximum response time in quanta, by link rate in Gb/s (IEEE 802.3, clause 31B.3.7).
const STANDARD_QUANTA: [(f64, u32); 10] = [
    (0.1, 1),
    (1.0, 2),
    (10.0, 67),
    (25.0, 80),
    (40.0, 118),
    (50.0, 147),
    (100.0, 394),
    (200.0, 453),
    (400.0, 905),
    (800.0, 905),
];

/// The standard's response time at this rate, in quanta. A rate between entries uses the next higher one; a
/// rate above the last entry uses the last.
pub fn standard_quanta(rate: Rate) -> u32 {
    let gigabits = rate.bits_per_second() / 1e9;
    let next = STANDARD_QUANTA.iter().find(|(named, _)| gigabits <= named * (1.0 + 1e-9));
    next.unwrap_or(&STANDARD_QUANTA[STANDARD_QUANTA.len() - 1]).1
}

impl Pfc {
    /// Time from a buffer's decision until its sender obeys, excluding the cable's delay. In the worst case,
    /// the pause frame waits behind a packet of `largest` bytes. `back` is the rate of the link that carries
    /// the pause frame.
    pub fn delay_on(&self, back: Rate, largest: u32) -> Time {
        let response = match self.response {
            Some(PauseResponse::Time(time)) => time,
            Some(PauseResponse::Quanta(quanta)) => back.time_of(quanta * QUANTUM_BYTES),
            None => back.time_of(standard_quanta(back) * QUANTUM_BYTES),
        };
        let frames = back.time_of(largest) + back.time_of(PAUSE_FRAME_BYTES);
        self.delay.unwrap_or(frames + response)
    }
}

/// Bytes that a buffer can receive, starting with the packet that crosses XOFF: the headroom that it needs.
///
/// The sender does not yet obey the pause during the time `blind` after the start of the packet that crosses XOFF.
/// `blind` includes the delays of the pause, the cable and forwarding. The sender transmits packets back to back during
/// this time, and the last one may begin just before its end. This is the tight form of the usual sum, 2 MTU + 2 C d +
/// 84 B + C r, where C d covers the cable and C r the response. If a packet is counted only after its last byte has
/// arrived (`whole`), the packet that crosses XOFF has already left the cable by then and is counted in addition.
/// Packets have `smallest` to `largest` bytes.
pub fn headroom(rate: Rate, blind: Time, whole: bool, (smallest, largest): (u32, u32)) -> u32 {
    let before = rate.bytes_before(blind, smallest);
    let ends = if whole { 2 } else { 1 };
    u32::try_from(before + ends * u64::from(largest)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: (u32, u32) = (20, 2068);

    #[test]
    fn the_worst_delay_is_a_packet_a_frame_and_the_response() {
        let rate = Rate::from_bits_per_second(8e9);
        assert_eq!(Pfc::default().delay_on(rate, SIZES.1), Time::from_ns(2068 + 84 + 67 * 64));
        let quanta = Pfc { response: Some(PauseResponse::Quanta(60)), ..Pfc::default() };
        assert_eq!(quanta.delay_on(rate, SIZES.1), Time::from_ns(2068 + 84 + 3840));
        let response = Pfc { response: Some(PauseResponse::Time(Time::from_ns(8))), ..Pfc::default() };
        assert_eq!(response.delay_on(rate, SIZES.1), Time::from_ns(2068 + 84 + 8));
        let given = Pfc { delay: Some(Time::from_ns(7)), ..Pfc::default() };
        assert_eq!(given.delay_on(rate, SIZES.1), Time::from_ns(7));
    }

    #[test]
    fn the_standard_names_quanta_by_rate() {
        let quanta = |gigabits: f64| standard_quanta(Rate::from_bits_per_second(gigabits * 1e9));
        let named = [0.1, 1.0, 10.0, 25.0, 40.0, 50.0, 100.0, 200.0, 400.0, 800.0].map(quanta);
        assert_eq!(named, [1, 2, 67, 80, 118, 147, 394, 453, 905, 905]);
        assert_eq!([0.01, 8.0, 56.0, 300.0, 1600.0].map(quanta), [1, 67, 394, 905, 905], "the next entry's quanta");
    }

    #[test]
    fn headroom_is_what_a_blind_sender_sends_and_one_packet() {
        let rate = Rate::from_bits_per_second(8e9);
        // 999 B are sent completely before 1000 ns have passed. A packet that would begin at 1000 ns is
        // paused.
        assert_eq!(headroom(rate, Time::from_ns(1000), false, SIZES), 999 + 2068);
        assert_eq!(headroom(rate, Time::from_ns(1000), true, SIZES), 999 + 2 * 2068);
        assert_eq!(headroom(rate, Time::ZERO, false, SIZES), 2068);
        // Packets of 20 B need 12,307 or 12,308 ps at 13 Gb/s. Rounding can shorten each by half a
        // picosecond.
        let odd = headroom(Rate::from_bits_per_second(13e9), Time::from_us(1), false, SIZES) - 2068;
        assert_eq!(odd, 1625);
    }
}
