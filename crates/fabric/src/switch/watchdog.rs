//! The PFC watchdog of a switch: it polls the queues of its outputs, finds storms of pauses, and acts.
//!
//! Source: SONiC's `pfc_detect_mellanox.lua`, `pfc_detect_broadcom.lua` and `pfc_restore.lua`.

use becalm_engine::{Time, mix};

use crate::config::{Watchdog, WatchdogAction, WatchdogRule};
use crate::flow_control::gate::Polled;

/// What the watchdog of a queue has found and discarded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StormReport {
    /// Number of storms found, and of those that ended.
    pub detected: u32,
    /// Number of queues restored.
    pub restored: u32,
    /// Time of the first detection.
    pub first: Option<Time>,
    /// Total time from a detection to the restoration.
    pub stormed: Time,
    /// Packets discarded that waited in the queue or came for it, and their bytes.
    pub queue: (u64, u64),
    /// Packets discarded that arrived at the port on the lane of the queue, and their bytes.
    pub group: (u64, u64),
    /// Packets that the queue sent in spite of pauses, for which the buffer at the other end had no room; and their bytes.
    pub overflow: (u64, u64),
}

/// The state of a polled queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queue {
    /// Time of the storm so far (rule of Mellanox).
    pub(super) lasted: Time,
    /// Time that is left until the detection (rule of Broadcom) or the restoration.
    pub(super) left: Time,
    /// Start of the storm that the watchdog has found, if it lasts.
    pub(super) since: Option<Time>,
    pub(super) report: StormReport,
}

/// The watchdog of one switch.
#[derive(Clone, Debug)]
pub(crate) struct Dog {
    pub(super) config: Watchdog,
    /// Time of the last poll.
    pub(super) last: Time,
    /// Indexed by (port, VL).
    pub(super) queues: Vec<Queue>,
}

impl Dog {
    pub fn new(config: Watchdog, queues: usize) -> Dog {
        let queue = Queue { lasted: Time::ZERO, left: config.detection, since: None, report: StormReport::default() };
        Dog { config, last: Time::ZERO, queues: vec![queue; queues] }
    }

    /// The time of the first poll of a switch. Switches are not synchronized.
    pub fn first_poll(&self, seed: u64, node: u32) -> Time {
        Time(1 + mix(mix(seed, POLLS), u64::from(node)) % self.config.poll.0)
    }

    /// The report of a queue. A storm that has not ended lasts until now.
    pub fn report(&self, at: usize, now: Time) -> StormReport {
        let Queue { since, report, .. } = self.queues[at];
        let lasts = since.map_or(Time::ZERO, |since| now.since(since));
        StormReport { stormed: report.stormed + lasts, ..report }
    }

    pub(super) fn discards(&self, at: usize) -> bool {
        self.config.action == WatchdogAction::Drop && self.queues[at].since.is_some()
    }
}

/// Domain of the hash for the phase of polls.
const POLLS: u64 = 0x706F_6C6C;

/// The change of a queue's state at a poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    None,
    Storm,
    Restored,
}

impl Queue {
    /// Whether the rule sees a storm between two polls. `is_stuck`: packets wait, and none has been sent since the last poll.
    pub(super) fn sees(rule: WatchdogRule, polled: &Polled, interval: Time, is_stuck: bool) -> bool {
        match rule {
            WatchdogRule::Mellanox => is_stuck && over_99_percent(polled.paused, interval),
            WatchdogRule::Broadcom => polled.was_paused && polled.is_paused && !polled.resumed,
        }
    }

    /// Updates the state after a poll.
    pub(super) fn poll(
        &mut self,
        config: &Watchdog,
        now: Time,
        interval: Time,
        polled: &Polled,
        is_stuck: bool,
    ) -> Change {
        let sees = Queue::sees(config.rule, polled, interval, is_stuck);
        if self.since.is_some() {
            return self.poll_storm(config, now, interval, polled, sees);
        }
        if !sees {
            (self.lasted, self.left) = (Time::ZERO, config.detection);
            return Change::None;
        }
        self.lasted += polled.paused;
        let found = match config.rule {
            WatchdogRule::Mellanox => over_99_percent(self.lasted, config.detection),
            WatchdogRule::Broadcom => self.left <= interval,
        };
        self.left = Time(self.left.0.saturating_sub(interval.0));
        if !found {
            return Change::None;
        }
        (self.since, self.left) = (Some(now), config.restoration);
        self.report.detected += 1;
        self.report.first.get_or_insert(now);
        Change::Storm
    }

    pub(super) fn poll_storm(
        &mut self,
        config: &Watchdog,
        now: Time,
        interval: Time,
        polled: &Polled,
        sees: bool,
    ) -> Change {
        let ends = match config.action {
            WatchdogAction::Alert => !sees,
            WatchdogAction::Drop | WatchdogAction::Forward if polled.seen => {
                self.left = config.restoration;
                false
            }
            WatchdogAction::Drop | WatchdogAction::Forward => {
                let ends = self.left <= interval;
                self.left = Time(self.left.0.saturating_sub(interval.0));
                ends
            }
        };
        if !ends {
            return Change::None;
        }
        let since = self.since.take().expect("a storm lasts");
        self.report.stormed += now.since(since);
        self.report.restored += 1;
        (self.lasted, self.left) = (Time::ZERO, config.detection);
        Change::Restored
    }
}

/// Whether a time is longer than 99% of another.
fn over_99_percent(time: Time, of: Time) -> bool {
    u128::from(time.0) * 100 > u128::from(of.0) * 99
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
