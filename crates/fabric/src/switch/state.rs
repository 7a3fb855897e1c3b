//! The buffers, queues and outputs of a switch, and who goes next.

use becalm_engine::{Stream, Time, mix};

use crate::bits;
use crate::config::{Arbiter, InputReads, Queueing, Room, SwitchConfig, VlArbitration};
use crate::event::{Context, Outlink, Return};
use crate::ids::{NodeId, PortId};
use crate::link::Rate;
use crate::packet::Packet;
use crate::seam::{Arrival, Departure, Observer};
use crate::switch::pool::{Card, Fifo, Pool};
use crate::switch::seniority::Seniority;
use crate::variation::Variation;
use crate::vl::VlArbiter;

/// The purpose of the random stream of an output's transmission times.
const SERVICE_STREAM: u64 = 2;

/// An input buffer of one port and VL. It has a cache line of its own.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct Input {
    pub way_back: Return,
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
    /// All that wait, offered or not.
    pub waiting: u32,
}

/// An output port. It fills one cache line.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct Output {
    pub link: Outlink,
    /// Input and VL of the packet in transmission.
    pub sending: Option<(u16, u8)>,
    pub packets: u64,
    pub bytes: u64,
    pub marked: u64,
}

const _: () = assert!(size_of::<Output>() == 64 && size_of::<Input>() == 64);

impl Input {
    fn new(way_back: Return) -> Input {
        Input { way_back, taken: 0, packets: 0, leaving: 0, fifo: Fifo::default() }
    }
}

impl Output {
    fn new(link: Outlink) -> Output {
        Output { link, sending: None, packets: 0, bytes: 0, marked: 0 }
    }
}

/// How the transmission times of an output vary.
type Service = Option<Box<(Variation, Stream)>>;

/// The random stream of an output, where transmission times vary. It depends on nothing that happens elsewhere.
fn service(law: Variation, seed: u64, node: NodeId, port: u16) -> Service {
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
    /// By output; nothing is asked of them where there is one lane.
    pub arbiters: Vec<VlArbiter>,
    /// By output; none where times do not vary.
    services: Vec<Service>,
    /// By (port, VL).
    pub lanes: Vec<Lane>,
    /// By (output, VL, input).
    pub voqs: Vec<Voq>,
    /// By (output, VL): the inputs with an offered packet.
    pub offering: Vec<u64>,
    pub words: usize,
    /// Outputs to settle.
    pending: Vec<u64>,
    /// Whether there may be any.
    listed: bool,
    pub next_order: u64,
    pub seniority: Seniority,
    /// The packets that wait.
    pub pool: Pool,
    /// All links have the same rate.
    pub one_rate: bool,
    /// There is one VL, and nothing to arbitrate between VLs.
    pub one_lane: bool,
}

impl State {
    pub fn new(
        node: NodeId,
        rank: u32,
        config: &SwitchConfig,
        links: &[(Outlink, Return)],
        largest: u32,
        seed: u64,
    ) -> State {
        let (ports, vls) = (links.len(), usize::from(config.vls));
        let words = bits::words(ports);
        State {
            node,
            rank,
            ports: ports as u16,
            vls: config.vls,
            room: config.buffer,
            largest: config.buffer.need(largest),
            inputs: links.iter().flat_map(|&(_, way_back)| std::iter::repeat_n(Input::new(way_back), vls)).collect(),
            outputs: links.iter().map(|&(link, _)| Output::new(link)).collect(),
            arbiters: vec![VlArbiter::new(config.vls, &config.vl_arbitration); ports],
            services: match config.service {
                Variation::Fixed => Vec::new(),
                law => (0..ports as u16).map(|port| service(law, seed, node, port)).collect(),
            },
            lanes: vec![Lane::default(); ports * vls],
            voqs: vec![Voq::default(); ports * ports * vls],
            offering: vec![0; ports * vls * words],
            words,
            pending: vec![0; words],
            listed: false,
            one_rate: links.iter().all(|(link, _)| link.rate == links[0].0.rate),
            next_order: 0,
            seniority: Seniority::default(),
            pool: Pool::default(),
            one_lane: config.vls == 1 && config.vl_arbitration == VlArbitration::RoundRobin,
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

    /// Lists an output that may have become able to send.
    #[inline]
    pub fn list(&mut self, output: u16) {
        bits::set(&mut self.pending, usize::from(output));
        self.listed = true;
    }

    /// Takes the first output off the list.
    #[inline]
    pub fn next_listed(&mut self) -> Option<u16> {
        if !self.listed {
            return None;
        }
        let output = bits::pop_first(&mut self.pending).map(|output| output as u16);
        self.listed = output.is_some();
        output
    }

    /// The link of an output gets another rate.
    pub fn change_rate(&mut self, output: u16, rate: Rate) {
        self.outputs[usize::from(output)].link.rate = rate;
        self.one_rate = self.outputs.iter().all(|other| other.link.rate == rate);
    }

    /// The time that a packet takes on the link of an output.
    #[inline]
    pub fn transmission(&mut self, output: u16, size: u32) -> Time {
        let nominal = self.outputs[usize::from(output)].link.rate.time_of(size);
        match self.services.get_mut(usize::from(output)) {
            Some(Some(service)) => service.0.span(nominal, &mut service.1),
            _ => nominal,
        }
    }

    /// Whether an output's next buffer has room for a packet of this size.
    #[inline]
    pub fn affords<O>(&self, output: u16, vl: u8, size: u32, cx: &mut Context<'_, O>) -> bool
    where
        O: Observer,
    {
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
    pub fn must_yield<O: Observer>(&self, order: u64, cx: &mut Context<'_, O>) -> bool {
        let Arbiter::OldestFirst { max_bypass } = cx.shared.config.arbiter else { return false };
        if self.seniority.overtaken < max_bypass || self.seniority.first == order {
            return false;
        }
        let Some(&oldest) = self.seniority.waiting.front() else { return false };
        let oldest = self.pool.packet(oldest);
        self.affords(oldest.output, oldest.vl, oldest.size, cx)
    }

    /// Whether a packet that arrives now can leave at once.
    #[inline]
    pub fn goes_straight<O: Observer>(&self, arrival: &Arrival, cx: &mut Context<'_, O>) -> bool {
        let &Arrival { output, input, vl, size, order, .. } = arrival;
        if self.outputs[usize::from(output)].sending.is_some() || !bits::is_empty(self.offering(output, vl)) {
            return false;
        }
        let config = &cx.shared.config;
        let behind_others = config.queueing == Queueing::Fifo && self.inputs[self.at(input, vl)].fifo.head.is_some();
        !behind_others
            && !self.is_reading(input, config)
            && self.affords(output, vl, size, cx)
            && !self.must_yield(order, cx)
    }

    /// Counts a packet that waits from now on.
    #[inline]
    pub fn count(&mut self, arrival: &Arrival) {
        let &Arrival { output, input, vl, size, .. } = arrival;
        let (lane, voq) = (self.at(output, vl), self.voq(output, vl, input));
        let lane = &mut self.lanes[lane];
        lane.waiting += 1;
        lane.waiting_bytes += u64::from(size);
        self.voqs[voq].waiting += 1;
    }

    /// No longer counts a packet that waited.
    #[inline]
    pub fn discount(&mut self, departure: &Departure) {
        let &Departure { output, input, vl, size, .. } = departure;
        let (lane, voq) = (self.at(output, vl), self.voq(output, vl, input));
        let lane = &mut self.lanes[lane];
        lane.waiting -= 1;
        lane.waiting_bytes -= u64::from(size);
        self.voqs[voq].waiting -= 1;
    }

    /// Puts a packet into its queue.
    pub fn enqueue(&mut self, packet: Packet, order: u64, config: &SwitchConfig) {
        let Packet { input, output, vl, .. } = packet;
        let slot = self.pool.insert(packet, order);
        if matches!(config.arbiter, Arbiter::OldestFirst { .. }) {
            self.seniority.arrived(slot, order);
        }
        if config.queueing == Queueing::Fifo {
            let buffer = self.at(input, vl);
            let fifo = &mut self.inputs[buffer].fifo;
            self.pool.push(fifo, slot);
            if fifo.head == slot {
                self.offer_head(buffer);
            }
            return;
        }
        let voq = self.voq(output, vl, input);
        let queue = &mut self.voqs[voq].offered;
        if !queue.head.is_some() {
            let start = (usize::from(output) * usize::from(self.vls) + usize::from(vl)) * self.words;
            bits::set(&mut self.offering[start..start + self.words], usize::from(input));
        }
        self.pool.push(queue, slot);
    }

    /// With FIFO queueing, shows the head of an input buffer to the arbiter of its output. Its link to the next
    /// packet belongs to the buffer's list, so it is offered without being pushed.
    fn offer_head(&mut self, buffer: usize) {
        let head = self.inputs[buffer].fifo.head;
        if !head.is_some() {
            return;
        }
        let &Packet { input, output, vl, .. } = self.pool.packet(head);
        let voq = self.voq(output, vl, input);
        self.voqs[voq].offered = Fifo::of_one(head);
        bits::set(self.offering_mut(output, vl), usize::from(input));
        self.list(output);
    }

    /// Takes the head of a queue out.
    pub fn dequeue(&mut self, output: u16, vl: u8, input: u16, config: &SwitchConfig) -> &mut Packet {
        let voq = self.voq(output, vl, input);
        let queue = &mut self.voqs[voq].offered;
        let slot = queue.head;
        match config.queueing {
            Queueing::Voq => self.pool.pop(queue),
            Queueing::Fifo => {
                *queue = Fifo::default();
                let buffer = self.at(input, vl);
                self.pool.pop(&mut self.inputs[buffer].fifo);
                self.offer_head(buffer);
            }
        }
        if !self.voqs[voq].offered.head.is_some() {
            bits::clear(self.offering_mut(output, vl), usize::from(input));
        }
        self.pool.remove(slot)
    }

    /// The input whose packet an output's VL would take next.
    #[inline]
    pub fn choose_input(&self, output: u16, vl: u8, config: &SwitchConfig) -> Option<u16> {
        let offering = self.offering(output, vl);
        let free = || bits::iter(offering).map(|i| i as u16).filter(|&input| !self.is_reading(input, config));
        match config.arbiter {
            Arbiter::OldestFirst { .. } => {
                let heads = &self.voqs[self.voq(output, vl, 0)..];
                free().min_by_key(|&input| self.pool.card(heads[usize::from(input)].offered.head).order)
            }
            Arbiter::RoundRobin => {
                let last = self.lanes[self.at(output, vl)].last_input;
                match config.input_reads {
                    InputReads::Many => bits::next_in_turn(offering, usize::from(last)).map(|input| input as u16),
                    InputReads::One => free().find(|&input| input > last).or_else(|| free().next()),
                }
            }
        }
    }

    /// The VL and input that a free output serves next, among those with credit.
    #[inline]
    pub fn choose<O: Observer>(&mut self, output: u16, cx: &mut Context<'_, O>) -> Option<(u8, u16)> {
        if self.one_lane {
            return self.candidate(output, 0, cx).map(|input| (0, input));
        }
        let mut arbiter = std::mem::replace(&mut self.arbiters[usize::from(output)], VlArbiter::IDLE);
        let mut chosen = 0;
        let vl = arbiter.choose(|vl| match self.candidate(output, vl, cx) {
            Some(input) => {
                chosen = input;
                true
            }
            None => false,
        });
        self.arbiters[usize::from(output)] = arbiter;
        vl.map(|vl| (vl, chosen))
    }

    /// The input whose packet an output's VL can send now; notes the beginning and the end of a wait for credit.
    #[inline]
    pub fn candidate<O: Observer>(&mut self, output: u16, vl: u8, cx: &mut Context<'_, O>) -> Option<u16> {
        let input = self.choose_input(output, vl, &cx.shared.config)?;
        let &Card { order, size, .. } = self.pool.card(self.voqs[self.voq(output, vl, input)].offered.head);
        if self.must_yield(order, cx) {
            return None;
        }
        let affords = self.affords(output, vl, size, cx);
        let (at, port) = (self.at(output, vl), self.port(output));
        let lane = &mut self.lanes[at];
        if lane.stalled == affords {
            lane.stalled = !affords;
            cx.observer.stalled(cx.now, port, vl, !affords);
        }
        if !affords {
            cx.wait_for_credit(port, &self.outputs[usize::from(output)].link, vl);
        }
        affords.then_some(input)
    }

    /// The packets that wait at the head of some queue, as (output, VL, input, size).
    pub fn heads(&self) -> impl Iterator<Item = (u16, u8, u16, u32)> + '_ {
        (0..self.ports).flat_map(move |output| {
            (0..self.vls).flat_map(move |vl| {
                bits::iter(self.offering(output, vl)).map(move |input| {
                    let input = input as u16;
                    let head = self.voqs[self.voq(output, vl, input)].offered.head;
                    (output, vl, input, self.pool.card(head).size)
                })
            })
        })
    }

    /// Whether an output is in use.
    pub fn sends(&self, output: u16) -> bool {
        self.outputs[usize::from(output)].sending.is_some()
    }

    /// Packets that are counted as waiting.
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
                self.list(output);
            }
        }
    }

    /// Lists all outputs that packets wait for.
    pub fn unblock_all_outputs(&mut self) {
        for output in 0..self.ports {
            if (0..self.vls).any(|vl| !bits::is_empty(self.offering(output, vl))) {
                self.list(output);
            }
        }
    }
}
