//! The window of a flow in scenarios.

use becalm_schema::field::refuse;
use becalm_schema::{Errors, Field, Node, Value};
use serde_json::json;

/// Largest number of unacknowledged packets: at least 1, or `"unlimited"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window(pub u32);

impl Window {
    /// No limit.
    pub const UNLIMITED: Window = Window(u32::MAX);
    /// The largest limit that a scenario can set.
    const LARGEST: i128 = 1_000_000;
}

impl Field for Window {
    fn expects() -> String {
        format!("a number of packets between 1 and {}, or \"unlimited\"", Window::LARGEST)
    }

    fn read(node: &Node, errors: &mut Errors) -> Option<Window> {
        match &node.value {
            Value::Integer(packets) if (1..=Window::LARGEST).contains(packets) => Some(Window(*packets as u32)),
            Value::Text(word) if word == "unlimited" => Some(Window::UNLIMITED),
            _ => refuse(node, errors),
        }
    }

    fn to_json(&self) -> serde_json::Value {
        if *self == Window::UNLIMITED { json!("unlimited") } else { json!(self.0) }
    }

    fn json_schema() -> serde_json::Value {
        json!({"oneOf": [
            {"type": "integer", "minimum": 1, "maximum": Window::LARGEST as u32},
            {"const": "unlimited"},
        ]})
    }
}
