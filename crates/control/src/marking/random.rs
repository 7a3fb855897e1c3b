//! Random marks: a policy that ignores congestion.
//!
//! # What it does
//! Every data packet is marked with the same probability as it leaves its last switch. If this policy achieves the same
//! effect as another, that effect does not depend on which packets the other marks.
//!
//! # Source
//! None. The policy serves as a null hypothesis for claims about other policies.
//!
//! # Parameters
//! - `probability`: probability of a mark.
//!
//! # Departures from the source
//! None.

use becalm_fabric::Kind;
use becalm_fabric::policy::{Arrival, Attention, Departure, Marker, SwitchShape, SwitchView};

use crate::scheme::MarkingScheme;

becalm_schema::table! {
    /// Packets are marked at random, all with the same probability.
    pub struct Params {
        /// Probability of a mark.
        pub probability: f64 = 0.01; ""; 0.0..=1.0,
    }
}

/// The marker.
#[derive(Clone, Debug)]
pub struct Random {
    probability: f64,
    /// Which ports lead to hosts.
    host_ports: Vec<bool>,
}

impl MarkingScheme for Random {
    type Params = Params;

    fn new(params: &Params, shape: SwitchShape) -> Random {
        Random { probability: params.probability, host_ports: shape.host_ports }
    }

    fn takes_trains(_: &Params) -> bool {
        true
    }
}

impl Marker for Random {
    fn arrived<V: SwitchView>(&mut self, _: &Arrival, _: &V) {}

    fn departing<V: SwitchView>(&mut self, departure: &Departure, _: &V) -> bool {
        let is_last = departure.kind == Kind::Data && self.host_ports[usize::from(departure.output)];
        is_last && (self.probability >= 1.0 || departure.draw() < self.probability)
    }

    fn attention(&self) -> Attention {
        Attention::Packets
    }
}

#[cfg(test)]
mod tests {
    use becalm_engine::{Time, mix};

    use super::*;
    use crate::marking::trigger::fake::{SIZE, Switch, shape};

    /// Number of marked packets out of 10,000.
    fn marked(probability: f64, kind: Kind, output: u16) -> usize {
        let mut marker = Random::new(&Params { probability }, shape());
        let switch = Switch::new(2);
        let departing = |&order: &u64| {
            let tie = mix(7, order) as u32;
            let departure =
                Departure { now: Time::ZERO, order, input: 0, output, vl: 0, size: SIZE, kind, tie, switch: 3 };
            marker.departing(&departure, &switch)
        };
        (0..10_000).filter(departing).count()
    }

    #[test]
    fn marks_as_many_data_packets_as_asked_for() {
        assert_eq!(marked(0.0, Kind::Data, 3), 0);
        assert_eq!(marked(1.0, Kind::Data, 3), 10_000);
        assert_eq!(marked(1.0, Kind::Data, 2), 0, "not the last switch");
        assert_eq!(marked(1.0, Kind::Ack, 3), 0);
        let some = marked(0.2, Kind::Data, 3);
        assert!((1_850..=2_150).contains(&some), "{some} of 10000");
    }
}
