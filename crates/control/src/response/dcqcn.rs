//! The response of DCQCN: a congestion notification packet cuts the rate; a timer and a byte counter raise it again.
//!
//! # What it does
//! The flow has a rate, a target rate and an estimate alpha of congestion. It starts at the link rate. Each congestion
//! notification packet (CNP), in this order,
//!
//! 1. sets the target to the rate,
//! 2. multiplies the rate by 1 - alpha / 2,
//! 3. raises alpha to (1 - g) alpha + g,
//! 4. restarts the timers and the byte counter, and sets their stages to 0.
//!
//! After each period of `alpha_timer` without a CNP, alpha falls to (1 - g) alpha. The timer completes a stage in each
//! period of `increase_timer`, and the byte counter completes one each time `byte_counter` bytes have been sent. Each
//! completed stage raises the rate to the mean of rate and target. While both have completed fewer stages than
//! `fast_recovery`, the target does not change (fast recovery). Once both have completed more, each stage raises the
//! target by `hyper_increase`; in all other cases, by `additive_increase`. The target never exceeds the link rate. When
//! the rate reaches the link rate, the timers and the counter stop.
//!
//! With `periodic`, as on ConnectX adapters, periods of `alpha_timer` and `cut_interval` are counted from the first
//! CNP. At the end of each, alpha rises or the rate is cut if a CNP arrived in it; otherwise, alpha falls. A stage of the
//! timer that ends together with a period raises the rate before the cut.
//!
//! # Source
//! Y. Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, sections 3 and 5: preset
//! `paper`. NVIDIA, "DCQCN CC Parameters", for ConnectX-4 and later, and the defaults that `mlxconfig` prints: preset
//! `connectx`. Its periods follow `UpdateAlphaMlx` and `CheckRateDecreaseMlx` in the ns-3 model by the authors of Y. Li
//! et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019.
//!
//! # Parameters
//! `preset` selects the values of all omitted keys, also of `cnp_interval` and `cnp_scope` in `[echo.rocev2]`:
//!
//! | key | in the paper | on ConnectX | `paper` | `connectx` |
//! |---|---|---|---|---|
//! | `g` | g | 1 - `dce_tcp_g` / 1024 | 1/256 | 5/1024 |
//! | `initial_alpha` | alpha | `initial_alpha_value` | 1 | 1023/1024 |
//! | `alpha_timer` | K | `dce_tcp_rtt` | 55 us | 1 us |
//! | `cut_interval` | - | `rate_reduce_monitor_period` | 0 | 4 us |
//! | `periodic` | - | - | no | yes |
//! | `decrease_divisor` | 2 | 2^(`rpg_gd` - 10) | 2 | 2 |
//! | `rate_on_first_cnp` | - | `rate_to_set_on_first_cnp` | none | none |
//! | `min_decrease_factor` | - | `rpg_min_dec_fac` | 0.5 | 0.5 |
//! | `clamp_target` | - | `clamp_tgt_rate` | yes | no |
//! | `clamp_after_timer` | - | `clamp_tgt_rate_after_time_inc` | yes | yes |
//! | `increase_timer` | T | `rpg_time_reset` | 55 us | 300 us |
//! | `byte_counter` | B | `rpg_byte_reset` | 10 MB | 32767 B |
//! | `fast_recovery` | F | `rpg_threshold` | 5 | 1 |
//! | `additive_increase` | R_AI | `rpg_ai_rate` | link rate / 1000 | 5 Mb/s |
//! | `hyper_increase` | R_HAI | `rpg_hai_rate` | 10 `additive_increase` | 50 Mb/s |
//! | `min_rate` | - | `rpg_min_rate` | 100 Mb/s | 1 Mb/s |
//! | `max_rate` | - | `rpg_max_rate` | link rate | link rate |
//!
//! - `cut_interval`: CNPs that arrive within this time after a cut together cause a single cut, at its end. In the
//!   paper, the receiver limits the rate of CNPs instead (`cnp_interval` of `[echo.rocev2]`).
//! - `clamp_target`: whether every cut sets the target; otherwise, only the first cut after an increase does. Increases
//!   by the byte counter always count; increases by the timer count only with `clamp_after_timer`.
//! - `byte_counter`: the unit of the adapter's `rpg_byte_reset` is uncertain; we assume bytes. The field has 15 bits,
//!   and `mstflint` describes it as "Bytes, default 150".
//! - `window`: limit in packets; the sources of the scheme have none.
//!
//! # Departures from the source
//! - The preset scales the paper's `additive_increase` of 40 Mb/s at 40 Gb/s with the link rate. The paper states
//!   neither a minimum rate nor a `hyper_increase`.
//! - A marked ACK counts as a CNP, so the response also works with echoes that send no CNPs.
//! - A rate within a millionth of the link rate counts as the link rate.
//! - Rates include packet headers. A flow that resumes after a pause starts from the initial state.

use std::sync::Arc;

use becalm_engine::Time;
use becalm_fabric::policy::{FlowShape, Notice, Pace, Response, Sent};

use super::window::Window;
use crate::cnps::CnpLimit;
use crate::scheme::{Companions, MarkingFor, ResponseScheme};

pub mod values;

pub use values::{Params, Preset, Values};

/// A rate that differs from the link rate by less than this share counts as the link rate.
const NEAR: f64 = 1e-6;
/// The link rate in bits per second, until the shape of the flow is known.
const LINK: f64 = 40e9;

/// The response. Rates are shares of the link rate.
#[derive(Clone, Debug)]
pub struct Dcqcn {
    values: Arc<Values>,
    window: Window,
    additive: f64,
    hyper: f64,
    min: f64,
    max: f64,
    /// The rate that the first CNP sets.
    first: Option<f64>,
    rate: f64,
    target: f64,
    alpha: f64,
    /// Time at which alpha last rose or, with periods, last changed; [`Time::MAX`] before the first CNP.
    alpha_since: Time,
    /// Start of the first period, at the first CNP.
    origin: Time,
    /// Whether a CNP has arrived in the current period of alpha.
    seen: bool,
    /// Time at which the increase timer expires; [`Time::MAX`] at the link rate.
    timer: Time,
    /// Earliest time of the next cut; with periods, the time of the pending cut.
    rests_until: Time,
    /// Whether a cut is pending at that time.
    cut_waits: bool,
    /// Whether the rate has been raised since the last cut, so the next cut sets the target.
    raised: bool,
    timer_stage: u32,
    byte_stage: u32,
    bytes: u64,
}

impl ResponseScheme for Dcqcn {
    type Params = Params;

    fn companions() -> Option<Companions> {
        Some(Companions { marking: MarkingFor::Only("ramp"), echo: "rocev2" })
    }

    fn new(params: &Params) -> Dcqcn {
        Dcqcn::with(Arc::new(params.values()), params.window, LINK)
    }

    fn cnp_limit(params: &Params) -> Option<CnpLimit> {
        Some(params.preset.cnp_limit())
    }
}

impl Dcqcn {
    /// The initial state on a link with this many bits per second.
    fn with(values: Arc<Values>, window: Window, link: f64) -> Dcqcn {
        let share = |megabits: f64| (megabits * 1e6 / link).min(1.0);
        let additive = values.additive_increase.map_or(values.additive_share, share);
        let max = values.max_rate.map_or(1.0, share);
        Dcqcn {
            window,
            additive,
            hyper: values.hyper_increase.map_or(10.0 * additive, share),
            min: share(values.min_rate).min(max),
            max,
            first: values.rate_on_first_cnp.map(share),
            rate: max,
            target: max,
            alpha: values.initial_alpha,
            alpha_since: Time::MAX,
            origin: Time::MAX,
            seen: false,
            timer: Time::MAX,
            rests_until: Time::ZERO,
            cut_waits: false,
            raised: true,
            timer_stage: 0,
            byte_stage: 0,
            bytes: 0,
            values,
        }
    }

    /// The rate and the target, as shares of the link rate, and alpha as of its last change.
    pub fn state(&self) -> (f64, f64, f64) {
        (self.rate, self.target, self.alpha)
    }

    /// Handles expiries of the timers up to `now`.
    fn advance(&mut self, now: Time) {
        loop {
            let cut = if self.cut_waits { self.rests_until } else { Time::MAX };
            let next = cut.min(self.timer);
            if next > now || next == Time::MAX {
                return;
            }
            // At equal times, the timer comes first, as it does when a CNP arrives at that time.
            if next == self.timer {
                self.timer = next.saturating_add(self.values.increase_timer);
                self.timer_stage += 1;
                self.raise();
                self.raised |= self.values.clamp_after_timer;
            } else {
                self.cut(cut);
            }
        }
    }

    /// Handles a CNP.
    fn notified(&mut self, now: Time) {
        let is_first = self.origin == Time::MAX;
        if is_first {
            self.origin = now;
            self.set_first_rate();
        }
        if self.values.periodic && self.values.cut_interval > Time::ZERO {
            self.note_in_period(now, is_first);
        } else if now < self.rests_until {
            self.cut_waits = true;
        } else {
            self.cut(now);
        }
    }

    /// Sets the rate at the first CNP, if one is configured.
    fn set_first_rate(&mut self) {
        if let Some(first) = self.first {
            self.rate = self.rate.min(first).max(self.min);
            self.target = self.rate;
        }
    }

    /// Notes a CNP for the current periods of alpha and of cuts.
    fn note_in_period(&mut self, now: Time, is_first: bool) {
        if is_first {
            self.alpha_since = now;
        } else {
            self.settle(now);
            self.seen = true;
        }
        if !self.cut_waits {
            let interval = self.values.cut_interval;
            let periods = now.since(self.origin).0 / interval.0 + 1;
            (self.cut_waits, self.rests_until) = (true, self.origin.saturating_add(interval * periods));
        }
    }

    /// Updates alpha for the periods that have ended by `now`.
    fn settle(&mut self, now: Time) {
        let Values { g, alpha_timer, .. } = *self.values;
        let periods = now.since(self.alpha_since).0 / alpha_timer.0;
        if periods > 0 {
            let first = (1.0 - g) * self.alpha + if self.seen { g } else { 0.0 };
            self.alpha = first * libm::pow(1.0 - g, (periods - 1) as f64);
            (self.seen, self.alpha_since) = (false, self.alpha_since.saturating_add(alpha_timer * periods));
        }
    }

    fn cut(&mut self, now: Time) {
        let Values { g, clamp_target, min_decrease_factor, decrease_divisor, cut_interval, increase_timer, .. } =
            *self.values;
        let periodic = self.values.periodic && cut_interval > Time::ZERO;
        if periodic {
            self.settle(now);
        } else {
            self.decay(now);
        }
        if clamp_target || self.raised {
            self.target = self.rate;
        }
        let factor = (1.0 - self.alpha / decrease_divisor).max(min_decrease_factor);
        self.rate = (self.rate * factor).max(self.min);
        if !periodic {
            self.alpha = (1.0 - g) * self.alpha + g;
            self.alpha_since = now;
        }
        (self.timer_stage, self.byte_stage, self.bytes) = (0, 0, 0);
        self.timer = now.saturating_add(increase_timer);
        self.rests_until = now.saturating_add(cut_interval);
        (self.cut_waits, self.raised) = (false, false);
    }

    /// Lets alpha fall for each complete alpha timer without a CNP up to `now`.
    fn decay(&mut self, now: Time) {
        let Values { g, alpha_timer, .. } = *self.values;
        let periods = now.since(self.alpha_since).0 / alpha_timer.0;
        if periods > 0 {
            self.alpha *= libm::pow(1.0 - g, periods as f64);
        }
    }

    /// Raises the rate after a stage.
    fn raise(&mut self) {
        let bytes = if self.values.byte_counter == 0 { self.timer_stage } else { self.byte_stage };
        let (least, most) = (self.timer_stage.min(bytes), self.timer_stage.max(bytes));
        let fast_recovery = self.values.fast_recovery;
        if most >= fast_recovery {
            let step = if least > fast_recovery { self.hyper } else { self.additive };
            self.target = (self.target + step).min(self.max);
        }
        self.rate = (self.rate + self.target) / 2.0;
        if self.max - self.rate < NEAR {
            (self.rate, self.target, self.timer) = (self.max, self.max, Time::MAX);
        }
    }
}

impl Response for Dcqcn {
    fn start(&mut self, flow: &FlowShape) {
        *self = Dcqcn::with(self.values.clone(), self.window, flow.rate.bits_per_second());
    }

    fn pace(&self) -> Pace {
        Pace { gap: 1.0 / self.rate - 1.0, window: self.window.0 }
    }

    fn notice(&mut self, now: Time, notice: &Notice) {
        self.advance(now);
        match notice {
            Notice::Becn => self.notified(now),
            Notice::Ack(ack) if ack.is_marked() => self.notified(now),
            Notice::Ack(_) | Notice::Timer => {}
            Notice::Restart => {
                let Dcqcn { additive, hyper, min, max, first, .. } = *self;
                let initial = Dcqcn::with(self.values.clone(), self.window, LINK);
                *self = Dcqcn { additive, hyper, min, max, first, rate: max, target: max, ..initial };
            }
        }
    }

    fn sent(&mut self, sent: &Sent) {
        if self.rate >= self.max || self.values.byte_counter == 0 {
            return;
        }
        self.bytes += u64::from(sent.bytes);
        while self.bytes >= self.values.byte_counter && self.rate < self.max {
            self.bytes -= self.values.byte_counter;
            self.byte_stage += 1;
            self.raise();
            self.raised = true;
        }
    }

    fn deadline(&self) -> Option<Time> {
        let next = if self.cut_waits { self.rests_until.min(self.timer) } else { self.timer };
        (next < Time::MAX).then_some(next)
    }
}

#[cfg(test)]
mod tests;
