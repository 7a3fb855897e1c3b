//! Priority-based flow control (IEEE 802.1Qbb): thresholds, the delay of a pause, and headroom.

use becalm_engine::Time;

use crate::network::link::Rate;

/// The policy that keeps a sender from filling a buffer beyond its end.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum FlowControl {
    /// A sender knows the room in the next buffer, and takes it before it sends.
    #[default]
    Credits,
    /// A buffer pauses its sender, one virtual lane at a time.
    Pfc(Pfc),
}

impl FlowControl {
    /// The settings of PFC; `None` with credit.
    pub fn pfc(&self) -> Option<&Pfc> {
        match self {
            FlowControl::Credits => None,
            FlowControl::Pfc(pfc) => Some(pfc),
        }
    }
}

/// Settings of PFC. XOFF of a buffer is its size, [`SwitchConfig::buffer`](crate::SwitchConfig::buffer), in bytes;
/// headroom comes on top of that.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pfc {
    /// Bytes of a buffer down to which its sender stays paused, at most XOFF; two packets of the largest size below XOFF if
    /// `None`.
    pub xon: Option<u32>,
    /// The memory that the input buffers of a switch share; `None` if each has its own. Hosts have their own always.
    pub pool: Option<SharedPool>,
    /// Bytes that a buffer has above XOFF; as many as it can need if `None`.
    pub headroom: Option<u32>,
    /// Time from the decision of a buffer until its sender obeys, without the delay of the cable; that of the
    /// worst case if `None`.
    pub delay: Option<Time>,
    /// The part of the worst case in which the sender responds; that of the standard for the link's rate if `None`,
    /// [`standard_quanta`].
    pub response: Option<PauseResponse>,
}

/// Memory that the input buffers of a switch share, without their headroom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SharedPool {
    /// Its bytes; as many as the buffers would have apart if `None`.
    pub bytes: Option<u64>,
    /// XOFF as a multiple of what is free.
    pub alpha: f64,
    /// Bytes from XOFF down to XON; two packets of the largest size if `None`.
    pub offset: Option<u32>,
}

/// Bytes of a pause frame on the wire, its preamble and the gap between frames included.
pub const PAUSE_FRAME_BYTES: u32 = 84;

/// The time that a sender takes to respond to a pause.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PauseResponse {
    /// A time.
    Time(Time),
    /// Quanta, in each of which its link carries 512 bits.
    Quanta(u32),
}

/// Bytes of a quantum.
const QUANTUM_BYTES: u32 = 64;

/// The most quanta in which a sender responds, by the rate of its link in Gb/s (IEEE 802.3, clause 31B.3.7).
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

/// The quanta of the standard at this rate: those of the next rate that it names, or of the last one.
pub fn standard_quanta(rate: Rate) -> u32 {
    let gigabits = rate.bits_per_second() / 1e9;
    let next = STANDARD_QUANTA.iter().find(|(named, _)| gigabits <= named * (1.0 + 1e-9));
    next.unwrap_or(&STANDARD_QUANTA[STANDARD_QUANTA.len() - 1]).1
}

impl Pfc {
    /// Time from the decision of a buffer until its sender obeys, without the delay of the cable. In the worst case
    /// the pause waits for a packet of the `largest` size, in bytes; `back` is the rate of the link that it takes.
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

/// Bytes that a buffer can receive from the packet that crosses XOFF on: the headroom that it needs.
///
/// The sender is blind for a time: it begins packets until `blind` after the start of the packet that crosses. These
/// are the delays of the pause, of the cable and of forwarding. Packets that begin and end within it follow each other;
/// one more begins just before its end. It is the tight form of the usual sum, 2 MTU + 2 C d + 84 B + C r, with C d
/// for the cable and C r for the response. Where a packet counts only when the whole of it is in, the one that crosses is
/// off the cable by then, and comes on top. Packets have `smallest` to `largest` bytes.
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
        assert_eq!([0.01, 8.0, 56.0, 300.0, 1600.0].map(quanta), [1, 67, 394, 905, 905], "of the next rate");
    }

    #[test]
    fn headroom_is_what_a_blind_sender_sends_and_one_packet() {
        let rate = Rate::from_bits_per_second(8e9);
        // 999 B end before 1000 ns have passed; one that begins then is paused.
        assert_eq!(headroom(rate, Time::from_ns(1000), false, SIZES), 999 + 2068);
        assert_eq!(headroom(rate, Time::from_ns(1000), true, SIZES), 999 + 2 * 2068);
        assert_eq!(headroom(rate, Time::ZERO, false, SIZES), 2068);
        // Packets of 20 B take 12,307 or 12,308 ps at 13 Gb/s: each may be half of a picosecond shorter than it is.
        let odd = headroom(Rate::from_bits_per_second(13e9), Time::from_us(1), false, SIZES) - 2068;
        assert_eq!(odd, 1625);
    }
}
