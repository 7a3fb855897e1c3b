//! The congestion state of ports and virtual lanes, and the resulting marks. This code is shared by markers that watch
//! output queues.

use becalm_fabric::Kind;
use becalm_fabric::policy::{Arrival, Departure, SwitchView};

/// Bytes of a credit, IBTA's unit of packet size.
pub(super) const CREDIT: u32 = 64;

/// Bytes that wait behind a packet that is about to leave.
pub(super) fn left_behind<V: SwitchView>(departure: &Departure, switch: &V) -> u64 {
    switch.waiting_bytes(departure.output, departure.vl).saturating_sub(u64::from(departure.size))
}

becalm_schema::words! {
    /// How the packets to mark are chosen among the eligible ones.
    pub enum Spacing {
        /// By counting, with always the same number of packets between two marked ones.
        Counted = "counted",
        /// At random, packet by packet, with the same number on average.
        Drawn = "drawn",
    }
}

/// A port's rules: when it is congested and which packets it then marks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// The queue crosses its threshold when more bytes than this wait; `u64::MAX` for never.
    pub enter: u64,
    /// The queue stays over its threshold while more bytes than this wait.
    pub leave: u64,
    /// Whether the port may be congested without credit to send.
    pub victim: bool,
    /// Bytes of the smallest packet that is marked.
    pub smallest: u32,
    /// Eligible packets left unmarked between two marked ones.
    pub marking_rate: u32,
    /// Whether `marking_rate` is exact or a mean.
    pub spacing: Spacing,
}

/// One port and virtual lane: its rules and its state, in half a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Lane {
    enter: u64,
    leave: u64,
    smallest: u32,
    marking_rate: u32,
    /// Packets to skip before the next mark.
    skip: u32,
    /// Whether packets are marked at random.
    drawn: bool,
    victim: bool,
    over: bool,
    congested: bool,
}

const _: () = assert!(size_of::<Lane>() == 32);

/// The state of all ports and virtual lanes of a switch.
///
/// It is evaluated after a waiting packet has joined its queue and before a packet leaves. A departing packet does not
/// count as waiting, and its credit does not count as available. A packet that finds an empty queue is therefore never
/// marked, so the marker does not need to see it ([`Attention::Queues`](becalm_fabric::policy::Attention::Queues)).
#[derive(Clone, Debug)]
pub(super) struct Congestion {
    vls: usize,
    /// By (port, VL).
    lanes: Vec<Lane>,
}

impl Congestion {
    /// The state of a switch with `vls` virtual lanes and one entry of `rules` for each port.
    pub(super) fn new(rules: Vec<Rules>, vls: u8) -> Congestion {
        let vls = usize::from(vls);
        Congestion { lanes: rules.iter().flat_map(|rules| vec![Lane::new(rules); vls]).collect(), vls }
    }

    /// Whether this virtual lane of the port is in the congestion state.
    pub(super) fn is_congested(&self, port: u16, vl: u8) -> bool {
        self.lanes[self.at(port, vl)].congested
    }

    /// Updates the state after a packet has joined the queue of its output. A packet that cuts through joins no queue.
    pub(super) fn arrived<V: SwitchView>(&mut self, arrival: &Arrival, switch: &V) {
        if arrival.waits {
            let &Arrival { output, vl, .. } = arrival;
            self.look(output, vl, switch.waiting_bytes(output, vl), || switch.credit(output, vl) > 0);
        }
    }

    /// Updates the state as a packet leaves; returns whether it is marked.
    pub(super) fn departing<V: SwitchView>(&mut self, departure: &Departure, switch: &V) -> bool {
        let &Departure { output, vl, size, kind, .. } = departure;
        self.look(output, vl, left_behind(departure, switch), || switch.credit(output, vl) > 1);
        let at = self.at(output, vl);
        let lane = &mut self.lanes[at];
        kind == Kind::Data && size >= lane.smallest && lane.congested && lane.has_its_turn(departure)
    }

    fn at(&self, port: u16, vl: u8) -> usize {
        usize::from(port) * self.vls + usize::from(vl)
    }

    /// Updates the state of a port; checks for credit only if it matters.
    fn look(&mut self, port: u16, vl: u8, waiting: u64, has_credit: impl FnOnce() -> bool) {
        let at = self.at(port, vl);
        let lane = &mut self.lanes[at];
        lane.over = waiting > if lane.over { lane.leave } else { lane.enter };
        lane.congested = lane.over && (lane.victim || has_credit());
    }
}

impl Lane {
    fn new(rules: &Rules) -> Lane {
        let &Rules { enter, leave, victim, smallest, marking_rate, spacing } = rules;
        let drawn = spacing == Spacing::Drawn;
        Lane { enter, leave, smallest, marking_rate, skip: 0, drawn, victim, over: false, congested: false }
    }

    /// Counts an eligible packet or decides at random; returns whether it is marked.
    fn has_its_turn(&mut self, departure: &Departure) -> bool {
        if self.drawn {
            return departure.draw() * f64::from(self.marking_rate + 1) < 1.0;
        }
        let its_turn = self.skip == 0;
        self.skip = if its_turn { self.marking_rate } else { self.skip - 1 };
        its_turn
    }
}
