//! Polls of a switch by its PFC watchdog: the queues that it polls, and what it does with their packets.

use crate::config::WatchdogAction;
use crate::context::Context;
use crate::event::Signal;
use crate::packet::Packet;
use crate::policy::{Marker, Observer};
use crate::switch::forwarding::Switch;
use crate::switch::rules::Configured;
use crate::switch::state::State;

use crate::switch::watchdog::Change;

impl State {
    /// Whether the watchdog discards a packet that arrives. Records it.
    #[cold]
    #[inline(never)]
    pub fn discards<O: Observer>(
        &mut self,
        packet: &Packet,
        (input, output): (u16, u16),
        cx: &mut Context<'_, O>,
    ) -> bool {
        let vl = self.onward_lane(packet, (input, output), cx);
        let (queue, group) = (self.at(output, vl), self.at(input, packet.vl));
        let Some(dog) = &mut self.watchdog else { return false };
        let counter = if dog.discards(queue) {
            &mut dog.queues[queue].report.queue
        } else if dog.discards(group) {
            &mut dog.queues[group].report.group
        } else if self.pauses.as_ref().is_some_and(|pauses| pauses.loses(group, packet.size)) {
            &mut dog.queues[group].report.overflow
        } else {
            return false;
        };
        *counter = (counter.0 + 1, counter.1 + u64::from(packet.size));
        cx.lose(packet);
        true
    }
}

impl<K: Marker> Switch<K> {
    /// Polls all queues of outputs whose senders can be paused, and schedules the next poll.
    #[inline(never)]
    pub fn poll<O: Observer>(&mut self, cx: &mut Context<'_, O>) {
        let Some(dog) = &mut self.state.watchdog else { return };
        let (config, last) = (dog.config, std::mem::replace(&mut dog.last, cx.now));
        let interval = cx.now.since(last);
        let (degree, vls) = (self.state.degree, self.state.vls);
        for (output, vl) in (0..degree).flat_map(|output| (0..vls).map(move |vl| (output, vl))) {
            let link = self.state.output(output).link;
            if !link.gated() {
                continue;
            }
            let at = self.state.at(output, vl);
            let lane = &self.state.ports[at].lane;
            let is_stuck = lane.waiting_bytes > 0 && lane.last_began <= last;
            let polled = cx.shared.gates[link.credit_index(vl)].poll(last, cx.now);
            let Some(dog) = &mut self.state.watchdog else { return };
            let change = dog.queues[at].poll(&config, cx.now, interval, &polled, is_stuck);
            let discards = dog.discards(at);
            if config.action == WatchdogAction::Forward && change != Change::None {
                cx.shared.gates[link.credit_index(vl)].force(change == Change::Storm);
                self.state.list(output);
            }
            // Later polls find packets that were on their way through the switch.
            if discards {
                self.discard(output, vl, cx);
            }
        }
        self.arbitrate::<Configured, O>(cx);
        cx.schedule(cx.now + config.poll, self.state.node, 0, Signal::POLL, Signal::Poll);
    }

    /// Discards the packets that wait for an output's lane. With FIFO queueing, the next packets in these buffers then
    /// start to wait.
    fn discard<O: Observer>(&mut self, output: u16, vl: u8, cx: &mut Context<'_, O>) {
        let queue = self.state.at(output, vl);
        if self.state.ports[queue].lane.waiting == 0 {
            return;
        }
        for each in self.withdraw_all(output, vl..vl + 1, cx) {
            if (each.output, each.vl) != (output, vl) {
                self.wait_anew(&each, each.output, cx);
                continue;
            }
            if let Some(dog) = &mut self.state.watchdog {
                let counter = &mut dog.queues[queue].report.queue;
                *counter = (counter.0 + 1, counter.1 + u64::from(each.packet.size));
            }
            self.state.release(each.input, each.packet.vl, each.packet.size, cx);
            cx.lose(&each.packet);
        }
        self.state.stop_waiting(output, vl..vl + 1, cx);
        // Others may have yielded to a packet that is gone.
        self.state.unblock_all_outputs();
    }
}
