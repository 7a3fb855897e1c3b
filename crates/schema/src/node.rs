//! A parsed value with its key and line.

/// Largest number of characters of a value in a message.
const SHOWN: usize = 60;

/// A value with its location and its key.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Line of its key, from 1; `None` if it does not come from a text.
    pub line: Option<u32>,
    /// The key with its path, such as `flows[0].name`; empty for the entire file.
    pub key: String,
    /// The value.
    pub value: Value,
    /// Its number in the document.
    pub(crate) id: u32,
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
    /// An array, or an array of tables.
    List(Vec<Node>),
    /// A table: names and values.
    Table(Vec<(String, Node)>),
    /// A value that no field accepts (a date, a JSON null, or an integer beyond 128 bits), as shown in
    /// messages.
    Other(String),
}

impl Node {
    /// A document from JSON. Null means an absent setting.
    pub fn from_json(json: &serde_json::Value) -> Node {
        let mut root = json_node(String::new(), json);
        root.number();
        root
    }

    /// Numbers the nodes of a document. A node's number precedes those of its children.
    pub(crate) fn number(&mut self) {
        fn number(node: &mut Node, next: &mut u32) {
            node.id = *next;
            *next += 1;
            match &mut node.value {
                Value::List(items) => items.iter_mut().for_each(|item| number(item, next)),
                Value::Table(entries) => entries.iter_mut().for_each(|(_, node)| number(node, next)),
                _ => {}
            }
        }
        number(self, &mut 0);
    }

    /// The node of a document with this number.
    pub(crate) fn find(&self, id: u32) -> &Node {
        let mut node = self;
        while node.id != id {
            let inner = match &node.value {
                Value::List(items) => items[..items.partition_point(|item| item.id <= id)].last(),
                Value::Table(entries) => entries[..entries.partition_point(|(_, e)| e.id <= id)].last().map(|(_, e)| e),
                _ => None,
            };
            let Some(inner) = inner else { break };
            node = inner;
        }
        node
    }

    /// The node at a path below this node, such as `overrides[0].ports`.
    pub fn at(&self, path: &str) -> Option<&Node> {
        path.split('.').try_fold(self, |node, part| {
            let mut parts = part.split('[');
            let named = node.get(parts.next()?)?;
            parts.try_fold(named, |node, index| node.items()?.get(index.strip_suffix(']')?.parse::<usize>().ok()?))
        })
    }

    /// The value of a key; also `None` if this is not a table.
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

    /// The value for a message, truncated if it is long.
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

fn json_node(key: String, json: &serde_json::Value) -> Node {
    let mut node = Node { line: None, key, value: Value::Bool(false), id: 0 };
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
