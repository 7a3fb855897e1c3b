//! Distributions of a quantity around its mean.

pub(crate) use becalm_fabric::Distribution as Shape;
use becalm_schema::field::refuse;
use becalm_schema::{Errors, Field, Node, Value};
use serde_json::json;

/// Most exponential stages of an Erlang distribution.
const MOST_STAGES: i128 = 1000;

/// Events beyond which the probability of none of them is too small for a number.
const MANY_EVENTS: f64 = 700.0;

/// A distribution: `"fixed"`, `"exponential"`, `{erlang = 4}` (its shape) or `{uniform = 0.5}` (its spread).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distribution(pub Shape);

impl Distribution {
    /// No variation.
    pub const FIXED: Distribution = Distribution(Shape::Fixed);

    /// Whether the quantity varies at all.
    pub fn varies(self) -> bool {
        self != Distribution::FIXED
    }

    /// The largest size that can be drawn around a mean, [`u32::MAX`] where there is no bound.
    pub fn largest(self, mean: u32) -> u32 {
        match self.0 {
            Shape::Fixed => mean,
            Shape::Exponential | Shape::Erlang { .. } => u32::MAX,
            Shape::Uniform { spread } => (f64::from(mean) * (1.0 + spread)).round() as u32,
        }
    }

    /// The probability that the quantity exceeds so many times its mean.
    pub fn exceeds(self, multiple: f64) -> f64 {
        match self.0 {
            Shape::Fixed => f64::from(u8::from(multiple < 1.0)),
            Shape::Exponential => libm::exp(-multiple),
            Shape::Erlang { shape } => {
                // The chance of fewer than `shape` events of a Poisson process.
                let events = f64::from(shape) * multiple;
                if events > MANY_EVENTS {
                    let mut log = -events;
                    let mut sum = libm::exp(log);
                    for i in 1..shape {
                        log += libm::log(events / f64::from(i));
                        sum += libm::exp(log);
                    }
                    return sum;
                }
                let mut term = libm::exp(-events);
                let mut sum = term;
                for i in 1..shape {
                    term *= events / f64::from(i);
                    sum += term;
                }
                sum
            }
            Shape::Uniform { spread } => ((1.0 + spread - multiple) / (2.0 * spread)).clamp(0.0, 1.0),
        }
    }

    fn of_table(node: &Node) -> Option<Shape> {
        let [(name, value)] = node.entries()? else { return None };
        match (name.as_str(), &value.value) {
            ("erlang", Value::Integer(shape)) if (1..=MOST_STAGES).contains(shape) => {
                Some(Shape::Erlang { shape: *shape as u32 })
            }
            ("uniform", Value::Float(spread)) if *spread > 0.0 && *spread <= 1.0 => {
                Some(Shape::Uniform { spread: *spread })
            }
            ("uniform", Value::Integer(1)) => Some(Shape::Uniform { spread: 1.0 }),
            _ => None,
        }
    }
}

impl Field for Distribution {
    fn expects() -> String {
        format!(
            "\"fixed\", \"exponential\", {{erlang = SHAPE}} with a shape of 1 to {MOST_STAGES}, or {{uniform = SPREAD}} \
             with a spread above 0 and up to 1"
        )
    }

    fn read(node: &Node, errors: &mut Errors) -> Option<Distribution> {
        let law = match node.text() {
            Some("fixed") => Some(Shape::Fixed),
            Some("exponential") => Some(Shape::Exponential),
            _ => Distribution::of_table(node),
        };
        law.map(Distribution).or_else(|| refuse(node, errors))
    }

    fn to_json(&self) -> serde_json::Value {
        match self.0 {
            Shape::Fixed => json!("fixed"),
            Shape::Exponential => json!("exponential"),
            Shape::Erlang { shape } => json!({"erlang": shape}),
            Shape::Uniform { spread } => json!({"uniform": spread}),
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

    fn read(json: serde_json::Value) -> Option<Distribution> {
        becalm_schema::read_json(&json, "f").ok()
    }

    #[test]
    fn distributions_are_words_or_tables_of_one_number() {
        for (json, law) in [
            (json!("fixed"), Shape::Fixed),
            (json!("exponential"), Shape::Exponential),
            (json!({"erlang": 4}), Shape::Erlang { shape: 4 }),
            (json!({"uniform": 0.5}), Shape::Uniform { spread: 0.5 }),
        ] {
            assert_eq!(read(json.clone()), Some(Distribution(law)));
            assert_eq!(Distribution(law).to_json(), json);
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
        let laws = [json!("fixed"), json!("exponential"), json!({"erlang": 3}), json!({"uniform": 0.4})];
        for (law, steps) in laws.into_iter().map(|law| (law, 400_000)).chain([(json!({"erlang": 1000}), 4_000)]) {
            let law = read(law).unwrap();
            let area: f64 = (0..steps).map(|i| law.exceeds(20.0 * (f64::from(i) + 0.5) / f64::from(steps))).sum();
            let mean = area * 20.0 / f64::from(steps);
            assert!((mean - 1.0).abs() < 1e-3, "{law:?}: {mean}");
        }
    }
}
