//! No marking.
//!
//! # What it does
//! Switches never mark a packet.
//!
//! # Source
//! The runs without congestion control in J. R. Santos, Y. Turner, G. Janakiraman, "Evaluation of Congestion Detection
//! Mechanisms for InfiniBand Switches", GLOBECOM 2002, section III.
//!
//! # Parameters
//! None.
//!
//! # Departures from the source
//! None.

use crate::scheme::MarkingScheme;
use becalm_fabric::policy::{Arrival, Attention, Departure, Marker, SwitchShape, SwitchView};

becalm_schema::table! {
    /// No packet is marked.
    pub struct Params {}
}

/// The marker.
#[derive(Clone, Debug)]
pub struct NoMarks;

impl MarkingScheme for NoMarks {
    type Params = Params;

    fn new(_: &Params, _: SwitchShape) -> NoMarks {
        NoMarks
    }

    fn takes_trains(_: &Params) -> bool {
        true
    }
}

impl Marker for NoMarks {
    fn arrived<V: SwitchView>(&mut self, _: &Arrival, _: &V) {}

    fn departing<V: SwitchView>(&mut self, _: &Departure, _: &V) -> bool {
        false
    }

    fn attention(&self) -> Attention {
        Attention::Nothing
    }
}
