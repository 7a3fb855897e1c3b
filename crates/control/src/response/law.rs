//! Increase and decrease functions of rates, shared by LIPD, FIMD and AIMD.

use becalm_schema::Conflict;

use super::window::Window;

becalm_schema::words! {
    /// Rounding of a delay that lies between two integers.
    pub enum Rounding {
        /// The longer delay, so the table is never faster than the law.
        Slower = "slower",
        /// The nearest delay. While the rate rises without marks, the table's delay is the one nearest to the law's.
        Nearest = "nearest",
    }
}

/// Smallest rate that can be set, as a share of the link rate.
pub(super) const SLOWEST: f64 = 1e-6;
/// Largest number of delays in a table, since InfiniBand encodes an inter-packet delay in 8 bits.
pub(super) const MOST_DELAYS: usize = 256;

/// Parameters common to all rate controls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Smallest rate, as a share of the link rate.
    pub rmin: f64,
    /// Largest rate, as a share of the link rate.
    pub rmax: f64,
    /// Rate of a new flow, as a share of the link rate.
    pub initial: f64,
    /// Largest number of unacknowledged packets.
    pub window: Window,
    /// Whether rates are limited to integer inter-packet delays.
    pub discrete: bool,
    /// Rounding of a delay that lies between two integers.
    pub rounding: Rounding,
    /// Whether the rate is kept across a pause of the flow.
    pub persistent: bool,
}

impl Settings {
    /// Checks that the rates are consistent.
    ///
    /// # Errors
    /// The first setting that contradicts the others.
    pub fn check(&self) -> Result<(), Conflict> {
        let Settings { rmin, rmax, initial, .. } = *self;
        Conflict::unless(rmin <= rmax, "rmin", || format!("must be at most rmax = {rmax}"))?;
        Conflict::unless((rmin..=rmax).contains(&initial), "initial", || {
            format!("must be between rmin = {rmin} and rmax = {rmax}")
        })?;
        let slowest = rmax / MOST_DELAYS as f64;
        Conflict::unless(!self.discrete || rmin >= slowest * (1.0 - 1e-9), "rmin", || {
            format!("must be at least rmax / {} = {slowest} if `discrete` is set", MOST_DELAYS)
        })
    }
}

/// Declares `Params`, with the common parameters of rate controls and those of one law.
macro_rules! rate_params {
    (
        $(#[doc = $doc:expr])*
        { $($own:tt)* }
    ) => {
        becalm_schema::table! {
            $(#[doc = $doc])*
            pub struct Params {
                /// Smallest rate.
                pub rmin: f64 = 1.0 / 256.0; "of the link rate"; $crate::response::law::SLOWEST..=1.0,
                /// Largest rate.
                pub rmax: f64 = 1.0; "of the link rate"; $crate::response::law::SLOWEST..=1.0,
                /// Rate of a new flow; `rmax` if it is omitted.
                pub initial: Option<f64> = None; "of the link rate"; $crate::response::law::SLOWEST..=1.0,
                /// Largest number of unacknowledged packets.
                pub window: $crate::response::Window = $crate::response::Window(1); "packets",
                /// Whether rates are limited to rmax / (1 + i) with an integer inter-packet delay i.
                pub discrete: bool = false,
                /// Rounding of a delay that lies between two integers, if `discrete` is set.
                pub rounding: $crate::response::Rounding = $crate::response::Rounding::Slower,
                /// Whether the rate is kept across a pause of the flow; otherwise the flow restarts at `initial`.
                pub persistent: bool = true,
                $($own)*
            }
            check Params::check;
        }

        impl Params {
            fn check(&self) -> Result<(), becalm_schema::Conflict> {
                $crate::response::Law::settings(self).check()
            }

            fn common(&self) -> $crate::response::Settings {
                $crate::response::Settings {
                    rmin: self.rmin,
                    rmax: self.rmax,
                    initial: self.initial.unwrap_or(self.rmax),
                    window: self.window,
                    discrete: self.discrete,
                    rounding: self.rounding,
                    persistent: self.persistent,
                }
            }
        }
    };
}
pub(super) use rate_params;

/// A pair of an increase and a decrease function, and its behaviour over time.
pub trait Law {
    /// Parameters common to all laws.
    fn settings(&self) -> Settings;

    /// The rate after an unmarked ACK at rate `r`, before it is limited to `rmax`: f_inc.
    fn increase(&self, r: f64) -> f64;

    /// The rate after a marked ACK at rate `r`, before it is limited to `rmin`: f_dec.
    fn decrease(&self, r: f64) -> f64;

    /// F_inc^r(t) of equation 1: the rate `t` packet times after it was `r`, before it is limited to `rmax`, if it
    /// grows continuously without marked ACKs. The value is infinite or negative once the rate has exceeded every
    /// limit.
    fn grown(&self, r: f64, t: f64) -> f64;

    /// Number of packet times in which the rate grows continuously from `low` to `high`, the inverse of [`Law::grown`].
    fn growth_time(&self, low: f64, high: f64) -> f64;
}

/// F_inc(t): the rate `t` packet times after `rmin` without marked ACKs, as a share of the link rate.
///
/// Santos 2003, section V-B, equations 1 and 2, and Fig. 5.
pub fn increase_curve(law: &dyn Law, t: f64) -> f64 {
    let Settings { rmin, rmax, .. } = law.settings();
    if t >= law.growth_time(rmin, rmax) { rmax } else { law.grown(rmin, t).clamp(rmin, rmax) }
}

/// T_rec(r): packet times from a decrease at rate `r` until rate `r` is reached again without further marked ACKs.
///
/// Santos 2003, section V-A, conditions 2 and 3. A recovery time of `1/rmin` is the shortest that condition 1 allows.
pub fn recovery_time(law: &dyn Law, r: f64) -> f64 {
    law.growth_time(law.decrease(r).max(law.settings().rmin), r)
}
