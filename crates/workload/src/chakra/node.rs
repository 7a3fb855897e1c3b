//! Nodes of a trace, with their relevant attributes.

use super::wire::{Broken, Reader, Value};
use crate::mistakes::Mistakes;

/// The kind of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Kind {
    #[default]
    Nothing,
    Compute,
    Send,
    Recv,
    Collective,
}

/// A node of a trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Node {
    pub id: u64,
    pub kind: Kind,
    /// Data dependencies, that is, nodes that it waits for.
    pub data: Vec<u64>,
    /// Control dependencies, that is, nodes that it waits for.
    pub control: Vec<u64>,
    pub micros: u64,
    pub on_cpu: bool,
    pub comm: Comm,
}

/// Attributes of communication; `None` if they are absent.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Comm {
    pub kind: Option<u64>,
    pub size: Option<u64>,
    pub source: Option<u64>,
    pub destination: Option<u64>,
    pub tag: Option<u64>,
    pub group: Option<String>,
    /// Number of ranks of the group, including those without a trace.
    pub group_size: Option<usize>,
    pub root: Option<u64>,
}

impl Node {
    /// Completes a node whose fields have been read.
    pub fn settle(&mut self) {
        if self.on_cpu && self.comm.kind.is_none() && self.comm.size.is_none() && self.kind != Kind::Nothing {
            // In PyTorch traces, this is the CPU's call of the library. A node on the GPU follows.
            self.kind = Kind::Compute;
        }
    }

    /// Approximate memory of a node, its operation and its line in a schedule, in bytes.
    pub fn size(&self) -> u64 {
        (size_of::<Node>() + 200 + 100 * (self.data.len() + self.control.len())) as u64
    }
}

/// The nodes of an uncompressed trace, with at most this number of bytes of memory.
pub(super) fn nodes(bytes: &[u8], file: &str, most: u64) -> Result<Vec<Node>, Mistakes> {
    let mut taken = 0;
    let mut reader = Reader::new(bytes);
    let mut mistakes = Mistakes::new(file);
    let mut nodes = Vec::new();
    let mut first = true;
    while !reader.is_empty() {
        let place = reader.place();
        let message = match reader.delimited() {
            Ok(message) => message,
            Err(broken) => {
                let problem = format!("byte {place}: is not a Chakra execution trace: {broken}");
                mistakes.add(None, problem);
                break;
            }
        };
        // The first message describes the trace.
        let read = if std::mem::take(&mut first) { version(message).map(|()| None) } else { node(message).map(Some) };
        match read {
            Ok(Some(node)) => {
                taken += node.size();
                if taken > most {
                    mistakes.add(None, format!("byte {place}: {}", too_large(most)));
                    break;
                }
                nodes.push(node);
            }
            Ok(None) => {}
            Err(problem) => mistakes.add(None, format!("byte {place}: {problem}")),
        }
    }
    if first && mistakes.is_empty() {
        mistakes.add(None, EMPTY);
    }
    mistakes.settle(nodes)
}

/// The problem of a file without metadata.
pub(super) const EMPTY: &str = "is empty; a Chakra execution trace begins with its metadata";

/// The problem of nodes that need more than this number of bytes of memory.
pub(super) fn too_large(most: u64) -> String {
    format!("its nodes need more than {most} bytes of memory")
}

/// Checks the version of a trace, if it has one.
///
/// Field numbers changed before 1.0, but not after 0.0.4, the version written by ASTRA-sim's generators.
fn version(message: &[u8]) -> Result<(), String> {
    let mut reader = Reader::new(message);
    while let Some((number, value)) = reader.field().map_err(not_metadata)? {
        if let (1, Value::Bytes(text)) = (number, value) {
            check_version(&String::from_utf8_lossy(text))?;
        }
    }
    Ok(())
}

/// Checks that the fields of a version have the numbers of version 1.0.
pub(super) fn check_version(text: &str) -> Result<(), String> {
    let plain = text.trim_start_matches('v');
    let old = plain.split('.').next().and_then(|major| major.parse::<u32>().ok()) == Some(0);
    if old && plain != "0.0.4" {
        return Err(format!("has version {}; valid: 0.0.4, 1.0 and later", text.escape_debug()));
    }
    Ok(())
}

fn not_metadata(broken: Broken) -> String {
    format!("is not the metadata of a Chakra execution trace: {broken}")
}

fn node(message: &[u8]) -> Result<Node, String> {
    let broken = |broken: Broken| format!("is not a node of a Chakra execution trace: {broken}");
    let mut reader = Reader::new(message);
    let mut node = Node::default();
    while let Some((number, value)) = reader.field().map_err(broken)? {
        match (number, value) {
            (1, Value::Varint(id)) => node.id = id,
            (3, Value::Varint(kind)) => node.kind = self::kind(kind)?,
            (4, value) => ids(value, &mut node.control).map_err(broken)?,
            (5, value) => ids(value, &mut node.data).map_err(broken)?,
            (7, Value::Varint(micros)) => node.micros = micros,
            (10, Value::Bytes(attribute)) => {
                take(attribute, &mut node).map_err(|problem| format!("node {}: {problem}", node.id))?
            }
            (1 | 3 | 7 | 10, _) => return Err(broken(ANOTHER)),
            _ => {}
        }
    }
    node.settle();
    Ok(node)
}

const ANOTHER: Broken = "a field has a different type than in Chakra 1.0";

/// Reads the nodes of a packed or unpacked field.
fn ids(value: Value<'_>, into: &mut Vec<u64>) -> Result<(), Broken> {
    match value {
        Value::Varint(id) => into.push(id),
        Value::Bytes(packed) => {
            let mut ids = Reader::new(packed);
            while !ids.is_empty() {
                into.push(ids.varint()?);
            }
        }
        _ => return Err(ANOTHER),
    }
    Ok(())
}

pub(super) fn kind(number: u64) -> Result<Kind, String> {
    Ok(match number {
        0 | 1 => Kind::Nothing,
        2..=4 => Kind::Compute,
        5 => Kind::Send,
        6 => Kind::Recv,
        7 => Kind::Collective,
        _ => return Err(format!("has a node of type {number}; valid: 0 to 7")),
    })
}

/// The value of an attribute.
pub(super) enum Given {
    Number(i128),
    Text(String),
    /// A list with this number of whole numbers.
    List(usize),
}

/// Reads the value of an attribute, which is a whole number of any type in the schema, a list of these, or a text.
///
/// Generators use different types. ASTRA-sim's and MLCommons' write `int64_val` and `int32_val`.
fn given(field: u64, value: Value<'_>) -> Option<Given> {
    Some(match (field, value) {
        // int32_val and int64_val: negative numbers are in two's complement with 64 bits.
        (7 | 9, Value::Varint(number)) => Given::Number(i128::from(number as i64)),
        // uint32_val, uint64_val, bool_val.
        (11 | 13 | 27, Value::Varint(number)) => Given::Number(i128::from(number)),
        // sint32_val and sint64_val: zigzag.
        (15 | 17, Value::Varint(number)) => Given::Number(i128::from((number >> 1) as i64 ^ -((number & 1) as i64))),
        // fixed32_val, fixed64_val, sfixed32_val, sfixed64_val.
        (19, Value::Fixed32(number)) => Given::Number(i128::from(number)),
        (21, Value::Fixed64(number)) => Given::Number(i128::from(number)),
        (23, Value::Fixed32(number)) => Given::Number(i128::from(number as i32)),
        (25, Value::Fixed64(number)) => Given::Number(i128::from(number as i64)),
        // int32_list, int64_list, uint32_list, uint64_list, sint32_list, sint64_list.
        (8 | 10 | 12 | 14 | 16 | 18, Value::Bytes(list)) => Given::List(length(list)?),
        (29, Value::Bytes(text)) => Given::Text(String::from_utf8_lossy(text).into_owned()),
        _ => return None,
    })
}

/// The length of a list; `None` if it cannot be read.
fn length(list: &[u8]) -> Option<usize> {
    let (mut reader, mut numbers) = (Reader::new(list), Vec::new());
    while let Some((_, value)) = reader.field().ok()? {
        ids(value, &mut numbers).ok()?;
    }
    Some(numbers.len())
}

/// Reads a relevant attribute.
fn take(attribute: &[u8], node: &mut Node) -> Result<(), String> {
    let broken = |broken: Broken| format!("an attribute is broken: {broken}");
    let (mut reader, mut name, mut found) = (Reader::new(attribute), "", None);
    while let Some((field, value)) = reader.field().map_err(broken)? {
        match (field, value) {
            (1, Value::Bytes(text)) => {
                name = std::str::from_utf8(text).map_err(|_| "an attribute's name is not text")?
            }
            _ => found = given(field, value).or(found),
        }
    }
    set(name, found, node)
}

/// Sets a relevant attribute.
pub(super) fn set(name: &str, found: Option<Given>, node: &mut Node) -> Result<(), String> {
    let number = || match &found {
        Some(Given::Number(number)) => u64::try_from(*number)
            .map(Some)
            .map_err(|_| format!("`{name}` must be a whole number, at least 0, not {number}")),
        Some(Given::Text(text)) => match text.parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(format!("`{name}` must be a whole number, not `{}`", short(text))),
        },
        Some(Given::List(_)) | None => Err(format!("`{name}` must be a whole number, at least 0")),
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
            node.comm.group = match found {
                Some(Given::Text(text)) => Some(text),
                Some(Given::Number(number)) => Some(number.to_string()),
                Some(Given::List(_)) | None => return Err("`pg_name` must be a name".to_string()),
            }
        }
        "group_ranks" => {
            if let Some(Given::List(ranks)) = found {
                node.comm.group_size = Some(ranks);
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

/// The meaning of `comm_size` of an all-gather.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Gathered {
    /// The data that one rank has at the beginning.
    #[default]
    Part,
    /// The data that every rank has at the end.
    Whole,
}
