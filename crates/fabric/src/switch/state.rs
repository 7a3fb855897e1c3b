//! The buffers, queues and outputs of a switch.

use std::collections::VecDeque;

use becalm_engine::{Stream, Time};

use crate::bits;
use crate::config::{Arbiter, Bypass, Cbfc, InputReads, Queueing, Room, SwitchConfig, Unit, VlArbitration};
use crate::distribution::Distribution;
use crate::flow_control::credit::CreditReturn;
use crate::flow_control::pauses::Pauses;
use crate::ids::{NodeId, PortId};
use crate::network::link::{EgressLink, Rate, Transmission};
use crate::network::routing::{Routes, SwitchRoutes};
use crate::packet::Packet;
use crate::policy::{Arrival, Attention, Observer};
use crate::switch::arrival_order::ArrivalOrder;
use crate::switch::bypasses::Bypasses;
use crate::switch::choices::Choices;
use crate::switch::pool::{Fifo, Pool};
use crate::switch::ports::{Input, Output, Port, Voq, service};
use crate::switch::rules::{self, Configured, Layout, Rules};
use crate::switch::shares::Shares;
use crate::switch::turns::Turns;
use crate::switch::vl_arbiter::VlArbiter;
use crate::switch::watchdog::Dog;

/// An output whose link is down. Its `busy_until` is [`Time::MAX`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Down {
    pub port: u16,
    /// End of the last packet's transmission.
    pub tail: Time,
}

/// The state of a switch, excluding its marker.
#[derive(Debug)]
pub(crate) struct State {
    pub node: NodeId,
    pub rank: u32,
    pub degree: u16,
    pub vls: u8,
    pub room: Room,
    pub unit: Unit,
    /// Size of an input buffer in units; with PFC, up to XOFF.
    pub capacity: u32,
    /// Units that a packet of the largest size occupies.
    pub largest: u32,
    /// Indexed by (port, VL).
    pub ports: Vec<Port>,
    /// Indexed by (port, VL): the packets of each input buffer with FIFO queueing; otherwise empty.
    pub fifos: Vec<Fifo>,
    /// Indexed by output; unused with a single lane.
    pub arbiters: Vec<VlArbiter>,
    /// Indexed by output; empty if transmission times do not vary.
    services: Vec<(Distribution, Stream)>,
    /// Indexed by (output, VL, input's place in the round-robin order).
    pub voqs: Vec<Voq>,
    /// Indexed by (output, VL): the inputs with an offered packet, by round-robin place. Empty if all inputs
    /// fit in 64 bits, because the lane then stores them.
    offering: Vec<u64>,
    pub turns: Turns,
    /// Number of words in a set of inputs.
    pub words: usize,
    /// Outputs to arbitrate.
    pending: Vec<u64>,
    /// Whether `pending` may be non-empty.
    listed: bool,
    pub next_order: u64,
    pub arrival_order: ArrivalOrder,
    /// Indexed by (port, VL): waiting packets whose last byte has not arrived; empty unless the marker
    /// requires them.
    pub storing: Vec<VecDeque<Arrival>>,
    /// Indexed by (output, VL); empty unless overtaking is bounded per output.
    pub bypasses: Vec<Bypasses>,
    /// The waiting packets.
    pub pool: Pool,
    /// Present if credit returns in messages.
    pub cbfc: Option<Cbfc>,
    /// Present if packets may be trains.
    pub shares: Option<Box<Shares>>,
    /// Present with PFC.
    pub pauses: Option<Box<Pauses>>,
    /// Present with PFC and a watchdog.
    pub watchdog: Option<Box<Dog>>,
    /// Whether all links have the same rate.
    pub one_rate: bool,
    /// The rates at which packets arrive at each port, if CF_Updates take a share of one direction only.
    pub arrival_rates: Vec<Rate>,
    /// Whether there is one VL and no VL arbitration table.
    pub one_lane: bool,
    /// Whether there is no VL arbitration table.
    lanes_take_turns: bool,
    /// Whether a tail for which no packet waits needs no event.
    pub lazy_tails: bool,
    /// Whether the marker need not see any packets.
    pub unmarked: bool,
    /// Whether the marker must see packets that leave at once and meet no other.
    pub shows_passing: bool,
    /// Whether packets may leave on a lane other than the lane on which they arrived.
    pub changes_lanes: bool,
    /// The rule by which the switch computes a destination's port, if there is one.
    pub computed: Option<SwitchRoutes>,
    /// State of the choice among equal ports.
    pub choices: Choices,
    /// The outputs whose links are down.
    pub downs: Vec<Down>,
    /// Whether packets may request records of their paths.
    pub records: bool,
    pub rules: rules::Kind,
}

impl Layout for State {
    #[inline(always)]
    fn ports(&self) -> usize {
        usize::from(self.degree)
    }

    #[inline(always)]
    fn has_one_lane(&self) -> bool {
        self.one_lane
    }

    #[inline(always)]
    fn have_turns(&self) -> bool {
        self.lanes_take_turns
    }

    #[inline(always)]
    fn words(&self) -> usize {
        self.words
    }

    #[inline(always)]
    fn varies(&self) -> bool {
        !self.services.is_empty()
    }

    #[inline(always)]
    fn records(&self) -> bool {
        self.records
    }

    #[inline(always)]
    fn pauses(&self) -> bool {
        self.pauses.is_some()
    }

    #[inline(always)]
    fn batches(&self) -> bool {
        self.cbfc.is_some()
    }

    #[inline(always)]
    fn at(&self, port: u16, vl: u8) -> usize {
        self.at(port, vl)
    }
}

impl State {
    pub fn new(
        node: NodeId,
        rank: u32,
        config: &SwitchConfig,
        links: &[(EgressLink, CreditReturn)],
        largest: u32,
        (attention, shows_passing): (Attention, bool),
        seed: u64,
    ) -> State {
        let (ports, vls) = (links.len(), usize::from(config.vls));
        let words = bits::words(ports);
        let turns = Turns::new(ports as u16, seed, node);
        let port = |(number, &link)| Port::new(link, turns.place(number), turns.place(0));
        State {
            node,
            rank,
            degree: ports as u16,
            vls: config.vls,
            room: config.buffer,
            unit: config.buffer.unit(),
            capacity: config.capacity(largest),
            largest: config.need(largest),
            ports: (0..).zip(links).flat_map(|link| std::iter::repeat_n(port(link), vls)).collect(),
            fifos: vec![Fifo::default(); if config.queueing == Queueing::Fifo { ports * vls } else { 0 }],
            arbiters: vec![VlArbiter::new(config.vls, &config.vl_arbitration); ports],
            services: match &config.service {
                Distribution::Fixed => Vec::new(),
                distribution => (0..ports as u16).map(|port| service(distribution.clone(), seed, node, port)).collect(),
            },
            voqs: vec![Voq::default(); ports * ports * vls],
            offering: vec![0; if words == 1 { 0 } else { ports * vls * words }],
            turns,
            words,
            pending: vec![0; words],
            listed: false,
            arrival_rates: Vec::new(),
            one_rate: links.iter().all(|(link, _)| link.rate == links[0].0.rate),
            next_order: 0,
            arrival_order: ArrivalOrder::default(),
            storing: if attention == Attention::Storage { vec![VecDeque::new(); ports * vls] } else { Vec::new() },
            bypasses: match config.arbiter {
                Arbiter::OldestFirst { bypass: Bypass::Output, .. } => vec![Bypasses::default(); ports * vls],
                _ => Vec::new(),
            },
            pool: Pool::default(),
            cbfc: config.flow_control.cbfc(),
            shares: None,
            pauses: None,
            lanes_take_turns: config.vl_arbitration == VlArbitration::RoundRobin,
            watchdog: None,
            one_lane: config.vls == 1 && config.vl_arbitration == VlArbitration::RoundRobin,
            lazy_tails: config.input_reads == InputReads::Many
                && attention < Attention::Tails
                && config.flow_control.pfc().is_none(),
            unmarked: attention == Attention::Nothing,
            shows_passing,
            changes_lanes: false,
            computed: None,
            choices: Choices::new(seed),
            downs: Vec::new(),
            records: false,
            rules: rules::Kind::of(config, ports),
        }
    }

    /// Units that a packet occupies in an input buffer.
    #[inline]
    pub fn need<M: Rules>(&self, packet: &Packet) -> u32 {
        if M::pauses(self) { packet.size } else { M::units(self.unit, packet) }
    }

    pub fn port(&self, port: u16) -> PortId {
        PortId { node: self.node, port }
    }

    /// The single port by which packets for a destination leave.
    #[inline(always)]
    pub fn port_to(&self, destination: u32, routes: &Routes) -> Option<u16> {
        match &self.computed {
            Some(computed) => Some(computed.port(destination)),
            None => routes.port(self.rank, destination),
        }
    }

    #[inline]
    pub fn at(&self, port: u16, vl: u8) -> usize {
        usize::from(port) * usize::from(self.vls) + usize::from(vl)
    }

    #[inline]
    pub fn voq(&self, output: u16, vl: u8, place: u16) -> usize {
        self.at(output, vl) * usize::from(self.degree) + usize::from(place)
    }

    #[inline]
    pub fn output(&self, port: u16) -> &Output {
        &self.ports[self.at(port, 0)].output
    }

    /// Lets packets be trains.
    pub fn take_trains(&mut self) {
        self.rules = rules::Kind::Configured;
        self.shares = Some(Box::new(Shares::new(self.voqs.len(), self.ports.len())));
    }

    /// Counts a packet that leaves towards its input's share of the output.
    #[inline(never)]
    pub fn count_turn(&mut self, packet: &Packet, (input, output): (u16, u16)) {
        let (lane, place) = (self.at(output, packet.vl), self.turns.place(input));
        let queue = self.voq(output, packet.vl, place);
        self.shares.iter_mut().for_each(|shares| shares.sent(lane, queue, packet.train.packets()));
    }

    /// One bit for each packet that is marked here of the train that leaves now.
    #[cold]
    pub fn marks_of_train(&self) -> u16 {
        self.shares.as_ref().map_or(0, |shares| shares.marks)
    }

    /// The transmission of the last packet of an output.
    pub fn last_sent(&self, port: u16) -> Transmission {
        let &Output { vl, busy_until, .. } = self.output(port);
        let tail = self.downs.iter().find(|down| down.port == port).map_or(busy_until, |down| down.tail);
        let lane = &self.ports[self.at(port, vl)].lane;
        Transmission { begin: lane.last_began, tail, size: lane.last_size }
    }

    /// The number of packets that an output's last packet stands for.
    #[inline]
    pub fn last_packets<M: Rules>(&self, output: u16) -> u32 {
        let vl = self.ports[M::at(self, output, 0)].output.vl;
        if M::TRAINS { u32::from(self.ports[M::at(self, output, vl)].lane.last_packets) } else { 1 }
    }

    #[inline]
    pub fn output_mut(&mut self, port: u16) -> &mut Output {
        let at = self.at(port, 0);
        &mut self.ports[at].output
    }

    /// The inputs with an offered packet, by round-robin place.
    #[inline]
    pub fn offering<M: Rules>(&self, output: u16, vl: u8) -> &[u64] {
        let at = M::at(self, output, vl);
        match M::one_word(self) {
            true => std::slice::from_ref(&self.ports[at].lane.offering),
            false => &self.offering[at * self.words..][..self.words],
        }
    }

    /// Whether any input has an offered packet.
    #[inline]
    pub fn is_offered<M: Rules>(&self, output: u16, vl: u8) -> bool {
        self.ports[M::at(self, output, vl)].lane.offering != 0
    }

    /// Records whether an input has an offered packet.
    #[inline]
    pub fn offer<M: Rules>(&mut self, output: u16, vl: u8, place: u16, offered: bool) {
        let (at, place) = (M::at(self, output, vl), usize::from(place));
        let change = if offered { bits::set } else { bits::clear };
        if M::one_word(self) {
            return change(std::slice::from_mut(&mut self.ports[at].lane.offering), place);
        }
        let inputs = &mut self.offering[at * self.words..][..self.words];
        change(inputs, place);
        self.ports[at].lane.offering = u64::from(!bits::is_empty(inputs));
    }

    /// Lists an output that may be able to send now.
    #[inline]
    pub fn list(&mut self, output: u16) {
        bits::set(&mut self.pending, usize::from(output));
        self.listed = true;
    }

    /// Whether an output may be listed.
    #[inline(always)]
    pub fn has_listed(&self) -> bool {
        self.listed
    }

    /// Removes and returns the only listed output, or the one whose next packet is the oldest.
    #[inline]
    pub fn next_listed(&mut self, config: &SwitchConfig, now: Time) -> Option<u16> {
        if !self.listed {
            return None;
        }
        let first = bits::pop_first(&mut self.pending)? as u16;
        self.listed = !bits::is_empty(&self.pending);
        if self.listed { self.oldest_listed(first, config, now) } else { Some(first) }
    }

    /// Returns the listed output whose next packet is the oldest, and unlists outputs without a packet.
    /// Serving outputs by number would always favour the first ones.
    #[cold]
    fn oldest_listed(&mut self, first: u16, config: &SwitchConfig, now: Time) -> Option<u16> {
        bits::set(&mut self.pending, usize::from(first));
        let mut oldest: Option<(u64, u16)> = None;
        for word in 0..self.pending.len() {
            let mut left = self.pending[word];
            while left != 0 {
                let output = (word * 64) as u16 + left.trailing_zeros() as u16;
                left &= left - 1;
                match self.next_order_of(output, config, now) {
                    Some(order) => oldest = Some(oldest.map_or((order, output), |least| least.min((order, output)))),
                    None => bits::clear(&mut self.pending, usize::from(output)),
                }
            }
        }
        let output = oldest.map(|(_, output)| output);
        output.iter().for_each(|&output| bits::clear(&mut self.pending, usize::from(output)));
        self.listed = !bits::is_empty(&self.pending);
        output
    }

    /// Arrival position of the next packet that a free output would send, the earliest of all lanes.
    fn next_order_of(&self, output: u16, config: &SwitchConfig, now: Time) -> Option<u64> {
        let out = self.output(output);
        if out.is_sending(now) {
            // An output whose end of transmission has no event comes first: serving it only schedules the
            // event.
            return (!out.awaited).then_some(0);
        }
        let order = |vl: u8| {
            let place = self.choose_place::<Configured>(output, vl, config)?;
            Some(self.pool.get(self.voqs[self.voq(output, vl, place)].offered.head).order)
        };
        (0..self.vls).filter_map(order).min()
    }

    /// The rate at which packets arrive at an input.
    pub fn arrival_rate(&self, input: u16) -> Rate {
        self.arrival_rates.get(usize::from(input)).copied().unwrap_or(self.output(input).link.rate)
    }

    /// Changes the rate of an output's link.
    pub fn change_rate(&mut self, output: u16, rate: Rate) {
        self.output_mut(output).link.rate = rate;
        self.one_rate = (0..self.degree).all(|other| self.output(other).link.rate == rate);
    }

    /// Transmission time of a packet on an output's link.
    #[inline]
    pub fn transmission<M: Rules>(&mut self, output: u16, size: u32) -> Time {
        let nominal = self.ports[M::at(self, output, 0)].output.link.rate.time_of(size);
        if !M::varies(self) {
            return nominal;
        }
        match self.services.get_mut(usize::from(output)) {
            Some((distribution, stream)) => distribution.span(nominal, stream),
            None => nominal,
        }
    }

    /// Whether a packet waits for an output.
    #[inline]
    pub fn is_wanted<M: Rules>(&self, output: u16) -> bool {
        match M::one_lane(self) {
            true => self.is_offered::<M>(output, 0),
            false => (0..self.vls).any(|vl| self.is_offered::<M>(output, vl)),
        }
    }

    /// Updates an input buffer, after freeing the space of packets that have left without an event by now.
    #[inline(always)]
    pub fn change<M: Rules, O: Observer>(
        &mut self,
        (input, vl): (u16, u8),
        now: Time,
        observer: &mut O,
        change: impl FnOnce(&mut Input),
    ) {
        let (at, node) = (M::at(self, input, vl), self.node);
        let buffer = &mut self.ports[at].input;
        observer.buffers(PortId { node, port: input }, vl, |tell| {
            while let Some(time) = buffer.next_left::<M>(now) {
                tell(time, buffer.packets);
            }
            let before = buffer.packets;
            change(buffer);
            if buffer.packets != before {
                tell(now, buffer.packets);
            }
        });
    }

    /// Frees the space of packets that have left without an event, in all input buffers.
    pub fn settle_all<O: Observer>(&mut self, now: Time, observer: &mut O) {
        for input in 0..self.degree {
            for vl in 0..self.vls {
                self.change::<Configured, O>((input, vl), now, observer, |_| {});
            }
        }
    }
}

impl State {
    /// Lists the outputs that an input's packets wait for.
    pub fn unblock_outputs_of(&mut self, input: u16) {
        let place = self.turns.place(input);
        for output in 0..self.degree {
            let waits = (0..self.vls).any(|vl| self.voqs[self.voq(output, vl, place)].offered.head.is_some());
            if waits {
                self.list(output);
            }
        }
    }

    /// Lists all outputs that packets wait for.
    pub fn unblock_all_outputs(&mut self) {
        for output in 0..self.degree {
            if self.is_wanted::<Configured>(output) {
                self.list(output);
            }
        }
    }

    /// Lists all other outputs that packets wait for.
    pub fn unblock_other_outputs(&mut self, output: u16) {
        self.unblock_all_outputs();
        bits::clear(&mut self.pending, usize::from(output));
        self.listed = !bits::is_empty(&self.pending);
    }
}
