//! Fast Increase Multiplicative Decrease (FIMD).
//!
//! # What it does
//! A marked ACK divides the rate by m. Without marks, the rate is multiplied by m in every recovery time 1/Rmin. After
//! a multiplicative decrease, the rate thus recovers as fast as the paper's conditions allow.
//!
//! # Source
//! J. R. Santos, Y. Turner, G. Janakiraman, "End-to-End Congestion Control for InfiniBand", INFOCOM 2003, section V-C:
//!
//! - f_dec(r) = max(r / m, Rmin)
//! - f_inc(r) = min(r m^(Rmin/r), Rmax)
//! - F_inc(t) = Rmin m^(t/T_rec), T_rec = 1/Rmin
//!
//! # Parameters
//! - `m`: factor of a decrease; the paper uses 2.
//! - `rmin`, `rmax`, `initial`, `window`, `discrete`, `rounding`, `persistent`: as for LIPD.
//!
//! # Departures from the source
//! - m is at least 1.01, not just above 1.
//! - A congestion notification packet counts as a marked ACK.
//! - Packets of all sizes count equally.

use super::law::{Law, Settings, rate_params};
use super::rate::RateControl;

rate_params! {
    /// A mark divides the rate by m; without marks, the rate grows by a factor of m per recovery time.
    {
        /// Factor of a decrease.
        pub m: f64 = 2.0; ""; 1.01..=256.0,
    }
}

/// The response.
pub type Fimd = RateControl<Params>;

impl Law for Params {
    fn settings(&self) -> Settings {
        self.common()
    }

    fn increase(&self, r: f64) -> f64 {
        r * libm::pow(self.m, self.rmin / r)
    }

    fn decrease(&self, r: f64) -> f64 {
        r / self.m
    }

    fn grown(&self, r: f64, t: f64) -> f64 {
        r * libm::pow(self.m, t * self.rmin)
    }

    fn growth_time(&self, low: f64, high: f64) -> f64 {
        libm::log(high / low) / libm::log(self.m) / self.rmin
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_with_the_first_ack_at_rmin() {
        let law = Params::default();
        assert_eq!(law.increase(law.rmin), 2.0 * law.rmin);
    }

    #[test]
    fn climbs_from_rmin_to_rmax_in_8_recovery_times() {
        assert!((Params::default().growth_time(1.0 / 256.0, 1.0) - 8.0 * 256.0).abs() < 1e-9);
    }
}
