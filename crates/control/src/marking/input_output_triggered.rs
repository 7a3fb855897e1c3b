//! Input-output-triggered marking: full input buffers and long output queues.
//!
//! # What it does
//! Marks like input-triggered marking. In addition, an arrival triggers marking when the packets in the switch that are
//! bound for its output, including the one in transmission, exceed a threshold. Full input buffers tend to mark flows
//! that share an input, and long output queues tend to mark flows with separate inputs; the two biases balance each
//! other.
//!
//! # Source
//! J. R. Santos, Y. Turner, G. Janakiraman, "Evaluation of Congestion Detection Mechanisms for InfiniBand Switches",
//! GLOBECOM 2002, section IV-C.
//!
//! # Parameters
//! - `threshold`: number of packets; the first packet above it triggers marking. The paper shows results for 4, 6, 8
//!   and 16.
//! - `method`, `full`, `headroom`, `spare_blocked`: as for input-triggered marking.
//!
//! # Departures from the source
//! Those of input-triggered marking. The threshold is per output and virtual lane, and the packet in transmission also
//! counts: only then does a threshold of 4 leave the link underutilized, as the paper finds.

use becalm_engine::Time;
use becalm_fabric::policy::{Arrival, Attention, Departure, Marker, SwitchShape, SwitchView};

use super::trigger::{Full, Fullness, Method, Trigger};
use crate::scheme::MarkingScheme;

becalm_schema::table! {
    /// As in input-triggered marking; in addition, packets are marked when the number bound for their output exceeds a
    /// threshold.
    pub struct Params {
        /// Number of packets bound for an output, including the one in transmission, above which the waiting ones are
        /// marked.
        pub threshold: u32 = 8; "packets"; 1..=65_535,
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
pub struct InputOutputTriggered {
    threshold: u32,
    trigger: Trigger,
}

impl MarkingScheme for InputOutputTriggered {
    type Params = Params;

    fn new(params: &Params, shape: SwitchShape) -> InputOutputTriggered {
        let &Params { threshold, method, full, headroom, spare_blocked } = params;
        let trigger = Trigger::new(method, Fullness { full, headroom }, spare_blocked, shape);
        InputOutputTriggered { threshold, trigger }
    }

    fn needs_finite_buffer(_: &Params) -> bool {
        true
    }
}

impl Marker for InputOutputTriggered {
    fn arrived<V: SwitchView>(&mut self, arrival: &Arrival, switch: &V) {
        self.trigger.on_full_input(Full::Forwarded, arrival, switch);
        self.trigger.on_long_output(self.threshold, arrival, switch);
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

    fn marker(threshold: u32, method: Method) -> InputOutputTriggered {
        let (full, headroom, spare_blocked) = (Full::Forwarded, 0, Time::ZERO);
        InputOutputTriggered::new(&Params { threshold, method, full, headroom, spare_blocked }, shape())
    }

    #[test]
    fn the_first_packet_in_excess_of_the_threshold_triggers() {
        let mut switch = Switch::new(9);
        let mut marker = marker(2, Method::Counters);
        let elsewhere = switch.arrive(&mut marker, 0, 3, 0);
        let two = [switch.arrive(&mut marker, 0, 2, 0), switch.arrive(&mut marker, 1, 2, 0)];
        assert!(!switch.depart(&mut marker, two[0]), "two do not exceed two");
        let more = [switch.arrive(&mut marker, 0, 2, 0), switch.arrive(&mut marker, 3, 2, 0)];
        for packet in [two[1], more[0], more[1]] {
            assert!(switch.depart(&mut marker, packet));
        }
        assert!(!switch.depart(&mut marker, elsewhere));
    }

    #[test]
    fn a_full_input_triggers_too() {
        let mut switch = Switch::new(2);
        let mut marker = marker(8, Method::Scan);
        let full = [switch.arrive(&mut marker, 0, 2, 0), switch.arrive(&mut marker, 0, 3, 0)];
        assert!(full.into_iter().all(|packet| switch.depart(&mut marker, packet)));
    }
}
