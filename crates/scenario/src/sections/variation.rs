//! How a quantity varies around its mean.

use becalm_fabric as fabric;
use becalm_schema::field::refuse;
use becalm_schema::{Field, Mistakes, Node, Value};
use serde_json::json;

/// Most exponential stages of an Erlang law.
const MOST_STAGES: i128 = 1000;

/// A law: `"fixed"`, `"exponential"`, `{erlang = 4}` (its shape) or `{uniform = 0.5}` (its spread).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Variation(pub fabric::Distribution);

impl Variation {
    /// No variation.
    pub const FIXED: Variation = Variation(fabric::Distribution::Fixed);

    /// Whether the quantity varies at all.
    pub fn varies(self) -> bool {
        self != Variation::FIXED
    }

    /// The largest size that can be drawn around a mean, [`u32::MAX`] where there is no bound.
    pub fn largest(self, mean: u32) -> u32 {
        match self.0 {
            fabric::Distribution::Fixed => mean,
            fabric::Distribution::Exponential | fabric::Distribution::Erlang { .. } => u32::MAX,
            fabric::Distribution::Uniform { spread } => (f64::from(mean) * (1.0 + spread)).round() as u32,
        }
    }

    /// The probability that the quantity exceeds so many times its mean.
    pub fn exceeds(self, multiple: f64) -> f64 {
        match self.0 {
            fabric::Distribution::Fixed => f64::from(u8::from(multiple < 1.0)),
            fabric::Distribution::Exponential => libm::exp(-multiple),
            fabric::Distribution::Erlang { shape } => {
                // The chance of fewer than `shape` events of a Poisson process.
                let events = f64::from(shape) * multiple;
                let mut term = libm::exp(-events);
                let mut sum = term;
                for i in 1..shape {
                    term *= events / f64::from(i);
                    sum += term;
                }
                sum
            }
            fabric::Distribution::Uniform { spread } => ((1.0 + spread - multiple) / (2.0 * spread)).clamp(0.0, 1.0),
        }
    }

    fn of_table(node: &Node) -> Option<fabric::Distribution> {
        let [(name, value)] = node.entries()? else { return None };
        match (name.as_str(), &value.value) {
            ("erlang", Value::Integer(shape)) if (1..=MOST_STAGES).contains(shape) => {
                Some(fabric::Distribution::Erlang { shape: *shape as u32 })
            }
            ("uniform", Value::Float(spread)) if *spread > 0.0 && *spread <= 1.0 => {
                Some(fabric::Distribution::Uniform { spread: *spread })
            }
            ("uniform", Value::Integer(1)) => Some(fabric::Distribution::Uniform { spread: 1.0 }),
            _ => None,
        }
    }
}

impl Field for Variation {
    fn expects() -> String {
        format!(
            "\"fixed\", \"exponential\", {{erlang = SHAPE}} with a shape of 1 to {MOST_STAGES}, or {{uniform = SPREAD}} \
             with a spread above 0 and up to 1"
        )
    }

    fn read(node: &Node, mistakes: &mut Mistakes) -> Option<Variation> {
        let law = match node.text() {
            Some("fixed") => Some(fabric::Distribution::Fixed),
            Some("exponential") => Some(fabric::Distribution::Exponential),
            _ => Variation::of_table(node),
        };
        law.map(Variation).or_else(|| refuse(node, mistakes))
    }

    fn to_json(&self) -> serde_json::Value {
        match self.0 {
            fabric::Distribution::Fixed => json!("fixed"),
            fabric::Distribution::Exponential => json!("exponential"),
            fabric::Distribution::Erlang { shape } => json!({"erlang": shape}),
            fabric::Distribution::Uniform { spread } => json!({"uniform": spread}),
        }
    }

    fn json_schema() -> serde_json::Value {
        let table = |name: &str, value: serde_json::Value| {
            json!({
                "type": "object",
                "properties": {name: value},
                "required": [name],
                "additionalProperties": false,
            })
        };
        json!({"oneOf": [
            {"const": "fixed"},
            {"const": "exponential"},
            table("erlang", json!({"type": "integer", "minimum": 1, "maximum": MOST_STAGES as u32})),
            table("uniform", json!({"type": "number", "exclusiveMinimum": 0, "maximum": 1})),
        ]})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: serde_json::Value) -> Option<Variation> {
        becalm_schema::read_json(&json, "f").ok()
    }

    #[test]
    fn laws_are_words_or_tables_of_one_number() {
        for (json, law) in [
            (json!("fixed"), fabric::Distribution::Fixed),
            (json!("exponential"), fabric::Distribution::Exponential),
            (json!({"erlang": 4}), fabric::Distribution::Erlang { shape: 4 }),
            (json!({"uniform": 0.5}), fabric::Distribution::Uniform { spread: 0.5 }),
        ] {
            assert_eq!(read(json.clone()), Some(Variation(law)));
            assert_eq!(Variation(law).to_json(), json);
        }
        for wrong in [
            json!("erlang"),
            json!({"erlang": 0}),
            json!({"erlang": 1.5}),
            json!({"uniform": 0.0}),
            json!({"uniform": 1.1}),
            json!({"erlang": 2, "uniform": 0.5}),
            json!({"normal": 1}),
            json!(1),
        ] {
            assert_eq!(read(wrong.clone()), None, "{wrong}");
        }
    }

    #[test]
    fn tails_integrate_to_the_mean() {
        for law in [json!("fixed"), json!("exponential"), json!({"erlang": 3}), json!({"uniform": 0.4})] {
            let law = read(law).unwrap();
            let steps = 400_000;
            let area: f64 = (0..steps).map(|i| law.exceeds(20.0 * (f64::from(i) + 0.5) / f64::from(steps))).sum();
            let mean = area * 20.0 / f64::from(steps);
            assert!((mean - 1.0).abs() < 1e-3, "{law:?}: {mean}");
        }
    }
}
