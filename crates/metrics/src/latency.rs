//! Latencies of data packets, from posting to the arrival of the last byte at the destination.

use std::hint::black_box;

use becalm_engine::Time;
use becalm_fabric::policy::{Joint, Observer};
use becalm_fabric::{Kind, NodeId, Packet};

use crate::histogram;
use crate::quantiles::Quantiles;
use crate::schema;
use crate::table::Table;

/// Precision bits of a group's quantiles, which are accurate to 0.1% (2^-10).
const GROUP_BITS: u8 = 10;
/// Quantiles of a flow are within 1% (2^-7) in runs of at most this many flows, otherwise within 10% (2^-4), which
/// keeps the histograms of tens of thousands of flows within tens of megabytes.
const MANY_FLOWS: usize = 2048;
/// Number of latencies added together.
const BATCH: usize = 256;

/// Latencies of a set of packets, in one cache line. Quantiles are from a histogram in nanoseconds, and all other
/// values are exact.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Record {
    count: u64,
    sum_ps: u128,
    max_ps: u64,
    quantiles: Quantiles,
}

const _: () = assert!(size_of::<Record>() == 64);

/// A latency in nanoseconds, as histograms count it.
#[inline]
fn counted_ns(span: Time) -> u64 {
    ((span.as_ps() + 500) / 1000).max(1)
}

impl Record {
    fn new(bits: u8) -> Record {
        Record { count: 0, sum_ps: 0, max_ps: 0, quantiles: Quantiles::new(bits) }
    }

    fn add(&mut self, span: Time) {
        self.count += 1;
        self.sum_ps += span.as_ps() as u128;
        self.max_ps = self.max_ps.max(span.as_ps());
        self.quantiles.add(counted_ns(span));
    }

    fn join(&mut self, other: &Record) {
        self.count += other.count;
        self.sum_ps += other.sum_ps;
        self.max_ps = self.max_ps.max(other.max_ps);
        self.quantiles.join(&other.quantiles);
    }

    fn summary(&self) -> Summary {
        if self.count == 0 {
            return Summary { count: 0, mean: f64::NAN, p50: f64::NAN, p99: f64::NAN, max: f64::NAN };
        }
        let max = self.max_ps as f64 / 1e12;
        let quantile = |q| self.quantiles.quantile(q, self.count).map_or(max, |ns| (ns as f64 / 1e9).min(max));
        Summary {
            count: self.count,
            mean: self.sum_ps as f64 / (self.count as f64 * 1e12),
            p50: quantile(0.5),
            p99: quantile(0.99),
            max,
        }
    }
}

/// Latencies in seconds; NaN if no packet was delivered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Data packets delivered.
    pub count: u64,
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Largest.
    pub max: f64,
}

/// Where a flow's latencies are recorded.
#[derive(Clone, Copy, Debug)]
struct Place {
    group: u32,
    /// The place of its record, counted from 1; 0 if nothing was delivered.
    record: u32,
}

/// Latencies of packets delivered in the measured window, per flow and per group of flows.
#[derive(Clone, Debug)]
pub struct Latency {
    from: Time,
    /// Indexed by flow.
    places: Vec<Place>,
    /// Records of the flows with deliveries, in the order of their first ones.
    flows: Vec<Record>,
    bits: u8,
    groups: Vec<Record>,
    /// Flows and latencies not yet added.
    pending: Vec<(u32, Time)>,
}

impl Latency {
    /// Starts measuring at `from`. `group_of` is the group number of each flow, below `groups`.
    pub fn new(from: Time, group_of: Vec<u32>, groups: usize) -> Latency {
        let bits = if group_of.len() <= MANY_FLOWS { 7 } else { 4 };
        Latency {
            from,
            places: group_of.into_iter().map(|group| Place { group, record: 0 }).collect(),
            flows: Vec::new(),
            bits,
            groups: vec![Record::new(GROUP_BITS); groups],
            pending: Vec::with_capacity(BATCH),
        }
    }

    /// Reads all memory that is needed to add the pending latencies. With many flows, this memory is not in the cache,
    /// and independent loads fetch it in parallel.
    fn prefetch(&self) {
        let places = self.pending.iter().map(|&(flow, _)| self.places[flow as usize].record);
        black_box(places.fold(0, |all, value| all ^ value));
        let records = self.pending.iter().filter_map(|&(flow, _)| self.known(flow as usize));
        black_box(records.fold(0, |all, record| all ^ record.max_ps));
        let known = self.pending.iter().filter_map(|&(flow, span)| Some((self.known(flow as usize)?, span)));
        let counts = known.map(|(record, span)| record.quantiles.peek(counted_ns(span)));
        black_box(counts.fold(0, |all, count| all ^ count));
    }

    #[inline(never)]
    fn add_pending(&mut self) {
        if self.flows.len() > MANY_FLOWS {
            self.prefetch();
        }
        let mut pending = std::mem::take(&mut self.pending);
        for (flow, span) in pending.drain(..) {
            let place = self.record(flow as usize);
            self.flows[place.record as usize - 1].add(span);
            self.groups[place.group as usize].add(span);
        }
        self.pending = pending;
    }

    /// The place of a flow's record, which is made if there is none.
    #[inline]
    fn record(&mut self, flow: usize) -> Place {
        let place = &mut self.places[flow];
        if place.record == 0 {
            self.flows.push(Record::new(self.bits));
            place.record = self.flows.len() as u32;
        }
        *place
    }

    /// The record of a flow, if there is one.
    #[inline]
    fn known(&self, flow: usize) -> Option<&Record> {
        self.flows.get((self.places[flow].record as usize).wrapping_sub(1))
    }

    /// Latency of a flow.
    pub fn flow(&self, flow: usize) -> Summary {
        self.known(flow).map_or_else(|| Record::new(self.bits).summary(), Record::summary)
    }

    /// The table `latencies`, with a histogram for every group. `groups` are the names of the groups.
    pub fn table(&self, groups: &[String]) -> Table {
        let named = groups.iter().cloned().zip(self.groups.iter().map(|record| &record.quantiles));
        histogram::table(&schema::LATENCIES, "packets", named)
    }

    /// Latency of a group.
    pub fn group(&self, group: usize) -> Summary {
        self.groups[group].summary()
    }
}

impl Joint for Latency {
    fn join(&mut self, mut other: Self, _: &dyn Fn(NodeId) -> bool) {
        self.settle();
        other.settle();
        for flow in 0..other.places.len() {
            if let Some(its) = other.known(flow) {
                let place = self.record(flow);
                self.flows[place.record as usize - 1].join(its);
            }
        }
        self.groups.iter_mut().zip(&other.groups).for_each(|(mine, its)| mine.join(its));
    }
}

impl Observer for Latency {
    #[inline]
    fn delivered(&mut self, now: Time, packet: &Packet) {
        if packet.kind != Kind::Data || now <= self.from {
            return;
        }
        self.pending.push((packet.flow.0, now.since(packet.posted)));
        if self.pending.len() == BATCH {
            self.add_pending();
        }
    }

    fn settle(&mut self) {
        self.add_pending();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fingerprint::tests::packet;
    use crate::table::Data;

    #[test]
    fn counts_data_packets_after_the_warm_up() {
        let mut latency = Latency::new(Time::from_us(10), vec![0, 0], 1);
        latency.delivered(Time::from_us(9), &packet(0, 0, Time::ZERO));
        latency.delivered(Time::from_us(20), &Packet { kind: Kind::Ack, ..packet(0, 0, Time::ZERO) });
        for (now, posted) in [(20, 10), (30, 10), (50, 20)] {
            latency.delivered(Time::from_us(now), &packet(0, 0, Time::from_us(posted)));
        }
        latency.delivered(Time::from_us(101), &packet(1, 0, Time::from_us(1)));
        latency.settle();
        let flow = latency.flow(0);
        assert_eq!((flow.count, flow.mean, flow.max), (3, 20e-6, 30e-6));
        assert!((flow.p50 - 20e-6).abs() < 0.01 * 20e-6, "{}", flow.p50);
        let group = latency.group(0);
        assert_eq!((group.count, group.mean, group.max), (4, 40e-6, 100e-6));
        assert_eq!(group.p99, 100e-6);
    }

    #[test]
    fn the_histogram_of_a_group_holds_all_its_packets() {
        let mut latency = Latency::new(Time::ZERO, vec![0, 1], 2);
        for us in [1, 1, 8] {
            latency.delivered(Time::from_us(us), &packet(0, 0, Time::ZERO));
        }
        latency.settle();
        let table = latency.table(&["a".to_string(), "b".to_string()]);
        assert_eq!(table.column("group"), Some(&Data::Text(vec!["a".to_string(); 2])));
        assert_eq!(table.column("packets"), Some(&Data::U64(vec![2, 1])));
        assert_eq!(table.column("from"), Some(&Data::F64(vec![992e-9, 7936e-9])));
        assert_eq!(table.column("to"), Some(&Data::F64(vec![1024e-9, 8192e-9])));
    }

    #[test]
    fn tells_nothing_of_a_flow_without_deliveries() {
        let latency = Latency::new(Time::ZERO, vec![0], 1);
        assert!(latency.flow(0).mean.is_nan() && latency.group(0).p99.is_nan());
    }

    #[test]
    fn quantiles_of_a_group_have_three_digits() {
        let mut latency = Latency::new(Time::ZERO, vec![0], 1);
        for us in 1..=1000 {
            latency.delivered(Time::from_us(us), &packet(0, 0, Time::ZERO));
        }
        latency.settle();
        let group = latency.group(0);
        assert!((group.p50 / 500e-6 - 1.0).abs() < 1e-3, "{}", group.p50);
        assert!((group.p99 / 990e-6 - 1.0).abs() < 1e-3, "{}", group.p99);
    }

    #[test]
    fn joins_what_is_pending_on_both_sides() {
        let at = |latency: &mut Latency, flow, us| latency.delivered(Time::from_us(us), &packet(flow, 0, Time::ZERO));
        let (mut one, mut two) = (Latency::new(Time::ZERO, vec![0; 2], 1), Latency::new(Time::ZERO, vec![0; 2], 1));
        at(&mut one, 0, 10);
        // One more than the size of a batch.
        (0..=BATCH).for_each(|_| at(&mut two, 1, 20));
        one.join(two, &|_| true);
        assert_eq!((one.flow(0).count, one.flow(1).count, one.group(0).count), (1, BATCH as u64 + 1, BATCH as u64 + 2));
        assert_eq!((one.flow(0).max, one.flow(1).mean), (10e-6, 20e-6));
    }
}
