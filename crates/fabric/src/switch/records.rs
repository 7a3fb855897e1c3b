//! Records of the paths of packets that request them (telemetry).

use becalm_engine::Time;

use crate::packet::Packet;
use crate::policy::Hop;
use crate::switch::rules::Rules;
use crate::switch::state::State;
use crate::trail::Trails;

impl State {
    /// Enables recording of the paths of packets that request it.
    pub fn record(&mut self) {
        self.records = true;
        self.rules = self.rules.recording();
    }

    /// Adds a record to a packet that requests it, when the packet's header leaves.
    #[inline(always)]
    pub fn record_hop<M: Rules>(&self, packet: &Packet, output: u16, now: Time, trails: &mut Trails) {
        if M::records(self) {
            self.record_asked(packet, output, now, trails);
        }
    }

    /// Records an output as a packet's header leaves by it. The packet itself no longer waits.
    #[inline(never)]
    fn record_asked(&self, packet: &Packet, output: u16, now: Time, trails: &mut Trails) {
        if !packet.is_recorded() {
            return;
        }
        let (out, first) = (self.output(output), self.at(output, 0));
        let lanes = &self.ports[first..first + usize::from(self.vls)];
        let waiting = lanes.iter().map(|port| port.lane.waiting_bytes).sum();
        let hop = Hop { output: self.port(output), at: now, sent: out.bytes, waiting, rate: out.link.rate };
        trails.record(packet, hop);
    }
}
