//! An exponentially weighted average of the queue length.
//!
//! # What it does
//! When a packet arrives, the switch counts the packets in its queue, including the one in transmission, and changes a
//! running average to average + weight (count - average). The packet is marked if the new average is at least a
//! threshold.
//!
//! # Source
//! K. K. Ramakrishnan, R. Jain, "A Binary Feedback Scheme for Congestion Avoidance in Computer Networks", ACM
//! Transactions on Computer Systems 8(2), 1990, section 4.1: "a weighted exponential running average of the queue
//! length", which the authors tried but did not adopt.
//!
//! # Parameters
//! - `weight`: weight of the newest queue length.
//! - `threshold`: the smallest average at which arrivals are marked.
//!
//! # Departures from the source
//! - There is one queue per output and virtual lane.
//! - A weight of 0.1 and sampling at arrivals are our choices.
//! - ACKs and congestion notification packets count in the queue but are never marked.

use becalm_engine::Time;

use super::filter::{Filter, Filtered};

becalm_schema::table! {
    /// An arriving packet is marked if a running average of the queue length has reached a threshold.
    pub struct Params {
        /// Weight of the newest queue length.
        pub weight: f64 = 0.1; ""; 0.0001..=1.0,
        /// Smallest average queue length at which arrivals are marked.
        pub threshold: f64 = 1.0; "packets"; 0.001..=1e6,
    }
}

/// The marker.
pub type ExponentialAverage = Filtered<Running>;

/// The running average.
#[derive(Clone, Debug)]
pub struct Running {
    params: Params,
    packets: u32,
    average: f64,
}

impl Filter for Running {
    type Params = Params;

    fn new(params: &Params) -> Running {
        Running { params: params.clone(), packets: 0, average: 0.0 }
    }

    fn arrives(&mut self, _: Time) -> bool {
        self.average += self.params.weight * (f64::from(self.packets) - self.average);
        self.packets += 1;
        self.average >= self.params.threshold
    }

    fn leaves(&mut self, _: Time) {
        self.packets = self.packets.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marking::filter::tests::verdicts;

    #[test]
    fn the_average_follows_what_arrivals_find() {
        let marks = |threshold| {
            let steps = [(0, true), (1, true), (2, true), (3, true), (4, false), (5, false), (6, false), (7, true)];
            verdicts::<Running>(&Params { weight: 0.5, threshold }, &steps)
        };
        // The packets find 0, 1, 2, 3, then 1: averages of 0, 0.5, 1.25, 2.125, 1.5625.
        assert_eq!(marks(1.25), [false, false, true, true, true]);
        assert_eq!(marks(1.6), [false, false, false, true, false]);
    }
}
