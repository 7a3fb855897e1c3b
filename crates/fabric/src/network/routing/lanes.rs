//! Changes of virtual lane on the way of a packet, where one lane alone could deadlock.
//!
//! A packet begins on the first lane of a pair, and its position on the way decides between the two:
//! - On a torus with dimension-order routing, it takes the second lane of the pair from the cable on that closes the ring
//!   (the dateline) to the end of the ring (Dally and Seitz 1987).
//! - On a dragonfly with minimal routing, it takes the second lane after the global cable (Kim, Dally, Scott and Abts 2008).

/// The class of a switch's port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortClass {
    /// It leads to a host.
    Host,
    /// It leads along a dimension of a torus.
    Ring {
        /// The dimension.
        dimension: u8,
        /// Whether its cable closes the ring.
        dateline: bool,
    },
    /// It leads to a switch of the same group of a dragonfly.
    Local,
    /// It leads to another group of a dragonfly.
    Global,
}

/// The lanes of packets in a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneChanges {
    /// By the rank of the switch, and port.
    classes: Vec<Vec<PortClass>>,
}

impl LaneChanges {
    /// Lanes that a packet changes between.
    pub const LANES: u8 = 2;

    /// The changes in a network with these ports, by the rank of the switch.
    pub fn new(classes: Vec<Vec<PortClass>>) -> LaneChanges {
        LaneChanges { classes }
    }

    /// The lane by which a packet leaves a switch that it has reached on the lane `vl`.
    pub fn next(&self, switch: u32, input: u16, output: u16, vl: u8) -> u8 {
        let classes = &self.classes[switch as usize];
        let stage = vl % LaneChanges::LANES;
        let next = match (classes[usize::from(input)], classes[usize::from(output)]) {
            (_, PortClass::Host) => stage,
            (PortClass::Ring { dimension, .. }, PortClass::Ring { dimension: onward, dateline })
                if dimension == onward =>
            {
                stage | u8::from(dateline)
            }
            (_, PortClass::Ring { dateline, .. }) => u8::from(dateline),
            (PortClass::Global, PortClass::Local | PortClass::Global) => LaneChanges::LANES - 1,
            _ => stage,
        };
        vl - stage + next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datelines_lift_packets_for_the_rest_of_their_ring() {
        let ring = |dimension, dateline| PortClass::Ring { dimension, dateline };
        let classes = vec![PortClass::Host, ring(0, false), ring(0, true), ring(1, false), ring(1, true)];
        let lanes = LaneChanges::new(vec![classes]);
        let next = |input, output, vl| lanes.next(0, input, output, vl);
        assert_eq!([next(0, 1, 0), next(0, 2, 0), next(1, 2, 0), next(2, 1, 1)], [0, 1, 1, 1]);
        assert_eq!([next(2, 3, 1), next(2, 4, 1), next(2, 0, 1)], [0, 1, 1], "each dimension begins anew");
        assert_eq!([next(0, 1, 4), next(0, 2, 4), next(2, 3, 5)], [4, 5, 4], "of the pair that it began on");
    }

    #[test]
    fn a_global_cable_lifts_packets() {
        let lanes = LaneChanges::new(vec![vec![PortClass::Host, PortClass::Local, PortClass::Global]]);
        let next = |input, output, vl| lanes.next(0, input, output, vl);
        assert_eq!([next(0, 1, 0), next(1, 2, 0), next(0, 2, 2), next(2, 1, 0), next(2, 0, 2)], [0, 0, 2, 1, 2]);
    }
}
