//! Linear Inter-Packet Delay (LIPD).
//!
//! # What it does
//! A marked ACK lengthens the delay between packets by one packet time. A flow with the fair share of n flows thus
//! falls to the fair share of n + 1 flows, and low rates fall by a smaller factor than high rates. An unmarked ACK
//! multiplies the rate by a constant.
//!
//! # Source
//! J. R. Santos, Y. Turner, G. Janakiraman, "End-to-End Congestion Control for InfiniBand", INFOCOM 2003, section V-D:
//!
//! - f_dec(r) = max(Rmax / (Rmax/r + 1), Rmin)
//! - f_inc(r) = min(r / (1 - Rmin/Rmax), Rmax)
//! - F_inc(t) = Rmax / (Rmax/Rmin - t/T_rec), T_rec = 1/Rmin
//!
//! # Parameters
//! - `rmin`, `rmax`, `initial`: in ascending order rmin, initial, rmax. The paper uses rmin = rmax/256 and starts at
//!   rmax.
//! - `window`: limit in packets; 1 in the paper.
//! - `discrete`: whether to allow only the rates rmax/(1 + i), i = 0 to 255 (section VI-B.1). Requires rmin >=
//!   rmax/256.
//! - `rounding`: rounding of delays, for which the paper states no rule.
//! - `persistent`: whether the rate is kept across a pause of the flow (section VI-B.2).
//!
//! # Departures from the source
//! - A congestion notification packet counts as a marked ACK.
//! - Packets of all sizes count equally.

use super::law::{Law, Settings, rate_params};
use super::rate::RateControl;

rate_params! {
    /// A mark lengthens the delay between packets by one packet time; an unmarked ACK multiplies the rate.
    {}
}

/// The response.
pub type Lipd = RateControl<Params>;

impl Law for Params {
    fn settings(&self) -> Settings {
        self.common()
    }

    fn increase(&self, r: f64) -> f64 {
        r / (1.0 - self.rmin / self.rmax)
    }

    fn decrease(&self, r: f64) -> f64 {
        self.rmax / (self.rmax / r + 1.0)
    }

    fn grown(&self, r: f64, t: f64) -> f64 {
        self.rmax / (self.rmax / r - t * self.rmin)
    }

    fn growth_time(&self, low: f64, high: f64) -> f64 {
        (self.rmax / low - self.rmax / high) / self.rmin
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_adds_one_packet_time_to_the_delay() {
        let law = Params::default();
        for n in 1..200 {
            let next = law.decrease(1.0 / f64::from(n));
            assert!((next - 1.0 / f64::from(n + 1)).abs() < 1e-15);
        }
    }

    #[test]
    fn climbs_from_rmin_to_rmax_in_255_recovery_times() {
        assert_eq!(Params::default().growth_time(1.0 / 256.0, 1.0), 255.0 * 256.0);
    }
}
