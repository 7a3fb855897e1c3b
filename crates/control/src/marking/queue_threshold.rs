//! Two thresholds on an output's queue, with hysteresis.
//!
//! # What it does
//! When an output's queue exceeds a high threshold, the switch marks packets that leave through it until the queue has
//! fallen to a low threshold. By default, a port without credit to send does not mark packets, since it is not a root
//! of congestion.
//!
//! # Source
//! G. Pfister et al., "Solving Hot Spot Contention Using InfiniBand Architecture Congestion Control", HPI-DC 2005,
//! section VI-C: marking "can be based on a simple output queue threshold with hysteresis". Section V, Table 2, gives
//! the threshold as "90% of the SE input buffer size".
//!
//! # Parameters
//! - `high`, `low`: thresholds, with low <= high. They may exceed 1, since packets from all input buffers may wait for
//!   the same output.
//! - `root_only`: whether a port marks only while it has credit to send.
//! - `marking_rate`: number of eligible packets left unmarked between two marked ones.
//!
//! # Departures from the source
//! - The low threshold of 80% is our choice. The paper does not state whether its switches marked only at the root.
//! - The paper's switches share their input buffers; here the capacity is per port and virtual lane.
//! - A departing packet does not count as waiting, and its credit does not count as available.
//! - ACKs and congestion notification packets are never marked.

use becalm_fabric::Rate;
use becalm_fabric::policy::{Arrival, Attention, Departure, Marker, SwitchShape, SwitchView};
use becalm_schema::Conflict;

use super::congestion::{Congestion, Rules, Spacing};
use crate::scheme::MarkingScheme;

becalm_schema::table! {
    /// Once an output's queue exceeds a high threshold, packets that leave through it are marked until the queue falls
    /// to a low threshold.
    pub struct Params {
        /// Length of the output queue above which marking begins.
        pub high: f64 = 0.9; "of an input buffer"; 0.0..=100.0,
        /// Length of the output queue at which marking ends.
        pub low: f64 = 0.8; "of an input buffer"; 0.0..=100.0,
        /// Whether a port marks only while it has credit to send.
        pub root_only: bool = true,
        /// Eligible packets left unmarked between two marked ones.
        pub marking_rate: u32 = 0; "packets"; 0..=65_535,
    }
    check Params::check;
}

impl Params {
    fn check(&self) -> Result<(), Conflict> {
        Conflict::unless(self.low <= self.high, "low", || format!("must be at most high = {}", self.high))
    }
}

/// The marker.
#[derive(Clone, Debug)]
pub struct QueueThreshold {
    congestion: Congestion,
}

impl MarkingScheme for QueueThreshold {
    type Params = Params;

    fn new(params: &Params, shape: SwitchShape) -> QueueThreshold {
        let bytes = |share: f64| (share * f64::from(shape.capacity_bytes)) as u64;
        let rules = Rules {
            enter: bytes(params.high),
            leave: bytes(params.low),
            victim: !params.root_only,
            smallest: 0,
            marking_rate: params.marking_rate,
            spacing: Spacing::Counted,
        };
        QueueThreshold { congestion: Congestion::new(vec![rules; usize::from(shape.ports)], shape.vls) }
    }

    fn needs_finite_buffer(_: &Params) -> bool {
        true
    }

    fn needs_credit(params: &Params) -> Option<Conflict> {
        let problem = "needs credit to tell a root from a victim; must be false with pfc";
        params.root_only.then(|| Conflict::new("root_only", problem))
    }

    fn marks_at(params: &Params, shape: &SwitchShape, _: Rate) -> Option<u64> {
        Some((params.high * f64::from(shape.capacity_bytes)) as u64)
    }
}

impl Marker for QueueThreshold {
    fn arrived<V: SwitchView>(&mut self, arrival: &Arrival, switch: &V) {
        self.congestion.arrived(arrival, switch);
    }

    fn departing<V: SwitchView>(&mut self, departure: &Departure, switch: &V) -> bool {
        self.congestion.departing(departure, switch)
    }

    fn attention(&self) -> Attention {
        Attention::Queues
    }

    fn is_congested(&self, output: u16, vl: u8) -> bool {
        self.congestion.is_congested(output, vl)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marking::trigger::fake::{Switch, shape};

    /// Marking that begins above 8 waiting packets and ends at 4.
    fn params() -> Params {
        Params { high: 0.5, low: 0.25, ..Params::default() }
    }

    /// Lets the packets at these positions in the order of arrival leave; returns the number of marked ones.
    fn marked(switch: &mut Switch, marker: &mut QueueThreshold, orders: std::ops::Range<u64>) -> usize {
        orders.filter(|order| switch.depart(marker, *order)).count()
    }

    fn fill(switch: &mut Switch, marker: &mut QueueThreshold, packets: u32) {
        for _ in 0..packets {
            switch.arrive(marker, 0, 2, 0);
        }
    }

    #[test]
    fn begins_at_the_high_threshold_and_ends_at_the_low_one() {
        let (mut switch, mut marker) = (Switch::new(100), QueueThreshold::new(&params(), shape()));
        fill(&mut switch, &mut marker, 8);
        assert!(!marker.is_congested(2, 0), "half of the buffer is not more than half");
        assert_eq!(marked(&mut switch, &mut marker, 0..3), 0);
        fill(&mut switch, &mut marker, 4);
        assert!(marker.is_congested(2, 0), "9 wait");
        // 8, 7, 6 and 5 are left behind, then 4.
        assert_eq!(marked(&mut switch, &mut marker, 3..12), 4);
        assert!(!marker.is_congested(2, 0));
        fill(&mut switch, &mut marker, 8);
        assert_eq!(marked(&mut switch, &mut marker, 12..20), 0, "marking does not begin between the thresholds");
    }

    #[test]
    fn without_credit_only_a_root_stops_marking() {
        for (root_only, victim_marks) in [(true, 0), (false, 8)] {
            let params = Params { root_only, ..params() };
            let (mut switch, mut marker) = (Switch::new(100), QueueThreshold::new(&params, shape()));
            fill(&mut switch, &mut marker, 20);
            switch.credit = 1;
            assert_eq!(marked(&mut switch, &mut marker, 0..8), victim_marks);
            switch.credit = 2;
            assert_eq!(marked(&mut switch, &mut marker, 8..12), 4);
        }
    }

    #[test]
    fn marks_every_so_many() {
        let params = Params { marking_rate: 3, ..params() };
        let (mut switch, mut marker) = (Switch::new(100), QueueThreshold::new(&params, shape()));
        fill(&mut switch, &mut marker, 24);
        let verdicts: Vec<bool> = (0..12).map(|order| switch.depart(&mut marker, order)).collect();
        assert_eq!(verdicts, (0..12).map(|order| order % 4 == 0).collect::<Vec<_>>());
    }

    #[test]
    fn refuses_a_low_threshold_above_the_high_one() {
        let wrong = becalm_schema::read::<Params>("high = 0.5\nlow = 0.6", "f.toml").unwrap_err();
        assert_eq!(wrong.to_string(), "f.toml:2: low = 0.6: must be at most high = 0.5");
    }
}
