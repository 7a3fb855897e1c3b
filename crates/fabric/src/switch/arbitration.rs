//! Arbitration: the choice of the packet that leaves a switch next.

use crate::bits;
use crate::config::{Arbiter, Bypass, InputReads, Queueing, SwitchConfig};
use crate::context::Context;
use crate::packet::{Kind, Packet};
use crate::policy::Observer;
use crate::switch::pool::{Slot, Waiting};
use crate::switch::ports::Port;
use crate::switch::rules::Rules;
use crate::switch::state::State;
use crate::switch::vl_arbiter::{VlArbiter, next_in_turn};

impl State {
    /// Whether an output has credit for a packet.
    #[inline]
    pub fn has_credit<O: Observer>(&self, output: u16, packet: &Packet, cx: &mut Context<'_, O>) -> bool {
        cx.has_credit(&self.output(output).link, packet.vl, self.unit.of_packet(packet))
    }

    /// Whether an input that is limited to one packet at a time is already sending.
    #[inline]
    pub fn is_reading<M: Rules>(&self, input: u16, config: &SwitchConfig) -> bool {
        M::input_reads(config) == InputReads::One
            && (0..self.vls).any(|vl| self.ports[self.at(input, vl)].input.leaving > 0)
    }

    /// Whether a packet must wait for an older packet: one on its own output, or the oldest of the switch.
    ///
    /// The oldest packet blocks no others if it lacks credit, or if it is behind an answer that lacks credit.
    /// Otherwise, two switches whose oldest packets wait for each other's buffers would be deadlocked.
    #[inline(always)]
    pub fn must_yield<M: Rules, O: Observer>(
        &self,
        order: u64,
        (output, vl): (u16, u8),
        kind: Kind,
        cx: &mut Context<'_, O>,
    ) -> bool {
        let Arbiter::OldestFirst { max_bypass, bypass, .. } = M::arbiter(&cx.shared.config) else { return false };
        if bypass == Bypass::Output {
            return self.must_yield_there(order, (output, vl), kind, (max_bypass, &cx.shared.config));
        }
        let is_due = self.arrival_order.overtaken >= max_bypass && self.arrival_order.first != order;
        is_due && cx.shared.config.arbiter.counts(kind) && self.oldest_has_credit::<M, O>(cx)
    }

    /// Whether a packet must wait for an older packet on its output.
    #[inline(never)]
    fn must_yield_there(
        &self,
        order: u64,
        (output, vl): (u16, u8),
        kind: Kind,
        (max_bypass, config): (u32, &SwitchConfig),
    ) -> bool {
        self.bypasses[self.at(output, vl)].hold(order, max_bypass) && config.arbiter.counts(kind)
    }

    /// Whether there is an oldest packet, and it has credit and a link that is up.
    #[inline(never)]
    fn oldest_has_credit<M: Rules, O: Observer>(&self, cx: &mut Context<'_, O>) -> bool {
        let Some(foremost) = self.foremost::<M>(&cx.shared.config) else { return false };
        let Waiting { output, packet, .. } = self.pool.get(foremost);
        self.is_up(*output) && self.has_credit(*output, packet, cx)
    }

    /// The oldest packet of the switch. With FIFO queueing, the head of its buffer, because an answer that
    /// does not count may precede it.
    #[inline]
    fn foremost<M: Rules>(&self, config: &SwitchConfig) -> Option<Slot> {
        let &oldest = self.arrival_order.waiting.front()?;
        let &Waiting { input, packet: Packet { vl, .. }, .. } = self.pool.get(oldest);
        Some(match M::queueing(config) {
            Queueing::Voq => oldest,
            Queueing::Fifo => self.fifos[self.at(input, vl)].head,
        })
    }

    /// Whether an arriving packet, with its position in order of arrival and its units, can leave at once.
    #[inline(always)]
    pub fn can_cut_through<M: Rules, O: Observer>(
        &self,
        packet: &Packet,
        (input, output): (u16, u16),
        (order, units): (u64, u32),
        cx: &mut Context<'_, O>,
    ) -> bool {
        let &Packet { vl, kind, .. } = packet;
        let Port { output: out, .. } = &self.ports[M::at(self, output, 0)];
        if out.is_sending(cx.now) || self.is_offered::<M>(output, vl) {
            return false;
        }
        let config = &cx.shared.config;
        let behind_others = M::queueing(config) == Queueing::Fifo && self.fifos[self.at(input, vl)].head.is_some();
        !behind_others
            && !self.is_reading::<M>(input, config)
            && cx.has_credit(&out.link, vl, units)
            && !self.must_yield::<M, O>(order, (output, vl), kind, cx)
    }

    /// The place of the input whose packet an output's VL would send next.
    #[inline]
    pub fn choose_place<M: Rules>(&self, output: u16, vl: u8, config: &SwitchConfig) -> Option<u16> {
        let offering = self.offering::<M>(output, vl);
        let is_free = |place: &usize| !self.is_reading::<M>(self.turns.input(*place as u16), config);
        let free = || bits::iter(offering).filter(is_free);
        let place = match M::arbiter(config) {
            Arbiter::OldestFirst { .. } => {
                let heads = &self.voqs[M::voq(self, output, vl, 0)..];
                free().min_by_key(|&place| self.pool.get(heads[place].offered.head).order)
            }
            Arbiter::RoundRobin => {
                let last = usize::from(self.ports[M::at(self, output, vl)].lane.last_place);
                if M::TRAINS && self.shares.is_some() {
                    return self.least_served::<M>((output, vl), last, free());
                }
                match M::input_reads(config) {
                    InputReads::Many => bits::next_in_turn(offering, last),
                    InputReads::One => free().find(|&place| place > last).or_else(|| free().next()),
                }
            }
        };
        place.map(|place| place as u16)
    }

    /// Among these places, the one of the input that has sent the least; among equals, the next one in turn.
    #[inline(never)]
    fn least_served<M: Rules>(
        &self,
        (output, vl): (u16, u8),
        last: usize,
        places: impl Iterator<Item = usize>,
    ) -> Option<u16> {
        let shares = self.shares.as_ref()?;
        let (lane, queues) = (M::at(self, output, vl), M::voq(self, output, vl, 0));
        let least = places.min_by_key(|&place| (shares.begins(lane, queues + place), place <= last, place));
        least.map(|place| place as u16)
    }

    /// The VL that a free output serves next, among those with credit, and the place of the input.
    #[inline]
    pub fn choose<M: Rules, O: Observer>(&mut self, output: u16, cx: &mut Context<'_, O>) -> Option<(u8, u16)> {
        if M::one_lane(self) {
            return self.candidate::<M, O>(output, 0, cx).map(|place| (0, place));
        }
        if M::lanes_take_turns(self) {
            return self.choose_in_turn::<M, O>(output, cx);
        }
        let mut arbiter = std::mem::replace(&mut self.arbiters[usize::from(output)], VlArbiter::IDLE);
        let mut chosen = 0;
        let vl = arbiter.choose(|vl| match self.candidate::<M, O>(output, vl, cx) {
            Some(place) => {
                chosen = place;
                true
            }
            None => false,
        });
        self.arbiters[usize::from(output)] = arbiter;
        vl.map(|vl| (vl, chosen))
    }

    /// As [`State::choose`], if lanes take turns.
    #[inline(always)]
    fn choose_in_turn<M: Rules, O: Observer>(&mut self, output: u16, cx: &mut Context<'_, O>) -> Option<(u8, u16)> {
        let mut place = None;
        let turn = self.arbiters[usize::from(output)].turn();
        let vl = next_in_turn(turn, self.vls, |vl| {
            if self.is_offered::<M>(output, vl) {
                place = self.candidate::<M, O>(output, vl, cx);
            }
            place.is_some()
        });
        vl.zip(place)
    }

    /// The place of the input whose packet an output's VL can send now. Reports the start and end of a wait
    /// for credit.
    #[inline]
    pub fn candidate<M: Rules, O: Observer>(&mut self, output: u16, vl: u8, cx: &mut Context<'_, O>) -> Option<u16> {
        let place = self.choose_place::<M>(output, vl, &cx.shared.config)?;
        let head = self.voqs[M::voq(self, output, vl, place)].offered.head;
        let Waiting { order, packet, .. } = self.pool.get(head);
        if self.must_yield::<M, O>(*order, (output, vl), packet.kind, cx) {
            return None;
        }
        let link = &self.ports[M::at(self, output, 0)].output.link;
        let has_credit = cx.has_credit(link, vl, M::units(self.unit, packet));
        let (at, port) = (M::at(self, output, vl), self.port(output));
        let lane = &mut self.ports[at].lane;
        if lane.stalled == has_credit {
            lane.stalled = !has_credit;
            if has_credit {
                lane.blocked_until = Some(cx.now);
            }
            cx.observer.stalled(cx.now, port, vl, !has_credit);
        }
        if !has_credit {
            cx.wait_for_credit(port, &self.output(output).link, vl);
            // A pause blocks the oldest packet, to which packets for other outputs have yielded. Otherwise,
            // only a packet's own start consumes credit.
            if M::pauses(self) && self.foremost::<M>(&cx.shared.config) == Some(head) {
                self.unblock_other_outputs(output);
            }
        }
        has_credit.then_some(place)
    }
}
