//! The queues of a switch: waiting packets, and their order.

use crate::bits;
use crate::config::{Arbiter, Bypass, Queueing, SwitchConfig};
use crate::packet::{Kind, Packet};
use crate::policy::Arrival;
use crate::switch::pool::{Fifo, Slot, Waiting};
use crate::switch::rules::{Configured, Rules};
use crate::switch::state::State;

impl State {
    /// Counts a packet that starts to wait.
    #[inline]
    pub fn count<M: Rules>(&mut self, packet: &Packet, (input, output): (u16, u16)) {
        let &Packet { vl, size, .. } = packet;
        let place = self.ports[M::at(self, input, vl)].input.place;
        let (lane, voq) = (M::at(self, output, vl), M::voq(self, output, vl, place));
        let lane = &mut self.ports[lane].lane;
        lane.waiting += 1;
        lane.waiting_bytes += u64::from(size);
        self.voqs[voq].waiting += 1;
    }

    /// Removes a packet that waited from the counts.
    #[inline]
    pub fn discount<M: Rules>(&mut self, packet: &Packet, (input, output): (u16, u16)) {
        let &Packet { vl, size, .. } = packet;
        let place = self.ports[M::at(self, input, vl)].input.place;
        let (lane, voq) = (M::at(self, output, vl), M::voq(self, output, vl, place));
        let lane = &mut self.ports[lane].lane;
        lane.waiting -= 1;
        lane.waiting_bytes -= u64::from(size);
        self.voqs[voq].waiting -= 1;
    }

    /// Adds a packet to its queue, and counts it.
    #[inline(always)]
    pub fn enqueue<M: Rules>(
        &mut self,
        packet: &Packet,
        (input, output): (u16, u16),
        (came_on, order): (u8, u64),
        config: &SwitchConfig,
    ) {
        let &Packet { vl, kind, size, .. } = packet;
        let at = M::at(self, output, vl);
        let lane = &mut self.ports[at].lane;
        lane.waiting += 1;
        lane.waiting_bytes += u64::from(size);
        let place = self.ports[M::at(self, input, vl)].input.place;
        let voq = M::voq(self, output, vl, place);
        self.voqs[voq].waiting += 1;
        let slot = self.pool.insert(packet, (input, output), order);
        if self.changes_lanes {
            self.pool.came_on(slot, came_on);
        }
        if matches!(M::arbiter(config), Arbiter::OldestFirst { bypass: Bypass::Switch, .. }) {
            if config.arbiter.counts(kind) {
                self.arrival_order.arrived(slot, order);
            } else {
                self.arrival_order.ignored();
            }
        }
        if M::queueing(config) == Queueing::Fifo {
            let buffer = self.at(input, vl);
            let fifo = &mut self.fifos[buffer];
            self.pool.push(fifo, slot);
            if fifo.head == slot {
                self.offer_head(buffer, config);
            }
            return;
        }
        self.waits(order, kind, output, vl, config);
        let queue = &mut self.voqs[voq].offered;
        let is_first = !queue.head.is_some();
        self.pool.push(queue, slot);
        if is_first {
            self.offer::<M>(output, vl, place, true);
        }
    }

    /// Records a packet that its output can choose, or that is queued behind such a packet, if overtaking is
    /// bounded per output.
    #[inline]
    fn waits(&mut self, order: u64, kind: Kind, output: u16, vl: u8, config: &SwitchConfig) {
        if !self.bypasses.is_empty() && config.arbiter.counts(kind) {
            let lane = self.at(output, vl);
            self.bypasses[lane].waits(order);
        }
    }

    /// With FIFO queueing, offers the head of an input buffer to its output's arbiter. Its link to the next
    /// packet belongs to the buffer's list, so it is offered without being pushed.
    fn offer_head(&mut self, buffer: usize, config: &SwitchConfig) {
        let head = self.fifos[buffer].head;
        if !head.is_some() {
            return;
        }
        let &Waiting { order, input, output, packet: Packet { vl, kind, .. }, .. } = self.pool.get(head);
        self.waits(order, kind, output, vl, config);
        let place = self.turns.place(input);
        let voq = self.voq(output, vl, place);
        self.voqs[voq].offered = Fifo::of_one(head);
        self.offer::<Configured>(output, vl, place, true);
        self.list(output);
    }

    /// Removes the head of a queue, a packet of `size` bytes, and updates the counts.
    #[inline(always)]
    pub fn dequeue<M: Rules>(&mut self, output: u16, vl: u8, place: u16, size: u32, config: &SwitchConfig) {
        let voq = M::voq(self, output, vl, place);
        let queue = &mut self.voqs[voq];
        queue.waiting -= 1;
        let slot = queue.offered.head;
        let is_empty = match M::queueing(config) {
            Queueing::Voq => {
                queue.offered.head = self.pool.remove_head(slot);
                !queue.offered.head.is_some()
            }
            Queueing::Fifo => {
                queue.offered = Fifo::default();
                let buffer = self.at(self.turns.input(place), vl);
                self.fifos[buffer].head = self.pool.remove_head(slot);
                self.offer_head(buffer, config);
                !self.voqs[voq].offered.head.is_some()
            }
        };
        let at = M::at(self, output, vl);
        let lane = &mut self.ports[at].lane;
        lane.waiting -= 1;
        lane.waiting_bytes -= u64::from(size);
        if is_empty {
            self.offer::<M>(output, vl, place, false);
        }
    }

    /// Whether a packet that had to wait is still waiting. Queues are in order of arrival.
    pub fn still_waits(&self, arrival: &Arrival, config: &SwitchConfig) -> bool {
        let &Arrival { output, input, vl, order, .. } = arrival;
        let head = match config.queueing {
            Queueing::Voq => self.voqs[self.voq(output, vl, self.turns.place(input))].offered.head,
            Queueing::Fifo => self.fifos[self.at(input, vl)].head,
        };
        head.is_some() && self.pool.get(head).order <= order
    }

    /// The lane on which a waiting packet arrived; it will leave on the lane `vl`.
    #[inline(always)]
    pub fn came_on<M: Rules>(&self, slot: Slot, vl: u8) -> u8 {
        if !M::one_lane(self) && self.changes_lanes { self.pool.lane_of(slot) } else { vl }
    }

    /// The outputs and VLs that packets wait for, each with the packet that it would send next.
    pub fn next_packets(&self, config: &SwitchConfig) -> impl Iterator<Item = (u16, u8, &Packet)> {
        (0..self.degree).flat_map(move |output| {
            (0..self.vls).filter_map(move |vl| {
                let place = self.choose_place::<Configured>(output, vl, config)?;
                let head = self.voqs[self.voq(output, vl, place)].offered.head;
                Some((output, vl, &self.pool.get(head).packet))
            })
        })
    }

    /// The buffers, as (input, VL of arrival), whose packets wait for an output and VL at the head of a queue.
    pub fn waiting_for(&self, output: u16, vl: u8) -> impl Iterator<Item = (u16, u8)> {
        bits::iter(self.offering::<Configured>(output, vl)).map(move |place| {
            let head = self.voqs[self.voq(output, vl, place as u16)].offered.head;
            (self.pool.get(head).input, self.came_on::<Configured>(head, vl))
        })
    }

    /// All waiting packets, each with the buffer in which it waits, as (input, VL of arrival).
    pub fn waiting(&self, config: &SwitchConfig) -> impl Iterator<Item = (&Packet, (u16, u8))> {
        let queues: Vec<Slot> = match config.queueing {
            Queueing::Voq => self.voqs.iter().map(|queue| queue.offered.head).collect(),
            Queueing::Fifo => self.fifos.iter().map(|queue| queue.head).collect(),
        };
        queues.into_iter().flat_map(|head| self.pool.from(head)).map(|slot| {
            let Waiting { packet, input, .. } = self.pool.get(slot);
            (packet, (*input, self.came_on::<Configured>(slot, packet.vl)))
        })
    }

    /// Number of packets that are counted as waiting.
    pub fn waiting_packets(&self) -> usize {
        self.ports.iter().map(|port| port.lane.waiting as usize).sum()
    }
}
