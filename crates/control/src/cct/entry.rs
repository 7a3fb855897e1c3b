//! Entries of congestion control tables, in the specification's encoding.

use becalm_engine::Time;
use becalm_schema::field::refuse;
use becalm_schema::{Errors, Field, Node, Value};
use serde_json::json;

/// Largest number of entries in a table.
pub(super) const MAX_ENTRIES: u32 = 16_384;

/// An entry, written `[shift, multiplier]`: a delay of `multiplier / 2^shift` times the packet's transmission time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CctEntry {
    shift: u8,
    multiplier: u16,
}

impl CctEntry {
    /// Largest shift: 2 bits.
    pub const MAX_SHIFT: u8 = 3;
    /// Largest multiplier: 14 bits.
    pub const MAX_MULTIPLIER: u16 = 16_383;

    /// The longest delay.
    pub const LONGEST: CctEntry = CctEntry { shift: 0, multiplier: CctEntry::MAX_MULTIPLIER };

    /// An entry; `None` if a number has too many bits.
    pub fn new(shift: u8, multiplier: u16) -> Option<CctEntry> {
        (shift <= CctEntry::MAX_SHIFT && multiplier <= CctEntry::MAX_MULTIPLIER)
            .then_some(CctEntry { shift, multiplier })
    }

    /// The entry nearest to a delay of `gap` packet times, with the smallest shift that expresses it; `None` if the
    /// delay is negative, not a number, or rounds to more than [`CctEntry::MAX_MULTIPLIER`] packet times.
    pub fn nearest(gap: f64) -> Option<CctEntry> {
        let largest = f64::from(CctEntry::MAX_MULTIPLIER);
        let scaled = |shift: u8| (gap * f64::from(1_u16 << shift)).round();
        let finest = (0..=CctEntry::MAX_SHIFT).rev().find(|shift| (0.0..=largest).contains(&scaled(*shift)))?;
        let multiplier = scaled(finest) as u16;
        let spare = (multiplier.trailing_zeros() as u8).min(finest);
        CctEntry::new(finest - spare, multiplier >> spare)
    }

    /// Number of bits by which a packet's transmission time is shifted right.
    pub fn shift(self) -> u8 {
        self.shift
    }

    /// Factor of the shifted time.
    pub fn multiplier(self) -> u16 {
        self.multiplier
    }

    /// The delay as a multiple of the packet's transmission time; exact.
    pub fn gap(self) -> f64 {
        f64::from(self.multiplier) / f64::from(1_u16 << self.shift)
    }

    /// The delay after a packet with this transmission time.
    pub fn delay(self, packet: Time) -> Time {
        Time(packet.0.saturating_mul(u64::from(self.multiplier)) >> self.shift)
    }
}

impl Field for CctEntry {
    fn expects() -> String {
        format!(
            "a pair [shift, multiplier] of integers: shift from 0 to {}, multiplier from 0 to {}",
            CctEntry::MAX_SHIFT,
            CctEntry::MAX_MULTIPLIER
        )
    }

    fn read(node: &Node, errors: &mut Errors) -> Option<CctEntry> {
        let pair = match node.items() {
            Some([shift, multiplier]) => (&shift.value, &multiplier.value),
            _ => return refuse(node, errors),
        };
        let (&Value::Integer(shift), &Value::Integer(multiplier)) = pair else { return refuse(node, errors) };
        let entry = u8::try_from(shift).ok().zip(u16::try_from(multiplier).ok());
        entry.and_then(|(shift, multiplier)| CctEntry::new(shift, multiplier)).or_else(|| refuse(node, errors))
    }

    fn to_json(&self) -> serde_json::Value {
        json!([self.shift, self.multiplier])
    }

    fn json_schema() -> serde_json::Value {
        json!({
            "type": "array",
            "prefixItems": [
                {"type": "integer", "minimum": 0, "maximum": CctEntry::MAX_SHIFT},
                {"type": "integer", "minimum": 0, "maximum": CctEntry::MAX_MULTIPLIER},
            ],
            "minItems": 2,
            "maxItems": 2,
            "examples": [[0, 5], [3, 12]],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_entry_has_14_bits_and_a_shift_of_2() {
        assert_eq!(CctEntry::new(3, 16_383).map(CctEntry::gap), Some(2047.875));
        assert_eq!(CctEntry::new(0, 16_383).map(CctEntry::gap), Some(16_383.0));
        assert_eq!(CctEntry::new(3, 12).map(|entry| entry.delay(Time(2068))), Some(Time(3102)));
        assert_eq!(CctEntry::new(4, 1), None);
        assert_eq!(CctEntry::new(0, 16_384), None);
    }

    #[test]
    fn the_nearest_entry_takes_the_smallest_shift_that_will_do() {
        for (gap, shift, multiplier) in [
            (0.0, 0, 0),
            (0.06, 0, 0),
            (0.0625, 3, 1),
            (0.125, 3, 1),
            (0.25, 2, 1),
            (4.86, 3, 39),
            (8.0, 0, 8),
            (2047.875, 3, 16_383),
            (2047.95, 0, 2048),
            (2048.25, 2, 8193),
            (4095.75, 2, 16_383),
            (8191.5, 1, 16_383),
            (8192.6, 0, 8193),
            (16_383.4, 0, 16_383),
        ] {
            assert_eq!(CctEntry::nearest(gap), CctEntry::new(shift, multiplier), "{gap}");
        }
        for impossible in [-1.0, 16_383.5, f64::INFINITY, f64::NAN] {
            assert_eq!(CctEntry::nearest(impossible), None, "{impossible}");
        }
    }

    proptest! {
        #[test]
        fn rounding_is_off_by_half_a_step_at_most(gap in 0.0..16_383.0_f64) {
            let step = [(2047.875, 0.125), (4095.75, 0.25), (8191.5, 0.5), (f64::INFINITY, 1.0)];
            let (_, step) = step.into_iter().find(|(up_to, _)| gap <= *up_to).unwrap();
            let entry = CctEntry::nearest(gap).unwrap();
            prop_assert!((entry.gap() - gap).abs() <= step / 2.0, "{gap}: {entry:?}");
        }

        #[test]
        fn every_delay_of_an_entry_is_its_own_nearest(shift in 0..=3_u8, multiplier in 0..=16_383_u16) {
            let entry = CctEntry::new(shift, multiplier).unwrap();
            prop_assert_eq!(CctEntry::nearest(entry.gap()).unwrap().gap(), entry.gap());
        }
    }
}
