//! The rules that all switches of a fabric follow, as known to the compiler.
//!
//! Most fabrics have one virtual lane, virtual output queues and round-robin arbitration. For these, the
//! forwarding path is compiled separately with [`Common`] instead of [`Configured`], and for other arbiters
//! with [`OneLane`]; fabrics of several lanes, as all with PFC, with [`Lanes`]. Settings that are then constant are not
//! checked for every packet.

use crate::bits;
use crate::config::{Arbiter, FlowControl, InputReads, PathSelection, Queueing, SwitchConfig, Unit, VlArbitration};
use crate::distribution::Distribution;
use crate::packet::Packet;

/// The properties of a switch on which the rules depend.
pub(crate) trait Layout {
    /// Number of ports.
    fn ports(&self) -> usize;
    /// Whether there is one lane and no arbitration between lanes.
    fn has_one_lane(&self) -> bool;
    /// Whether lanes take turns, without weights.
    fn have_turns(&self) -> bool;
    /// Number of words in a set of an output's inputs.
    fn words(&self) -> usize;
    /// Whether transmission times vary.
    fn varies(&self) -> bool;
    /// Whether packets may request records of their paths.
    fn records(&self) -> bool;
    /// Whether buffers pause their senders.
    fn pauses(&self) -> bool;
    /// Whether credit returns in messages.
    fn batches(&self) -> bool;
    /// Index of a port's lane in lists by (port, VL).
    fn at(&self, port: u16, vl: u8) -> usize;
}

/// The rules of a switch. Functions that are not overridden follow its configuration.
pub(crate) trait Rules {
    /// Whether packets may be trains.
    const TRAINS: bool = false;

    #[inline(always)]
    fn queueing(config: &SwitchConfig) -> Queueing {
        config.queueing
    }

    #[inline(always)]
    fn arbiter(config: &SwitchConfig) -> Arbiter {
        config.arbiter
    }

    #[inline(always)]
    fn input_reads(config: &SwitchConfig) -> InputReads {
        config.input_reads
    }

    #[inline(always)]
    fn paths(config: &SwitchConfig) -> PathSelection {
        config.paths
    }

    /// Whether there is one lane and no arbitration between lanes.
    #[inline(always)]
    fn one_lane(state: &impl Layout) -> bool {
        state.has_one_lane()
    }

    /// Whether lanes take turns, without weights.
    #[inline(always)]
    fn lanes_take_turns(state: &impl Layout) -> bool {
        state.have_turns()
    }

    /// Whether the set of an output's inputs fits in one word.
    #[inline(always)]
    fn one_word(state: &impl Layout) -> bool {
        state.words() == 1
    }

    /// Whether transmission times vary.
    #[inline(always)]
    fn varies(state: &impl Layout) -> bool {
        state.varies()
    }

    /// Whether packets may request records of their paths.
    #[inline(always)]
    fn records(state: &impl Layout) -> bool {
        state.records()
    }

    /// Whether buffers pause their senders, instead of using credit.
    #[inline(always)]
    fn pauses(state: &impl Layout) -> bool {
        state.pauses()
    }

    /// Whether credit returns in messages, instead of when space becomes free.
    #[inline(always)]
    fn batches(state: &impl Layout) -> bool {
        state.batches()
    }

    /// Number of packets that a packet stands for.
    #[inline(always)]
    fn packets(packet: &Packet) -> u32 {
        if Self::TRAINS { packet.train.packets() } else { 1 }
    }

    /// Units of credit that a packet needs.
    #[inline(always)]
    fn units(unit: Unit, packet: &Packet) -> u32 {
        if Self::TRAINS { unit.of_packet(packet) } else { unit.of(packet.size) }
    }

    /// Index of a port's lane in lists by (port, VL).
    #[inline(always)]
    fn at(state: &impl Layout, port: u16, vl: u8) -> usize {
        state.at(port, vl)
    }

    /// Index of a queue in the list by (output, VL, input's place in the round-robin order).
    #[inline(always)]
    fn voq(state: &impl Layout, output: u16, vl: u8, place: u16) -> usize {
        Self::at(state, output, vl) * state.ports() + usize::from(place)
    }
}

/// The rules follow the configuration.
pub(crate) struct Configured;

impl Rules for Configured {
    const TRAINS: bool = true;
}

/// Several lanes that take turns, virtual output queues of at most 64 inputs that take turns, each of which can feed
/// any number of outputs at the same time, and fixed transmission times. Most fabrics with PFC are of this kind.
pub(crate) struct Lanes;

impl Lanes {
    /// Whether a switch with this many ports follows these rules.
    pub fn holds(config: &SwitchConfig, ports: usize) -> bool {
        config.queueing == Queueing::Voq
            && config.vls > 1
            && config.vl_arbitration == VlArbitration::RoundRobin
            && config.service == Distribution::Fixed
            && bits::words(ports) == 1
            && config.arbiter == Arbiter::RoundRobin
            && config.input_reads == InputReads::Many
            && config.flow_control.cbfc().is_none()
    }
}

impl Rules for Lanes {
    #[inline(always)]
    fn batches(_: &impl Layout) -> bool {
        false
    }

    #[inline(always)]
    fn queueing(_: &SwitchConfig) -> Queueing {
        Queueing::Voq
    }

    #[inline(always)]
    fn arbiter(_: &SwitchConfig) -> Arbiter {
        Arbiter::RoundRobin
    }

    #[inline(always)]
    fn input_reads(_: &SwitchConfig) -> InputReads {
        InputReads::Many
    }

    #[inline(always)]
    fn one_lane(_: &impl Layout) -> bool {
        false
    }

    #[inline(always)]
    fn lanes_take_turns(_: &impl Layout) -> bool {
        true
    }

    #[inline(always)]
    fn one_word(_: &impl Layout) -> bool {
        true
    }

    #[inline(always)]
    fn varies(_: &impl Layout) -> bool {
        false
    }
}

/// One lane, virtual output queues of at most 64 inputs, fixed transmission times, and credit.
pub(crate) struct OneLane;

impl OneLane {
    /// Whether a switch with this many ports follows these rules.
    pub fn holds(config: &SwitchConfig, ports: usize) -> bool {
        config.queueing == Queueing::Voq
            && config.vls == 1
            && config.vl_arbitration == VlArbitration::RoundRobin
            && config.service == Distribution::Fixed
            && bits::words(ports) == 1
            && config.flow_control == FlowControl::Credits
    }
}

impl Rules for OneLane {
    #[inline(always)]
    fn queueing(_: &SwitchConfig) -> Queueing {
        Queueing::Voq
    }

    #[inline(always)]
    fn one_lane(_: &impl Layout) -> bool {
        true
    }

    #[inline(always)]
    fn lanes_take_turns(_: &impl Layout) -> bool {
        true
    }

    #[inline(always)]
    fn one_word(_: &impl Layout) -> bool {
        true
    }

    #[inline(always)]
    fn varies(_: &impl Layout) -> bool {
        false
    }

    #[inline(always)]
    fn pauses(_: &impl Layout) -> bool {
        false
    }

    #[inline(always)]
    fn batches(_: &impl Layout) -> bool {
        false
    }

    #[inline(always)]
    fn at(_: &impl Layout, port: u16, _: u8) -> usize {
        usize::from(port)
    }
}

/// The rules of [`OneLane`], plus one port for each destination and round-robin among inputs, each of which
/// can feed any number of outputs at the same time. No packet requests records of its path.
pub(crate) struct Common;

impl Common {
    /// Whether a switch with this many ports follows these rules.
    pub fn holds(config: &SwitchConfig, ports: usize) -> bool {
        OneLane::holds(config, ports)
            && config.arbiter == Arbiter::RoundRobin
            && config.input_reads == InputReads::Many
            && config.paths == PathSelection::Destination
    }
}

impl Rules for Common {
    #[inline(always)]
    fn queueing(config: &SwitchConfig) -> Queueing {
        OneLane::queueing(config)
    }

    #[inline(always)]
    fn arbiter(_: &SwitchConfig) -> Arbiter {
        Arbiter::RoundRobin
    }

    #[inline(always)]
    fn input_reads(_: &SwitchConfig) -> InputReads {
        InputReads::Many
    }

    #[inline(always)]
    fn paths(_: &SwitchConfig) -> PathSelection {
        PathSelection::Destination
    }

    #[inline(always)]
    fn one_lane(state: &impl Layout) -> bool {
        OneLane::one_lane(state)
    }

    #[inline(always)]
    fn lanes_take_turns(state: &impl Layout) -> bool {
        OneLane::lanes_take_turns(state)
    }

    #[inline(always)]
    fn one_word(state: &impl Layout) -> bool {
        OneLane::one_word(state)
    }

    #[inline(always)]
    fn varies(state: &impl Layout) -> bool {
        OneLane::varies(state)
    }

    #[inline(always)]
    fn records(_: &impl Layout) -> bool {
        false
    }

    #[inline(always)]
    fn pauses(state: &impl Layout) -> bool {
        OneLane::pauses(state)
    }

    #[inline(always)]
    fn batches(state: &impl Layout) -> bool {
        OneLane::batches(state)
    }

    #[inline(always)]
    fn at(state: &impl Layout, port: u16, vl: u8) -> usize {
        OneLane::at(state, port, vl)
    }
}

/// The rules for which a switch is compiled: the first applicable ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Common,
    OneLane,
    Lanes,
    Configured,
}

impl Kind {
    /// The kind of a switch with this many ports.
    pub fn of(config: &SwitchConfig, ports: usize) -> Kind {
        if Common::holds(config, ports) {
            Kind::Common
        } else if OneLane::holds(config, ports) {
            Kind::OneLane
        } else if Lanes::holds(config, ports) {
            Kind::Lanes
        } else {
            Kind::Configured
        }
    }

    /// The kind of the same switch if packets may request records of their paths.
    pub fn recording(self) -> Kind {
        if self == Kind::Common { Kind::OneLane } else { self }
    }
}
