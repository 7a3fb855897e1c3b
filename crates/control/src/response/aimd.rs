//! Additive Increase Multiplicative Decrease (AIMD) of the rate.
//!
//! # What it does
//! A marked ACK divides the rate by m. Without marks, the rate grows linearly over time. The slope is the steepest at
//! which one unmarked ACK at Rmin undoes no more than one decrease.
//!
//! # Source
//! J. R. Santos, Y. Turner, G. Janakiraman, "End-to-End Congestion Control for InfiniBand", INFOCOM 2003, section VI-B:
//! "the rate limit is increased linearly with time. The maximum slope of the linear rate increase is limited by the
//! minimum recovery time". The paper gives no formulas; these follow from its text:
//!
//! - f_dec(r) = max(r / m, Rmin)
//! - f_inc(r) = min(r + (m - 1) Rmin^2 / r, Rmax)
//! - F_inc(t) = Rmin + (m - 1) Rmin^2 t
//!
//! # Parameters
//! - `m`: factor of a decrease; the paper uses 2.
//! - `rmin`, `rmax`, `initial`, `window`, `discrete`, `rounding`, `persistent`: as for LIPD.
//!
//! # Departures from the source
//! - m must be at least 1.01, not merely above 1.
//! - A congestion notification packet counts as a marked ACK.
//! - Packets of all sizes count equally.

use super::law::{Law, Settings, rate_params};
use super::rate::RateControl;

rate_params! {
    /// A mark divides the rate by m; without marks, the rate grows linearly over time.
    {
        /// Factor of a decrease.
        pub m: f64 = 2.0; ""; 1.01..=256.0,
    }
}

/// The response.
pub type Aimd = RateControl<Params>;

impl Params {
    /// Growth of the rate per packet time.
    fn slope(&self) -> f64 {
        (self.m - 1.0) * self.rmin * self.rmin
    }
}

impl Law for Params {
    fn settings(&self) -> Settings {
        self.common()
    }

    fn increase(&self, r: f64) -> f64 {
        r + self.slope() / r
    }

    fn decrease(&self, r: f64) -> f64 {
        r / self.m
    }

    fn grown(&self, r: f64, t: f64) -> f64 {
        r + self.slope() * t
    }

    fn growth_time(&self, low: f64, high: f64) -> f64 {
        (high - low) / self.slope()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_ack_at_rmin_undoes_one_decrease() {
        let law = Params { m: 3.0, ..Params::default() };
        assert!((law.increase(law.rmin) - 3.0 * law.rmin).abs() < 1e-15);
    }

    #[test]
    fn climbs_from_rmin_to_rmax_in_255_recovery_times() {
        assert_eq!(Params::default().growth_time(1.0 / 256.0, 1.0), 255.0 * 256.0);
    }
}
