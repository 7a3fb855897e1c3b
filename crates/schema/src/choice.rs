//! Choices: tables with exactly one sub-table, whose name is the choice.

use serde_json::json;

use crate::errors::Errors;
use crate::field::Field;
use crate::node::Node;
use crate::suggest::did_you_mean;
use crate::table::{FieldDoc, Table};

/// An enum that was declared with [`choice!`](crate::choice!).
pub trait Choice: Field {
    /// The names to choose from, in the order of declaration.
    const NAMES: &'static [&'static str];

    /// The name of this choice.
    fn name(&self) -> &'static str;

    /// Descriptions of the options.
    fn options() -> Vec<OptionDoc>;
}

/// Description of one option of a choice.
#[derive(Clone, Debug, PartialEq)]
pub struct OptionDoc {
    /// Its name.
    pub name: &'static str,
    /// Its purpose.
    pub doc: String,
    /// Its parameters.
    pub fields: Vec<FieldDoc>,
    /// The JSON Schema of its table.
    pub schema: serde_json::Value,
}

impl OptionDoc {
    /// Describes an option with the parameters `T`.
    pub fn of<T: Table>(name: &'static str) -> OptionDoc {
        OptionDoc { name, doc: T::doc(), fields: T::fields(), schema: T::json_schema() }
    }

    /// The description as JSON, for generated pages.
    pub fn to_json(&self) -> serde_json::Value {
        let parameters: Vec<serde_json::Value> = self.fields.iter().map(FieldDoc::to_json).collect();
        json!({"name": self.name, "doc": self.doc, "parameters": parameters})
    }
}

/// The sub-table of a choice; `None` unless there is exactly one with a valid name. The error is then noted.
#[doc(hidden)]
pub fn pick<'a>(names: &[&'static str], node: &'a Node, errors: &mut Errors) -> Option<(&'static str, &'a Node)> {
    let Some(entries) = node.entries().filter(|entries| !entries.is_empty()) else {
        // A bare name is the most common mistake. The sub-table is required even if it has no parameters.
        let near = node.text().and_then(|word| did_you_mean(word, names));
        let hint = near.map_or(String::new(), |name| format!(", did you mean `{{{name} = {{}}}}`?"));
        errors.add(node, format!("must be {}{hint}", expects(names)), "");
        return None;
    };
    let mut picked = None;
    for (given, value) in entries {
        match (names.iter().find(|name| *name == given), picked) {
            (Some(name), None) => picked = Some((*name, value)),
            (Some(_), Some((first, _))) => {
                errors.add(value, format!("`{first}` is already chosen; only one is allowed"), "");
                return None;
            }
            (None, _) => {
                let hint = did_you_mean(given, names).map_or(String::new(), |near| format!(", did you mean `{near}`?"));
                errors.add(value, format!("unknown name{hint}"), names.join(", "));
                return None;
            }
        }
    }
    picked
}

/// Description of the valid values of a choice.
#[doc(hidden)]
pub fn expects(names: &[&str]) -> String {
    format!("a table with one sub-table, named {}", names.join(" or "))
}

/// The JSON Schema of a choice.
#[doc(hidden)]
pub fn json_schema<T: Choice>() -> serde_json::Value {
    schema(T::options())
}

fn schema(options: Vec<OptionDoc>) -> serde_json::Value {
    let properties: serde_json::Map<_, _> =
        options.into_iter().map(|option| (option.name.to_string(), option.schema)).collect();
    json!({
        "type": "object",
        "properties": properties,
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": false,
    })
}

/// Declares a choice: an enum of tables, written as a table with one sub-table, `[response.lipd]`.
///
/// Each variant is `Variant(Params) = "name"`, where `Params` was declared with [`table!`](crate::table!).
/// Generates the enum with `Clone`, `Debug`, `PartialEq`, its [`Field`](crate::Field) and its
/// [`Choice`](crate::Choice).
#[macro_export]
macro_rules! choice {
    (
        $(#[doc = $doc:expr])*
        $vis:vis enum $name:ident {
            $($(#[doc = $option_doc:expr])* $variant:ident($params:ty) = $word:literal),+ $(,)?
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq)]
        $vis enum $name {
            $($(#[doc = $option_doc])* $variant($params)),+
        }

        impl $crate::Field for $name {
            fn expects() -> String {
                $crate::choice::expects(<Self as $crate::Choice>::NAMES)
            }

            fn read(node: &$crate::Node, errors: &mut $crate::Errors) -> Option<Self> {
                let (name, table) = $crate::choice::pick(<Self as $crate::Choice>::NAMES, node, errors)?;
                match name {
                    $($word => <$params as $crate::Field>::read(table, errors).map(Self::$variant),)+
                    _ => None,
                }
            }

            fn to_json(&self) -> $crate::serde_json::Value {
                match self {
                    $(Self::$variant(params) => $crate::serde_json::json!({$word: $crate::Field::to_json(params)})),+
                }
            }

            fn json_schema() -> $crate::serde_json::Value {
                $crate::choice::json_schema::<Self>()
            }

            fn is_complete(&self) -> bool {
                match self {
                    $(Self::$variant(params) => $crate::Field::is_complete(params)),+
                }
            }
        }

        impl $crate::Choice for $name {
            const NAMES: &'static [&'static str] = &[$($word),+];

            fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $word),+
                }
            }

            fn options() -> Vec<$crate::OptionDoc> {
                vec![$($crate::OptionDoc::of::<$params>($word)),+]
            }
        }
    };
}
