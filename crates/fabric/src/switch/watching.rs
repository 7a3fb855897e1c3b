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
        cx.schedule(cx.now + config.poll, self.state.node, 0, 0, Signal::Poll);
    }

    /// Discards the packets that wait for an output's lane. With FIFO queueing, packets in the same buffers wait anew.
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
        // Others may have yielded to a packet that is gone.
        self.state.unblock_all_outputs();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLL: Time = Time::from_us(100);

    fn config(rule: WatchdogRule, action: WatchdogAction) -> Watchdog {
        Watchdog { rule, action, poll: POLL, detection: Time::from_us(400), restoration: Time::from_us(300) }
    }

    const PAUSED: Polled = Polled { paused: POLL, was_paused: true, is_paused: true, resumed: false, seen: true };
    const CALM: Polled =
        Polled { paused: Time::ZERO, was_paused: false, is_paused: false, resumed: false, seen: false };

    /// Feeds polls to a queue, and returns the numbers of polls at which it changed.
    fn changes(config: &Watchdog, polls: impl Iterator<Item = (Polled, bool)>) -> Vec<(usize, Change)> {
        let mut queue = Dog::new(*config, 1).queues[0];
        let poll = |(i, (polled, stuck))| (i, queue.poll(config, Time(POLL.0 * (i as u64 + 1)), POLL, &polled, stuck));
        polls.enumerate().map(poll).filter(|(_, change)| *change != Change::None).collect()
    }

    #[test]
    fn a_storm_is_found_after_its_detection_and_restored_after_silence() {
        for rule in [WatchdogRule::Mellanox, WatchdogRule::Broadcom] {
            let config = config(rule, WatchdogAction::Drop);
            let polls = (0..20).map(|i| if i < 10 { (PAUSED, true) } else { (CALM, false) });
            assert_eq!(changes(&config, polls), [(3, Change::Storm), (12, Change::Restored)], "{rule:?}");
        }
    }

    #[test]
    fn the_rules_differ_in_what_they_need() {
        let found = |rule, polled, stuck| {
            !changes(&config(rule, WatchdogAction::Alert), std::iter::repeat_n((polled, stuck), 9)).is_empty()
        };
        let almost = Polled { paused: Time(POLL.0 * 995 / 1000), ..PAUSED };
        let less = Polled { paused: Time(POLL.0 * 98 / 100), ..PAUSED };
        let again = Polled { resumed: true, ..almost };
        assert!(found(WatchdogRule::Mellanox, almost, true) && !found(WatchdogRule::Mellanox, less, true));
        assert!(found(WatchdogRule::Mellanox, again, true) && !found(WatchdogRule::Broadcom, again, true));
        assert!(!found(WatchdogRule::Mellanox, PAUSED, false), "an empty queue, or one that sends, is no storm");
        assert!(found(WatchdogRule::Broadcom, PAUSED, false), "Broadcom looks at pauses alone");
    }

    #[test]
    fn an_alert_ends_with_its_condition_and_a_pause_delays_the_restoration() {
        let polls = || (0..12).map(|i| if i < 5 || i == 7 { (PAUSED, true) } else { (CALM, false) });
        let rule = WatchdogRule::Mellanox;
        assert_eq!(changes(&config(rule, WatchdogAction::Alert), polls()), [(3, Change::Storm), (5, Change::Restored)]);
        assert_eq!(changes(&config(rule, WatchdogAction::Drop), polls()), [(3, Change::Storm), (10, Change::Restored)]);
    }
}
