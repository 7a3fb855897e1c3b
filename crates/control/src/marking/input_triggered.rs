//! Input-triggered marking: a full input buffer marks all packets that wait for its outputs.
//!
//! # What it does
//! When an arriving packet fills its input buffer, every output for which the buffer holds a packet counts as
//! congested. All packets in the switch that wait for a congested output are marked, whatever their input: the switch
//! copies their number (`cnt1`) to a second counter (`cnt2`), and marks that many of the next departures.
//!
//! # Source
//! J. R. Santos, Y. Turner, G. Janakiraman, "Evaluation of Congestion Detection Mechanisms for InfiniBand Switches",
//! GLOBECOM 2002, section IV-B; the same authors, "End-to-End Congestion Control for InfiniBand", INFOCOM 2003, section
//! IV-A.
//!
//! # Parameters
//! - `method`: `scan` marks exactly the packets that waited; with counters, as the papers propose, the first packets to
//!   leave are marked, so sources learn of the congestion sooner.
//! - `full`: when to check whether an input buffer is full, which the papers do not specify: with `forwarded`, after
//!   the forwarding decision for a packet that has to wait; with `stored`, when its last byte has arrived, if it is
//!   still waiting.
//! - `headroom`: number of free slots at which a buffer already counts as full (the lower threshold of footnote 3 in
//!   both papers).
//! - `spare_blocked`: time for which a link counts as recently blocked and marks no packets (footnote 4 of the first
//!   paper).
//!
//! # Departures from the source
//! - A packet whose transmission has begun can no longer be marked and does not count in `cnt1`.
//! - Buffers and counters are per virtual lane.
//! - ACKs are counted and marked like all other packets, but a mark on an ACK has no effect.

use becalm_engine::Time;
use becalm_fabric::policy::{Arrival, Attention, Departure, Marker, SwitchShape, SwitchView};

use super::trigger::{Full, Fullness, Method, Trigger};
use crate::scheme::MarkingScheme;

becalm_schema::table! {
    /// When an input buffer becomes full, all packets that wait for one of its outputs are marked.
    pub struct Params {
        /// How the waiting packets get their marks.
        pub method: Method = Method::Counters,
        /// When to check whether an input buffer is full.
        pub full: Full = Full::Forwarded,
        /// Number of free slots at which an input buffer already counts as full.
        pub headroom: u32 = 0; "packets"; 0..=65_535,
        /// Time after a link was blocked for lack of credit during which packets leaving on it get no mark; `0 s` for
        /// none.
        pub spare_blocked: Time = Time::ZERO; ""; ..=Time::from_ms(1000),
    }
}

/// The marker.
#[derive(Clone, Debug)]
pub struct InputTriggered {
    trigger: Trigger,
}

impl MarkingScheme for InputTriggered {
    type Params = Params;

    fn new(params: &Params, shape: SwitchShape) -> InputTriggered {
        let &Params { method, full, headroom, spare_blocked } = params;
        InputTriggered { trigger: Trigger::new(method, Fullness { full, headroom }, spare_blocked, shape) }
    }

    fn needs_finite_buffer(_: &Params) -> bool {
        true
    }
}

impl Marker for InputTriggered {
    fn arrived<V: SwitchView>(&mut self, arrival: &Arrival, switch: &V) {
        self.trigger.on_full_input(Full::Forwarded, arrival, switch);
    }

    fn stored<V: SwitchView>(&mut self, arrival: &Arrival, switch: &V) {
        self.trigger.on_full_input(Full::Stored, arrival, switch);
    }

    fn departing<V: SwitchView>(&mut self, departure: &Departure, switch: &V) -> bool {
        self.trigger.departing(departure, switch)
    }

    fn attention(&self) -> Attention {
        self.trigger.attention()
    }

    // Only waiting packets are marked. A packet that leaves at once, with no other packet waiting, gets no mark.
    fn sees_passing(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marking::trigger::fake::{Switch, shape};

    const PLAIN: Params =
        Params { method: Method::Counters, full: Full::Forwarded, headroom: 0, spare_blocked: Time::ZERO };

    #[test]
    fn a_packet_that_leaves_at_once_where_none_waits_gets_no_mark() {
        for method in [Method::Counters, Method::Scan] {
            let mut marker = InputTriggered::new(&Params { method, ..PLAIN }, shape());
            let mut switch = Switch::new(2);
            for order in [0, 1].map(|_| switch.arrive(&mut marker, 0, 1, 0)) {
                assert!(switch.depart(&mut marker, order), "the second one fills the buffer");
            }
            let order = switch.arrive_cutting_through(&mut marker, 2, 1, 0);
            assert!(!switch.depart(&mut marker, order) && !marker.sees_passing());
        }
    }

    fn marker(method: Method) -> InputTriggered {
        InputTriggered::new(&Params { method, ..PLAIN }, shape())
    }

    #[test]
    fn marks_what_waits_for_an_output_of_the_full_buffer_from_any_input() {
        for method in [Method::Counters, Method::Scan] {
            let (mut switch, mut marker) = (Switch::new(2), marker(method));
            let elsewhere = switch.arrive(&mut marker, 1, 3, 0);
            let other_input = switch.arrive(&mut marker, 1, 2, 1);
            let local = switch.arrive(&mut marker, 3, 2, 0);
            let remote = [switch.arrive(&mut marker, 0, 2, 0), switch.arrive(&mut marker, 0, 2, 0)];
            assert!(!switch.depart(&mut marker, elsewhere), "another output");
            assert!(!switch.depart(&mut marker, other_input), "another virtual lane");
            assert!(switch.depart(&mut marker, local));
            assert!(remote.into_iter().all(|packet| switch.depart(&mut marker, packet)));
            let late = switch.arrive(&mut marker, 0, 2, 0);
            assert!(!switch.depart(&mut marker, late));
        }
    }

    #[test]
    fn counters_mark_the_first_to_leave_and_a_scan_those_that_were_there() {
        for (method, late_is_marked) in [(Method::Counters, true), (Method::Scan, false)] {
            let (mut switch, mut marker) = (Switch::new(2), marker(method));
            let there = [switch.arrive(&mut marker, 0, 2, 0), switch.arrive(&mut marker, 0, 2, 0)];
            let late = switch.arrive(&mut marker, 1, 2, 0);
            assert_eq!(switch.depart(&mut marker, late), late_is_marked);
            assert!(switch.depart(&mut marker, there[0]));
            assert_eq!(switch.depart(&mut marker, there[1]), !late_is_marked);
        }
    }

    #[test]
    fn a_packet_in_transmission_is_too_late_to_be_marked() {
        for method in [Method::Counters, Method::Scan] {
            let (mut switch, mut marker) = (Switch::new(2), marker(method));
            let first = switch.arrive(&mut marker, 1, 2, 0);
            assert!(!switch.begin(&mut marker, first));
            let there = [switch.arrive(&mut marker, 0, 2, 0), switch.arrive(&mut marker, 0, 2, 0)];
            assert!(there.into_iter().all(|packet| switch.depart(&mut marker, packet)));
            let late = switch.arrive(&mut marker, 0, 2, 0);
            assert!(!switch.depart(&mut marker, late), "only the number that waited is marked");
        }
    }

    #[test]
    fn a_packet_that_cuts_through_does_not_trigger() {
        let (mut switch, mut marker) = (Switch::new(1), marker(Method::Counters));
        let victim = switch.arrive_cutting_through(&mut marker, 0, 2, 0);
        assert!(!switch.depart(&mut marker, victim));
    }

    #[test]
    fn a_packet_that_waits_until_it_is_stored_triggers_then() {
        let mut marker = InputTriggered::new(&Params { full: Full::Stored, ..PLAIN }, shape());
        let mut switch = Switch::new(2);
        let first = switch.arrive(&mut marker, 0, 3, 0);
        let second = switch.arrive(&mut marker, 0, 3, 0);
        assert!(!switch.depart(&mut marker, first), "its header has arrived, but not its last byte");
        let third = switch.arrive(&mut marker, 0, 3, 0);
        switch.store(&mut marker, third);
        assert!(switch.depart(&mut marker, second) && switch.depart(&mut marker, third));
        assert_eq!(marker.attention(), Attention::Storage);
    }

    #[test]
    fn headroom_lowers_the_threshold() {
        let mut marker = InputTriggered::new(&Params { headroom: 2, ..PLAIN }, shape());
        let mut switch = Switch::new(4);
        let first = switch.arrive(&mut marker, 0, 2, 0);
        assert!(!switch.depart(&mut marker, first), "three slots are free");
        let two = [switch.arrive(&mut marker, 0, 2, 0), switch.arrive(&mut marker, 0, 2, 0)];
        assert!(two.into_iter().all(|packet| switch.depart(&mut marker, packet)));
    }

    #[test]
    fn packets_on_a_link_that_was_blocked_are_spared_for_a_time() {
        for (spare_blocked, marked) in [(0, true), (9, true), (10, false)] {
            let spare_blocked = Time::from_us(spare_blocked);
            let mut marker = InputTriggered::new(&Params { spare_blocked, ..PLAIN }, shape());
            let mut switch = Switch::new(1);
            (switch.now, switch.blocked_until) = (Time::from_us(30), Some(Time::from_us(20)));
            let packet = switch.arrive(&mut marker, 0, 2, 0);
            assert_eq!(switch.depart(&mut marker, packet), marked);
        }
    }
}
