//! Numbers of bytes that wait for outputs, as read by marking policies.

use becalm_engine::Time;
use becalm_fabric::policy::{Joint, Observer};
use becalm_fabric::{NodeId, PortId};

use crate::ports::Ports;
use crate::quantiles::Quantiles;
use crate::schema;
use crate::table::Table;

/// There are 2 to this power buckets of lengths between consecutive powers of two.
const BITS: u8 = 6;

/// The queue of one output and virtual lane.
#[derive(Clone, Debug)]
struct Lane {
    bytes: u64,
    since: Time,
    /// Bytes times picoseconds.
    area: u128,
    min: u64,
    max: u64,
    /// Picoseconds for which the queue length was in each bucket.
    times: Vec<u64>,
}

impl Lane {
    /// Adds the time up to now to the current length.
    fn settle(&mut self, now: Time) {
        let held = now.since(self.since).as_ps();
        if held == 0 {
            return;
        }
        self.since = now;
        self.area += u128::from(self.bytes) * u128::from(held);
        (self.min, self.max) = (self.min.min(self.bytes), self.max.max(self.bytes));
        let bucket = Quantiles::new(BITS).bucket(self.bytes) as usize;
        if bucket >= self.times.len() {
            self.times.resize(bucket + 1, 0);
        }
        self.times[bucket] += held;
    }

    /// The length that the queue does not exceed for this share of the time, to within a bucket's width.
    fn quantile(&self, share: f64) -> u64 {
        let total: u64 = self.times.iter().sum();
        let wanted = (share * total as f64).ceil() as u64;
        let mut reached = 0;
        let found = self.times.iter().position(|time| {
            reached += time;
            reached >= wanted.max(1)
        });
        found.map_or(0, |bucket| Quantiles::new(BITS).largest(bucket as u32).min(self.max))
    }
}

/// Statistics of a queue over time, in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Queue {
    /// Mean over time; NaN for an empty window.
    pub mean: f64,
    /// Smallest length.
    pub min: u64,
    /// Largest length.
    pub max: u64,
    /// Lengths that are not exceeded for 50%, 95% and 99% of the time, to within 2%.
    pub quantiles: [u64; 3],
}

/// Shares of time for [`Queue::quantiles`].
const SHARES: [f64; 3] = [0.5, 0.95, 0.99];

/// The queues of all outputs and virtual lanes in the measured window. A packet in transmission does not wait. A length
/// that lasts for no time does not count.
#[derive(Clone, Debug)]
pub struct Queues {
    from: Time,
    vls: usize,
    ports: Ports,
    lanes: Vec<Lane>,
}

impl Queues {
    /// Starts measuring at `from`.
    pub fn new(from: Time, ports: Ports, vls: u8) -> Queues {
        let vls = usize::from(vls);
        let lane = Lane { bytes: 0, since: from, area: 0, min: u64::MAX, max: 0, times: Vec::new() };
        Queues { from, vls, lanes: vec![lane; ports.len() * vls], ports }
    }

    fn at(&self, output: PortId, vl: u8) -> usize {
        self.ports.index(output) * self.vls + usize::from(vl)
    }

    /// Statistics of a queue from the start of the window until `end`.
    pub fn over_time(&self, output: PortId, vl: u8, end: Time) -> Queue {
        let mut lane = self.lanes[self.at(output, vl)].clone();
        lane.settle(end);
        let mean = lane.area as f64 / end.since(self.from).as_ps() as f64;
        Queue { mean, min: lane.min.min(lane.max), max: lane.max, quantiles: SHARES.map(|share| lane.quantile(share)) }
    }

    /// The table `queues`, with one row per output and virtual lane. `ends` names both nodes of each output's link,
    /// with the output's port number.
    pub fn table(&self, outputs: &[PortId], ends: &[(String, u64, String)], end: Time) -> Table {
        let rows: Vec<(usize, u8)> =
            (0..outputs.len()).flat_map(|output| (0..self.vls as u8).map(move |vl| (output, vl))).collect();
        let queues: Vec<Queue> = rows.iter().map(|&(output, vl)| self.over_time(outputs[output], vl, end)).collect();
        let quantile = |place: usize| queues.iter().map(|queue| queue.quantiles[place]).collect::<Vec<_>>();
        Table::new(&schema::QUEUES)
            .with("from", rows.iter().map(|(output, _)| ends[*output].0.clone()).collect::<Vec<_>>())
            .with("from_port", rows.iter().map(|(output, _)| ends[*output].1).collect::<Vec<_>>())
            .with("to", rows.iter().map(|(output, _)| ends[*output].2.clone()).collect::<Vec<_>>())
            .with("vl", rows.iter().map(|(_, vl)| u64::from(*vl)).collect::<Vec<_>>())
            .with("mean", queues.iter().map(|queue| queue.mean).collect::<Vec<_>>())
            .with("min", queues.iter().map(|queue| queue.min).collect::<Vec<_>>())
            .with("p50", quantile(0))
            .with("p95", quantile(1))
            .with("p99", quantile(2))
            .with("max", queues.iter().map(|queue| queue.max).collect::<Vec<_>>())
    }
}

impl Joint for Queues {
    fn join(&mut self, other: Self, theirs: &dyn Fn(NodeId) -> bool) {
        self.ports.take_over(&mut self.lanes, &other.lanes, theirs);
    }
}

impl Observer for Queues {
    fn queue(&mut self, now: Time, output: PortId, vl: u8, bytes: u64) {
        let at = self.at(output, vl);
        self.lanes[at].settle(now);
        self.lanes[at].bytes = bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_fabric::{Rate, Topology};

    const OUTPUT: PortId = PortId { node: NodeId(0), port: 0 };

    /// Statistics of the queue until 10 us, for lengths that start at times in microseconds.
    fn queue(from: u64, lengths: &[(u64, u64)]) -> Queue {
        let mut topology = Topology::default();
        let (switch, host) = (topology.add_switch("S"), topology.add_host("H"));
        topology.connect(switch, host, Rate::from_bits_per_second(8e9), Time::ZERO);
        let mut queues = Queues::new(Time::from_us(from), Ports::new(&topology), 2);
        for &(us, bytes) in lengths {
            queues.queue(Time::from_us(us), OUTPUT, 1, bytes);
        }
        let empty = queues.over_time(OUTPUT, 0, Time::from_us(10));
        assert_eq!(empty, Queue { mean: 0.0, min: 0, max: 0, quantiles: [0; 3] });
        queues.over_time(OUTPUT, 1, Time::from_us(10))
    }

    #[test]
    fn lengths_weigh_by_their_time() {
        // 0 for 1 us, 2,000 for 5 us, 3,000 for 4 us; 9,000 for no time.
        let queue = queue(0, &[(1, 2_000), (6, 9_000), (6, 3_000)]);
        assert!((queue.mean - 2_200.0).abs() < 1e-9, "{queue:?}");
        assert_eq!((queue.min, queue.max), (0, 3_000));
        let [half, most, _] = queue.quantiles;
        assert!((2_000..2_032).contains(&half) && most == 3_000, "{queue:?}");
    }

    #[test]
    fn the_warm_up_does_not_count_but_what_it_left_does() {
        // 5,000 remain at 4 us; 1,000 for 6 of 10 us.
        let queue = queue(4, &[(1, 7_000), (2, 5_000), (4, 1_000), (8, 4_000)]);
        assert!((queue.mean - (4.0 * 1_000.0 + 2.0 * 4_000.0) / 6.0).abs() < 1e-9, "{queue:?}");
        assert_eq!((queue.min, queue.max), (1_000, 4_000));
    }

    #[test]
    fn a_queue_that_never_changes_in_the_window_counts() {
        assert_eq!(queue(4, &[(1, 7_000)]), Queue { mean: 7_000.0, min: 7_000, max: 7_000, quantiles: [7_000; 3] });
    }
}
