//! Credit-based flow control of Ultra Ethernet (CBFC): when credit returns, and what its return costs.
//!
//! A receiver returns all credit that has become free in one message, CF_Update. It sends the messages of all lanes at a
//! fixed interval, the time in which the link carries a number of bytes, and they take their share of the link.

use becalm_engine::Time;

use crate::network::link::Rate;

/// Settings of CBFC. The unit of credit and the number of units are those of the buffer, [`Room::Units`](crate::Room).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cbfc {
    /// Bytes of the link from the end of one CF_Update to the end of the next, more than [`Cbfc::UPDATE`].
    pub spacing: u32,
}

impl Cbfc {
    /// Bytes of a CF_Update.
    pub const UPDATE: u32 = 8;

    /// The rate that a link with CF_Updates has left for packets.
    pub fn left_of(self, rate: Rate) -> Rate {
        rate.slowed(self.spacing, self.spacing - Cbfc::UPDATE)
    }

    /// The end of the first CF_Update at `time` or later, on a link with the rate `left` for packets. The first one ends
    /// at time 0.
    #[inline(never)]
    pub(crate) fn next_update(self, left: Rate, time: Time) -> Time {
        left.next_multiple(self.spacing - Cbfc::UPDATE, time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn updates_come_at_the_spacing_and_take_their_share() {
        let (cbfc, rate) = (Cbfc { spacing: 800 }, Rate::from_bits_per_second(396e9));
        let left = cbfc.left_of(rate);
        // Rates are whole femtoseconds per byte, about 20,000 here.
        assert!((left.bytes_per_second() / rate.bytes_per_second() - 0.99).abs() < 5e-5);
        // 800 B at 396 Gb/s take 16,161.6 ps.
        let ends = [0, 1, 16_161, 16_162, 16_163].map(|time| cbfc.next_update(left, Time(time)));
        assert_eq!(ends, [0, 16_162, 16_162, 16_162, 32_324].map(Time));
        let late = cbfc.next_update(left, Time::from_ms(1000));
        assert!(late >= Time::from_ms(1000) && late.since(Time::from_ms(1000)) < Time(16_163));
    }
}
