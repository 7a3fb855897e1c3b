//! Types of values.

use serde_json::json;

use crate::errors::Errors;
use crate::node::{Node, Value};

/// A type that can be read from a [`Node`] and has a description.
pub trait Field: Sized {
    /// Description of a valid value that follows "must be" in messages: `a number`, `a list of strings`.
    fn expects() -> String;

    /// Reads a value; `None` after an error, which has been noted.
    fn read(node: &Node, errors: &mut Errors) -> Option<Self>;

    /// The value as JSON that [`Field::read`] can read.
    fn to_json(&self) -> serde_json::Value;

    /// The JSON Schema of valid values.
    fn json_schema() -> serde_json::Value;

    /// The value of an absent key without a default; `None` if the key is required.
    fn absent() -> Option<Self> {
        None
    }

    /// Whether all values in it are present, none missing because of an error.
    fn is_complete(&self) -> bool {
        true
    }

    /// The value as shown in help texts.
    fn show(&self) -> String {
        match self.to_json() {
            serde_json::Value::String(text) => text,
            other => other.to_string(),
        }
    }
}

/// Notes that a node is not a valid `T`, and returns `None`.
pub fn refuse<T: Field>(node: &Node, errors: &mut Errors) -> Option<T> {
    errors.add(node, format!("must be {}", T::expects()), "");
    None
}

impl Field for f64 {
    fn expects() -> String {
        "a finite number".to_string()
    }

    fn read(node: &Node, errors: &mut Errors) -> Option<f64> {
        match node.value {
            Value::Float(float) if float.is_finite() => Some(float),
            Value::Integer(integer) => Some(integer as f64),
            _ => refuse(node, errors),
        }
    }

    fn to_json(&self) -> serde_json::Value {
        json!(self)
    }

    fn json_schema() -> serde_json::Value {
        json!({"type": "number"})
    }

    fn show(&self) -> String {
        if *self != 0.0 && self.abs() < 1e-3 { format!("{self:e}") } else { self.to_string() }
    }
}

macro_rules! integer {
    ($($type:ty),*) => {
        $(impl Field for $type {
            fn expects() -> String {
                match <$type>::BITS {
                    64 => "an integer, 0 or more".to_string(),
                    _ => format!("an integer between 0 and {}", <$type>::MAX),
                }
            }

            fn read(node: &Node, errors: &mut Errors) -> Option<$type> {
                let Value::Integer(integer) = node.value else { return refuse(node, errors) };
                <$type>::try_from(integer).ok().or_else(|| refuse(node, errors))
            }

            fn to_json(&self) -> serde_json::Value {
                json!(self)
            }

            fn json_schema() -> serde_json::Value {
                json!({"type": "integer", "minimum": 0, "maximum": <$type>::MAX})
            }
        })*
    };
}

integer!(u8, u16, u32, u64);

impl Field for bool {
    fn expects() -> String {
        "true or false".to_string()
    }

    fn read(node: &Node, errors: &mut Errors) -> Option<bool> {
        match node.value {
            Value::Bool(truth) => Some(truth),
            _ => refuse(node, errors),
        }
    }

    fn to_json(&self) -> serde_json::Value {
        json!(self)
    }

    fn json_schema() -> serde_json::Value {
        json!({"type": "boolean"})
    }
}

impl Field for String {
    fn expects() -> String {
        "a string".to_string()
    }

    fn read(node: &Node, errors: &mut Errors) -> Option<String> {
        node.text().map(str::to_string).or_else(|| refuse(node, errors))
    }

    fn to_json(&self) -> serde_json::Value {
        json!(self)
    }

    fn json_schema() -> serde_json::Value {
        json!({"type": "string"})
    }
}

impl<T: Field> Field for Option<T> {
    fn expects() -> String {
        T::expects()
    }

    fn read(node: &Node, errors: &mut Errors) -> Option<Option<T>> {
        T::read(node, errors).map(Some)
    }

    fn to_json(&self) -> serde_json::Value {
        self.as_ref().map_or(serde_json::Value::Null, T::to_json)
    }

    fn json_schema() -> serde_json::Value {
        T::json_schema()
    }

    fn absent() -> Option<Option<T>> {
        Some(None)
    }

    fn is_complete(&self) -> bool {
        self.as_ref().is_none_or(T::is_complete)
    }
}

impl<T: Field> Field for Vec<T> {
    fn expects() -> String {
        format!("a list, each item {}", T::expects())
    }

    fn read(node: &Node, errors: &mut Errors) -> Option<Vec<T>> {
        let Some(items) = node.items() else { return refuse(node, errors) };
        // Read all items to note every error.
        let items: Vec<Option<T>> = items.iter().map(|item| T::read(item, errors)).collect();
        items.into_iter().collect()
    }

    fn to_json(&self) -> serde_json::Value {
        self.iter().map(T::to_json).collect()
    }

    fn json_schema() -> serde_json::Value {
        json!({"type": "array", "items": T::json_schema()})
    }

    fn is_complete(&self) -> bool {
        self.iter().all(T::is_complete)
    }
}
