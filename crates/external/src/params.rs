//! The table of an external scheme in a scenario: `[response.external]`.

use std::sync::Arc;

use becalm_schema::field::refuse;
use becalm_schema::{Conflict, Errors, Field, Node, Value as Written};
use serde_json::{Value as Json, json};

use crate::linked::Linked;
use crate::parameters::{Parameter, settle};
use crate::scheme::{Provided, Seam};

becalm_schema::table! {
    /// A user-defined scheme, in Python, C or another language. The command line or a program provides its
    /// code; a scenario never contains code.
    pub struct Params {
        /// The name of the scheme, as declared in its code.
        pub name: Name,
        /// Values of the parameters that the scheme declares.
        pub parameters: Settings = Settings::default(),
        /// SHA-256 of the expected file, in hexadecimal digits. A scheme from another file is refused.
        pub sha256: Option<String> = None,
    }
}

/// The name of a scheme.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name(pub String);

impl Field for Name {
    fn expects() -> String {
        "the name of a scheme, such as \"mine\"".to_string()
    }

    fn read(node: &Node, errors: &mut Errors) -> Option<Name> {
        node.text().map(|name| Name(name.to_string())).or_else(|| refuse(node, errors))
    }

    fn to_json(&self) -> Json {
        json!(self.0)
    }

    fn json_schema() -> Json {
        json!({"type": "string", "examples": ["mine"]})
    }
}

/// The parameter values in a scenario, and the scheme that they belong to, once it is known.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    given: Vec<(String, Json)>,
    linked: Option<Arc<Linked>>,
}

impl PartialEq for Settings {
    fn eq(&self, other: &Settings) -> bool {
        self.to_json() == other.to_json()
    }
}

impl Field for Settings {
    fn expects() -> String {
        "a table with the parameters of the scheme".to_string()
    }

    fn read(node: &Node, errors: &mut Errors) -> Option<Settings> {
        let Some(entries) = node.entries() else { return refuse(node, errors) };
        let mut given = Vec::new();
        for (key, value) in entries {
            match scalar(value) {
                Some(json) => given.push((key.clone(), json)),
                None => errors.add(value, "must be a number, a string, true or false", ""),
            }
        }
        (given.len() == entries.len()).then_some(Settings { given, linked: None })
    }

    fn to_json(&self) -> Json {
        let Some(linked) = &self.linked else { return Json::Object(self.given.iter().cloned().collect()) };
        let pairs = linked.scheme.parameters.iter().zip(&linked.values);
        Json::Object(pairs.map(|(parameter, value)| (parameter.name.clone(), parameter.show(*value))).collect())
    }

    fn json_schema() -> Json {
        json!({"type": "object"})
    }
}

fn scalar(node: &Node) -> Option<Json> {
    match &node.value {
        Written::Text(text) => Some(json!(text)),
        Written::Integer(integer) => i64::try_from(*integer).ok().map(|integer| json!(integer)),
        Written::Float(float) if float.is_finite() => Some(json!(float)),
        Written::Bool(truth) => Some(json!(truth)),
        _ => None,
    }
}

impl Params {
    /// Finds the scheme among the provided ones, and determines its parameters.
    ///
    /// # Errors
    /// Conflicts, with keys in this table.
    pub fn link(&mut self, seam: Seam, provided: &Provided) -> Result<(), Vec<Conflict>> {
        let Some(scheme) = provided.find(seam, &self.name.0) else {
            return Err(vec![self.missing(seam, provided)]);
        };
        if let Some(meant) = self.sha256.as_deref().filter(|meant| *meant != scheme.sha256) {
            let problem = format!("does not match {}, whose hash is {}", scheme.origin, scheme.sha256);
            return Err(vec![Conflict::new("sha256", if meant.is_empty() { "is empty".to_string() } else { problem })]);
        }
        let values = settle(&scheme.parameters, &self.parameters.given).map_err(|wrong| {
            let within =
                |conflict: Conflict| Conflict { key: format!("parameters.{}", conflict.key).into(), ..conflict };
            wrong.into_iter().map(within).collect::<Vec<_>>()
        })?;
        self.sha256 = Some(scheme.sha256.clone());
        self.parameters.linked = Some(Linked::new(scheme, values));
        Ok(())
    }

    fn missing(&self, seam: Seam, provided: &Provided) -> Conflict {
        let names = provided.names(seam);
        let problem = format!(
            "needs code, which a scenario never contains: provide it with --{} FILE:NAME on the command line, \
             or schemes=[...] in Python",
            seam.word()
        );
        let valid = if names.is_empty() { String::new() } else { names.join(", ") };
        Conflict { valid, ..Conflict::new("name", problem) }
    }

    /// The scheme of the table, once it is known.
    pub fn linked(&self) -> Option<&Arc<Linked>> {
        self.parameters.linked.as_ref()
    }

    /// The parameter with this name and its value.
    pub fn parameter(&self, name: &str) -> Option<(&Parameter, crate::parameters::Value)> {
        let linked = self.linked()?;
        let pairs = linked.scheme.parameters.iter().zip(&linked.values);
        pairs.into_iter().find(|(parameter, _)| parameter.name == name).map(|(parameter, value)| (parameter, *value))
    }
}
