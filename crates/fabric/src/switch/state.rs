//! The buffers, queues and outputs of a switch, and who goes next.

use becalm_engine::{Stream, Time, mix};

use crate::bits;
use crate::config::{Arbiter, InputReads, Queueing, Room, SwitchConfig};
use crate::event::{Context, Outlink};
use crate::ids::{NodeId, PacketId, PortId};
use crate::packet::Slab;
use crate::seam::Observer;
use crate::switch::fifo::Fifo;
use crate::switch::seniority::Seniority;
use crate::variation::Variation;
use crate::vl::VlArbiter;

/// The purpose of the random stream of an output's transmission times.
const SERVICE_STREAM: u64 = 2;

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
    pub fifo: Fifo,
}

/// The packets of one VL that go from one input to one output.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Voq {
    /// Those that the arbiter may take, first in order of arrival.
    pub offered: Fifo,
    /// Order of arrival of the first.
    pub head_order: u64,
    /// All that wait, offered or not.
    pub waiting: u32,
}

/// An output port.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    pub link: Outlink,
    /// Input and VL of the packet in transmission.
    pub sending: Option<(u16, u8)>,
    pub vl: VlArbiter,
    pub packets: u64,
    pub bytes: u64,
    pub marked: u64,
    /// How transmission times vary, where they do.
    service: Option<Box<(Variation, Stream)>>,
}

impl Output {
    /// The time that a packet takes on the link.
    #[inline]
    pub fn transmission(&mut self, size: u32) -> Time {
        let nominal = self.link.rate.time_of(size);
        match &mut self.service {
            None => nominal,
            Some(service) => service.0.span(nominal, &mut service.1),
        }
    }
}

/// The random stream of an output, where transmission times vary. It depends on nothing that happens elsewhere.
fn service(law: Variation, seed: u64, node: NodeId, port: u16) -> Option<Box<(Variation, Stream)>> {
    let entity = || mix(u64::from(node.0), u64::from(port));
    (law != Variation::Fixed).then(|| Box::new((law, Stream::new(seed, entity(), SERVICE_STREAM))))
}

/// One VL of an output port.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lane {
    pub waiting: u32,
    pub waiting_bytes: u64,
    /// The input that was served last.
    pub last_input: u16,
    pub stalled: bool,
    pub congested: bool,
}

/// Everything of a switch but its marker.
#[derive(Debug)]
pub(crate) struct State {
    pub node: NodeId,
    pub rank: u32,
    pub ports: u16,
    pub vls: u8,
    pub room: Room,
    /// What the largest packet needs of a buffer.
    pub largest: u32,
    /// By (port, VL).
    pub inputs: Vec<Input>,
    pub outputs: Vec<Output>,
    /// By (port, VL).
    pub lanes: Vec<Lane>,
    /// By (output, VL, input).
    pub voqs: Vec<Voq>,
    /// By (output, VL): the inputs with an offered packet.
    pub offering: Vec<u64>,
    pub words: usize,
    /// Outputs to settle.
    pub pending: Vec<u64>,
    pub next_order: u64,
    pub seniority: Seniority,
}

impl State {
    pub fn new(node: NodeId, rank: u32, config: &SwitchConfig, links: Vec<Outlink>, largest: u32, seed: u64) -> State {
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
            outputs: (0u16..)
                .zip(links)
                .map(|(port, link)| Output {
                    link,
                    sending: None,
                    vl: VlArbiter::new(config.vls, &config.vl_arbitration),
                    packets: 0,
                    bytes: 0,
                    marked: 0,
                    service: service(config.service, seed, node, port),
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

    pub fn port(&self, port: u16) -> PortId {
        PortId { node: self.node, port }
    }

    #[inline]
    pub fn at(&self, port: u16, vl: u8) -> usize {
        usize::from(port) * usize::from(self.vls) + usize::from(vl)
    }

    #[inline]
    pub fn voq(&self, output: u16, vl: u8, input: u16) -> usize {
        self.at(output, vl) * usize::from(self.ports) + usize::from(input)
    }

    #[inline]
    pub fn offering(&self, output: u16, vl: u8) -> &[u64] {
        let start = self.at(output, vl) * self.words;
        &self.offering[start..start + self.words]
    }

    #[inline]
    pub fn offering_mut(&mut self, output: u16, vl: u8) -> &mut [u64] {
        let start = self.at(output, vl) * self.words;
        &mut self.offering[start..start + self.words]
    }

    /// Whether an output's next buffer has room for a packet of this size.
    #[inline]
    pub fn affords<O: Observer>(&self, output: u16, vl: u8, size: u32, cx: &Context<'_, O>) -> bool {
        cx.affords(&self.outputs[usize::from(output)].link, vl, self.room.need(size))
    }

    /// Whether an input is already sending, where it may only send one packet at a time.
    #[inline]
    pub fn is_reading(&self, input: u16, config: &SwitchConfig) -> bool {
        config.input_reads == InputReads::One && (0..self.vls).any(|vl| self.inputs[self.at(input, vl)].leaving > 0)
    }

    /// Whether a packet must let the oldest packet of the switch go first.
    ///
    /// An oldest packet without credit holds up nobody: two switches whose oldest packets wait for each other's
    /// buffers would otherwise never move again.
    #[inline]
    pub fn must_yield<O: Observer>(&self, order: u64, cx: &Context<'_, O>) -> bool {
        let Arbiter::OldestFirst { max_bypass } = cx.switch.arbiter else { return false };
        if self.seniority.overtaken < max_bypass || self.seniority.first == order {
            return false;
        }
        let Some(&oldest) = self.seniority.waiting.front() else { return false };
        let oldest = &cx.slab[oldest];
        self.affords(oldest.output, oldest.vl, oldest.size, cx)
    }

    /// Whether a packet that arrives now can leave at once.
    pub fn goes_straight<O: Observer>(&self, id: PacketId, cx: &Context<'_, O>) -> bool {
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
    pub fn enqueue(&mut self, id: PacketId, slab: &mut Slab, config: &SwitchConfig) {
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
    pub fn offer(&mut self, id: PacketId, slab: &mut Slab) {
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
    pub fn offer_head(&mut self, buffer: usize, slab: &Slab) {
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
    pub fn dequeue(&mut self, output: u16, vl: u8, input: u16, slab: &mut Slab, config: &SwitchConfig) -> PacketId {
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
    pub fn choose_input(&self, output: u16, vl: u8, config: &SwitchConfig) -> Option<u16> {
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
    pub fn choose<O: Observer>(&mut self, output: u16, cx: &mut Context<'_, O>) -> Option<(u8, u16)> {
        if let VlArbiter::Turns { vls: 1, .. } = self.outputs[usize::from(output)].vl {
            return self.candidate(output, 0, cx).map(|input| (0, input));
        }
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
    pub fn candidate<O: Observer>(&mut self, output: u16, vl: u8, cx: &mut Context<'_, O>) -> Option<u16> {
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

    /// Gives new numbers to the packets that wait.
    pub fn renumber(&mut self, renumber: impl Fn(PacketId) -> PacketId) {
        let fifos = self.inputs.iter_mut().map(|input| &mut input.fifo);
        for fifo in fifos.chain(self.voqs.iter_mut().map(|voq| &mut voq.offered)) {
            (fifo.head, fifo.tail) = (renumber(fifo.head), renumber(fifo.tail));
        }
        self.seniority.waiting.iter_mut().for_each(|id| *id = renumber(*id));
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

impl State {
    /// Lists the outputs that packets of an input wait for.
    pub fn unblock_outputs_of(&mut self, input: u16) {
        for output in 0..self.ports {
            let waits = (0..self.vls).any(|vl| self.voqs[self.voq(output, vl, input)].offered.head.is_some());
            if waits {
                bits::set(&mut self.pending, usize::from(output));
            }
        }
    }

    /// Lists all outputs that packets wait for.
    pub fn unblock_all_outputs(&mut self) {
        for output in 0..self.ports {
            if (0..self.vls).any(|vl| !bits::is_empty(self.offering(output, vl))) {
                bits::set(&mut self.pending, usize::from(output));
            }
        }
    }
}
