//! The response of IBTA congestion control: an index into a table of delays, and a timer that decreases the index.
//!
//! # What it does
//! After each packet, the flow waits for the delay in the current table entry. A BECN, in an ACK or in a congestion
//! notification packet, increases the index into the table, and each expiry of a timer decreases it.
//!
//! # Source
//! InfiniBand Architecture Specification, Volume 1, Release 1.2.1, Annex A10, as described in E. G. Gran et al., "First
//! Experiences with Congestion Control in InfiniBand Hardware", IPDPS 2010, sections II-B and VII-B; G. Pfister et al.,
//! "Solving Hot Spot Contention Using InfiniBand Architecture Congestion Control", HPI-DC 2005, section IV-A.
//!
//! # Parameters
//! - `ccti_increase`: `CCTI_Increase`, what a BECN adds to the index.
//! - `ccti_limit`: `CCTI_Limit`, the largest index; if it is omitted, the last of the table.
//! - `ccti_min`: `CCTI_Min`, the initial and smallest index. It is at most `ccti_limit`.
//! - `ccti_timer`: `CCTI_Timer`, the time between two expiries; with 0, it never expires. A BECN does not restart the
//!   timer. Gran 2010, Table I, uses 150.
//! - `timer_scope`: with `"sl"`, the flows of the same port and service level share a timer, as in the specification
//!   and in Gran 2010, section II-B.
//! - `phase`: with `"zero"`, all timers expire at the same times.
//! - `clock_error`: the largest error of an adapter's clock. InfiniBand allows 100 ppm for a link's clock.
//! - `ccti_decrease`: what an expiry subtracts from the index. The specification allows only 1; in Pfister 2005, the
//!   manager sets it.
//! - `trigger_threshold`: `Trigger_Threshold`. An adapter logs an event each time the index rises to this value. becalm
//!   only writes it to the options of a subnet manager.
//! - `cct`: the table, one of
//!   - `quadratic`: i^2 * `numerator` / `divisor`^2 microseconds, with 7 / 106^2 in Gran 2010 and 7 / 95^2 according to
//!     the manufacturer,
//!   - `linear`: from 0 to `max`,
//!   - `geometric`: `first`, then `ratio` times the previous entry; entry 0 is 0,
//!   - `list`: `entries`, pairs [shift, multiplier], at most 16384.
//!
//!   Each formula also has the number of `entries`, from 128 to 16384, and `packet_time`, the transmission time of the packets for which the microseconds are specified. An entry is rounded to a multiple of each packet's own transmission time, multiplier / 2^shift.
//! - `window`: limit in packets. Only ACKs reopen the window.
//!
//! # Departures from the source
//! - Here, shifting the transmission time Tp (Tp >> shift) drops no bits.
//! - Only the timer decreases the index; a pause of the flow does not reset it. Depending on `port_control`, each queue
//!   pair or each service level has its own index.
//! - The window is not part of IBTA congestion control.

use std::sync::Arc;

use becalm_engine::Time;
use becalm_fabric::policy::{Notice, Pace, Response};
use becalm_schema::Conflict;

use super::timer::{Clock, Phase, Timer, TimerScope};
use super::window::Window;
use crate::cct::{CctEntry, CctParams};
use crate::scheme::{Companions, MarkingFor, ResponseScheme};

/// The unit of the timer.
pub const TIMER_UNIT: Time = Time::from_ns(1_024);

becalm_schema::table! {
    /// A BECN increases an index into a table of delays; a timer decreases it.
    pub struct Params {
        /// Number of steps that a BECN adds to the index.
        pub ccti_increase: u32 = 1; ""; 0..=255,
        /// Largest index; the last one of the table if it is omitted.
        pub ccti_limit: Option<u32> = None; ""; 0..=16_383,
        /// Smallest index.
        pub ccti_min: u32 = 0; ""; 0..=255,
        /// Time between two expiries of the timer; 0 for never.
        pub ccti_timer: u32 = 150; "1.024 us"; 0..=65_535,
        /// The flows that share a timer.
        pub timer_scope: TimerScope = TimerScope::Sl,
        /// Phase of the timers. Adapters are not synchronized, so by default each timer has a random phase derived from
        /// the seed.
        pub phase: Phase = Phase::Random,
        /// Largest error of an adapter's clock, fast or slow. The errors of the hosts' clocks are uniformly
        /// distributed. InfiniBand allows 100 ppm for a link's clock.
        pub clock_error: f64 = 100.0; "ppm"; 0.0..=10_000.0,
        /// Number of steps by which an expiry of the timer decreases the index.
        pub ccti_decrease: u32 = 1; ""; 1..=255,
        /// Index at which an adapter logs an event; 0 for none. It has no effect on a run.
        pub trigger_threshold: u32 = 0; ""; 0..=255,
        /// The table of delays.
        pub cct: CctParams = CctParams::default(),
        /// Largest number of unacknowledged packets.
        pub window: Window = Window::UNLIMITED; "packets",
    }
    check Params::check;
}

impl Params {
    /// The largest index.
    pub fn limit(&self) -> u32 {
        self.ccti_limit.unwrap_or(self.cct.len().saturating_sub(1))
    }

    /// Time between two expiries of the timer; zero for never.
    pub fn timer(&self) -> Time {
        TIMER_UNIT * u64::from(self.ccti_timer)
    }

    fn check(&self) -> Result<(), Conflict> {
        let (limit, last) = (self.limit(), self.cct.len().saturating_sub(1));
        Conflict::unless(limit <= last, "ccti_limit", || {
            format!("must be between 0 and {last}, the last index of the table")
        })?;
        Conflict::unless(self.ccti_min <= limit, "ccti_min", || format!("must be at most ccti_limit = {limit}"))?;
        Conflict::unless(self.trigger_threshold <= limit, "trigger_threshold", || {
            format!("must be at most ccti_limit = {limit}: the index never exceeds it")
        })
    }
}

/// The response.
#[derive(Clone, Debug)]
pub struct Ibta {
    settings: Arc<Settings>,
    timer: Timer,
    scope: TimerScope,
    ccti: u32,
}

/// Settings that a response shares with its clones.
#[derive(Debug)]
struct Settings {
    gaps: Vec<f64>,
    increase: u32,
    decrease: u32,
    limit: u32,
    min: u32,
    window: Window,
}

impl ResponseScheme for Ibta {
    type Params = Params;

    fn companions() -> Option<Companions> {
        Some(Companions { marking: MarkingFor::Only("ibta"), echo: "ibta" })
    }

    /// A response for one flow. The table is built here, so it is faster to clone the response than to create many.
    ///
    /// # Panics
    /// If the limit lies beyond the table or below the minimum, which no scenario allows.
    fn new(params: &Params) -> Ibta {
        let (limit, min) = (params.limit(), params.ccti_min);
        assert!(min <= limit && limit < params.cct.len(), "indices {min} to {limit} of {}", params.cct.len());
        let settings = Settings {
            gaps: params.cct.entries().into_iter().map(CctEntry::gap).collect(),
            increase: params.ccti_increase,
            decrease: params.ccti_decrease,
            limit,
            min,
            window: params.window,
        };
        Ibta {
            settings: Arc::new(settings),
            timer: Timer::new(params.timer(), params.phase, params.clock_error),
            scope: params.timer_scope,
            ccti: min,
        }
    }

    fn delays(params: &Params) -> Option<Vec<f64>> {
        Some(params.cct.entries().into_iter().map(CctEntry::gap).collect())
    }
}

impl Ibta {
    /// The flows that share the timer.
    pub fn timer_scope(&self) -> TimerScope {
        self.scope
    }

    /// Sets the clock that drives the timer, before the run begins.
    pub fn run_by(&mut self, clock: Clock) {
        self.timer.run_by(clock);
    }

    /// The index into the table, as of the last notice.
    pub fn ccti(&self) -> u32 {
        self.ccti
    }

    /// Follows the timer up to `now`, over any number of expiries.
    fn expire(&mut self, now: Time) {
        let Settings { decrease, min, .. } = *self.settings;
        let steps = self.timer.advance(now).saturating_mul(u64::from(decrease));
        self.ccti -= steps.min(u64::from(self.ccti - min)) as u32;
    }

    fn becn(&mut self) {
        let Settings { increase, limit, .. } = *self.settings;
        self.ccti = (self.ccti + increase).min(limit);
    }
}

impl Response for Ibta {
    fn follows_sending(&self) -> bool {
        false
    }

    fn pace(&self) -> Pace {
        Pace { gap: self.settings.gaps[self.ccti as usize], window: self.settings.window.0 }
    }

    fn notice(&mut self, now: Time, notice: &Notice) {
        self.expire(now);
        match notice {
            Notice::Becn => self.becn(),
            Notice::Ack(ack) if ack.is_marked() => self.becn(),
            Notice::Ack(_) | Notice::Timer | Notice::Restart => {}
        }
    }

    fn deadline(&self) -> Option<Time> {
        if self.ccti > self.settings.min { self.timer.next() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cct::{Linear, List};
    use becalm_schema::read;
    use proptest::prelude::*;

    const BECN: Notice = Notice::Becn;
    const CALM: Notice = Notice::ack(false);

    /// A timer of 10 units, and a table in which entry i is a delay of i packet times.
    fn params() -> Params {
        let entries = (0..128).filter_map(|i| CctEntry::new(0, i)).collect();
        Params { ccti_timer: 10, cct: CctParams::List(List { entries }), ..Params::default() }
    }

    /// `n` periods of the timer, and a little more.
    fn after(n: u64) -> Time {
        TIMER_UNIT * 10 * n + Time::from_ns(1)
    }

    fn notified(params: &Params, notices: &[(Time, Notice)]) -> Ibta {
        let mut flow = Ibta::new(params);
        notices.iter().for_each(|(now, notice)| flow.notice(*now, notice));
        flow
    }

    #[test]
    fn every_becn_adds_the_increase_up_to_the_limit() {
        let params = Params { ccti_increase: 5, ccti_limit: Some(12), ..params() };
        let mut flow = Ibta::new(&params);
        for (notice, ccti) in [(BECN, 5), (CALM, 5), (Notice::ack(true), 10), (BECN, 12), (BECN, 12)] {
            flow.notice(Time::ZERO, &notice);
            assert_eq!((flow.ccti(), flow.pace().gap), (ccti, f64::from(ccti)));
        }
    }

    #[test]
    fn an_expiry_takes_the_decrease_off_down_to_the_minimum() {
        let mut flow = Ibta::new(&Params { ccti_min: 2, ccti_increase: 4, ccti_decrease: 3, ..params() });
        assert_eq!(flow.ccti(), 2);
        assert_eq!(flow.deadline(), None, "already at the minimum");
        flow.notice(Time::ZERO, &BECN);
        for (ccti, next) in [(3, Some(2)), (2, None)] {
            let deadline = flow.deadline().unwrap();
            flow.notice(deadline, &Notice::Timer);
            assert_eq!((flow.ccti(), flow.deadline()), (ccti, next.map(|n| TIMER_UNIT * 10 * n)));
        }
    }

    #[test]
    fn a_becn_does_not_restart_the_timer() {
        let mut flow = Ibta::new(&params());
        for (now, becns) in [(Time::from_ns(1), 1), (Time::from_us(5), 2), (Time::from_us(10), 3)] {
            flow.notice(now, &BECN);
            assert_eq!((flow.ccti(), flow.deadline()), (becns, Some(Time::from_ns(10_240))));
        }
        flow.notice(Time::from_ns(10_240), &Notice::Timer);
        assert_eq!((flow.ccti(), flow.deadline()), (2, Some(Time::from_ns(20_480))));
    }

    #[test]
    fn the_timer_goes_on_while_there_is_nothing_to_take_off() {
        let flow = notified(&params(), &[(after(7), BECN)]);
        assert_eq!((flow.ccti(), flow.deadline()), (1, Some(TIMER_UNIT * 80)));
    }

    #[test]
    fn expiries_that_were_missed_count_before_the_notice_that_comes_late() {
        let start: Vec<_> = (0..9).map(|_| (Time::ZERO, BECN)).collect();
        let late = |notice| notified(&params(), &[start.clone(), vec![(after(4), notice)]].concat());
        for notice in [CALM, Notice::Timer, Notice::Restart] {
            assert_eq!(late(notice).ccti(), 5, "{notice:?}");
        }
        assert_eq!(late(BECN).ccti(), 6);
        assert_eq!(late(BECN).deadline(), Some(TIMER_UNIT * 50));
        assert_eq!(notified(&params(), &[start, vec![(after(40), BECN)]].concat()).ccti(), 1, "no debts");
    }

    #[test]
    fn a_timer_of_zero_never_expires() {
        let flow = notified(&Params { ccti_timer: 0, ..params() }, &[(Time::ZERO, BECN), (Time::MAX, CALM)]);
        assert_eq!((flow.ccti(), flow.deadline()), (1, None));
    }

    #[test]
    fn settings_that_do_not_go_together_are_reported() {
        for (text, problem) in [
            ("ccti_limit = 128", "f.toml:1: ccti_limit = 128: must be between 0 and 127, the last index of the table"),
            ("ccti_limit = 5\nccti_min = 6", "f.toml:2: ccti_min = 6: must be at most ccti_limit = 5"),
            (
                "trigger_threshold = 200",
                "f.toml:1: trigger_threshold = 200: must be at most ccti_limit = 127: the index never exceeds it",
            ),
            ("[cct.linear]\nentries = 0", "f.toml:2: cct.linear.entries = 0: must be between 128 and 16384"),
            ("ccti_increase = 256", "f.toml:1: ccti_increase = 256: must be between 0 and 255"),
        ] {
            assert_eq!(read::<Params>(text, "f.toml").unwrap_err().to_string(), problem);
        }
        let long = read::<Params>("ccti_limit = 255\n[cct.linear]\nentries = 256", "f.toml").unwrap();
        assert_eq!(long.limit(), 255);
    }

    #[test]
    fn without_a_limit_the_whole_table_is_used() {
        let cct = CctParams::Linear(Linear { entries: 300, ..Linear::default() });
        assert_eq!(Params { cct, ..Params::default() }.limit(), 299);
        assert_eq!(Params::default().limit(), 127);
    }

    fn some_params() -> impl Strategy<Value = Params> {
        let numbers = (0..=255_u32, 1..=20_u32, 0..60_u32, 60..128_u32, 0..20_u32);
        numbers.prop_map(|(ccti_increase, ccti_decrease, ccti_min, limit, ccti_timer)| Params {
            ccti_increase,
            ccti_decrease,
            ccti_min,
            ccti_limit: Some(limit),
            ccti_timer,
            ..Params::default()
        })
    }

    fn notice() -> impl Strategy<Value = Notice<'static>> {
        prop_oneof![Just(BECN), Just(Notice::ack(true)), Just(CALM), Just(Notice::Timer)]
    }

    proptest! {
        #[test]
        fn the_index_keeps_to_its_limits_and_the_pace_to_its_entry(
            params in some_params(),
            steps in prop::collection::vec((0..40_000_u64, notice()), 1..200),
        ) {
            let (mut flow, mut now, entries) = (Ibta::new(&params), Time::ZERO, params.cct.entries());
            for (span, notice) in steps {
                now += Time::from_ns(span);
                flow.notice(now, &notice);
                prop_assert!((params.ccti_min..=params.limit()).contains(&flow.ccti()));
                prop_assert_eq!(flow.pace().gap, entries[flow.ccti() as usize].gap());
                prop_assert!(flow.deadline().is_none_or(|deadline| deadline > now));
            }
        }

        #[test]
        fn it_does_not_matter_whether_the_timer_is_heard_in_time(
            params in some_params(),
            steps in prop::collection::vec((0..40_000_u64, notice()), 1..100),
        ) {
            let (mut prompt, mut late, mut now) = (Ibta::new(&params), Ibta::new(&params), Time::ZERO);
            for (span, notice) in steps {
                now += Time::from_ns(span);
                while let Some(deadline) = prompt.deadline().filter(|deadline| *deadline <= now) {
                    prompt.notice(deadline, &Notice::Timer);
                }
                prompt.notice(now, &notice);
                late.notice(now, &notice);
                prop_assert_eq!((prompt.ccti(), prompt.deadline()), (late.ccti(), late.deadline()));
            }
        }
    }
}
