//! Traces as JSON, in the form of MLCommons' `jsonizer`.
//!
//! Each message is an object: the metadata, then the nodes. The objects follow each other, or are the items of a list.
//! Names are those of the schema, in either spelling of protobuf's JSON (`dataDeps` or `data_deps`), and numbers may be
//! texts, as protobuf writes those with 64 bits.

use serde_json::{Map, Value};

use super::node::{EMPTY, Given, Kind, Node, check_version, kind, set, short, too_large};
use crate::mistakes::Mistakes;

/// Largest ratio of the memory of JSON values to their text, roughly.
const VALUES: u64 = 8;

type Object = Map<String, Value>;

/// The nodes of a trace, with at most this number of bytes of memory.
pub(super) fn nodes(bytes: &[u8], file: &str, most: u64) -> Result<Vec<Node>, Mistakes> {
    if VALUES.saturating_mul(bytes.len() as u64) > most {
        return Err(Mistakes::one(file, None, too_large(most)));
    }
    let mut trace = Reader { nodes: Vec::new(), taken: 0, most, first: true };
    let mut mistakes = Mistakes::new(file);
    for value in serde_json::Deserializer::from_slice(bytes).into_iter::<Value>() {
        let values = match value {
            Ok(Value::Array(values)) => values,
            Ok(value) => vec![value],
            Err(error) => {
                mistakes.add(None, format!("is not a Chakra execution trace as JSON: {error}"));
                break;
            }
        };
        for value in values {
            if let Err(problem) = trace.take(&value) {
                mistakes.add(None, problem);
            }
        }
    }
    if trace.first && mistakes.is_empty() {
        mistakes.add(None, EMPTY);
    }
    mistakes.settle(trace.nodes)
}

struct Reader {
    nodes: Vec<Node>,
    /// Memory of the nodes, in bytes.
    taken: u64,
    most: u64,
    /// Whether the next object describes the trace.
    first: bool,
}

impl Reader {
    fn take(&mut self, value: &Value) -> Result<(), String> {
        let Value::Object(object) = value else {
            return Err(format!("has {} instead of an object for each node", short(&value.to_string())));
        };
        if std::mem::take(&mut self.first) {
            if object.contains_key("id") || object.contains_key("type") {
                return Err("must begin with the metadata, which may be {}, not with a node".to_string());
            }
            return object.get("version").and_then(Value::as_str).map_or(Ok(()), check_version);
        }
        let node = node(object)?;
        self.taken += node.size();
        if self.taken > self.most {
            return Err(too_large(self.most));
        }
        self.nodes.push(node);
        Ok(())
    }
}

fn node(object: &Object) -> Result<Node, String> {
    let mut node = Node { id: field(object, "id", "id")?, ..Node::default() };
    let id = node.id;
    let within = |problem: String| format!("node {id}: {problem}");
    node.kind = match object.get("type") {
        None => Kind::Nothing,
        Some(Value::String(name)) => named(name).map_err(within)?,
        Some(value) => whole(value).ok_or_else(|| format!("has {value}")).and_then(kind)?,
    };
    node.data = ids(object, "dataDeps", "data_deps").map_err(within)?;
    node.control = ids(object, "ctrlDeps", "ctrl_deps").map_err(within)?;
    node.micros = field(object, "durationMicros", "duration_micros").map_err(within)?;
    for attribute in object.get("attr").and_then(Value::as_array).into_iter().flatten() {
        let name = attribute.get("name").and_then(Value::as_str).unwrap_or_default();
        let values = attribute.as_object().into_iter().flatten();
        let found = values.filter(|(key, _)| *key != "name").find_map(|(key, value)| given(key, value));
        set(name, found, &mut node).map_err(within)?;
    }
    node.settle();
    Ok(node)
}

/// The kind of a node by its name in the schema.
fn named(name: &str) -> Result<Kind, String> {
    const NAMES: [&str; 8] =
        ["INVALID", "METADATA", "MEM_LOAD", "MEM_STORE", "COMP", "COMM_SEND", "COMM_RECV", "COMM_COLL"];
    let place = NAMES.iter().position(|known| name.strip_suffix("_NODE") == Some(known));
    match place {
        Some(place) => kind(place as u64),
        None => {
            Err(format!("has type {}; valid: {}", short(name), NAMES.map(|name| format!("{name}_NODE")).join(", ")))
        }
    }
}

/// A whole number, which may be a text.
fn whole(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

/// A number by either of its names; 0 if it is absent, as in protobuf.
fn field(object: &Object, name: &str, other: &str) -> Result<u64, String> {
    let Some(value) = object.get(name).or_else(|| object.get(other)) else { return Ok(0) };
    whole(value)
        .ok_or_else(|| format!("`{name}` must be a whole number, at least 0, not {}", short(&value.to_string())))
}

/// A list of nodes by either of its names.
fn ids(object: &Object, name: &str, other: &str) -> Result<Vec<u64>, String> {
    let Some(value) = object.get(name).or_else(|| object.get(other)) else { return Ok(Vec::new()) };
    let ids = value.as_array().and_then(|values| values.iter().map(whole).collect());
    ids.ok_or_else(|| format!("`{name}` must be a list of nodes"))
}

/// Reads the value of an attribute, whose key is its type: `int64Val`, `boolVal`, `stringVal`, `int64List` and so on.
fn given(key: &str, value: &Value) -> Option<Given> {
    match value {
        Value::Bool(truth) => Some(Given::Number(i128::from(*truth))),
        Value::Number(number) => Some(Given::Number(number.as_i128()?)),
        Value::String(text) if key.starts_with("string") => Some(Given::Text(text.clone())),
        Value::String(text) => Some(Given::Number(text.parse().ok()?)),
        Value::Object(list) => Some(Given::List(list.get("values")?.as_array()?.len())),
        Value::Null | Value::Array(_) => None,
    }
}
