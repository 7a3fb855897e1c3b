//! The marking of IBTA congestion control: FECN at a switch.
//!
//! # What it does
//! A port and virtual lane whose queue is over a threshold is in the congestion state if it has credit to send: then
//! it is the root of the congestion. Without credit it is a victim of congestion elsewhere, and in the congestion
//! state only if the victim mask says so. Packets that leave in the congestion state are marked (FECN) if they are
//! large enough, all of them or every so many.
//!
//! # Source
//! InfiniBand Architecture Specification, Volume 1, Release 1.2.1, Annex A10, as described in E. G. Gran et al.,
//! "First Experiences with Congestion Control in InfiniBand Hardware", IPDPS 2010, section II-A.
//!
//! # Parameters
//! - `threshold`: `Threshold`, 0 to 15. 0 marks nothing. From 1 on, the threshold is crossed while more than
//!   (16 - threshold)/16 of the capacity of one input buffer waits for an output: 15/16 at 1, the least aggressive,
//!   1/16 at 15. The default is that of Gran 2010, Table I.
//! - `victim_mask`: `Victim_Mask`, the ports that are congested without credit too: `none`, `all`, or `host_ports`,
//!   those that lead to a host. A host that receives too slowly marks nothing itself; the switch before it can.
//! - `packet_size`: `Packet_Size`, in credits of 64 B, 0 to 255; smaller packets are not marked.
//! - `marking_rate`: `Marking_Rate`, 0 to 65535: packets that could be marked and are not, between two that are.
//!
//! # Departures from the source
//! - The specification leaves the meaning of a threshold to the maker of the switch; the mapping above is ours. An
//!   output may have more waiting than one input buffer holds, since all inputs feed it.
//! - The state is looked at whenever a packet joins the queue and whenever one leaves, and not held in between. A
//!   packet that leaves counts neither as waiting nor the credit it takes as left: a port is a root if it has credit
//!   for another packet of the largest size.
//! - `Marking_Rate` is a mean number of packets; here it is met by counting, without chance. The count is per port
//!   and virtual lane, begins with a mark, and goes on from one congestion to the next.
//! - `Packet_Size` holds for whole packets on the wire. ACKs and congestion notification packets are never marked,
//!   whatever it is, since no adapter would answer the mark.
//! - The parameters are the same for all ports of a switch. Credit starvation, for switches without congestion
//!   control, is left out.

use becalm_fabric::seam::{Arrival, Departure, Marker, SwitchShape, SwitchView};

use super::congestion::{CREDIT, Congestion, Rules};

becalm_schema::words! {
    /// Ports that may be in the congestion state without credit to send.
    pub enum VictimMask {
        /// No port.
        None = "none",
        /// Every port.
        All = "all",
        /// The ports that lead to a host.
        HostPorts = "host_ports",
    }
}

becalm_schema::table! {
    /// Packets that leave a port with a long queue and with credit to send are marked (FECN).
    pub struct Params {
        /// How early a queue counts as congested: 0 for never, 15 for the earliest.
        pub threshold: u32 = 15; ""; 0..=15,
        /// Ports that count as congested without credit to send, too.
        pub victim_mask: VictimMask = VictimMask::None,
        /// Size of the smallest packet that is marked.
        pub packet_size: u32 = 0; "credits of 64 B"; 0..=255,
        /// Packets that could be marked and are not, between two that are.
        pub marking_rate: u32 = 0; "packets"; 0..=65_535,
    }
}

impl Params {
    /// Bytes that may wait for an output before it is over the threshold, if an input buffer holds `capacity`;
    /// `None` if it never is.
    pub fn threshold_bytes(&self, capacity: u32) -> Option<u64> {
        let sixteenths = 16_u32.saturating_sub(self.threshold);
        (self.threshold > 0).then(|| u64::from(capacity) * u64::from(sixteenths) / 16)
    }

    fn victims(&self, shape: &SwitchShape) -> Vec<bool> {
        match self.victim_mask {
            VictimMask::None => vec![false; usize::from(shape.ports)],
            VictimMask::All => vec![true; usize::from(shape.ports)],
            VictimMask::HostPorts => shape.host_ports.clone(),
        }
    }
}

/// The marker.
#[derive(Clone, Debug)]
pub struct Ibta {
    congestion: Congestion,
}

impl Ibta {
    /// A marker for one switch.
    pub fn new(params: &Params, shape: SwitchShape) -> Ibta {
        let threshold = params.threshold_bytes(shape.capacity_bytes).unwrap_or(u64::MAX);
        let rules = Rules {
            enter: threshold,
            leave: threshold,
            victims: params.victims(&shape),
            smallest: params.packet_size * CREDIT,
            marking_rate: params.marking_rate,
        };
        Ibta { congestion: Congestion::new(rules, &shape) }
    }

    /// Whether a port and virtual lane is in the congestion state, as of the last packet that joined or left its
    /// queue.
    pub fn is_congested(&self, port: u16, vl: u8) -> bool {
        self.congestion.is_congested(port, vl)
    }
}

impl Marker for Ibta {
    fn arrived<V: SwitchView>(&mut self, arrival: &Arrival, switch: &V) {
        self.congestion.arrived(arrival, switch);
    }

    fn departing<V: SwitchView>(&mut self, departure: &Departure, switch: &V) -> bool {
        self.congestion.departing(departure, switch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marking::trigger::fake::{SIZE, Switch, shape};
    use becalm_engine::Time;
    use becalm_fabric::Kind;

    /// A port to another switch.
    const OUTPUT: u16 = 2;
    /// The port to a host.
    const HOST: u16 = 3;

    fn default() -> Params {
        Params::default()
    }

    /// A switch with `packets` that wait for `output`, and its marker.
    fn queue(params: &Params, packets: u32, output: u16) -> (Switch, Ibta) {
        let (mut switch, mut marker) = (Switch::new(100), Ibta::new(params, shape()));
        for _ in 0..packets {
            switch.arrive(&mut marker, 0, output, 0);
        }
        (switch, marker)
    }

    /// Whether the marker marks a packet that leaves while the queue of the switch waits.
    fn marks(marker: &mut Ibta, switch: &Switch, output: u16, size: u32, kind: Kind) -> bool {
        let leaves = Departure { now: Time::ZERO, order: 0, input: 0, output, vl: 0, size, kind };
        marker.departing(&leaves, switch)
    }

    /// How many packets leave a queue of `packets` marked, if nothing else comes.
    fn marked(params: &Params, packets: u32, output: u16, credit: u32) -> usize {
        let (mut switch, mut marker) = queue(params, packets, output);
        switch.credit = credit;
        (0..u64::from(packets)).filter(|order| switch.depart(&mut marker, *order)).count()
    }

    #[test]
    fn a_threshold_is_so_many_sixteenths_of_an_input_buffer() {
        let bytes = |threshold| Params { threshold, ..default() }.threshold_bytes(32_000);
        assert_eq!([0, 1, 8, 14, 15].map(bytes), [None, Some(30_000), Some(16_000), Some(4_000), Some(2_000)]);
    }

    #[test]
    fn marks_while_more_is_left_behind_than_the_threshold_allows() {
        // Room for 16 packets: at threshold t, 16 - t may wait behind one that leaves unmarked.
        for threshold in 1..=15 {
            let params = Params { threshold, ..default() };
            let allowed = 16 - threshold;
            assert_eq!(marked(&params, allowed + 1, OUTPUT, 9), 0, "threshold {threshold}");
            assert_eq!(marked(&params, allowed + 4, OUTPUT, 9), 3, "threshold {threshold}");
        }
        assert_eq!(marked(&Params { threshold: 0, ..default() }, 90, OUTPUT, 9), 0);
    }

    #[test]
    fn keeps_ports_and_virtual_lanes_apart() {
        let (mut switch, mut marker) = queue(&default(), 9, OUTPUT);
        assert!(marker.is_congested(OUTPUT, 0));
        let others = [switch.arrive(&mut marker, 0, OUTPUT, 1), switch.arrive(&mut marker, 0, HOST, 0)];
        assert!(others.into_iter().all(|order| !switch.depart(&mut marker, order)));
    }

    #[test]
    fn a_port_without_credit_to_spare_is_a_victim_unless_the_mask_has_it() {
        let with = |victim_mask| Params { victim_mask, ..default() };
        for (mask, output, victim_marks) in [
            (VictimMask::None, OUTPUT, 0),
            (VictimMask::None, HOST, 0),
            (VictimMask::HostPorts, OUTPUT, 0),
            (VictimMask::HostPorts, HOST, 8),
            (VictimMask::All, OUTPUT, 8),
            (VictimMask::All, HOST, 8),
        ] {
            assert_eq!(marked(&with(mask), 10, output, 1), victim_marks, "{mask:?}, port {output}: a victim");
            assert_eq!(marked(&with(mask), 10, output, 2), 8, "{mask:?}, port {output}: a root");
        }
    }

    #[test]
    fn an_arrival_takes_no_credit() {
        let (mut switch, mut marker) = (Switch::new(100), Ibta::new(&default(), shape()));
        for (credit, congested) in [(0, false), (1, true)] {
            switch.credit = credit;
            switch.arrive(&mut marker, 0, OUTPUT, 0);
            switch.arrive(&mut marker, 0, OUTPUT, 0);
            assert_eq!(marker.is_congested(OUTPUT, 0), congested);
        }
    }

    #[test]
    fn passes_over_small_packets_and_all_that_is_not_data() {
        let (switch, mut marker) = queue(&Params { packet_size: 8, ..default() }, 10, OUTPUT);
        assert!(!marks(&mut marker, &switch, OUTPUT, 511, Kind::Data));
        assert!(marks(&mut marker, &switch, OUTPUT, 512, Kind::Data));
        for kind in [Kind::Ack, Kind::Cnp] {
            assert!(!marks(&mut marker, &switch, OUTPUT, SIZE, kind));
        }
    }

    #[test]
    fn the_marking_rate_counts_only_packets_that_could_be_marked() {
        for marking_rate in [0, 1, 2, 7] {
            let (switch, mut marker) = queue(&Params { packet_size: 8, marking_rate, ..default() }, 10, OUTPUT);
            let mut verdicts = Vec::new();
            for _ in 0..=marking_rate * 3 + 2 {
                assert!(!marks(&mut marker, &switch, OUTPUT, 64, Kind::Data));
                verdicts.push(marks(&mut marker, &switch, OUTPUT, SIZE, Kind::Data));
            }
            let expected: Vec<bool> = (0..verdicts.len()).map(|i| i % (marking_rate as usize + 1) == 0).collect();
            assert_eq!(verdicts, expected, "marking rate {marking_rate}");
        }
    }
}
