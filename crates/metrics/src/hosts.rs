//! Packets received by the hosts.

use becalm_engine::Time;
use becalm_fabric::policy::{Joint, Observer};
use becalm_fabric::{NodeId, Packet};

/// Packets of all kinds that a host has received in the measured window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// Packets.
    pub packets: u64,
    /// Bytes on the wire.
    pub bytes: u64,
    /// Packets that a switch has marked (PortRcvFECN).
    pub fecn: u64,
    /// Packets that report a mark received by another host (PortRcvBECN).
    pub becn: u64,
}

/// Counts packets received by every host. A packet counts when its last byte has been received.
#[derive(Clone, Debug)]
pub struct Hosts {
    from: Time,
    received: Vec<Received>,
    last: Time,
}

impl Hosts {
    /// Starts counting at `from`.
    pub fn new(from: Time, hosts: u32) -> Hosts {
        Hosts { from, received: vec![Received::default(); hosts as usize], last: Time::ZERO }
    }

    /// Time at which the last packet arrived in the measured window.
    pub fn last_arrival(&self) -> Time {
        self.last
    }

    /// Counts of the hosts, by rank.
    pub fn received(&self) -> &[Received] {
        &self.received
    }

    /// Counts packets that a host has received in stretches that were left out.
    pub fn add(&mut self, host: usize, packets: u64, bytes: u64) {
        let received = &mut self.received[host];
        received.packets += packets;
        received.bytes += bytes;
    }
}

impl Joint for Hosts {
    fn join(&mut self, other: Self, _: &dyn Fn(NodeId) -> bool) {
        self.last = self.last.max(other.last);
        for (mine, its) in self.received.iter_mut().zip(other.received) {
            mine.packets += its.packets;
            mine.bytes += its.bytes;
            mine.fecn += its.fecn;
            mine.becn += its.becn;
        }
    }
}

impl Observer for Hosts {
    #[inline]
    fn delivered(&mut self, now: Time, packet: &Packet) {
        // The window follows the events of its first moment, as counters do.
        if now <= self.from {
            return;
        }
        self.last = now;
        let host = &mut self.received[packet.destination as usize];
        host.packets += 1;
        if packet.marked {
            host.fecn += 1;
        }
        host.bytes += u64::from(packet.size);
        if packet.becn() {
            host.becn += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fingerprint::tests::packet;
    use becalm_fabric::Kind;

    #[test]
    fn counts_packets_and_their_marks_after_the_warm_up() {
        let mut hosts = Hosts::new(Time::from_us(10), 2);
        let data = Packet { destination: 1, marked: true, ..packet(0, 0, Time::ZERO) };
        let ack = Packet { kind: Kind::Ack, size: 20, marks: 1, ..packet(0, 0, Time::ZERO) };
        for (us, packet) in [(10, data), (11, data), (11, ack), (12, Packet { marked: false, ..data })] {
            hosts.delivered(Time::from_us(us), &packet);
        }
        let expected = [
            Received { packets: 1, bytes: 20, fecn: 0, becn: 1 },
            Received { packets: 2, bytes: 2 * 2068, fecn: 1, becn: 0 },
        ];
        assert_eq!(hosts.received(), expected);
    }
}
