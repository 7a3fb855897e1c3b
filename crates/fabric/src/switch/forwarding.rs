//! Forwarding: the path of a packet through a switch.
//!
//! A packet that can cut through leaves at once. Any other packet joins the queue of its (output, VL, input).
//! Some events may allow a packet to leave: an arrival, credit, a free output, a free input, or the departure
//! of a packet that blocked others. Each of these lists the output, and [`Switch::arbitrate`] starts the
//! packets that can leave by the listed outputs.
//!
//! A switch stores its waiting packets itself, to keep them close together in memory.

use becalm_engine::Time;

use crate::config::{Arbiter, Bypass, InputReads, PathSelection, Queueing, Switching};
use crate::context::Context;
use crate::event::{Event, Signal, Word};
use crate::network::routing::Heading;
use crate::packet::{Packet, tie};
use crate::policy::{Arrival, Departure, Marker, Observer};
use crate::switch::pool::{Slot, Waiting};
use crate::switch::rules::{self, Common, Configured, Lanes, OneLane, Rules};
use crate::switch::state::State;
use crate::switch::view::View;

/// The input and output ports of a packet.
type Ports = (u16, u16);

/// A switch and its marker.
#[derive(Debug)]
pub(crate) struct Switch<K> {
    pub state: State,
    pub marker: K,
}

impl<K: Marker> Switch<K> {
    /// Handles an event at a port.
    // The path of every packet, from its arrival to its link, is compiled as one function. Calls would
    // account for a fifth of the instructions. The run loop dispatches events, so none of this code may be
    // inlined there.
    #[inline(always)]
    pub fn handle<O: Observer>(&mut self, port: u16, event: &Event, cx: &mut Context<'_, O>) {
        let packet = match event {
            Event::Arrive(packet) => packet,
            &Event::Signal(word) => return self.handle_signal(port, word, cx),
        };
        match self.state.rules {
            rules::Kind::Common => self.arrive::<Common, O>(port, packet, cx),
            _ => self.arrive_by_rules(port, packet, cx),
        }
    }

    /// Handles a header by rules other than the common ones.
    #[inline(never)]
    fn arrive_by_rules<O: Observer>(&mut self, port: u16, packet: &Packet, cx: &mut Context<'_, O>) {
        match self.state.rules {
            rules::Kind::Common | rules::Kind::OneLane => self.arrive::<OneLane, O>(port, packet, cx),
            rules::Kind::Lanes => self.arrive::<Lanes, O>(port, packet, cx),
            rules::Kind::Configured => self.arrive::<Configured, O>(port, packet, cx),
        }
    }

    /// Handles a signal.
    #[inline(never)]
    fn handle_signal<O: Observer>(&mut self, port: u16, word: Word, cx: &mut Context<'_, O>) {
        match self.state.rules {
            rules::Kind::Common => self.handle_by::<Common, O>(port, word, cx),
            rules::Kind::OneLane => self.handle_by::<OneLane, O>(port, word, cx),
            rules::Kind::Lanes => self.handle_by::<Lanes, O>(port, word, cx),
            rules::Kind::Configured => self.handle_by::<Configured, O>(port, word, cx),
        }
    }

    #[inline(always)]
    fn handle_by<M: Rules, O: Observer>(&mut self, port: u16, word: Word, cx: &mut Context<'_, O>) {
        match word.signal() {
            Signal::Ready(slot) => self.ready::<M, O>(port, Slot::from(slot), cx),
            Signal::Credit { vl } => self.credit::<M, O>(port, vl, cx),
            Signal::Stored { vl } => self.stored(port, vl, cx),
            Signal::Tail { input, vl, units } => self.tail::<M, O>(port, input, vl, units, cx),
            Signal::Free => self.free::<M, O>(port, cx),
            Signal::Rate(change) => self.state.change_rate(port, cx.shared.changes[change as usize].rate),
            Signal::Fault(number) => self.on_fault(port, number, cx),
            Signal::Poll => self.poll(cx),
            Signal::Wake
            | Signal::Post(_)
            | Signal::Rank(_)
            | Signal::Left(_)
            | Signal::Timer(_)
            | Signal::Drained(_)
            | Signal::Notify(_) => unreachable!("{word:?} is not for a switch"),
        }
    }

    /// Handles a header and finds the output. Before a faster link, holds the packet until it can be sent without a
    /// gap.
    #[inline(never)]
    fn arrive<M: Rules, O: Observer>(&mut self, input: u16, packet: &Packet, cx: &mut Context<'_, O>) {
        let steered;
        let (output, packet) = match M::paths(&cx.shared.config) {
            PathSelection::Destination => (self.state.port_to(packet.destination, &cx.shared.routes), packet),
            law @ (PathSelection::Valiant | PathSelection::Ugal) => {
                steered = self.state.steer(law, (input, packet), cx);
                (steered.0, &steered.1)
            }
            law => (self.state.choose_port(law, (input, packet), cx), packet),
        };
        let output = output.expect("routes were checked for every flow");
        if M::pauses(&self.state) {
            if self.state.watchdog.is_some() && self.state.discards(packet, (input, output), cx) {
                return;
            }
            self.state.pause(input, packet, cx);
        }
        if !self.state.one_rate && self.runs_dry(packet, (input, output), cx) {
            return;
        }
        self.admit::<M, O>(packet, (input, output), cx);
    }

    /// Holds a packet that would run dry on a faster link; returns whether it is held.
    #[inline(never)]
    fn runs_dry<O: Observer>(&mut self, packet: &Packet, (input, output): Ports, cx: &mut Context<'_, O>) -> bool {
        let slow = self.state.arrival_rate(input).time_of(packet.size);
        let fast = self.state.output(output).link.rate.time_of(packet.size);
        if cx.shared.config.switching != Switching::CutThrough || slow <= fast {
            return false;
        }
        let slot = self.state.pool.insert(packet, (input, output), 0);
        let tie = u64::from(packet.tie);
        cx.schedule(cx.now + (slow - fast), self.state.node, input, tie, Signal::Ready(slot.number()));
        true
    }

    /// Admits a packet that has been held.
    #[inline(never)]
    pub(super) fn ready<M: Rules, O: Observer>(&mut self, input: u16, slot: Slot, cx: &mut Context<'_, O>) {
        let &Waiting { packet, output, .. } = self.state.pool.remove(slot);
        self.admit::<M, O>(&packet, (input, output), cx);
    }

    /// Admits a packet to its buffer, shows it to the marker, and starts the packets that can leave.
    #[inline(always)]
    fn admit<M: Rules, O: Observer>(&mut self, packet: &Packet, ports: Ports, cx: &mut Context<'_, O>) {
        let ((input, output), came_on) = (ports, packet.vl);
        let state = &mut self.state;
        let order = state.next_order;
        state.next_order += 1;
        let units = state.need::<M>(packet);
        state.change::<M, O>((input, came_on), cx.now, cx.observer, |buffer| {
            buffer.taken += units;
            buffer.packets += M::packets(packet);
        });
        let onward;
        let packet = match cx.shared.routes.lanes() {
            Some(lanes) if !M::one_lane(state) => {
                onward =
                    Packet { vl: lanes.next(state.rank, (input, output), came_on, Heading::of(packet)), ..*packet };
                &onward
            }
            _ => packet,
        };
        let vl = packet.vl;
        let waits = !state.can_cut_through::<M, O>(packet, ports, (order, units), cx);
        let queued = waits || !M::one_lane(state);
        let is_met = || state.ports[M::at(state, output, vl)].lane.waiting > 0;
        let shown = !state.unmarked && (queued || state.shows_passing || is_met());
        if queued {
            state.enqueue::<M>(packet, ports, (came_on, order), &cx.shared.config);
        } else if shown {
            state.count::<M>(packet, ports);
        }
        if shown {
            let &Packet { vl, size, kind, tie, .. } = packet;
            let arrival = Arrival { now: cx.now, order, input, output, vl, size, kind, waits };
            if waits && !state.storing.is_empty() {
                self.watch(arrival, u64::from(tie), cx);
            }
            self.marker.arrived(&arrival, &View::new(&self.state, cx.shared, cx.now));
            // The departure of a packet that cuts through is also noted now.
            if queued {
                self.note_congestion(output, vl, cx);
            }
        }
        if queued {
            self.note_queue::<M, O>(output, vl, cx);
            if M::queueing(&cx.shared.config) == Queueing::Voq {
                self.serve::<M, O>(output, cx);
            }
            self.arbitrate::<M, O>(cx);
        } else {
            self.pass::<M, O>(packet, ports, (came_on, order, shown, units), cx);
        }
    }

    /// Forwards a packet that cuts through, past an empty queue. Its parameters are the lane on which it
    /// arrived, its position in arrival order, whether the marker sees it, and its units.
    #[inline(always)]
    fn pass<M: Rules, O: Observer>(
        &mut self,
        packet: &Packet,
        ports: Ports,
        (came_on, order, shown, units): (u8, u64, bool, u32),
        cx: &mut Context<'_, O>,
    ) {
        let marked = shown && self.ask_marker::<M, O>(packet, ports, order, cx);
        let state = &mut self.state;
        if shown {
            state.discount::<M>(packet, ports);
        }
        if M::arbiter(&cx.shared.config) != Arbiter::RoundRobin && !state.arrival_order.waiting.is_empty() {
            if cx.shared.config.arbiter.counts(packet.kind) {
                state.arrival_order.overtaken_by_newest();
            } else {
                state.arrival_order.ignored();
                state.unblock_all_outputs();
            }
        }
        self.send::<M, O>(packet, ports, (came_on, marked, units), cx);
        self.arbitrate::<M, O>(cx);
    }

    #[inline(always)]
    pub(super) fn note_queue<M: Rules, O: Observer>(&self, output: u16, vl: u8, cx: &mut Context<'_, O>) {
        let waiting = self.state.ports[M::at(&self.state, output, vl)].lane.waiting_bytes;
        cx.observer.queue(cx.now, self.state.port(output), vl, waiting);
    }

    /// Reports a change of the congestion state of an output's virtual lane.
    fn note_congestion<O: Observer>(&mut self, output: u16, vl: u8, cx: &mut Context<'_, O>) {
        let (congested, lane) = (self.marker.is_congested(output, vl), self.state.at(output, vl));
        if self.state.ports[lane].lane.congested != congested {
            self.state.ports[lane].lane.congested = congested;
            cx.observer.congested(cx.now, self.state.port(output), vl, congested);
        }
    }

    /// Handles credit for an output that waits for credit.
    #[inline]
    fn credit<M: Rules, O: Observer>(&mut self, output: u16, vl: u8, cx: &mut Context<'_, O>) {
        if !cx.called(&self.state.output(output).link, vl) {
            return;
        }
        self.serve::<M, O>(output, cx);
        self.arbitrate::<M, O>(cx);
    }

    /// Handles the tail of a packet: frees the output and the buffer space, and returns the credit.
    #[inline]
    fn tail<M: Rules, O: Observer>(&mut self, output: u16, input: u16, vl: u8, units: u32, cx: &mut Context<'_, O>) {
        let state = &mut self.state;
        state.output_mut(output).awaited = false;
        let packets = state.last_packets::<M>(output);
        let returns_at = self.marker.left(cx.now, input, output, vl);
        state.change::<M, O>((input, vl), cx.now, cx.observer, |buffer| {
            buffer.taken -= units;
            buffer.packets -= packets;
            buffer.leaving -= 1;
        });
        match M::pauses(state) {
            true => state.release(input, vl, units, cx),
            false => state.give_back::<M, O>((input, vl), units, returns_at, cx),
        }
        if M::input_reads(&cx.shared.config) == InputReads::One {
            state.list(output);
            state.unblock_outputs_of(input);
        } else {
            self.serve::<M, O>(output, cx);
        }
        self.arbitrate::<M, O>(cx);
    }

    /// Handles the tail of a packet whose buffer space and credit have already been handled.
    #[inline]
    fn free<M: Rules, O: Observer>(&mut self, output: u16, cx: &mut Context<'_, O>) {
        self.state.output_mut(output).awaited = false;
        self.serve::<M, O>(output, cx);
        self.arbitrate::<M, O>(cx);
    }

    /// Starts packets until no listed output can send.
    #[inline(always)]
    pub(super) fn arbitrate<M: Rules, O: Observer>(&mut self, cx: &mut Context<'_, O>) {
        if self.state.has_listed() {
            self.serve_listed::<M, O>(cx);
        }
    }

    #[inline(never)]
    fn serve_listed<M: Rules, O: Observer>(&mut self, cx: &mut Context<'_, O>) {
        while let Some(output) = self.state.next_listed(&cx.shared.config, cx.now) {
            self.serve::<M, O>(output, cx);
        }
    }

    /// Starts a packet if the output is free and a packet can leave by it. Otherwise, ensures that the output
    /// is served later.
    #[inline(always)]
    fn serve<M: Rules, O: Observer>(&mut self, output: u16, cx: &mut Context<'_, O>) {
        let out = &self.state.ports[M::at(&self.state, output, 0)].output;
        if !out.is_sending(cx.now) {
            // A table advances even if no lane can send.
            if !M::lanes_take_turns(&self.state) || self.state.is_wanted::<M>(output) {
                self.serve_free::<M, O>(output, cx);
            }
        } else if !out.awaited && self.state.is_wanted::<M>(output) {
            self.await_tail::<M, O>(output, cx);
        }
    }

    /// Schedules an event for the end of the current transmission.
    fn await_tail<M: Rules, O: Observer>(&mut self, output: u16, cx: &mut Context<'_, O>) {
        let at = M::at(&self.state, output, 0);
        let out = &mut self.state.ports[at].output;
        out.awaited = true;
        // The link is down, and an event marks when it is up again.
        if out.busy_until == Time::MAX {
            return;
        }
        let (tail, vl) = (out.busy_until, out.vl);
        let tie = self.state.ports[M::at(&self.state, output, vl)].lane.last_tie;
        cx.schedule(tail, self.state.node, output, u64::from(tie), Signal::Free);
    }

    /// Starts a packet if one can leave by a free output.
    #[inline(never)]
    fn serve_free<M: Rules, O: Observer>(&mut self, output: u16, cx: &mut Context<'_, O>) {
        if let Some((vl, place)) = self.state.choose::<M, O>(output, cx) {
            self.start::<M, O>(output, vl, place, cx);
        }
    }

    /// Starts the head of a queue.
    #[inline(always)]
    fn start<M: Rules, O: Observer>(&mut self, output: u16, vl: u8, place: u16, cx: &mut Context<'_, O>) {
        let state = &self.state;
        let head = state.voqs[M::voq(state, output, vl, place)].offered.head;
        let &Waiting { packet, order, input, .. } = state.pool.get(head);
        let (ports, came_on) = ((input, output), state.came_on::<M>(head, packet.vl));
        let marked = !state.unmarked && self.ask_marker::<M, O>(&packet, ports, order, cx);
        let state = &mut self.state;
        state.dequeue::<M>(output, vl, place, packet.size, &cx.shared.config);
        self.note_queue::<M, O>(output, vl, cx);
        let state = &mut self.state;
        if let Arbiter::OldestFirst { max_bypass, bypass: Bypass::Switch, .. } = M::arbiter(&cx.shared.config) {
            let held_up_others = state.arrival_order.overtaken >= max_bypass;
            // An answer that does not count may use up the oldest packet's credit. The oldest packet then
            // holds up no others.
            let counts = cx.shared.config.arbiter.counts(packet.kind);
            let frees = !counts || state.arrival_order.departed(order);
            if frees && held_up_others {
                state.unblock_all_outputs();
            }
        }
        if !state.bypasses.is_empty() && cx.shared.config.arbiter.counts(packet.kind) {
            let lane = state.at(output, vl);
            state.bypasses[lane].departed(order);
        }
        let units = self.state.need::<M>(&packet);
        self.send::<M, O>(&packet, ports, (came_on, marked, units), cx);
    }

    /// Asks the marker about a packet that is about to leave.
    pub(super) fn ask_marker<M: Rules, O: Observer>(
        &mut self,
        packet: &Packet,
        ports: Ports,
        order: u64,
        cx: &mut Context<'_, O>,
    ) -> bool {
        if M::TRAINS && !packet.train.is_single() {
            return self.ask_marker_of_train(packet, ports, order, cx);
        }
        let ((input, output), switch) = (ports, self.state.rank);
        let &Packet { vl, size, kind, tie, .. } = packet;
        let departure = Departure { now: cx.now, order, input, output, vl, size, kind, tie, switch };
        let view = View::new(&self.state, cx.shared, cx.now);
        let marked = self.marker.departing(&departure, &view);
        self.note_congestion(output, vl, cx);
        marked
    }

    /// Asks the marker about each packet of a train that is about to leave. Returns whether it marks any of them.
    #[inline(never)]
    fn ask_marker_of_train<O: Observer>(
        &mut self,
        train: &Packet,
        (input, output): Ports,
        order: u64,
        cx: &mut Context<'_, O>,
    ) -> bool {
        let (switch, packets) = (self.state.rank, train.train.packets());
        let &Packet { vl, kind, .. } = train;
        let view = View::new(&self.state, cx.shared, cx.now);
        let mut marks = 0;
        for i in 0..packets {
            // The packets before it have left as well.
            let size = if i + 1 == packets { train.size } else { train.size / packets * (i + 1) };
            let tie = tie(u64::from(train.tie), i);
            let departure = Departure { now: cx.now, order, input, output, vl, size, kind, tie, switch };
            marks |= u16::from(self.marker.departing(&departure, &view)) << i;
        }
        self.note_congestion(output, vl, cx);
        self.state.shares.iter_mut().for_each(|shares| shares.marks = marks);
        marks != 0
    }

    /// Transmits a packet, which arrived on lane `came_on` and occupies `units` there, on its link.
    #[inline(always)]
    fn send<M: Rules, O: Observer>(
        &mut self,
        packet: &Packet,
        ports: Ports,
        (came_on, marked, units): (u8, bool, u32),
        cx: &mut Context<'_, O>,
    ) {
        let ((input, output), &Packet { vl, size, tie, .. }) = (ports, packet);
        let state = &mut self.state;
        let from = state.port(output);
        let transmission = state.transmission::<M>(output, size);
        if !M::one_lane(state) {
            state.arbiters[usize::from(output)].sent(vl, size);
        }
        state.record_hop::<M>(packet, output, cx.now, &mut cx.shared.trails);
        if M::TRAINS && state.shares.is_some() {
            state.count_turn(packet, (input, output));
        }
        let bits = match M::TRAINS && marked && !packet.train.is_single() {
            true => state.marks_of_train(),
            false => 0,
        };
        let silent = state.lazy_tails && !state.is_wanted::<M>(output);
        let (lane, at, buffer) = (M::at(state, output, vl), M::at(state, output, 0), M::at(state, input, came_on));
        let ports = &mut state.ports[..];
        let place = ports[buffer].input.place;
        let lane = &mut ports[lane].lane;
        (lane.last_place, lane.last_tie) = (place, tie);
        (lane.last_size, lane.last_began) = (size, cx.now);
        if M::TRAINS {
            lane.last_packets = M::packets(packet) as u8;
            cx.shared.together += u64::from(M::packets(packet) - 1);
        }
        let out = &mut ports[at].output;
        if out.link.credited() {
            cx.shared.credit[out.link.credit_index(vl)].take(units);
        }
        (out.input, out.vl) = (input, vl);
        out.packets += u64::from(M::packets(packet));
        out.marked += if bits > 0 { bits.count_ones() } else { u32::from(marked) };
        let copy;
        let packet = match marked && !packet.marked || bits > 0 {
            true => {
                copy = Packet { marked, covers: packet.covers | bits, ..*packet };
                &copy
            }
            false => packet,
        };
        let tail = cx.launch(from, &out.link, packet, transmission);
        out.busy_until = tail;
        // Kept apart from the packet count: updating both as one vector is slower.
        out.bytes += u64::from(size);
        let buffer = &mut ports[buffer].input;
        if silent && buffer.leave_silently::<M>(tail, units, packet) {
            return state.give_back::<M, O>((input, came_on), units, tail, cx);
        }
        buffer.leaving += 1;
        ports[at].output.awaited = true;
        cx.schedule(tail, from.node, output, u64::from(tie), Signal::Tail { input, vl: came_on, units });
    }
}
