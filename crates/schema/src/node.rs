//! A parsed value that knows its key and its line.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::mistakes::{Mistake, Mistakes};

/// Characters of a value that a message shows.
const SHOWN: usize = 60;

/// A value, where it stands, and what it is called.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Line of its key, from 1; `None` if it does not come from a text.
    pub line: Option<u32>,
    /// The key with its path, such as `flows[0].name`; empty for the whole file.
    pub key: String,
    /// The value.
    pub value: Value,
}

/// A value of TOML or JSON.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A string.
    Text(String),
    /// An integer.
    Integer(i128),
    /// A floating-point number, which may be NaN or infinite.
    Float(f64),
    /// A truth value.
    Bool(bool),
    /// An array; an array of tables too.
    List(Vec<Node>),
    /// A table: names and values.
    Table(Vec<(String, Node)>),
    /// What no field accepts: a date, a JSON null, an integer beyond 128 bits; as it is shown.
    Other(String),
}

impl Node {
    /// Parses a TOML text. Errors of syntax are noted, each with its line, and give `None`.
    pub fn parse(text: &str, mistakes: &mut Mistakes) -> Option<Node> {
        let lines = Lines::of(text);
        let (table, errors) = DeTable::parse_recoverable(text);
        for error in &errors {
            mistakes.list.push(Mistake {
                line: error.span().map(|span| lines.at(span.start)),
                key: String::new(),
                value: String::new(),
                problem: format!("not valid TOML: {}", error.message().replace('\n', ", ")),
                valid: String::new(),
            });
        }
        let root = Node { line: Some(1), key: String::new(), value: Value::Bool(false) };
        errors.is_empty().then(|| Node { value: table_value(&root, table.get_ref(), &lines), ..root })
    }

    /// The same from JSON.
    pub fn from_json(json: &serde_json::Value) -> Node {
        json_node(String::new(), json)
    }

    /// The value of a key; `None` too if this is no table.
    pub fn get(&self, name: &str) -> Option<&Node> {
        self.entries()?.iter().find(|(key, _)| key == name).map(|(_, node)| node)
    }

    /// The names and values of a table.
    pub fn entries(&self) -> Option<&[(String, Node)]> {
        match &self.value {
            Value::Table(entries) => Some(entries),
            _ => None,
        }
    }

    /// The items of a list.
    pub fn items(&self) -> Option<&[Node]> {
        match &self.value {
            Value::List(items) => Some(items),
            _ => None,
        }
    }

    /// The text of a string.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The path of a key in this table.
    pub fn child_key(&self, name: &str) -> String {
        if self.key.is_empty() { name.to_string() } else { format!("{}.{name}", self.key) }
    }

    /// The value as a message shows it, cut if it is long.
    pub fn show(&self) -> String {
        let full = self.show_all();
        if full.chars().count() <= SHOWN {
            return full;
        }
        full.chars().take(SHOWN - 3).chain("...".chars()).collect()
    }

    fn show_all(&self) -> String {
        match &self.value {
            Value::Text(text) => format!("{text:?}"),
            Value::Integer(integer) => integer.to_string(),
            Value::Float(float) => format!("{float:?}"),
            Value::Bool(truth) => truth.to_string(),
            Value::List(items) => format!("[{}]", items.iter().map(Node::show).collect::<Vec<_>>().join(", ")),
            Value::Table(entries) => {
                let keys: Vec<&str> = entries.iter().map(|(key, _)| key.as_str()).collect();
                format!("table {{{}}}", keys.join(", "))
            }
            Value::Other(shown) => shown.clone(),
        }
    }
}

fn table_value(parent: &Node, table: &DeTable<'_>, lines: &Lines) -> Value {
    let entry = |(key, value): (&Spanned<std::borrow::Cow<'_, str>>, &Spanned<DeValue<'_>>)| {
        let name = key.get_ref().to_string();
        let line = lines.at(key.span().start);
        let node = node(parent.child_key(&name), line, value, lines);
        (name, node)
    };
    let mut entries: Vec<(String, Node)> = table.iter().map(entry).collect();
    entries.sort_by_key(|(_, node)| node.line);
    Value::Table(entries)
}

fn node(key: String, line: u32, value: &Spanned<DeValue<'_>>, lines: &Lines) -> Node {
    let mut node = Node { line: Some(line), key, value: Value::Bool(false) };
    node.value = match value.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(integer) => i128::from_str_radix(integer.as_str(), integer.radix())
            .map_or_else(|_| Value::Other(integer.to_string()), Value::Integer),
        DeValue::Float(float) => float.as_str().parse().map_or(Value::Other(float.to_string()), Value::Float),
        DeValue::Boolean(truth) => Value::Bool(*truth),
        DeValue::Datetime(date) => Value::Other(date.to_string()),
        DeValue::Array(items) => Value::List(
            items
                .iter()
                .enumerate()
                .map(|(index, item)| {
                    self::node(format!("{}[{index}]", node.key), lines.at(item.span().start), item, lines)
                })
                .collect(),
        ),
        DeValue::Table(table) => table_value(&node, table, lines),
    };
    node
}

fn json_node(key: String, json: &serde_json::Value) -> Node {
    let mut node = Node { line: None, key, value: Value::Bool(false) };
    node.value = match json {
        serde_json::Value::Null => Value::Other("null".to_string()),
        serde_json::Value::Bool(truth) => Value::Bool(*truth),
        serde_json::Value::Number(number) => match number.as_i128() {
            Some(integer) => Value::Integer(integer),
            None => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        serde_json::Value::String(text) => Value::Text(text.clone()),
        serde_json::Value::Array(items) => Value::List(
            items.iter().enumerate().map(|(index, item)| json_node(format!("{}[{index}]", node.key), item)).collect(),
        ),
        // A null stands for a setting that is left out.
        serde_json::Value::Object(entries) => Value::Table(
            entries
                .iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(name, value)| (name.clone(), json_node(node.child_key(name), value)))
                .collect(),
        ),
    };
    node
}

/// Where the lines of a text begin.
struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    fn of(text: &str) -> Lines {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Lines { starts: std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect() }
    }

    /// The line of a byte, from 1.
    fn at(&self, byte: usize) -> u32 {
        self.starts.partition_point(|start| *start <= byte) as u32
    }
}
