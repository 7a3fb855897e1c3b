//! Numbers with a unit, written as text: `"40 ns"`.

use becalm_engine::Time;
use serde_json::json;

use crate::errors::Errors;
use crate::field::{Field, refuse};
use crate::node::Node;

/// Units of time and their picoseconds.
const TIMES: [(&str, f64); 5] = [("s", 1e12), ("ms", 1e9), ("us", 1e6), ("ns", 1e3), ("ps", 1.0)];

/// Units of sizes and their bytes.
pub const SIZES: [(&str, f64); 9] = [
    ("B", 1.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("TiB", 1_099_511_627_776.0),
];

/// The amount in a text such as `2.5 ms` or `2.5ms`: the number times the factor of its unit; `None` unless
/// the number is finite and the unit is one of `units`.
pub fn quantity(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let text = text.trim();
    // Units may contain digits, and numbers an `e`. Therefore, use the longest unit at the end of the text.
    let fits = |(unit, factor): &(&str, f64)| {
        let number: f64 = text.strip_suffix(unit)?.trim_end().parse().ok()?;
        Some((unit.len(), number * factor))
    };
    let (_, amount) = units.iter().filter_map(fits).max_by_key(|(length, _)| *length)?;
    amount.is_finite().then_some(amount)
}

/// The seconds in a text such as `2.5 ms`, with the units of scenarios.
pub fn seconds(text: &str) -> Option<f64> {
    quantity(text, &TIMES).map(|picoseconds| picoseconds / 1e12)
}

/// The bytes in a text such as `4 GB`.
pub fn bytes(text: &str) -> Option<f64> {
    quantity(text, &SIZES)
}

impl Field for Time {
    fn expects() -> String {
        "a time with its unit, such as \"40 ns\" or \"2 ms\"".to_string()
    }

    fn read(node: &Node, errors: &mut Errors) -> Option<Time> {
        let amount = node.text().and_then(|text| quantity(text, &TIMES));
        match amount {
            Some(ps) if ps >= Time::MAX.0 as f64 => {
                errors.add(node, "must be below 213 days", "");
                None
            }
            Some(ps) if ps >= 0.0 => Some(Time(ps.round() as u64)),
            _ => refuse(node, errors),
        }
    }

    fn to_json(&self) -> serde_json::Value {
        json!(self.to_string())
    }

    fn json_schema() -> serde_json::Value {
        json!({"type": "string", "pattern": r"^\s*[0-9.eE+-]+\s*(s|ms|us|ns|ps)\s*$"})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_amounts_to_the_picosecond_and_needs_a_unit() {
        let read = |text: &str| crate::read_json::<Time>(&json!(text), "").ok();
        assert_eq!(read("40 ns"), Some(Time::from_ns(40)));
        assert_eq!(read("2.068us"), Some(Time(2_068_000)));
        assert_eq!(read("1e-3 s"), Some(Time::from_ms(1)));
        assert_eq!(read("0 s"), Some(Time::ZERO));
        for wrong in ["40", "s", "", "-1 s", "nan s", "inf s", "1 h", "1e30 s", "1 2 s"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_longest_unit_decides() {
        let units = [("B", 1.0), ("KiB", 1024.0), ("iB", 7.0)];
        assert_eq!(quantity("3 KiB", &units), Some(3072.0));
        assert_eq!(quantity("3 B", &units), Some(3.0));
        assert_eq!(quantity("3 MB", &units), None);
        assert_eq!((bytes("4GB"), bytes("0.5 KiB"), bytes("4 G")), (Some(4e9), Some(512.0), None));
    }
}
