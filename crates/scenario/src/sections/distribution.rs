//! Distributions of a quantity around its mean.

pub(crate) use becalm_fabric::Distribution as Shape;
use becalm_schema::field::refuse;
use becalm_schema::{Errors, Field, Node, Value};
use serde_json::json;

/// Largest number of exponential stages of an Erlang distribution.
const MOST_STAGES: i128 = 1000;

/// A distribution: `"fixed"`, `"exponential"`, `{erlang = 4}` (its shape) or `{uniform = 0.5}` (its spread).
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution(pub Shape);

impl Distribution {
    /// No variation.
    pub const FIXED: Distribution = Distribution(Shape::Fixed);

    /// Whether the quantity varies.
    pub fn varies(&self) -> bool {
        *self != Distribution::FIXED
    }

    /// The distribution in a word or a table; `None` if the node holds neither.
    pub(super) fn law(node: &Node) -> Option<Shape> {
        match node.text() {
            Some("fixed") => Some(Shape::Fixed),
            Some("exponential") => Some(Shape::Exponential),
            _ => Distribution::of_table(node),
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
        Distribution::law(node).map(Distribution).or_else(|| refuse(node, errors))
    }

    fn to_json(&self) -> serde_json::Value {
        match &self.0 {
            Shape::Fixed => json!("fixed"),
            Shape::Exponential => json!("exponential"),
            Shape::Erlang { shape } => json!({"erlang": shape}),
            Shape::Uniform { spread } => json!({"uniform": spread}),
            Shape::Measured(cdf) => json!({"cdf": cdf.points()}),
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
            assert_eq!(read(json.clone()), Some(Distribution(law.clone())));
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
}
