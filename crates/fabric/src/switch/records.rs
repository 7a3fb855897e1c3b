//! Records of the path of packets that ask for them (telemetry).

use becalm_engine::Time;

use crate::packet::Packet;
use crate::policy::Hop;
use crate::switch::rules::Rules;
use crate::switch::state::State;
use crate::trail::Trails;

impl State {
    /// Has the switch record the path of packets that ask for it.
    pub fn record(&mut self) {
        self.records = true;
        self.rules = self.rules.recording();
    }

    /// Adds a record to a packet that asks for it, as its header leaves.
    #[inline(always)]
    pub fn record_hop<M: Rules>(&self, packet: &Packet, output: u16, now: Time, trails: &mut Trails) {
        if M::records(self) {
            self.record_asked(packet, output, now, trails);
        }
    }

    /// Records of an output as the header of a packet leaves by it; the packet itself no longer waits.
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
