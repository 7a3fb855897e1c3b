//! Sets of ports in the settings of IBTA congestion control.

use becalm_fabric::policy::SwitchShape;
use becalm_schema::{Errors, Field, Node, Value, field::refuse};
use serde_json::json;

becalm_schema::words! {
    /// A mask of ports, the same for every switch.
    pub enum Mask {
        /// No port.
        None = "none",
        /// Every port.
        All = "all",
        /// The ports that lead to a host.
        HostPorts = "host_ports",
    }
}

impl Mask {
    /// Whether a port is in the mask.
    pub(super) fn has(self, port: u16, shape: &SwitchShape) -> bool {
        match self {
            Mask::None => false,
            Mask::All => true,
            Mask::HostPorts => shape.host_ports[usize::from(port)],
        }
    }
}

/// Some ports of a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ports {
    /// Every port.
    All,
    /// The ports that lead to a host.
    Hosts,
    /// The ports that lead to a switch.
    Switches,
    /// The ports with these numbers.
    List(Vec<u32>),
}

impl Ports {
    /// Whether a port is in the set.
    pub(super) fn has(&self, port: u16, shape: &SwitchShape) -> bool {
        match self {
            Ports::All => true,
            Ports::Hosts => shape.host_ports[usize::from(port)],
            Ports::Switches => !shape.host_ports[usize::from(port)],
            Ports::List(list) => list.contains(&u32::from(port)),
        }
    }
}

impl Field for Ports {
    fn expects() -> String {
        "a list of port numbers, or \"hosts\", \"switches\" or \"all\"".to_string()
    }

    fn read(node: &Node, errors: &mut Errors) -> Option<Ports> {
        match &node.value {
            Value::List(list) if !list.is_empty() => Vec::read(node, errors).map(Ports::List),
            Value::Text(word) if word == "hosts" => Some(Ports::Hosts),
            Value::Text(word) if word == "switches" => Some(Ports::Switches),
            Value::Text(word) if word == "all" => Some(Ports::All),
            _ => refuse(node, errors),
        }
    }

    fn to_json(&self) -> serde_json::Value {
        match self {
            Ports::All => json!("all"),
            Ports::Hosts => json!("hosts"),
            Ports::Switches => json!("switches"),
            Ports::List(list) => json!(list),
        }
    }

    fn json_schema() -> serde_json::Value {
        json!({"oneOf": [
            {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 65_535}, "minItems": 1},
            {"enum": ["all", "hosts", "switches"]},
        ]})
    }
}
