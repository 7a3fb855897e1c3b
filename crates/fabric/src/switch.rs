//! A switch: input buffers with credits, forwarding, arbitration, marking.
//!
//! A packet that arrives joins the queue of (output, VL, input). Whatever may let a packet leave (its arrival, a
//! credit, a free output, a free input, the departure of a packet that held up others) puts the output on the list
//! of those to settle, and [`Switch::settle`] starts what can start.

use std::collections::VecDeque;

use becalm_engine::Time;

use crate::bits;
use crate::config::{Arbiter, InputReads, Queueing, Room, SwitchConfig};
use crate::credit::Line;
use crate::event::{Context, Event, Outlink};
use crate::ids::{NodeId, PacketId, PortId};
use crate::packet::Slab;
use crate::seam::{Arrival, Departure, Marker, Observer, SwitchView};
use crate::vl::VlArbiter;

/// An input buffer of one port and VL.
#[derive(Clone, Debug, Default)]
pub(crate) struct Input {
    /// Units of credit that are taken.
    pub taken: u32,
    /// Packets in the buffer, those in transmission included.
    pub packets: u32,
    /// Packets in transmission.
    pub leaving: u32,
    /// With FIFO queueing: the packets that wait behind each other.
    fifo: Fifo,
}

/// A list of packets linked through [`Packet::next`](crate::Packet::next).
#[derive(Clone, Copy, Debug)]
struct Fifo {
    head: PacketId,
    tail: PacketId,
}

impl Default for Fifo {
    fn default() -> Self {
        Fifo { head: PacketId::NONE, tail: PacketId::NONE }
    }
}

impl Fifo {
    fn push(&mut self, id: PacketId, slab: &mut Slab) {
        slab[id].next = PacketId::NONE;
        if self.head.is_some() {
            slab[self.tail].next = id;
        } else {
            self.head = id;
        }
        self.tail = id;
    }

    fn pop(&mut self, slab: &Slab) {
        self.head = slab[self.head].next;
    }
}

/// The packets of one VL that go from one input to one output.
#[derive(Clone, Copy, Debug, Default)]
struct Voq {
    /// Those that the arbiter may take, first in order of arrival.
    offered: Fifo,
    /// Order of arrival of the first.
    head_order: u64,
    /// All that wait, offered or not.
    waiting: u32,
}

/// An output port.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    pub link: Outlink,
    /// Input and VL of the packet in transmission.
    sending: Option<(u16, u8)>,
    vl: VlArbiter,
    pub packets: u64,
    pub bytes: u64,
    pub marked: u64,
}

/// One VL of an output port.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lane {
    waiting: u32,
    waiting_bytes: u64,
    /// The input that was served last.
    last_input: u16,
    pub stalled: bool,
    congested: bool,
}

/// Everything but the marker.
#[derive(Debug)]
pub(crate) struct State {
    pub node: NodeId,
    pub rank: u32,
    ports: u16,
    vls: u8,
    room: Room,
    /// What the largest packet needs of a buffer.
    largest: u32,
    /// By (port, VL).
    pub inputs: Vec<Input>,
    pub outputs: Vec<Output>,
    /// By (port, VL).
    pub lanes: Vec<Lane>,
    /// By (output, VL, input).
    voqs: Vec<Voq>,
    /// By (output, VL): the inputs with an offered packet.
    offering: Vec<u64>,
    words: usize,
    /// Outputs to settle.
    pending: Vec<u64>,
    next_order: u64,
    seniority: Seniority,
}

/// With oldest-first arbitration: which packet is the oldest, and how often it has been overtaken.
#[derive(Debug, Default)]
struct Seniority {
    /// The packets since the oldest waiting one, in order of arrival; `NONE` for those that have left.
    waiting: VecDeque<PacketId>,
    /// Order of arrival of the first.
    first: u64,
    overtaken: u32,
}

impl Seniority {
    fn arrived(&mut self, id: PacketId, order: u64) {
        if self.waiting.is_empty() {
            self.first = order;
        }
        self.waiting.push_back(id);
    }

    /// Notes a departure; says whether the packet was the oldest.
    fn departed(&mut self, order: u64) -> bool {
        self.waiting[(order - self.first) as usize] = PacketId::NONE;
        if order != self.first {
            self.overtaken += 1;
            return false;
        }
        while self.waiting.front() == Some(&PacketId::NONE) {
            self.waiting.pop_front();
            self.first += 1;
        }
        self.overtaken = 0;
        true
    }
}

impl State {
    fn new(node: NodeId, rank: u32, config: &SwitchConfig, links: Vec<Outlink>, largest: u32) -> State {
        let (ports, vls) = (links.len(), usize::from(config.vls));
        let words = bits::words(ports);
        State {
            node,
            rank,
            ports: ports as u16,
            vls: config.vls,
            room: config.buffer,
            largest: config.buffer.need(largest),
            inputs: vec![Input::default(); ports * vls],
            outputs: links
                .into_iter()
                .map(|link| Output {
                    link,
                    sending: None,
                    vl: VlArbiter::new(config.vls, &config.vl_arbitration),
                    packets: 0,
                    bytes: 0,
                    marked: 0,
                })
                .collect(),
            lanes: vec![Lane::default(); ports * vls],
            voqs: vec![Voq::default(); ports * ports * vls],
            offering: vec![0; ports * vls * words],
            words,
            pending: vec![0; words],
            next_order: 0,
            seniority: Seniority::default(),
        }
    }

    fn port(&self, port: u16) -> PortId {
        PortId { node: self.node, port }
    }

    #[inline]
    fn at(&self, port: u16, vl: u8) -> usize {
        usize::from(port) * usize::from(self.vls) + usize::from(vl)
    }

    #[inline]
    fn voq(&self, output: u16, vl: u8, input: u16) -> usize {
        self.at(output, vl) * usize::from(self.ports) + usize::from(input)
    }

    #[inline]
    fn offering(&self, output: u16, vl: u8) -> &[u64] {
        let start = self.at(output, vl) * self.words;
        &self.offering[start..start + self.words]
    }

    #[inline]
    fn offering_mut(&mut self, output: u16, vl: u8) -> &mut [u64] {
        let start = self.at(output, vl) * self.words;
        &mut self.offering[start..start + self.words]
    }

    /// Whether an output's next buffer has room for a packet of this size.
    #[inline]
    fn affords<O: Observer>(&self, output: u16, vl: u8, size: u32, cx: &Context<'_, O>) -> bool {
        cx.affords(&self.outputs[usize::from(output)].link, vl, self.room.need(size))
    }

    /// Whether an input is already sending, where it may only send one packet at a time.
    #[inline]
    fn is_reading(&self, input: u16, config: &SwitchConfig) -> bool {
        config.input_reads == InputReads::One && (0..self.vls).any(|vl| self.inputs[self.at(input, vl)].leaving > 0)
    }

    /// Whether a packet must let the oldest packet of the switch go first.
    ///
    /// An oldest packet without credit holds up nobody: two switches whose oldest packets wait for each other's
    /// buffers would otherwise never move again.
    #[inline]
    fn must_yield<O: Observer>(&self, order: u64, cx: &Context<'_, O>) -> bool {
        let Arbiter::OldestFirst { max_bypass } = cx.switch.arbiter else { return false };
        if self.seniority.overtaken < max_bypass || self.seniority.first == order {
            return false;
        }
        let Some(&oldest) = self.seniority.waiting.front() else { return false };
        let oldest = &cx.slab[oldest];
        self.affords(oldest.output, oldest.vl, oldest.size, cx)
    }

    /// Whether a packet that arrives now can leave at once.
    fn goes_straight<O: Observer>(&self, id: PacketId, cx: &Context<'_, O>) -> bool {
        let (packet, config) = (&cx.slab[id], cx.switch);
        let (output, input, vl) = (packet.output, packet.input, packet.vl);
        let behind_others = config.queueing == Queueing::Fifo && self.inputs[self.at(input, vl)].fifo.head.is_some();
        self.outputs[usize::from(output)].sending.is_none()
            && !behind_others
            && bits::is_empty(self.offering(output, vl))
            && self.affords(output, vl, packet.size, cx)
            && !self.is_reading(input, config)
            && !self.must_yield(packet.order, cx)
    }

    /// Puts a packet into its queue.
    fn enqueue(&mut self, id: PacketId, slab: &mut Slab, config: &SwitchConfig) {
        let (output, input, vl, size) = {
            let packet = &slab[id];
            (packet.output, packet.input, packet.vl, packet.size)
        };
        let lane = self.at(output, vl);
        self.lanes[lane].waiting += 1;
        self.lanes[lane].waiting_bytes += u64::from(size);
        let voq = self.voq(output, vl, input);
        self.voqs[voq].waiting += 1;
        match config.queueing {
            Queueing::Voq => self.offer(id, slab),
            Queueing::Fifo => {
                let buffer = self.at(input, vl);
                self.inputs[buffer].fifo.push(id, slab);
                if self.inputs[buffer].fifo.head == id {
                    self.offer_head(buffer, slab);
                }
            }
        }
    }

    /// Shows a packet to the arbiter of its output.
    fn offer(&mut self, id: PacketId, slab: &mut Slab) {
        let (output, input, vl, order) = {
            let packet = &slab[id];
            (packet.output, packet.input, packet.vl, packet.order)
        };
        let voq = self.voq(output, vl, input);
        if !self.voqs[voq].offered.head.is_some() {
            self.voqs[voq].head_order = order;
            bits::set(self.offering_mut(output, vl), usize::from(input));
        }
        self.voqs[voq].offered.push(id, slab);
        bits::set(&mut self.pending, usize::from(output));
    }

    /// With FIFO queueing, shows the head of an input buffer to the arbiter of its output. Its link to the next
    /// packet belongs to the buffer's list, so it is offered without being pushed.
    fn offer_head(&mut self, buffer: usize, slab: &Slab) {
        let head = self.inputs[buffer].fifo.head;
        if !head.is_some() {
            return;
        }
        let packet = &slab[head];
        let voq = self.voq(packet.output, packet.vl, packet.input);
        self.voqs[voq].offered = Fifo { head, tail: head };
        self.voqs[voq].head_order = packet.order;
        bits::set(self.offering_mut(packet.output, packet.vl), usize::from(packet.input));
        bits::set(&mut self.pending, usize::from(packet.output));
    }

    /// Takes the head of a queue out.
    fn dequeue(&mut self, output: u16, vl: u8, input: u16, slab: &mut Slab, config: &SwitchConfig) -> PacketId {
        let voq = self.voq(output, vl, input);
        let id = self.voqs[voq].offered.head;
        let size = slab[id].size;
        let lane = self.at(output, vl);
        self.lanes[lane].waiting -= 1;
        self.lanes[lane].waiting_bytes -= u64::from(size);
        self.voqs[voq].waiting -= 1;
        match config.queueing {
            Queueing::Voq => self.voqs[voq].offered.pop(slab),
            Queueing::Fifo => {
                self.voqs[voq].offered = Fifo::default();
                let buffer = self.at(input, vl);
                self.inputs[buffer].fifo.pop(slab);
                self.offer_head(buffer, slab);
            }
        }
        let head = self.voqs[voq].offered.head;
        if head.is_some() {
            self.voqs[voq].head_order = slab[head].order;
        } else {
            bits::clear(self.offering_mut(output, vl), usize::from(input));
        }
        id
    }

    /// The input whose packet an output's VL would take next.
    #[inline]
    fn choose_input(&self, output: u16, vl: u8, config: &SwitchConfig) -> Option<u16> {
        let candidates = bits::iter(self.offering(output, vl)).map(|i| i as u16);
        let mut free = candidates.filter(|&input| !self.is_reading(input, config));
        match config.arbiter {
            Arbiter::OldestFirst { .. } => free.min_by_key(|&input| self.voqs[self.voq(output, vl, input)].head_order),
            Arbiter::RoundRobin => {
                let last = self.lanes[self.at(output, vl)].last_input;
                let mut first = None;
                for input in free.by_ref() {
                    if input > last {
                        return Some(input);
                    }
                    first = first.or(Some(input));
                }
                first
            }
        }
    }

    /// The VL and input that a free output serves next, among those with credit.
    fn choose<O: Observer>(&mut self, output: u16, cx: &mut Context<'_, O>) -> Option<(u8, u16)> {
        let mut arbiter = std::mem::replace(&mut self.outputs[usize::from(output)].vl, VlArbiter::IDLE);
        let mut chosen = 0;
        let vl = arbiter.choose(|vl| match self.candidate(output, vl, cx) {
            Some(input) => {
                chosen = input;
                true
            }
            None => false,
        });
        self.outputs[usize::from(output)].vl = arbiter;
        vl.map(|vl| (vl, chosen))
    }

    /// The input whose packet an output's VL can send now; notes the beginning and the end of a wait for credit.
    fn candidate<O: Observer>(&mut self, output: u16, vl: u8, cx: &mut Context<'_, O>) -> Option<u16> {
        let input = self.choose_input(output, vl, cx.switch)?;
        let voq = &self.voqs[self.voq(output, vl, input)];
        if self.must_yield(voq.head_order, cx) {
            return None;
        }
        let affords = self.affords(output, vl, cx.slab[voq.offered.head].size, cx);
        let (lane, port) = (self.at(output, vl), self.port(output));
        if self.lanes[lane].stalled == affords {
            self.lanes[lane].stalled = !affords;
            cx.observer.stalled(cx.now, port, vl, !affords);
        }
        if !affords {
            cx.wait_for_credit(port, &self.outputs[usize::from(output)].link, vl);
        }
        affords.then_some(input)
    }

    /// The packets that wait at the head of some queue, as (output, VL, input, packet).
    pub fn heads(&self) -> impl Iterator<Item = (u16, u8, u16, PacketId)> + '_ {
        (0..self.ports).flat_map(move |output| {
            (0..self.vls).flat_map(move |vl| {
                bits::iter(self.offering(output, vl)).map(move |input| {
                    let input = input as u16;
                    (output, vl, input, self.voqs[self.voq(output, vl, input)].offered.head)
                })
            })
        })
    }

    /// Whether an output is in use.
    pub fn sends(&self, output: u16) -> bool {
        self.outputs[usize::from(output)].sending.is_some()
    }

    /// Packets that wait in the switch.
    pub fn waiting_packets(&self) -> usize {
        self.lanes.iter().map(|lane| lane.waiting as usize).sum()
    }
}

/// A switch as its marker sees it.
struct View<'a> {
    state: &'a State,
    credit: &'a [Line],
    now: Time,
}

impl SwitchView for View<'_> {
    fn occupancy(&self, input: u16, vl: u8) -> u32 {
        self.state.inputs[self.state.at(input, vl)].packets
    }
    fn is_full(&self, input: u16, vl: u8) -> bool {
        self.state.inputs[self.state.at(input, vl)].taken + self.state.largest > self.state.room.capacity()
    }
    fn fill(&self, input: u16, vl: u8) -> f64 {
        f64::from(self.state.inputs[self.state.at(input, vl)].taken) / f64::from(self.state.room.capacity())
    }
    fn waiting(&self, output: u16, vl: u8) -> u32 {
        self.state.lanes[self.state.at(output, vl)].waiting
    }
    fn waiting_bytes(&self, output: u16, vl: u8) -> u64 {
        self.state.lanes[self.state.at(output, vl)].waiting_bytes
    }
    fn present(&self, output: u16, vl: u8) -> u32 {
        let sending = self.state.outputs[usize::from(output)].sending;
        self.waiting(output, vl) + u32::from(sending.is_some_and(|(_, lane)| lane == vl))
    }
    fn present_from(&self, input: u16, output: u16, vl: u8) -> u32 {
        let sending = self.state.outputs[usize::from(output)].sending;
        self.state.voqs[self.state.voq(output, vl, input)].waiting + u32::from(sending == Some((input, vl)))
    }
    fn credit(&self, output: u16, vl: u8) -> u32 {
        let link = &self.state.outputs[usize::from(output)].link;
        if !link.credited {
            return u32::MAX;
        }
        self.credit[link.line(vl)].level(self.now) / self.state.largest
    }
}

/// A switch and its marker.
#[derive(Debug)]
pub(crate) struct Switch<K> {
    pub state: State,
    pub marker: K,
}

impl<K: Marker> Switch<K> {
    pub fn new(
        node: NodeId,
        rank: u32,
        config: &SwitchConfig,
        links: Vec<Outlink>,
        largest: u32,
        marker: K,
    ) -> Switch<K> {
        Switch { state: State::new(node, rank, config, links, largest), marker }
    }

    /// A header has come through: find the output; from a slower link, wait until the packet cannot run dry.
    pub fn arrive<O: Observer>(&mut self, input: u16, id: PacketId, cx: &mut Context<'_, O>) {
        let packet = &mut cx.slab[id];
        let output = cx.routes.port(self.state.rank, packet.destination).expect("routes were checked for every flow");
        (packet.input, packet.output) = (input, output);
        let (size, tie) = (packet.size, u64::from(packet.tie));
        let rate_of = |port: u16| self.state.outputs[usize::from(port)].link.rate;
        let (slow, fast) = (rate_of(input).time_of(size), rate_of(output).time_of(size));
        if cx.switch.switching == crate::Switching::CutThrough && slow > fast {
            cx.schedule(cx.now + (slow - fast), self.state.node, input, tie, Event::Ready(id));
        } else {
            self.admit(id, cx);
        }
    }

    /// Takes a packet into its queue, shows it to the marker, and starts what can start.
    pub fn admit<O: Observer>(&mut self, id: PacketId, cx: &mut Context<'_, O>) {
        let state = &mut self.state;
        let order = state.next_order;
        state.next_order += 1;
        let packet = &mut cx.slab[id];
        packet.order = order;
        let (input, output, vl, size, kind) = (packet.input, packet.output, packet.vl, packet.size, packet.kind);
        let buffer = state.at(input, vl);
        state.inputs[buffer].taken += state.room.need(size);
        state.inputs[buffer].packets += 1;
        cx.observer.buffer(cx.now, state.port(input), vl, state.inputs[buffer].packets);
        let straight = state.goes_straight(id, cx);
        state.enqueue(id, cx.slab, cx.switch);
        if matches!(cx.switch.arbiter, Arbiter::OldestFirst { .. }) {
            state.seniority.arrived(id, order);
        }
        let arrival = Arrival { now: cx.now, order, input, output, vl, size, kind, waits: !straight };
        self.marker.arrived(&arrival, &View { state: &self.state, credit: cx.credit, now: cx.now });
        self.note_congestion(output, vl, cx);
        self.note_queue(output, vl, cx);
        self.settle(cx);
    }

    fn note_queue<O: Observer>(&self, output: u16, vl: u8, cx: &mut Context<'_, O>) {
        let waiting = self.state.lanes[self.state.at(output, vl)].waiting_bytes;
        cx.observer.queue(cx.now, self.state.port(output), vl, waiting);
    }

    /// Tells the observer when the congestion state of an output's virtual lane has changed.
    fn note_congestion<O: Observer>(&mut self, output: u16, vl: u8, cx: &mut Context<'_, O>) {
        let (congested, lane) = (self.marker.is_congested(output, vl), self.state.at(output, vl));
        if self.state.lanes[lane].congested != congested {
            self.state.lanes[lane].congested = congested;
            cx.observer.congested(cx.now, self.state.port(output), vl, congested);
        }
    }

    /// Credit has come for an output that waits for it.
    pub fn credit<O: Observer>(&mut self, output: u16, cx: &mut Context<'_, O>) {
        bits::set(&mut self.state.pending, usize::from(output));
        self.settle(cx);
    }

    /// The last byte of a packet has left: free the output and the room, and give the credit back.
    pub fn tail<O: Observer>(&mut self, output: u16, input: u16, vl: u8, units: u32, cx: &mut Context<'_, O>) {
        let state = &mut self.state;
        state.outputs[usize::from(output)].sending = None;
        let buffer = state.at(input, vl);
        let Input { taken, packets, leaving, .. } = &mut state.inputs[buffer];
        *taken -= units;
        *packets -= 1;
        *leaving -= 1;
        cx.observer.buffer(cx.now, state.port(input), vl, state.inputs[buffer].packets);
        let upstream = state.outputs[usize::from(input)].link;
        cx.return_credit(&upstream, vl, units);
        bits::set(&mut state.pending, usize::from(output));
        if cx.switch.input_reads == InputReads::One {
            state.unblock_outputs_of(input);
        }
        self.settle(cx);
    }

    /// Starts packets until no listed output can.
    fn settle<O: Observer>(&mut self, cx: &mut Context<'_, O>) {
        while let Some(output) = bits::pop_first(&mut self.state.pending) {
            let output = output as u16;
            if self.state.outputs[usize::from(output)].sending.is_some() {
                continue;
            }
            if let Some((vl, input)) = self.state.choose(output, cx) {
                self.start(output, vl, input, cx);
            }
        }
    }

    /// Begins to send the head of a queue.
    fn start<O: Observer>(&mut self, output: u16, vl: u8, input: u16, cx: &mut Context<'_, O>) {
        let id = self.state.voqs[self.state.voq(output, vl, input)].offered.head;
        let packet = &cx.slab[id];
        let (order, size, kind) = (packet.order, packet.size, packet.kind);
        let departure = Departure { now: cx.now, order, input, output, vl, size, kind };
        let view = View { state: &self.state, credit: cx.credit, now: cx.now };
        let marked = self.marker.departing(&departure, &view);
        self.note_congestion(output, vl, cx);
        let state = &mut self.state;
        state.dequeue(output, vl, input, cx.slab, cx.switch);
        self.note_queue(output, vl, cx);
        let state = &mut self.state;
        if let Arbiter::OldestFirst { max_bypass } = cx.switch.arbiter {
            let held_up_others = state.seniority.overtaken >= max_bypass;
            if state.seniority.departed(order) && held_up_others {
                state.unblock_all_outputs();
            }
        }
        let units = state.room.need(size);
        let (buffer, lane) = (state.at(input, vl), state.at(output, vl));
        state.inputs[buffer].leaving += 1;
        state.lanes[lane].last_input = input;
        let from = state.port(output);
        let out = &mut state.outputs[usize::from(output)];
        if out.link.credited {
            cx.credit[out.link.line(vl)].take(units, cx.now);
        }
        cx.slab[id].marked |= marked;
        out.sending = Some((input, vl));
        out.vl.sent(vl, size);
        out.packets += 1;
        out.bytes += u64::from(size);
        out.marked += u64::from(marked);
        let tail: Time = cx.launch(from, &out.link, id);
        cx.schedule(tail, from.node, output, 0, Event::Tail { input, vl, units });
    }
}

impl State {
    /// Lists the outputs that packets of an input wait for.
    fn unblock_outputs_of(&mut self, input: u16) {
        for output in 0..self.ports {
            let waits = (0..self.vls).any(|vl| self.voqs[self.voq(output, vl, input)].offered.head.is_some());
            if waits {
                bits::set(&mut self.pending, usize::from(output));
            }
        }
    }

    /// Lists all outputs that packets wait for.
    fn unblock_all_outputs(&mut self) {
        for output in 0..self.ports {
            if (0..self.vls).any(|vl| !bits::is_empty(self.offering(output, vl))) {
                bits::set(&mut self.pending, usize::from(output));
            }
        }
    }
}
