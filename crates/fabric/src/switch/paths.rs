//! The choice among equal ports.

use becalm_engine::{Time, mix};

use crate::config::{PathSelection, Room};
use crate::context::{Context, Shared};
use crate::network::link::Control;
use crate::network::routing::hash::{flow_hash, pick};
use crate::network::routing::{Detours, Heading, LaneChanges, PortSet};
use crate::packet::{Kind, Packet};
use crate::policy::Observer;
use crate::switch::choices::Flowlet;
use crate::switch::ports::Port;
use crate::switch::state::State;

/// Numbers of a packet's hashes: for the region of its detour, and for a host in that region.
const REGION: u64 = 1 << 40;
const AIM: u64 = 1 << 41;
/// Number of the hash of a flow whose port is down.
const ELSEWHERE: u64 = 1 << 42;

impl State {
    /// The port by which a packet that arrived at `input` leaves; `None` without a route.
    #[inline(never)]
    pub fn choose_port<O: Observer>(
        &mut self,
        law: PathSelection,
        (input, packet): (u16, &Packet),
        cx: &Context<'_, O>,
    ) -> Option<u16> {
        let set = cx.shared.routes.ports(self.rank, packet.destination);
        match self.downs.is_empty() {
            true => self.choose_in(law, set, (input, packet), cx),
            false => self.choose_up(law, set, (input, packet), cx),
        }
    }

    /// The port by which a packet leaves while a link is down: one whose link is up, if there is any. A flow whose port by
    /// its hash is up stays there.
    #[cold]
    fn choose_up<O: Observer>(
        &mut self,
        law: PathSelection,
        set: PortSet<'_>,
        (input, packet): (u16, &Packet),
        cx: &Context<'_, O>,
    ) -> Option<u16> {
        let up: Vec<u16> = set.iter().filter(|&port| self.is_up(port)).collect();
        if up.is_empty() || up.len() == set.len() {
            return self.choose_in(law, set, (input, packet), cx);
        }
        if let PathSelection::Flow { salted } = law {
            let hash = flow_hash(self.choices.seed, packet.flow, packet.kind, salted.then_some(self.rank));
            let port = set.get(pick(hash, set.len()));
            return Some(if self.is_up(port) { port } else { up[pick(mix(hash, ELSEWHERE), up.len())] });
        }
        self.choose_in(law, PortSet::list(set.number(), &up), (input, packet), cx)
    }

    /// The port of a set by which a packet leaves.
    #[inline]
    fn choose_in<O: Observer>(
        &mut self,
        law: PathSelection,
        set: PortSet<'_>,
        (input, packet): (u16, &Packet),
        cx: &Context<'_, O>,
    ) -> Option<u16> {
        let n = set.len();
        if n <= 1 {
            return set.iter().next();
        }
        Some(match law {
            PathSelection::Destination | PathSelection::Valiant | PathSelection::Ugal => {
                return cx.shared.routes.port(self.rank, packet.destination);
            }
            PathSelection::Flow { salted } => {
                let hash = flow_hash(self.choices.seed, packet.flow, packet.kind, salted.then_some(self.rank));
                set.get(pick(hash, n))
            }
            PathSelection::Entropy { .. } if packet.kind == Kind::Data => {
                let hash = flow_hash(self.choices.seed, packet.flow, packet.kind, Some(self.rank));
                set.get(pick(mix(hash, u64::from(packet.entropy())), n))
            }
            PathSelection::Packet | PathSelection::Entropy { .. } => set.get(pick(self.lot(packet, 0), n)),
            PathSelection::RoundRobin => set.get(self.choices.turn(&set, self.rank)),
            PathSelection::LeastWaiting { sample } => self.least_waiting(&set, sample, (input, packet), cx),
            PathSelection::Flowlet { gap } => {
                let key = u64::from(packet.flow.0) << 2 | packet.kind as u64;
                let known = self
                    .choices
                    .flowlets
                    .get(&key)
                    .filter(|flowlet| cx.now.since(flowlet.last) <= gap && self.is_up(flowlet.port));
                let port = known.map(|flowlet| flowlet.port);
                let port = port.unwrap_or_else(|| self.least_waiting(&set, PathSelection::ALL, (input, packet), cx));
                self.choices.flowlets.insert(key, Flowlet { last: cx.now, port });
                port
            }
        })
    }

    /// With detours, the port by which a packet leaves, and the packet with its updated detour.
    #[inline(never)]
    pub fn steer<O: Observer>(
        &self,
        law: PathSelection,
        (input, packet): (u16, &Packet),
        cx: &Context<'_, O>,
    ) -> (Option<u16>, Packet) {
        let (routes, mut packet) = (&cx.shared.routes, *packet);
        let detours = routes.detours().expect("this law has routes with detours");
        if packet.via() == Some(detours.region_of(self.rank)) {
            packet.set_via(None);
        }
        if packet.kind == Kind::Data && detours.begins(self.rank, input) {
            let drawn = detours.draw(self.rank, packet.destination, self.lot(&packet, REGION));
            let is_up = |host: u32| routes.port(self.rank, host).is_none_or(|port| self.is_up(port));
            let pays = |&via: &u32| {
                let must = law == PathSelection::Valiant || !is_up(packet.destination);
                is_up(self.aim(detours, via, &packet))
                    && (must || self.detour_pays(detours, via, &packet, cx.shared, cx.now))
            };
            packet.set_via(drawn.filter(pays));
        }
        let aim = packet.via().map_or(packet.destination, |via| self.aim(detours, via, &packet));
        (routes.port(self.rank, aim), packet)
    }

    /// The host of a region whose routes a packet follows to that region.
    fn aim(&self, detours: &Detours, via: u32, packet: &Packet) -> u32 {
        detours.host_in(via, self.lot(packet, AIM))
    }

    /// Whether the product of queue length and hops is smaller through a region than on the direct path.
    fn detour_pays(&self, detours: &Detours, via: u32, packet: &Packet, shared: &Shared, now: Time) -> bool {
        let aim = self.aim(detours, via, packet);
        let queue = |host: u32| shared.routes.port(self.rank, host).map_or(0, |port| self.queue(port, shared, now));
        let port = |switch: u32, host: u32| shared.routes.port(switch, host);
        let hops = |from: u32, host: u32, to_region: bool| detours.hops(port, (from, host), to_region);
        let (straight, _) = hops(self.rank, packet.destination, false);
        let (there, entry) = hops(self.rank, aim, true);
        let (onward, _) = hops(entry, packet.destination, false);
        queue(packet.destination) * u64::from(straight) > queue(aim) * u64::from(there + onward)
    }

    /// Units that wait for an output on all lanes, plus the units in the next buffers according to the
    /// output's credit.
    fn queue(&self, output: u16, shared: &Shared, now: Time) -> u64 {
        let lanes = &self.ports[self.at(output, 0)..][..usize::from(self.vls)];
        let units = |port: &Port| match self.room {
            Room::Slots(_) => u64::from(port.lane.waiting),
            Room::Bytes(_) | Room::Units(..) => port.lane.waiting_bytes / u64::from(self.room.unit().bytes()),
        };
        let link = &self.output(output).link;
        let taken = |vl: u8| match link.control {
            Control::Credit => self.capacity - shared.credit[link.credit_index(vl)].level(now),
            Control::Free | Control::Gate => 0,
        };
        lanes.iter().map(units).sum::<u64>() + (0..self.vls).map(|vl| u64::from(taken(vl))).sum::<u64>()
    }

    /// One of several hashes of the packet and the switch.
    fn lot(&self, packet: &Packet, number: u64) -> u64 {
        mix(mix(u64::from(packet.tie), u64::from(self.rank)), number)
    }

    /// The port with the least waiting data. Ports with credit are preferred, and a hash breaks ties.
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
            // Samples are independent of each other and of the hashes that break ties.
            sample => (0..sample as u64)
                .map(|draw| set.get(pick(self.lot(packet, !draw), set.len())))
                .min_by_key(|&port| rank(port)),
        };
        best.expect("there are several ports and at least one sample")
    }

    /// Whether the next buffer allows an output to send a packet of this size now.
    fn is_open(&self, output: u16, (input, packet): (u16, &Packet), shared: &Shared, now: Time) -> bool {
        let link = &self.output(output).link;
        let lane = |lanes: &LaneChanges| lanes.next(self.rank, (input, output), packet.vl, Heading::of(packet));
        let vl = shared.routes.lanes().map_or(packet.vl, lane);
        let at = link.credit_index(vl);
        match link.control {
            Control::Credit => shared.credit[at].level(now) >= self.unit.of_packet(packet),
            Control::Free => true,
            Control::Gate => shared.gates[at].is_open(now),
        }
    }

    /// Time that an output needs to send all waiting packets, on all lanes, and the rest of the current
    /// packet.
    fn work(&self, output: u16, now: Time) -> Time {
        let out = self.output(output);
        let lanes = &self.ports[self.at(output, 0)..][..usize::from(self.vls)];
        let bytes: u64 = lanes.iter().map(|port| port.lane.waiting_bytes).sum();
        let rest = Time(out.busy_until.0.saturating_sub(now.0));
        let waiting = out.link.rate.time_of(u32::try_from(bytes).unwrap_or(u32::MAX));
        // The output is busy for ever while its link is down.
        rest.saturating_add(waiting)
    }
}
