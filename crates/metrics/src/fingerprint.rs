//! A number that two runs share only if they are identical.

use becalm_engine::{Time, mix};
use becalm_fabric::policy::{Joint, Observer};
use becalm_fabric::{Kind, NodeId, Packet, PortId};

/// Sums a hash of every hop and every delivery.
///
/// A sum does not depend on the order of simultaneous events, so the number is the same for any number of threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fingerprint(u64);

/// Number that stands for a delivery and that no port has.
const DELIVERY: u64 = u64::MAX;

impl Fingerprint {
    /// The number.
    pub const fn value(&self) -> u64 {
        self.0
    }

    #[inline]
    fn add(&mut self, now: Time, place: u64, packet: &Packet) {
        let kind = match packet.kind {
            Kind::Data => 0,
            Kind::Ack => 1,
            Kind::Cnp => 2,
        };
        let flags = (kind << 2 | packet.marked as u64) << 1 | packet.becn() as u64;
        let number = (packet.flow.0 as u64) << 32 | packet.sequence as u64;
        self.0 = self.0.wrapping_add(mix(mix(now.as_ps() ^ flags << 56, place), number));
    }
}

impl Joint for Fingerprint {
    fn join(&mut self, other: Self, _: &dyn Fn(NodeId) -> bool) {
        self.0 = self.0.wrapping_add(other.0);
    }
}

impl Observer for Fingerprint {
    #[inline]
    fn hop(&mut self, now: Time, from: PortId, packet: &Packet) {
        self.add(now, (from.node.0 as u64) << 16 | from.port as u64, packet);
    }

    #[inline]
    fn delivered(&mut self, now: Time, packet: &Packet) {
        self.add(now, DELIVERY, packet);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use becalm_fabric::{FlowId, Train};

    /// A data packet of a flow.
    pub(crate) fn packet(flow: u32, sequence: u32, posted: Time) -> Packet {
        let flow = FlowId(flow);
        Packet { posted, injected: posted, flow, sequence, size: 2068, train: Train::LAST, ..Packet::default() }
    }

    fn of(hops: &[(u64, u16, Packet)]) -> u64 {
        let mut fingerprint = Fingerprint::default();
        for (time, port, packet) in hops {
            fingerprint.hop(Time(*time), PortId { node: NodeId(1), port: *port }, packet);
        }
        fingerprint.value()
    }

    #[test]
    fn does_not_depend_on_the_order_of_handling() {
        let (a, b) = (packet(0, 0, Time::ZERO), packet(1, 0, Time::ZERO));
        assert_eq!(of(&[(5, 0, a), (5, 1, b)]), of(&[(5, 1, b), (5, 0, a)]));
    }

    #[test]
    fn changes_with_every_part_of_a_hop() {
        let p = packet(0, 0, Time::ZERO);
        let base = of(&[(5, 0, p)]);
        assert_ne!(base, of(&[(6, 0, p)]));
        assert_ne!(base, of(&[(5, 1, p)]));
        assert_ne!(base, of(&[(5, 0, packet(1, 0, Time::ZERO))]));
        assert_ne!(base, of(&[(5, 0, packet(0, 1, Time::ZERO))]));
        assert_ne!(base, of(&[(5, 0, Packet { marked: true, ..p })]));
        let ack = Packet { kind: Kind::Ack, ..p };
        assert_ne!(base, of(&[(5, 0, ack)]));
        assert_ne!(of(&[(5, 0, ack)]), of(&[(5, 0, Packet { marks: 1, ..ack })]));
        let mut delivered = Fingerprint::default();
        delivered.delivered(Time(5), &p);
        assert_ne!(base, delivered.value());
    }
}
