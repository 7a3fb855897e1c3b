//! Naive marking: the packets in a full input buffer.
//!
//! # What it does
//! When an arriving packet fills its input buffer, all packets in this buffer are marked, whatever their output.
//! Packets in other buffers are not marked, even if they contend for the same output. Flows that share an input port
//! with many others are therefore slowed down more.
//!
//! # Source
//! J. R. Santos, Y. Turner, G. Janakiraman, "Evaluation of Congestion Detection Mechanisms for InfiniBand Switches",
//! GLOBECOM 2002, section IV-A.
//!
//! # Parameters
//! - `full`, `headroom`, `spare_blocked`: as for input-triggered marking.
//!
//! # Departures from the source
//! - Both buffers and marking are per virtual lane.
//! - Packets are marked when they leave, up to the latest arrival at the time of the last trigger.

use becalm_engine::Time;
use becalm_fabric::policy::{Arrival, Attention, Departure, Marker, SwitchShape, SwitchView};

use super::trigger::{Full, Fullness, Watermarks, is_spared};
use crate::scheme::MarkingScheme;

becalm_schema::table! {
    /// When an input buffer becomes full, all packets in it are marked.
    pub struct Params {
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
pub struct Naive {
    fullness: Fullness,
    spare_blocked: Time,
    inputs: Watermarks,
}

impl MarkingScheme for Naive {
    type Params = Params;

    fn new(params: &Params, shape: SwitchShape) -> Naive {
        let &Params { full, headroom, spare_blocked } = params;
        Naive { fullness: Fullness { full, headroom }, spare_blocked, inputs: Watermarks::new(shape) }
    }

    fn needs_finite_buffer(_: &Params) -> bool {
        true
    }
}

impl Naive {
    /// Marks the packets in an input buffer if this packet fills it.
    fn look<V: SwitchView>(&mut self, time: Full, arrival: &Arrival, switch: &V) {
        if self.fullness.is_reached(time, arrival, switch) {
            self.inputs.raise(arrival.input, arrival.vl, arrival.order);
        }
    }
}

impl Marker for Naive {
    fn arrived<V: SwitchView>(&mut self, arrival: &Arrival, switch: &V) {
        self.look(Full::Forwarded, arrival, switch);
    }

    fn stored<V: SwitchView>(&mut self, arrival: &Arrival, switch: &V) {
        self.look(Full::Stored, arrival, switch);
    }

    fn departing<V: SwitchView>(&mut self, departure: &Departure, switch: &V) -> bool {
        self.inputs.covers(departure.input, departure.vl, departure.order)
            && !is_spared(departure, self.spare_blocked, switch)
    }

    fn attention(&self) -> Attention {
        self.fullness.attention()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marking::trigger::fake::{Switch, shape};

    fn marker() -> Naive {
        Naive::new(&Params { full: Full::Forwarded, headroom: 0, spare_blocked: Time::ZERO }, shape())
    }

    #[test]
    fn marks_all_packets_of_the_full_buffer_and_no_others() {
        let mut switch = Switch::new(2);
        let mut marker = marker();
        let other = switch.arrive(&mut marker, 1, 2, 0);
        let first = switch.arrive(&mut marker, 0, 2, 0);
        let second = switch.arrive(&mut marker, 0, 3, 0);
        assert!(!switch.depart(&mut marker, other));
        assert!(switch.depart(&mut marker, second), "whatever its output");
        let later = switch.arrive_cutting_through(&mut marker, 0, 3, 0);
        assert!(!switch.depart(&mut marker, later), "arrived after the buffer was full");
        assert!(switch.depart(&mut marker, first));
    }

    #[test]
    fn keeps_virtual_lanes_apart() {
        let mut switch = Switch::new(2);
        let mut marker = marker();
        let calm = switch.arrive(&mut marker, 0, 2, 1);
        let full = [switch.arrive(&mut marker, 0, 2, 0), switch.arrive(&mut marker, 0, 2, 0)];
        assert!(!switch.depart(&mut marker, calm));
        assert!(full.into_iter().all(|packet| switch.depart(&mut marker, packet)));
    }
}
