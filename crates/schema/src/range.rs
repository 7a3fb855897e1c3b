//! Ranges of values.

use std::ops::{Bound, RangeBounds};

use becalm_engine::Time;

use crate::field::Field;

/// A field whose values can be limited to a range.
pub trait Ranged: Field {
    /// Type of the range's bounds: that of the field, or of its items.
    type Bound: Field + PartialOrd;

    /// Whether every value in it is within the range.
    fn within(&self, range: &impl RangeBounds<Self::Bound>) -> bool;
}

macro_rules! ranged {
    ($($type:ty),*) => {
        $(impl Ranged for $type {
            type Bound = $type;
            fn within(&self, range: &impl RangeBounds<$type>) -> bool {
                range.contains(self)
            }
        })*
    };
}

ranged!(f64, u32, u64, Time);

impl<T: Ranged> Ranged for Option<T> {
    type Bound = T::Bound;
    fn within(&self, range: &impl RangeBounds<T::Bound>) -> bool {
        self.as_ref().is_none_or(|value| value.within(range))
    }
}

impl<T: Ranged> Ranged for Vec<T> {
    type Bound = T::Bound;
    fn within(&self, range: &impl RangeBounds<T::Bound>) -> bool {
        self.iter().all(|value| value.within(range))
    }
}

/// A range in words: `between 1 and 4`, `above 1`, `at least 0 and below 1`.
pub fn in_words<T: Field>(range: &impl RangeBounds<T>) -> String {
    let low = match range.start_bound() {
        Bound::Included(low) => Some(("at least", low.show())),
        Bound::Excluded(low) => Some(("above", low.show())),
        Bound::Unbounded => None,
    };
    let high = match range.end_bound() {
        Bound::Included(high) => Some(("at most", high.show())),
        Bound::Excluded(high) => Some(("below", high.show())),
        Bound::Unbounded => None,
    };
    match (low, high) {
        (Some(("at least", low)), Some(("at most", high))) => format!("between {low} and {high}"),
        (Some((from, low)), Some((to, high))) => format!("{from} {low} and {to} {high}"),
        (Some((from, low)), None) => format!("{from} {low}"),
        (None, Some((to, high))) => format!("{to} {high}"),
        (None, None) => String::new(),
    }
}

/// The range as keywords of JSON Schema. There are none for values that are not JSON numbers, such as times.
pub fn in_json_schema<T: Field>(range: &impl RangeBounds<T>) -> Vec<(&'static str, serde_json::Value)> {
    let low = match range.start_bound() {
        Bound::Included(low) => Some(("minimum", low.to_json())),
        Bound::Excluded(low) => Some(("exclusiveMinimum", low.to_json())),
        Bound::Unbounded => None,
    };
    let high = match range.end_bound() {
        Bound::Included(high) => Some(("maximum", high.to_json())),
        Bound::Excluded(high) => Some(("exclusiveMaximum", high.to_json())),
        Bound::Unbounded => None,
    };
    [low, high].into_iter().flatten().filter(|(_, bound)| bound.is_number()).collect()
}
