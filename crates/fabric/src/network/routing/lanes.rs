//! Changes of virtual lane on the path of a packet, where a single lane could deadlock.
//!
//! A service level has several lanes. The path of a packet determines which one it uses:
//! - A torus with dimension-order routing has two lanes. The cable that closes a ring is its dateline. As in
//!   BookSim2, a packet that crosses the dateline uses the second lane along the entire ring; other packets
//!   use the first. On shortest paths, this is free of deadlocks, because packets that cross begin in the
//!   upper half of the ring and end in the lower half. The numbering of Dally and Seitz (1987) instead puts a
//!   packet on the first lane while it still has to cross, and on the second otherwise. This is free of
//!   deadlocks on any path, but all packets before the dateline share one lane, and so do all packets after
//!   it.
//! - A dragonfly has two lanes. Packets use the first lane up to the global cable, and the second in the destination's
//!   group (Kim, Dally, Scott and Abts 2008).
//! - Packets with detours (Valiant 1982) first go to another region. Until they reach it, they use additional
//!   lanes: two on a torus, one on a dragonfly. On a torus, these lanes follow the numbering of Dally and
//!   Seitz, which is fairer there because the paths of detours are uniform.

use crate::packet::Packet;

/// The class of a switch's port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortClass {
    /// It connects to a host.
    Host,
    /// It connects to a neighbour in one dimension of a torus.
    Ring {
        /// The dimension.
        dimension: u8,
        /// Whether the neighbour has the next higher number; up from the last switch is 0.
        up: bool,
    },
    /// It connects to another switch of a dragonfly.
    Link,
}

/// Where a packet is heading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Heading {
    /// The rank of the destination.
    pub host: u32,
    /// The region that the packet visits first.
    pub via: Option<u32>,
}

impl Heading {
    /// Directly to a host.
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
    /// Indexed by the rank of the switch, and port.
    classes: Vec<Vec<PortClass>>,
    dimensions: usize,
    /// Indexed by the rank of the switch, and dimension: its coordinates on a torus, or its group on a
    /// dragonfly, which has a single dimension.
    places: Vec<u32>,
    /// Indexed by the rank of the host.
    switches: Vec<u32>,
    torus: bool,
    detours: bool,
}

impl LaneChanges {
    /// Maximum number of lanes of a service level.
    pub const MOST: u8 = 4;

    /// The lane changes in a network. `classes` lists the ports of each switch, by its rank. `places` lists
    /// the coordinates of each switch, one per dimension. `switches` lists the switch of each host.
    pub fn new(classes: Vec<Vec<PortClass>>, dimensions: usize, places: Vec<u32>, switches: Vec<u32>) -> LaneChanges {
        let torus = classes.iter().flatten().any(|class| matches!(class, PortClass::Ring { .. }));
        LaneChanges { classes, dimensions, places, switches, torus, detours: false }
    }

    /// The lane changes for packets with detours.
    pub fn with_detours(self) -> LaneChanges {
        LaneChanges { detours: true, ..self }
    }

    /// Number of lanes of a service level on a torus or a dragonfly, with or without detours.
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

    /// The lane on which a packet leaves a switch that it reached on the lane `vl`.
    #[inline]
    pub fn next(&self, switch: u32, (input, output): (u16, u16), vl: u8, to: Heading) -> u8 {
        let classes = &self.classes[switch as usize];
        let last = self.switches[to.host as usize];
        let straight = self.detours && to.via.is_none();
        let lanes = LaneChanges::lanes_of(self.torus, self.detours);
        let stage = match classes[usize::from(output)] {
            PortClass::Host => return vl,
            PortClass::Ring { dimension, up } => {
                // On a torus, a region is a switch.
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
        assert_eq!([up(1, 3, 0, 0), up(2, 3, 2, 0)], [0, 0], "they do not cross");
        assert_eq!([up(3, 1, 0, 0), up(4, 1, 2, 1), up(0, 1, 2, 1)], [1, 1, 1], "before and after the dateline");
        let down = |switch, host, input, vl| lanes.next(switch, (input, 2), vl, to(host));
        assert_eq!([down(3, 1, 0, 0), down(1, 4, 0, 0), down(0, 4, 1, 1)], [0, 1, 1]);
        let pair = [up(3, 1, 0, 4), up(1, 3, 0, 4), lanes.next(3, (2, 0), 5, to(3))];
        assert_eq!(pair, [5, 4, 5], "the service level's own pair");
        let detours = lanes.with_detours();
        let via = Heading { host: 1, via: Some(4) };
        let next = |switch, input, vl, to| detours.next(switch, (input, 1), vl, to);
        assert_eq!(
            [next(2, 0, 0, via), next(3, 2, 1, via), next(4, 2, 1, to(1)), next(0, 2, 3, to(1))],
            [1, 1, 3, 3],
            "by the numbering, then the same lane along the ring"
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
