//! Parses TOML into nodes.

use becalm_engine::order;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::errors::Errors;
use crate::node::{Node, Value};

/// Parses a TOML text; `None` after a syntax error. Each syntax error is noted with its line.
pub fn parse(text: &str, errors: &mut Errors) -> Option<Node> {
    let lines = Lines::of(text);
    let (table, wrong) = DeTable::parse_recoverable(text);
    for error in &wrong {
        let line = error.span().map(|span| lines.at(span.start));
        errors.syntax(line, format!("not valid TOML: {}", error.message().replace('\n', ", ")));
    }
    let mut root = Node { line: Some(1), key: String::new(), value: Value::Bool(false), id: 0 };
    root.value = table_value(&root, table.get_ref(), &lines);
    root.number();
    wrong.is_empty().then_some(root)
}

fn table_value(parent: &Node, table: &DeTable<'_>, lines: &Lines) -> Value {
    let entry = |(key, value): (&Spanned<std::borrow::Cow<'_, str>>, &Spanned<DeValue<'_>>)| {
        let name = key.get_ref().to_string();
        let line = lines.at(key.span().start);
        let node = node(parent.child_key(&name), line, value, lines);
        (name, node)
    };
    let mut entries: Vec<(String, Node)> = table.iter().map(entry).collect();
    order::sort_by_key(&mut entries, |(_, node)| node.line);
    Value::Table(entries)
}

fn node(key: String, line: u32, value: &Spanned<DeValue<'_>>, lines: &Lines) -> Node {
    let mut node = Node { line: Some(line), key, value: Value::Bool(false), id: 0 };
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

/// The byte offsets at which the lines of a text start.
struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    fn of(text: &str) -> Lines {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Lines { starts: std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect() }
    }

    /// The line number of a byte offset, from 1.
    fn at(&self, byte: usize) -> u32 {
        self.starts.partition_point(|start| *start <= byte) as u32
    }
}
