//! Nodes of a trace, with the attributes that matter.

use super::wire::{Broken, Reader, Value};
use crate::mistakes::Mistakes;

/// What a node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Nothing,
    Compute,
    Send,
    Recv,
    Collective,
}

/// A node of a trace.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub id: u64,
    pub kind: Kind,
    /// Nodes that it waits for.
    pub after: Vec<u64>,
    pub micros: u64,
    pub on_cpu: bool,
    pub comm: Comm,
}

/// Attributes of communication; `None` where they are left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Comm {
    pub kind: Option<u64>,
    pub size: Option<u64>,
    pub source: Option<u64>,
    pub destination: Option<u64>,
    pub tag: Option<u64>,
    pub group: Option<String>,
    pub root: Option<u64>,
}

/// The nodes of a trace that is not compressed.
pub(super) fn nodes(bytes: &[u8], file: &str) -> Result<Vec<Node>, Mistakes> {
    let mut reader = Reader::new(bytes);
    let mut mistakes = Mistakes::new(file);
    let mut nodes = Vec::new();
    let mut first = true;
    while !reader.is_empty() {
        let place = reader.place();
        let message = match reader.delimited() {
            Ok(message) => message,
            Err(broken) => {
                let problem = format!("byte {place}: is no Chakra execution trace: {broken}");
                mistakes.add(None, problem);
                break;
            }
        };
        // The first message describes the trace.
        let read = if std::mem::take(&mut first) { version(message).map(|()| None) } else { node(message).map(Some) };
        match read {
            Ok(Some(node)) => nodes.push(node),
            Ok(None) => {}
            Err(problem) => mistakes.add(None, format!("byte {place}: {problem}")),
        }
    }
    if first && mistakes.is_empty() {
        mistakes.add(None, "is empty; a Chakra execution trace begins with its metadata");
    }
    mistakes.settle(nodes)
}

/// Checks the version of a trace, if it tells one.
fn version(message: &[u8]) -> Result<(), String> {
    let mut reader = Reader::new(message);
    while let Some((number, value)) = reader.field().map_err(not_metadata)? {
        if let (1, Value::Bytes(text)) = (number, value) {
            let text = String::from_utf8_lossy(text);
            // Numbers of fields changed before 1.0.
            let old =
                text.trim_start_matches('v').split('.').next().and_then(|major| major.parse::<u32>().ok()) == Some(0);
            if old {
                return Err(format!("has version {}; valid: 1.0 and later", text.escape_debug()));
            }
        }
    }
    Ok(())
}

fn not_metadata(broken: Broken) -> String {
    format!("is no metadata of a Chakra execution trace: {broken}")
}

fn node(message: &[u8]) -> Result<Node, String> {
    let broken = |broken: Broken| format!("is no node of a Chakra execution trace: {broken}");
    let mut reader = Reader::new(message);
    let mut node =
        Node { id: 0, kind: Kind::Nothing, after: Vec::new(), micros: 0, on_cpu: true, comm: Comm::default() };
    while let Some((number, value)) = reader.field().map_err(broken)? {
        match (number, value) {
            (1, Value::Varint(id)) => node.id = id,
            (3, Value::Varint(kind)) => node.kind = self::kind(kind)?,
            (4 | 5, Value::Varint(id)) => node.after.push(id),
            (4 | 5, Value::Bytes(packed)) => {
                let mut ids = Reader::new(packed);
                while !ids.is_empty() {
                    node.after.push(ids.varint().map_err(broken)?);
                }
            }
            (7, Value::Varint(micros)) => node.micros = micros,
            (10, Value::Bytes(attribute)) => {
                take(attribute, &mut node).map_err(|problem| format!("node {}: {problem}", node.id))?
            }
            (1 | 3 | 4 | 5 | 7 | 10, _) => return Err(broken("a field has another type than Chakra 1.0 gives it")),
            _ => {}
        }
    }
    Ok(node)
}

fn kind(number: u64) -> Result<Kind, String> {
    Ok(match number {
        0 | 1 => Kind::Nothing,
        2..=4 => Kind::Compute,
        5 => Kind::Send,
        6 => Kind::Recv,
        7 => Kind::Collective,
        _ => return Err(format!("has a node of type {number}; valid: 0 to 7")),
    })
}

/// A number or a name of an attribute.
enum Given {
    Number(u64),
    Text(String),
}

/// Takes an attribute that matters.
fn take(attribute: &[u8], node: &mut Node) -> Result<(), String> {
    let broken = |broken: Broken| format!("an attribute is broken: {broken}");
    let (mut reader, mut name, mut given) = (Reader::new(attribute), "", None);
    while let Some((number, value)) = reader.field().map_err(broken)? {
        match (number, value) {
            (1, Value::Bytes(text)) => {
                name = std::str::from_utf8(text).map_err(|_| "an attribute's name is no text")?
            }
            (11 | 13 | 15 | 17 | 27, Value::Varint(number)) => given = Some(Given::Number(number)),
            (29, Value::Bytes(text)) => given = Some(Given::Text(String::from_utf8_lossy(text).into_owned())),
            _ => {}
        }
    }
    let number = || match &given {
        // A negative one is the two's complement of 64 bits.
        Some(Given::Number(number)) if *number <= i64::MAX as u64 => Ok(Some(*number)),
        Some(Given::Text(text)) => match text.parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(format!("`{name}` must be a whole number, not `{}`", short(text))),
        },
        _ => Err(format!("`{name}` must be a whole number from 0 on")),
    };
    match name {
        "is_cpu_op" => node.on_cpu = number()?.is_some_and(|truth| truth != 0),
        "comm_type" => node.comm.kind = number()?,
        "comm_size" => node.comm.size = number()?,
        "comm_src" => node.comm.source = number()?,
        "comm_dst" => node.comm.destination = number()?,
        "comm_tag" => node.comm.tag = number()?,
        "root_rank" => node.comm.root = number()?,
        "pg_name" => {
            node.comm.group = match given {
                Some(Given::Text(text)) => Some(text),
                Some(Given::Number(number)) => Some(number.to_string()),
                None => return Err("`pg_name` must be a name".to_string()),
            }
        }
        _ => {}
    }
    Ok(())
}

/// A text for a message.
pub(super) fn short(text: &str) -> String {
    text.chars().take(30).flat_map(char::escape_debug).collect()
}
