//! Faults of switches: links that are down, and storms of pauses.

use std::ops::Range;

use becalm_engine::Time;

use crate::config::{Arbiter, Bypass, PathSelection, Queueing};
use crate::context::Context;
use crate::event::Signal;
use crate::faults::{FaultKind, Step};
use crate::network::routing::Heading;
use crate::packet::Packet;
use crate::policy::{Marker, Observer};
use crate::switch::forwarding::Switch;
use crate::switch::pool::Waiting;
use crate::switch::rules::Configured;
use crate::switch::state::{Down, State};

/// A packet that leaves a queue, to be chosen another or to be discarded.
pub(super) struct Withdrawn {
    /// Position in the order of arrival.
    order: u64,
    pub input: u16,
    pub output: u16,
    /// The lane on which the packet would have left.
    pub vl: u8,
    /// The packet on the lane on which it arrived.
    pub packet: Packet,
}

impl State {
    /// Whether the link of an output is up.
    #[inline]
    pub fn is_up(&self, output: u16) -> bool {
        self.downs.is_empty() || self.downs.iter().all(|down| down.port != output)
    }

    /// Number and bytes of the packets that wait for an output.
    pub fn waiting_for_output(&self, output: u16) -> (u64, u64) {
        let lanes = &self.ports[self.at(output, 0)..][..usize::from(self.vls)];
        lanes.iter().fold((0, 0), |(packets, bytes), port| {
            (packets + u64::from(port.lane.waiting), bytes + port.lane.waiting_bytes)
        })
    }

    /// Number and bytes of packets that an output has started to send, and of those that have left it completely.
    fn sent(&self, output: u16, now: Time) -> [(u64, u64); 2] {
        let (out, last) = (self.output(output), self.last_sent(output));
        let leaves = if last.tail > now { (1, u64::from(last.size)) } else { (0, 0) };
        [(out.packets, out.bytes), (out.packets - leaves.0, out.bytes - leaves.1)]
    }

    /// The lane on which a packet that has just arrived leaves.
    pub fn onward_lane<O>(&self, packet: &Packet, ports: (u16, u16), cx: &Context<'_, O>) -> u8 {
        let lanes = cx.shared.routes.lanes().filter(|_| !self.one_lane);
        lanes.map_or(packet.vl, |lanes| lanes.next(self.rank, ports, packet.vl, Heading::of(packet)))
    }

    /// Ends the waits of an output for credit on some lanes: its link is down, or its packets are gone.
    pub(super) fn stop_waiting<O: Observer>(&mut self, output: u16, lanes: Range<u8>, cx: &mut Context<'_, O>) {
        for vl in lanes {
            let (at, port) = (self.at(output, vl), self.port(output));
            if std::mem::take(&mut self.ports[at].lane.stalled) {
                cx.observer.stalled(cx.now, port, vl, false);
            }
        }
    }

    /// Begins or ends a storm of pauses at an input, on some lanes.
    fn storm<O: Observer>(&mut self, input: u16, lanes: u16, storms: bool, cx: &mut Context<'_, O>) {
        for vl in (0..self.vls).filter(|vl| lanes & 1 << vl != 0) {
            let at = self.at(input, vl);
            if self.pauses.as_mut().is_some_and(|pauses| pauses.storm(at, storms)) {
                self.tell(input, vl, storms, cx);
            }
        }
    }
}

impl<K: Marker> Switch<K> {
    /// Handles a step of a fault.
    #[cold]
    #[inline(never)]
    pub fn on_fault<O: Observer>(&mut self, port: u16, number: u32, cx: &mut Context<'_, O>) {
        let (index, fault, step) = cx.shared.faults.of(number);
        let [begun, gone] = self.state.sent(port, cx.now);
        match (fault.kind, step) {
            (FaultKind::Storm(lanes), step) => self.state.storm(port, lanes, step == Step::Begin, cx),
            (_, Step::Eve) => cx.shared.faults.eve(index, gone),
            (_, Step::Begin) => {
                cx.shared.faults.begin(index, begun);
                self.link_down(port, cx);
                cx.shared.faults.tolls[index].moved = self.reroute(port, cx);
                // Others may have yielded to a packet that has moved, or that cannot leave now.
                self.state.unblock_all_outputs();
                self.arbitrate::<Configured, O>(cx);
            }
            (_, Step::End) => {
                let toll = &mut cx.shared.faults.tolls[index];
                (toll.held, toll.held_bytes) = self.state.waiting_for_output(port);
                self.link_up(port, cx);
            }
        }
    }

    /// Keeps an output from starting packets. To the rest of the switch, it is busy.
    fn link_down<O: Observer>(&mut self, output: u16, cx: &mut Context<'_, O>) {
        let state = &mut self.state;
        let node = state.node;
        state.stop_waiting(output, 0..state.vls, cx);
        let at = state.at(output, 0);
        let vl = state.ports[at].output.vl;
        let tie = state.ports[state.at(output, vl)].lane.last_tie;
        let out = &mut state.ports[at].output;
        let tail = out.busy_until;
        if tail > cx.now && !out.awaited {
            // So that an event always marks the end of the current transmission.
            out.awaited = true;
            cx.schedule(tail, node, output, u64::from(tie), Signal::Free);
        }
        out.busy_until = Time::MAX;
        state.downs.push(Down { port: output, tail });
    }

    fn link_up<O: Observer>(&mut self, output: u16, cx: &mut Context<'_, O>) {
        let Some(at) = self.state.downs.iter().position(|down| down.port == output) else { return };
        let Down { tail, .. } = self.state.downs.swap_remove(at);
        let out = self.state.output_mut(output);
        out.busy_until = tail;
        // Otherwise, the event of the packet in transmission is pending.
        if tail <= cx.now {
            out.awaited = false;
            self.state.list(output);
            self.arbitrate::<Configured, O>(cx);
        }
    }

    /// Lets the packets that wait for an output take another port, if the switch chooses among ports. Returns their number.
    fn reroute<O: Observer>(&mut self, output: u16, cx: &mut Context<'_, O>) -> u64 {
        let law = cx.shared.config.paths;
        if matches!(law, PathSelection::Destination | PathSelection::Valiant | PathSelection::Ugal) {
            return 0;
        }
        let mut moved = 0;
        for each in self.withdraw_all(output, 0..self.state.vls, cx) {
            let Withdrawn { input, packet, .. } = each;
            let chosen = self.state.choose_port(law, (input, &packet), cx).expect("it had a port before");
            moved += u64::from(chosen != each.output);
            self.wait_anew(&each, chosen, cx);
        }
        moved
    }

    /// Admits a packet that was withdrawn.
    pub(super) fn wait_anew<O: Observer>(&mut self, each: &Withdrawn, output: u16, cx: &mut Context<'_, O>) {
        let slot = self.state.pool.insert(&each.packet, (each.input, output), 0);
        self.ready::<Configured, O>(each.input, slot, cx);
    }

    /// Removes the packets that wait for some lanes of an output, and returns them in order of arrival. With FIFO queueing, those in the same buffers are removed too.
    pub(super) fn withdraw_all<O: Observer>(
        &mut self,
        output: u16,
        lanes: Range<u8>,
        cx: &mut Context<'_, O>,
    ) -> Vec<Withdrawn> {
        let degree = self.state.degree;
        let mut all = Vec::new();
        for (vl, place) in lanes.flat_map(|vl| (0..degree).map(move |place| (vl, place))) {
            let voq = self.state.voq(output, vl, place);
            if cx.shared.config.queueing == Queueing::Voq {
                while self.state.voqs[voq].offered.head.is_some() {
                    all.push(self.withdraw((output, vl, place), cx));
                }
            } else if self.state.voqs[voq].waiting > 0 {
                let buffer = self.state.at(self.state.turns.input(place), vl);
                while self.state.fifos[buffer].head.is_some() {
                    let &Waiting { output, packet, .. } = self.state.pool.get(self.state.fifos[buffer].head);
                    all.push(self.withdraw((output, packet.vl, place), cx));
                }
            }
        }
        all.sort_unstable_by_key(|each: &Withdrawn| each.order);
        all
    }

    /// Removes the head of a queue. To the marker, the packet departs; it arrives again in its next queue.
    fn withdraw<O: Observer>(&mut self, (output, vl, place): (u16, u8, u16), cx: &mut Context<'_, O>) -> Withdrawn {
        let head = self.state.voqs[self.state.voq(output, vl, place)].offered.head;
        let &Waiting { mut packet, order, input, .. } = self.state.pool.get(head);
        let came_on = self.state.came_on::<Configured>(head, vl);
        if !self.state.unmarked {
            packet.marked |= self.ask_marker::<Configured, _>(&packet, (input, output), order, cx);
            self.marker.left(cx.now, input, output, vl);
        }
        self.state.dequeue::<Configured>(output, vl, place, packet.size, &cx.shared.config);
        self.note_queue::<Configured, O>(output, vl, cx);
        if cx.shared.config.arbiter.counts(packet.kind) {
            if matches!(cx.shared.config.arbiter, Arbiter::OldestFirst { bypass: Bypass::Switch, .. }) {
                self.state.arrival_order.departed(order);
            }
            if !self.state.bypasses.is_empty() {
                let lane = self.state.at(output, vl);
                self.state.bypasses[lane].departed(order);
            }
        }
        let units = self.state.need::<Configured>(&packet);
        self.state.change::<Configured, O>((input, came_on), cx.now, cx.observer, |buffer| {
            buffer.taken -= units;
            buffer.packets -= 1;
        });
        Withdrawn { order, input, output, vl, packet: Packet { vl: came_on, ..packet } }
    }
}
