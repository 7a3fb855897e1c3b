//! The choice among equal ports.

use becalm_engine::{Time, mix};

use crate::config::PathSelection;
use crate::context::{Context, Shared};
use crate::network::link::Control;
use crate::network::routing::PortSet;
use crate::network::routing::hash::{flow_hash, pick};
use crate::packet::Packet;
use crate::policy::Observer;
use crate::switch::choices::Flowlet;
use crate::switch::state::State;

impl State {
    /// The port by which a packet leaves that came by `input`; `None` without a route.
    #[inline(never)]
    pub fn choose_port<O: Observer>(
        &mut self,
        law: PathSelection,
        (input, packet): (u16, &Packet),
        cx: &mut Context<'_, O>,
    ) -> Option<u16> {
        let set = cx.shared.routes.ports(self.rank, packet.destination);
        let n = set.len();
        if n <= 1 {
            return set.iter().next();
        }
        Some(match law {
            PathSelection::Destination => return cx.shared.routes.port(self.rank, packet.destination),
            PathSelection::Flow { salted } => {
                let hash = flow_hash(self.choices.seed, packet.flow, packet.kind, salted.then_some(self.rank));
                set.get(pick(hash, n))
            }
            PathSelection::Packet => set.get(pick(self.lot(packet, 0), n)),
            PathSelection::RoundRobin => set.get(self.choices.turn(&set, self.rank)),
            PathSelection::LeastWaiting { sample } => self.least_waiting(&set, sample, (input, packet), cx),
            PathSelection::Flowlet { gap } => {
                let key = u64::from(packet.flow.0) << 2 | packet.kind as u64;
                let known = self.choices.flowlets.get(&key).filter(|flowlet| cx.now.since(flowlet.last) <= gap);
                let port = known.map(|flowlet| flowlet.port);
                let port = port.unwrap_or_else(|| self.least_waiting(&set, PathSelection::ALL, (input, packet), cx));
                self.choices.flowlets.insert(key, Flowlet { last: cx.now, port });
                port
            }
        })
    }

    /// A hash of the packet and the switch, one of several.
    fn lot(&self, packet: &Packet, number: u64) -> u64 {
        mix(mix(u64::from(packet.tie), u64::from(self.rank)), number)
    }

    /// The port with the least work waiting, among those with credit if any has; a hash decides between equals.
    fn least_waiting<O: Observer>(
        &self,
        set: &PortSet<'_>,
        sample: u32,
        (input, packet): (u16, &Packet),
        cx: &Context<'_, O>,
    ) -> u16 {
        let rank = |port: u16| {
            let lot = self.lot(packet, u64::from(port));
            (!self.is_open(port, (input, packet), cx.shared, cx.now), self.work(port, cx.now), lot)
        };
        let best = match sample as usize {
            sample if sample >= set.len() => set.iter().min_by_key(|&port| rank(port)),
            // Draws are independent of each other and of the hashes that decide between equals.
            sample => (0..sample as u64)
                .map(|draw| set.get(pick(self.lot(packet, !draw), set.len())))
                .min_by_key(|&port| rank(port)),
        };
        best.expect("there are several ports, and a sample has at least one")
    }

    /// Whether an output may send a packet of this size now, as far as the next buffer is concerned.
    fn is_open(&self, output: u16, (input, packet): (u16, &Packet), shared: &Shared, now: Time) -> bool {
        let link = &self.output(output).link;
        let vl = shared.routes.lanes().map_or(packet.vl, |lanes| lanes.next(self.rank, input, output, packet.vl));
        let at = link.credit_index(vl);
        match link.control {
            Control::Credit => shared.credit[at].level(now) >= self.room.need(packet.size),
            Control::Free => true,
            Control::Gate => shared.gates[at].is_open(now),
        }
    }

    /// Time that an output takes for what waits for it, on all lanes, and for the rest of the packet that it sends.
    fn work(&self, output: u16, now: Time) -> Time {
        let out = self.output(output);
        let lanes = &self.ports[self.at(output, 0)..][..usize::from(self.vls)];
        let bytes: u64 = lanes.iter().map(|port| port.lane.waiting_bytes).sum();
        let rest = Time(out.busy_until.0.saturating_sub(now.0));
        rest + out.link.rate.time_of(u32::try_from(bytes).unwrap_or(u32::MAX))
    }
}
