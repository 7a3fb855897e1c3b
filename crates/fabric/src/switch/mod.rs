//! A switch: input buffers with credits, forwarding, arbitration, marking.
//!
//! A packet that arrives joins the queue of (output, VL, input). Whatever may let a packet leave (its arrival, a
//! credit, a free output, a free input, the departure of a packet that held up others) puts the output on the list
//! of those to settle, and [`Switch::settle`] starts what can start.

mod fifo;
mod seniority;
mod state;
mod view;

use becalm_engine::Time;

use crate::bits;
use crate::config::{Arbiter, InputReads, SwitchConfig};
use crate::event::{Context, Event, Outlink};
use crate::ids::{NodeId, PacketId};
use crate::seam::{Arrival, Departure, Marker, Observer};
use crate::switch::state::{Input, State};
use crate::switch::view::View;

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
        seed: u64,
        marker: K,
    ) -> Switch<K> {
        Switch { state: State::new(node, rank, config, links, largest, seed), marker }
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
        self.marker.left(cx.now, output, vl);
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
        let transmission = out.transmission(size);
        let tail: Time = cx.launch(from, &out.link, id, transmission);
        cx.schedule(tail, from.node, output, 0, Event::Tail { input, vl, units });
    }
}
