//! Marking with a probability that rises with the queue of an output (ECN, as RoCE switches do it).
//!
//! # What it does
//! When a packet leaves by an output, Q is the number of bytes of its virtual lane that still wait for that output. Up to
//! `kmin` the packet is not marked. Between `kmin` and `kmax` it is marked with the probability
//! `pmax` (Q - kmin) / (kmax - kmin), and above `kmax` always: the probability jumps from `pmax` to 1. With
//! `kmin` = `kmax` the ramp is a step, as DCTCP asks for. The random number is drawn from the packet and the switch, so it
//! is the same with any number of threads.
//!
//! # Source
//! Y. Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, the congestion point of DCQCN:
//! RED on the instantaneous queue, with Kmin 5 kB, Kmax 200 kB and Pmax 1% for links of 40 Gb/s. M. Alizadeh et al.,
//! "Data Center TCP (DCTCP)", SIGCOMM 2010: a step at K. Y. Li et al., "HPCC: High Precision Congestion Control",
//! SIGCOMM 2019, and its simulator (HPCC group, switch-node.cc): 100 and 400 kB per 25 Gb/s of the port, Pmax 20%; the
//! step for DCTCP at 30 kB per 10 Gb/s; the queue is read without the packet that leaves.
//!
//! # Parameters
//! - `kmin`, `kmax`: in kB of 1000 B, with kmin <= kmax. Packets count with their headers.
//! - `pmax`: the probability at `kmax`.
//! - `per`: the rate in Gb/s of the port that `kmin` and `kmax` are meant for; at another port they grow and shrink with
//!   its rate. If it is left out, they hold for every port.
//! - `root_only`: whether a port without credit marks nothing: it is not the root of the congestion.
//!
//! # Departures from the source
//! - ACKs and congestion notification packets are never marked. Of the sources, only HPCC's simulator says so.
//! - `root_only` is not known to Ethernet, and off by default: DCQCN marks victims, too.
//! - The packet is judged when its header leaves, since switches here cut through.

use becalm_fabric::Kind;
use becalm_fabric::policy::{Arrival, Attention, Departure, Marker, SwitchShape, SwitchView};
use becalm_schema::Conflict;

use super::congestion::left_behind;
use crate::scheme::MarkingScheme;

/// Bytes of a kB.
const KB: f64 = 1000.0;

becalm_schema::table! {
    /// The probability of a mark rises with the queue of an output, from one threshold to another.
    pub struct Params {
        /// Queue up to which no packet is marked.
        pub kmin: f64 = 5.0; "kB"; 0.0..=1e6,
        /// Queue above which every packet is marked.
        pub kmax: f64 = 200.0; "kB"; 0.0..=1e6,
        /// Probability of a mark at a queue of `kmax`.
        pub pmax: f64 = 0.01; ""; 0.0..=1.0,
        /// Rate of a port for which the thresholds are meant, if they are to grow with the rate.
        pub per: Option<f64> = None; "Gb/s"; 1e-3..=1e5,
        /// Whether a port marks only while it has credit to send.
        pub root_only: bool = false,
    }
    check Params::check;
}

impl Params {
    fn check(&self) -> Result<(), Conflict> {
        Conflict::unless(self.kmin <= self.kmax, "kmin", || format!("must be at most kmax = {}", self.kmax))
    }

    /// The probability of a mark at a queue of so many bytes.
    pub fn probability(&self, queue: f64) -> f64 {
        let (low, high) = (self.kmin * KB, self.kmax * KB);
        match queue {
            queue if queue <= low => 0.0,
            queue if queue <= high => self.pmax * (queue - low) / (high - low),
            _ => 1.0,
        }
    }
}

/// The marker.
#[derive(Clone, Debug)]
pub struct Ramp {
    params: Params,
}

impl MarkingScheme for Ramp {
    type Params = Params;

    fn new(params: &Params, _: SwitchShape) -> Ramp {
        Ramp { params: params.clone() }
    }
}

impl Ramp {
    /// The queue behind a packet in bytes, in terms of the rate that the thresholds are meant for: what that rate would
    /// send in the time that the queue takes.
    fn queue<V: SwitchView>(&self, departure: &Departure, switch: &V) -> f64 {
        let queue = left_behind(departure, switch);
        let Some(per) = self.params.per else { return queue as f64 };
        let size = queue.min(u64::from(u32::MAX)) as u32;
        switch.packet_time(departure.output, size).as_secs() * per * 1e9 / 8.0
    }
}

impl Marker for Ramp {
    fn arrived<V: SwitchView>(&mut self, _: &Arrival, _: &V) {}

    fn departing<V: SwitchView>(&mut self, departure: &Departure, switch: &V) -> bool {
        if departure.kind != Kind::Data {
            return false;
        }
        let probability = self.params.probability(self.queue(departure, switch));
        // The credit that the packet itself takes is not left.
        let is_root = || !self.params.root_only || switch.credit(departure.output, departure.vl) > 1;
        probability > 0.0 && is_root() && (probability >= 1.0 || departure.draw() < probability)
    }

    fn attention(&self) -> Attention {
        Attention::Packets
    }
}

#[cfg(test)]
mod tests;
