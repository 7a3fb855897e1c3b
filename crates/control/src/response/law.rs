//! Increase and decrease functions of rates: the common part of LIPD, FIMD and AIMD.

use becalm_schema::Conflict;

use super::window::Window;

becalm_schema::words! {
    /// Which integer delay replaces one that lies between two.
    pub enum Rounding {
        /// The longer one: the table is never faster than the law.
        Slower = "slower",
        /// The nearest one: in a climb without marks, the delay nearest to that of the law.
        Nearest = "nearest",
    }
}

/// Smallest rate that can be set, as a share of the link's.
pub(super) const SLOWEST: f64 = 1e-6;
/// The most delays that a table may have: InfiniBand writes an inter-packet delay in 8 bits.
pub(super) const MOST_DELAYS: usize = 256;

/// The parameters that every rate control has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Smallest rate, as a share of the link's.
    pub rmin: f64,
    /// Largest rate, as a share of the link's.
    pub rmax: f64,
    /// Rate of a new flow, as a share of the link's.
    pub initial: f64,
    /// Largest number of unacknowledged packets.
    pub window: Window,
    /// Whether rates are limited to those of integer inter-packet delays.
    pub discrete: bool,
    /// Which integer delay replaces one that lies between two.
    pub rounding: Rounding,
    /// Whether the rate outlives a pause of the flow.
    pub persistent: bool,
}

impl Settings {
    /// Checks that the rates fit together.
    ///
    /// # Errors
    /// The first setting that does not fit the others.
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

/// Declares `Params`: the parameters of every rate control, then those of one.
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
                /// Rate of a new flow; `rmax` if it is left out.
                pub initial: Option<f64> = None; "of the link rate"; $crate::response::law::SLOWEST..=1.0,
                /// Largest number of unacknowledged packets.
                pub window: $crate::response::Window = $crate::response::Window(1); "packets",
                /// Whether rates are limited to rmax / (1 + i) with an integer inter-packet delay i.
                pub discrete: bool = false,
                /// Which integer delay replaces one that lies between two, if `discrete` is set.
                pub rounding: $crate::response::Rounding = $crate::response::Rounding::Slower,
                /// Whether the rate outlives a pause of the flow; if not, the flow begins again at `initial`.
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
    /// The parameters that every law has.
    fn settings(&self) -> Settings;

    /// The rate after an unmarked ACK at rate `r`, before it is limited to `rmax`: f_inc.
    fn increase(&self, r: f64) -> f64;

    /// The rate after a marked ACK at rate `r`, before it is limited to `rmin`: f_dec.
    fn decrease(&self, r: f64) -> f64;

    /// The rate `t` packet times after rate `r` if no ACK is marked and the rate grows without steps, before it is
    /// limited to `rmax`: F_inc^r(t) of equation 1. Infinite or negative once it has outgrown every limit.
    fn grown(&self, r: f64, t: f64) -> f64;

    /// Packet times that the rate takes to grow from `low` to `high` without steps: the inverse of [`Law::grown`].
    fn growth_time(&self, low: f64, high: f64) -> f64;
}

/// F_inc(t): the rate `t` packet times after `rmin` if no ACK is marked, as a share of the link's rate.
///
/// Santos 2003, section V-B, equations 1 and 2, and Fig. 5.
pub fn increase_curve(law: &dyn Law, t: f64) -> f64 {
    let Settings { rmin, rmax, .. } = law.settings();
    if t >= law.growth_time(rmin, rmax) { rmax } else { law.grown(rmin, t).clamp(rmin, rmax) }
}

/// T_rec(r): packet times from a decrease at rate `r` until rate `r` is reached again if no other ACK is marked.
///
/// Santos 2003, section V-A, conditions 2 and 3. A recovery time of `1/rmin` is the shortest that condition 1 allows.
pub fn recovery_time(law: &dyn Law, r: f64) -> f64 {
    law.growth_time(law.decrease(r).max(law.settings().rmin), r)
}
