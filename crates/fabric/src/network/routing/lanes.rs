//! Changes of virtual lane on the path of a packet, where one lane alone could deadlock.
//!
//! A service level has several lanes, and the path of a packet decides between them:
//! - On a torus with dimension-order routing there are two. A packet that crosses the cable that closes a ring (the dateline)
//!   has the second lane along all of that ring, any other the first, as in BookSim2. On shortest paths this is free of
//!   deadlocks: those that cross begin in the upper half of the ring, and end in the lower. By the order of numbers (Dally and
//!   Seitz 1987) a packet takes the first lane as long as it still has to cross, and the second otherwise; that is so on any
//!   path, but all packets that meet before the dateline, or all that meet after it, share one lane.
//! - On a dragonfly there are two: the first up to the global cable, the second in the group of the destination (Kim, Dally,
//!   Scott and Abts 2008).
//! - Packets with detours (Valiant 1982) go to another region first. Until they reach it, they use lanes of their own: two
//!   more on a torus, one more on a dragonfly. There the order of numbers is the fairer: such ways are uniform.

use crate::packet::Packet;

/// The class of a switch's port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortClass {
    /// It leads to a host.
    Host,
    /// It leads along a dimension of a torus.
    Ring {
        /// The dimension.
        dimension: u8,
        /// Whether it leads to the next number: up, from the last one to 0.
        up: bool,
    },
    /// It leads to another switch of a dragonfly.
    Link,
}

/// Where a packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Heading {
    /// The rank of its destination.
    pub host: u32,
    /// The region that it goes to first.
    pub via: Option<u32>,
}

impl Heading {
    /// Straight to a host.
    pub fn to(host: u32) -> Heading {
        Heading { host, via: None }
    }

    /// The heading of a packet.
    #[inline]
    pub(crate) fn of(packet: &Packet) -> Heading {
        Heading { host: packet.destination, via: packet.via() }
    }
}

/// The lanes of packets in a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneChanges {
    /// By the rank of the switch, and port.
    classes: Vec<Vec<PortClass>>,
    dimensions: usize,
    /// By the rank of the switch and dimension: its place on a torus; on a dragonfly, with one dimension, its group.
    places: Vec<u32>,
    /// By the rank of the host.
    switches: Vec<u32>,
    torus: bool,
    detours: bool,
}

impl LaneChanges {
    /// Most lanes of a service level.
    pub const MOST: u8 = 4;

    /// The changes in a network with these ports, by the rank of the switch. `places` has the places of switches, along so
    /// many dimensions each; `switches` the switch of each host.
    pub fn new(classes: Vec<Vec<PortClass>>, dimensions: usize, places: Vec<u32>, switches: Vec<u32>) -> LaneChanges {
        let torus = classes.iter().flatten().any(|class| matches!(class, PortClass::Ring { .. }));
        LaneChanges { classes, dimensions, places, switches, torus, detours: false }
    }

    /// The changes for packets with detours.
    pub fn with_detours(self) -> LaneChanges {
        LaneChanges { detours: true, ..self }
    }

    /// Lanes that a service level has on a torus, or else on a dragonfly, with detours or without.
    pub const fn lanes_of(torus: bool, detours: bool) -> u8 {
        match (torus, detours) {
            (_, false) => 2,
            (false, true) => 3,
            (true, true) => LaneChanges::MOST,
        }
    }

    fn place(&self, switch: u32, dimension: u8) -> u32 {
        self.places[switch as usize * self.dimensions + usize::from(dimension)]
    }

    /// The lane by which a packet leaves a switch that it has reached on the lane `vl`.
    #[inline]
    pub fn next(&self, switch: u32, (input, output): (u16, u16), vl: u8, to: Heading) -> u8 {
        let classes = &self.classes[switch as usize];
        let last = self.switches[to.host as usize];
        let straight = self.detours && to.via.is_none();
        let lanes = LaneChanges::lanes_of(self.torus, self.detours);
        let stage = match classes[usize::from(output)] {
            PortClass::Host => return vl,
            PortClass::Ring { dimension, up } => {
                // A region of a torus is a switch.
                let (here, there) = (self.place(switch, dimension), self.place(to.via.unwrap_or(last), dimension));
                let crosses = if up { here > there } else { here < there };
                if to.via.is_some() {
                    return vl - vl % lanes + u8::from(!crosses);
                }
                let pair = 2 * u8::from(straight);
                let along = |class| matches!(class, PortClass::Ring { dimension: d, .. } if d == dimension);
                if along(classes[usize::from(input)]) && vl % lanes >= pair {
                    return vl;
                }
                pair + u8::from(crosses)
            }
            PortClass::Link => {
                let arrived = to.via.is_none() && self.place(switch, 0) == self.place(last, 0);
                u8::from(straight) + u8::from(arrived)
            }
        };
        vl - vl % lanes + stage
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to(host: u32) -> Heading {
        Heading::to(host)
    }

    #[test]
    fn packets_that_cross_a_dateline_have_a_lane_along_the_ring() {
        // Ring 0 to 4, one host on each switch; port 1 leads up, port 2 down.
        let ring = |up| PortClass::Ring { dimension: 0, up };
        let classes = vec![vec![PortClass::Host, ring(true), ring(false)]; 5];
        let lanes = LaneChanges::new(classes, 1, (0..5).collect(), (0..5).collect());
        let up = |switch, host, input, vl| lanes.next(switch, (input, 1), vl, to(host));
        assert_eq!([up(1, 3, 0, 0), up(2, 3, 2, 0)], [0, 0], "they never cross");
        assert_eq!([up(3, 1, 0, 0), up(4, 1, 2, 1), up(0, 1, 2, 1)], [1, 1, 1], "before the dateline and after it");
        let down = |switch, host, input, vl| lanes.next(switch, (input, 2), vl, to(host));
        assert_eq!([down(3, 1, 0, 0), down(1, 4, 0, 0), down(0, 4, 1, 1)], [0, 1, 1]);
        let pair = [up(3, 1, 0, 4), up(1, 3, 0, 4), lanes.next(3, (2, 0), 5, to(3))];
        assert_eq!(pair, [5, 4, 5], "of the pair that it began on");
        let detours = lanes.with_detours();
        let via = Heading { host: 1, via: Some(4) };
        let next = |switch, input, vl, to| detours.next(switch, (input, 1), vl, to);
        assert_eq!(
            [next(2, 0, 0, via), next(3, 2, 1, via), next(4, 2, 1, to(1)), next(0, 2, 3, to(1))],
            [1, 1, 3, 3],
            "by the order of numbers, and then from the beginning of the ring"
        );
    }

    #[test]
    fn the_group_of_the_destination_has_a_lane() {
        // Groups of two switches with one host each.
        let classes = vec![vec![PortClass::Host, PortClass::Link, PortClass::Link]; 6];
        let lanes = LaneChanges::new(classes, 1, vec![0, 0, 1, 1, 2, 2], (0..6).collect());
        let next = |switch, host, vl| lanes.next(switch, (0, 1), vl, to(host));
        assert_eq!([next(0, 3, 0), next(1, 3, 0), next(2, 3, 0), next(0, 1, 2)], [0, 0, 1, 3]);
        let detours = lanes.with_detours();
        let via = Heading { host: 3, via: Some(2) };
        let next = |switch, vl, to| detours.next(switch, (0, 1), vl, to);
        assert_eq!([next(0, 0, via), next(4, 0, to(3)), next(2, 1, to(3)), next(1, 3, to(3))], [0, 1, 2, 4]);
    }
}
