//! Code shared by markers that decide on arriving packets by a filtered queue length.

use std::collections::VecDeque;

use crate::scheme::MarkingScheme;
use becalm_engine::Time;
use becalm_fabric::Kind;
use becalm_fabric::policy::{Arrival, Departure, Marker, SwitchShape, SwitchView};
use becalm_schema::Field;

/// A filter of the number of packets for one output and virtual lane, including the one in transmission.
pub trait Filter: Clone {
    /// Parameters of the filter.
    type Params: Field;

    /// The filter of an empty queue.
    fn new(params: &Self::Params) -> Self;

    /// Updates the filter as a packet arrives; returns whether the packets before it indicate congestion.
    fn arrives(&mut self, now: Time) -> bool;

    /// Updates the filter after the last byte of a packet has left.
    fn leaves(&mut self, now: Time);
}

/// A marker with a filter for every output and virtual lane. It marks data packets that arrive during congestion.
#[derive(Clone, Debug)]
pub struct Filtered<F> {
    vls: usize,
    lanes: Vec<Lane<F>>,
}

#[derive(Clone, Debug)]
struct Lane<F> {
    filter: F,
    /// The latest verdict.
    congested: bool,
    /// Positions in the order of arrival, ascending, of the packets that will be marked when they leave.
    marked: VecDeque<u64>,
}

impl<F: Filter> MarkingScheme for Filtered<F> {
    type Params = F::Params;

    fn new(params: &F::Params, shape: SwitchShape) -> Filtered<F> {
        let vls = usize::from(shape.vls);
        let lane = Lane { filter: F::new(params), congested: false, marked: VecDeque::new() };
        Filtered { vls, lanes: vec![lane; usize::from(shape.ports) * vls] }
    }
}

impl<F: Filter> Filtered<F> {
    fn lane(&mut self, output: u16, vl: u8) -> &mut Lane<F> {
        &mut self.lanes[usize::from(output) * self.vls + usize::from(vl)]
    }
}

impl<F: Filter> Marker for Filtered<F> {
    fn arrived<V: SwitchView>(&mut self, arrival: &Arrival, _: &V) {
        let lane = self.lane(arrival.output, arrival.vl);
        lane.congested = lane.filter.arrives(arrival.now);
        if lane.congested && arrival.kind == Kind::Data {
            lane.marked.push_back(arrival.order);
        }
    }

    fn departing<V: SwitchView>(&mut self, departure: &Departure, _: &V) -> bool {
        let marked = &mut self.lane(departure.output, departure.vl).marked;
        // Packets from different inputs may leave out of order.
        let place = match marked.front() {
            Some(&first) if first == departure.order => Some(0),
            _ => marked.binary_search(&departure.order).ok(),
        };
        place.is_some_and(|place| marked.remove(place).is_some())
    }

    fn left(&mut self, now: Time, _: u16, output: u16, vl: u8) -> Time {
        self.lane(output, vl).filter.leaves(now);
        now
    }

    fn is_congested(&self, output: u16, vl: u8) -> bool {
        self.lanes[usize::from(output) * self.vls + usize::from(vl)].congested
    }
}

/// The number of packets in a queue and its integral over time.
#[derive(Clone, Debug, Default)]
pub(super) struct Area {
    pub packets: u32,
    /// Packets times picoseconds.
    pub area: u128,
    /// Time of the last change of the number.
    pub since: Time,
}

impl Area {
    /// Integrates up to `now`.
    pub fn advance(&mut self, now: Time) {
        self.area += u128::from(self.packets) * u128::from(now.since(self.since).as_ps());
        self.since = now;
    }

    /// Counts a packet that has left.
    pub fn leaves(&mut self, now: Time) {
        self.advance(now);
        self.packets = self.packets.saturating_sub(1);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A filter's verdict on each arrival in a sequence of arrivals (`true`) and departures at times in microseconds.
    pub fn verdicts<F: Filter>(params: &F::Params, steps: &[(u64, bool)]) -> Vec<bool> {
        let mut filter = F::new(params);
        let mut all = Vec::new();
        for &(us, arrives) in steps {
            match arrives {
                true => all.push(filter.arrives(Time::from_us(us))),
                false => filter.leaves(Time::from_us(us)),
            }
        }
        all
    }

    /// Marks every second arrival.
    #[derive(Clone)]
    struct Odd(bool);

    impl Filter for Odd {
        type Params = bool;
        fn new(first: &bool) -> Odd {
            Odd(*first)
        }
        fn arrives(&mut self, _: Time) -> bool {
            self.0 = !self.0;
            self.0
        }
        fn leaves(&mut self, _: Time) {}
    }

    #[test]
    fn a_verdict_stays_with_its_packet_whatever_the_order_of_leaving() {
        use crate::marking::trigger::fake::{Switch, shape};
        let (mut switch, mut marker) = (Switch::new(16), Filtered::<Odd>::new(&true, shape()));
        let orders: Vec<u64> = (0..6).map(|_| switch.arrive(&mut marker, 0, 2, 0)).collect();
        let leave = [3, 0, 5, 1, 2, 4];
        let marked: Vec<bool> = leave.iter().map(|&i| switch.depart(&mut marker, orders[i])).collect();
        assert_eq!(marked, leave.map(|i| i % 2 == 1));
    }
}
