//! Marking with a probability that rises with the length of an output's queue (ECN, as in RoCE switches).
//!
//! # What it does
//! Let Q be the number of bytes on a packet's virtual lane that still wait for its output when the packet leaves. If Q
//! is at most `kmin`, the packet is not marked. Between `kmin` and `kmax`, the probability of a mark is `pmax` (Q -
//! kmin) / (kmax - kmin). Above `kmax`, the packet is always marked, so the probability jumps from `pmax` to 1 at
//! `kmax`. With `kmin` = `kmax`, the ramp is a step, as DCTCP requires.
//!
//! With `judged` = `"arrival"`, Q is read when the packet arrives, so the queueing delay also delays the feedback.
//!
//! # Source
//! Y. Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, the congestion point of DCQCN:
//! RED on the instantaneous queue, with Kmin 5 kB, Kmax 200 kB and Pmax 1% for links of 40 Gb/s. M. Alizadeh et al.,
//! "Data Center TCP (DCTCP)", SIGCOMM 2010: a step at K, judged on arrival. Y. Li et al., "HPCC: High Precision
//! Congestion Control", SIGCOMM 2019, and its simulator (HPCC group, switch-node.cc): 100 and 400 kB per 25 Gb/s of
//! port rate, Pmax 20%, and a step for DCTCP at 30 kB per 10 Gb/s. The simulator does not count the departing packet.
//!
//! # Parameters
//! - `kmin`, `kmax`: thresholds, with kmin <= kmax. The queue includes packet headers.
//! - `pmax`: the probability at `kmax`.
//! - `per`: the port rate for which `kmin` and `kmax` are specified, if they are proportional to it; otherwise, they
//!   are the same at every port.
//! - `judged`: when the queue length is read.
//! - `root_only`: whether a port marks only while it has credit to send.
//!
//! # Departures from the source
//! - ACKs and congestion notification packets are never marked. Of the sources, only HPCC's simulator specifies this.
//! - Ethernet has no equivalent of `root_only`, so it is off by default, and victims are marked too.
//! - A packet counts as having left when its header leaves, because the switches here use cut-through forwarding.

use std::collections::VecDeque;

use becalm_fabric::policy::{Arrival, Attention, Departure, Marker, SwitchShape, SwitchView};
use becalm_fabric::{Kind, Rate};
use becalm_schema::Conflict;

use super::congestion::left_behind;
use crate::scheme::MarkingScheme;

/// Bytes of a kB.
const KB: f64 = 1000.0;

becalm_schema::words! {
    /// When a packet's queue length is read.
    pub enum Judged {
        /// On departure: the bytes left behind.
        Departure = "departure",
        /// On arrival: the bytes already waiting.
        Arrival = "arrival",
    }
}

becalm_schema::table! {
    /// The probability of a mark rises with an output's queue between two thresholds.
    pub struct Params {
        /// Queue length up to which no packet is marked.
        pub kmin: f64 = 5.0; "kB"; 0.0..=1e6,
        /// Queue length above which every packet is marked.
        pub kmax: f64 = 200.0; "kB"; 0.0..=1e6,
        /// Probability of a mark at a queue length of `kmax`.
        pub pmax: f64 = 0.01; ""; 0.0..=1.0,
        /// Port rate for which the thresholds are specified, if they scale with the rate.
        pub per: Option<f64> = None; "Gb/s"; 1e-3..=1e5,
        /// When a packet's queue length is read.
        pub judged: Judged = Judged::Departure,
        /// Whether a port marks only while it has credit to send.
        pub root_only: bool = false,
    }
    check Params::check;
}

impl Params {
    fn check(&self) -> Result<(), Conflict> {
        Conflict::unless(self.kmin <= self.kmax, "kmin", || format!("must be at most kmax = {}", self.kmax))
    }

    /// The probability of a mark for a queue of this many bytes.
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
    vls: usize,
    /// For each port and lane, the packets that may be marked when they leave, by order of arrival, with their
    /// probabilities and sizes. Only with [`Judged::Arrival`].
    judged: Vec<VecDeque<(u64, f64, u32)>>,
}

impl MarkingScheme for Ramp {
    type Params = Params;

    fn new(params: &Params, shape: SwitchShape) -> Ramp {
        let lanes = match params.judged {
            Judged::Departure => 0,
            Judged::Arrival => usize::from(shape.ports) * usize::from(shape.vls),
        };
        Ramp { params: params.clone(), vls: usize::from(shape.vls), judged: vec![VecDeque::new(); lanes] }
    }

    fn needs_credit(params: &Params) -> Option<Conflict> {
        let problem = "needs credit to tell a root from a victim; must be false with pfc";
        params.root_only.then(|| Conflict::new("root_only", problem))
    }

    fn marks_at(params: &Params, _: &SwitchShape, rate: Rate) -> Option<u64> {
        let scale = params.per.map_or(1.0, |per| rate.bits_per_second() / (per * 1e9));
        Some((params.kmin * KB * scale) as u64)
    }

    fn takes_trains(_: &Params) -> bool {
        true
    }
}

impl Ramp {
    /// The probability of a mark for a queue of this many bytes at a port.
    fn probability<V: SwitchView>(&self, queue: u64, output: u16, switch: &V) -> f64 {
        let Some(per) = self.params.per else { return self.params.probability(queue as f64) };
        // Bytes that a port with the rate `per` would send while this port empties its queue.
        let size = queue.min(u64::from(u32::MAX)) as u32;
        self.params.probability(switch.packet_time(output, size).as_secs() * per * 1e9 / 8.0)
    }

    /// The probability of a mark that was assigned to a packet on arrival.
    fn judgement(&mut self, departure: &Departure) -> f64 {
        let lane = &mut self.judged[usize::from(departure.output) * self.vls + usize::from(departure.vl)];
        // Packets from different inputs may leave out of order.
        let Ok(place) = lane.binary_search_by_key(&departure.order, |(order, ..)| *order) else { return 0.0 };
        let (_, probability, size) = lane[place];
        // The last packet of a train leaves with all of its bytes.
        if departure.size >= size {
            lane.remove(place);
        }
        probability
    }
}

impl Marker for Ramp {
    fn arrived<V: SwitchView>(&mut self, arrival: &Arrival, switch: &V) {
        let &Arrival { order, output, vl, size, kind, .. } = arrival;
        if self.params.judged == Judged::Departure || kind != Kind::Data {
            return;
        }
        let found = switch.waiting_bytes(output, vl).saturating_sub(u64::from(size));
        let probability = self.probability(found, output, switch);
        if probability > 0.0 {
            self.judged[usize::from(output) * self.vls + usize::from(vl)].push_back((order, probability, size));
        }
    }

    fn departing<V: SwitchView>(&mut self, departure: &Departure, switch: &V) -> bool {
        if departure.kind != Kind::Data {
            return false;
        }
        let probability = match self.params.judged {
            Judged::Departure => self.probability(left_behind(departure, switch), departure.output, switch),
            Judged::Arrival => self.judgement(departure),
        };
        // The packet's own credit does not count as left.
        let is_root = || !self.params.root_only || switch.credit(departure.output, departure.vl) > 1;
        probability > 0.0 && is_root() && (probability >= 1.0 || departure.draw() < probability)
    }

    fn attention(&self) -> Attention {
        Attention::Packets
    }
}

#[cfg(test)]
mod tests;
