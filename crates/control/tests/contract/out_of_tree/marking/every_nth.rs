//! Marks every `n`-th packet that had to wait.
//!
//! # What it does
//! Marks every `n`-th of the data packets that had to wait for their output, when it departs.
//!
//! # Source
//! None; it is an example of a policy.
//!
//! # Parameters
//! - `n`: 1 marks all waiting packets.
//!
//! # Departures from the source
//! None.

use std::collections::BTreeSet;

use becalm_control::MarkingScheme;
use becalm_fabric::Kind;
use becalm_fabric::policy::{Arrival, Departure, Marker, SwitchShape, SwitchView};

becalm_schema::table! {
    /// Marks every n-th packet that had to wait.
    pub struct Params {
        /// Number of packets between two marks.
        pub n: u32 = 2; "packets"; 1..=1000,
    }
}

/// The marker.
#[derive(Clone, Debug)]
pub struct EveryNth {
    n: u32,
    waited: u32,
    marked: BTreeSet<u64>,
}

impl MarkingScheme for EveryNth {
    type Params = Params;

    fn new(params: &Params, _: SwitchShape) -> EveryNth {
        EveryNth { n: params.n, waited: 0, marked: BTreeSet::new() }
    }
}

impl Marker for EveryNth {
    fn arrived<V: SwitchView>(&mut self, arrival: &Arrival, _: &V) {
        if arrival.waits && arrival.kind == Kind::Data {
            self.waited += 1;
            if self.waited.is_multiple_of(self.n) {
                self.marked.insert(arrival.order);
            }
        }
    }

    fn departing<V: SwitchView>(&mut self, departure: &Departure, _: &V) -> bool {
        self.marked.remove(&departure.order)
    }
}
