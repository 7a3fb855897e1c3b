//! Structs that represent tables.

use std::ops::RangeBounds;

use serde_json::json;

use crate::conflict::{Conflict, note};
use crate::errors::Errors;
use crate::field::Field;
use crate::located::{Located, Place};
use crate::node::Node;
use crate::range::{self, Ranged};
use crate::suggest::did_you_mean;

/// A struct that was declared with [`table!`](crate::table!).
pub trait Table: Field {
    /// Purpose of the table: its doc comment.
    fn doc() -> String;

    /// Its fields, in the order of declaration.
    fn fields() -> Vec<FieldDoc>;
}

/// Description of one field of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldDoc {
    /// The key.
    pub name: &'static str,
    /// Kind of value: `a finite number`.
    pub kind: String,
    /// The unit; empty for pure numbers and for values that are written with their unit.
    pub unit: &'static str,
    /// The default as JSON; null if it means "none".
    pub default: Option<serde_json::Value>,
    /// Whether the key is required.
    pub required: bool,
    /// The range in words; empty if the kind implies it.
    pub range: String,
    /// Help text.
    pub help: String,
    /// JSON Schema of the value: kind, range, help and default.
    pub schema: serde_json::Value,
}

impl FieldDoc {
    /// Describes a field of type `T` without a range.
    pub fn of<T: Field>(name: &'static str, unit: &'static str, default: Option<T>, help: String) -> FieldDoc {
        let default = default.or_else(T::absent).map(|value| value.to_json());
        FieldDoc::described(name, T::expects(), unit, default, help, T::json_schema())
    }

    // This function and those below are not generic, so that they are not compiled for every type of field.
    fn described(
        name: &'static str,
        kind: String,
        unit: &'static str,
        default: Option<serde_json::Value>,
        help: String,
        mut schema: serde_json::Value,
    ) -> FieldDoc {
        let text = if unit.is_empty() { help.clone() } else { format!("{help} [{unit}]") };
        schema["description"] = json!(text);
        if let Some(default) = default.as_ref().filter(|default| !default.is_null()) {
            schema["default"] = default.clone();
        }
        let required = default.is_none();
        FieldDoc { name, kind, unit, default, required, range: String::new(), help, schema }
    }

    /// Adds a range.
    pub fn ranged<T: Ranged>(self, range: &impl RangeBounds<T::Bound>) -> FieldDoc {
        self.bounded(range::in_words(range), range::in_json_schema(range))
    }

    fn bounded(mut self, range: String, bounds: Vec<(&'static str, serde_json::Value)>) -> FieldDoc {
        self.range = range;
        if matches!(self.schema["type"].as_str(), Some("number" | "integer")) {
            for (keyword, bound) in bounds {
                self.schema[keyword] = bound;
            }
        }
        self
    }

    /// The first of these bounds that is in the field's schema; null if there is none.
    fn bound(&self, keywords: [&str; 2]) -> serde_json::Value {
        keywords.into_iter().find_map(|keyword| self.schema.get(keyword).cloned()).unwrap_or_default()
    }

    /// The description as JSON, for generated pages. Bounds are null if they are not numbers.
    pub fn to_json(&self) -> serde_json::Value {
        json!({
            "name": self.name,
            "kind": self.kind,
            "unit": self.unit,
            "default": self.default,
            "required": self.required,
            "range": self.range,
            "minimum": self.bound(["minimum", "exclusiveMinimum"]),
            "maximum": self.bound(["maximum", "exclusiveMaximum"]),
            "help": self.help,
        })
    }
}

/// The JSON Schema of a table.
pub fn json_schema<T: Table>() -> serde_json::Value {
    schema(T::doc(), T::fields())
}

fn schema(doc: String, fields: Vec<FieldDoc>) -> serde_json::Value {
    let required: Vec<&str> = fields.iter().filter(|field| field.required).map(|field| field.name).collect();
    let properties: serde_json::Map<_, _> =
        fields.into_iter().map(|field| (field.name.to_string(), field.schema)).collect();
    json!({
        "type": "object",
        "description": doc,
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

/// A table as JSON.
#[doc(hidden)]
pub fn object(fields: Vec<(&'static str, serde_json::Value)>) -> serde_json::Value {
    let mut object = serde_json::Map::new();
    for (key, value) in fields {
        object.insert(key.to_string(), value);
    }
    serde_json::Value::Object(object)
}

/// Reads the fields of a table.
#[doc(hidden)]
pub struct Row<'a> {
    node: &'a Node,
    errors: &'a mut Errors,
    /// Number of errors before the first field.
    before: usize,
}

impl<'a> Row<'a> {
    /// Notes an error unless `node` is a table and all its keys are among `names`.
    pub fn open(node: &'a Node, errors: &'a mut Errors, names: &[&'static str]) -> Option<Row<'a>> {
        let Some(entries) = node.entries() else {
            errors.add(node, format!("must be {}", expects(names)), "");
            return None;
        };
        for (name, value) in entries.iter().filter(|(name, _)| !names.contains(&name.as_str())) {
            let hint = did_you_mean(name, names).map_or(String::new(), |near| format!(", did you mean `{near}`?"));
            errors.add(value, format!("unknown key{hint}"), listed(names));
        }
        let before = errors.list.len();
        Some(Row { node, errors, before })
    }

    /// The value of a key, or its default.
    pub fn field<T: Field>(&mut self, name: &'static str, default: Option<T>) -> Option<T> {
        if let Some(node) = self.node.get(name) {
            return T::read(node, self.errors);
        }
        let value = default.or_else(T::absent);
        if value.is_none() {
            self.errors.missing(self.node, name, T::expects());
        }
        value
    }

    /// The value, unless it is set and out of range. Defaults are not checked.
    pub fn within<T: Ranged>(
        &mut self,
        name: &str,
        unit: &str,
        value: T,
        range: &impl RangeBounds<T::Bound>,
    ) -> Option<T> {
        let Some(node) = self.node.get(name) else { return Some(value) };
        if value.within(range) {
            return Some(value);
        }
        let unit = if unit.is_empty() { String::new() } else { format!(" ({unit})") };
        self.errors.add(node, format!("must be {}{unit}", range::in_words(range)), "");
        None
    }

    /// The value of a key or its default, with its location.
    pub fn located<T: Field>(&mut self, name: &'static str, default: Option<T>) -> Located<T> {
        let place = self.node.get(name).map_or(Place::left_out_of(self.node), Place::of);
        Located::new(self.field(name, default), place)
    }

    /// The value; missing if it is set and out of range.
    pub fn located_within<T: Ranged>(
        &mut self,
        name: &str,
        unit: &str,
        field: Located<T>,
        range: &impl RangeBounds<T::Bound>,
    ) -> Located<T> {
        let place = field.place();
        Located::new(field.into_value().and_then(|value| self.within(name, unit, value, range)), place)
    }

    /// The value, if its fields fit together. A conflict at an absent key is reported at the table.
    pub fn checked<T>(&mut self, value: T, check: fn(&T) -> Result<(), Conflict>) -> Option<T> {
        let Err(conflict) = check(&value) else { return Some(value) };
        note(self.node, conflict, self.errors);
        None
    }

    /// Whether everything read so far was valid, apart from unknown keys.
    pub fn is_sound(&self) -> bool {
        self.errors.list.len() == self.before
    }
}

impl<T: Table> Table for Located<T> {
    fn doc() -> String {
        T::doc()
    }

    fn fields() -> Vec<FieldDoc> {
        T::fields()
    }
}

/// The name of a field without the `r#` of a Rust keyword.
#[doc(hidden)]
pub fn key(name: &'static str) -> &'static str {
    name.strip_prefix("r#").unwrap_or(name)
}

/// Description of the valid values of a table.
#[doc(hidden)]
pub fn expects(names: &[&str]) -> String {
    format!("a table with the keys {}", listed(names))
}

fn listed(names: &[&str]) -> String {
    if names.is_empty() { "none".to_string() } else { names.join(", ") }
}

/// Declares a table: a struct with code to read it, check its ranges, document it and write it.
///
/// Each field has a doc comment, a name and a type, followed by optional `= default`, `; "unit"` and
/// `; range`. A range requires a unit before it, `""` for a pure number. It can be any `RangeBounds`. A field
/// without a default is required, unless it is an `Option`. If every field has a default, so does the struct.
///
/// `check function;` may follow the struct. The function has the type `fn(&Self) -> Result<(), Conflict>`,
/// and checks the fields together after all have been read and are within range.
///
/// `located struct` makes every field a [`Located`] of its type. A wrong field then does not prevent the
/// others from being read, and later errors have a location.
///
/// Generates the struct with `Clone`, `Debug`, `PartialEq`, its [`Field`](crate::Field) and its
/// [`Table`](crate::Table).
#[macro_export]
macro_rules! table {
    (@check $row:ident $value:ident) => { Some($value) };
    (@check $row:ident $value:ident $check:path) => { $row.checked($value, $check) };
    (@default $of:tt $name:ident { $($field:ident ($default:expr))* }) => {
        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $crate::table!(@given $of $default)),* }
            }
        }
    };
    (@default $of:tt $name:ident { $($field:ident ($($default:expr)?))* }) => {};
    (@given [] $default:expr) => { $default };
    (@given [located] $default:expr) => { $crate::Located::from($default) };
    (@unit) => { "" };
    (@unit $unit:literal) => { $unit };
    (@option) => { None };
    (@option $default:expr) => { Some($default) };
    (@read [] $name:ident $row:ident { $($field:ident: $type:ty [$($default:expr)?] [$($unit:literal; $range:expr)?])* }) => {{
        $(
            let key = $crate::table::key(stringify!($field));
            let $field = $row.field::<$type>(key, $crate::table!(@option $($default)?));
            $(let $field = $field.and_then(|value| $row.within(key, $unit, value, &($range)));)?
        )*
        $name { $($field: $field?),* }
    }};
    (@read [located] $name:ident $row:ident { $($field:ident: $type:ty [$($default:expr)?] [$($unit:literal; $range:expr)?])* }) => {{
        $(
            let key = $crate::table::key(stringify!($field));
            let $field = $row.located::<$type>(key, $crate::table!(@option $($default)?));
            $(let $field = $row.located_within(key, $unit, $field, &($range));)?
        )*
        let value = $name { $($field),* };
        if !$row.is_sound() {
            return Some(value);
        }
        value
    }};
    (@struct [] $(#[$doc:meta])* $vis:vis $name:ident { $($(#[$help:meta])* $field_vis:vis $field:ident: $type:ty)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        $vis struct $name {
            $($(#[$help])* $field_vis $field: $type),*
        }
    };
    (@struct [located] $(#[$doc:meta])* $vis:vis $name:ident { $($(#[$help:meta])* $field_vis:vis $field:ident: $type:ty)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        $vis struct $name {
            $($(#[$help])* $field_vis $field: $crate::Located<$type>),*
        }
    };
    ($(#[doc = $doc:expr])* $vis:vis located struct $name:ident { $($fields:tt)* } $($check:tt)*) => {
        $crate::table!(@table [located] $(#[doc = $doc])* $vis $name { $($fields)* } $($check)*);
    };
    ($(#[doc = $doc:expr])* $vis:vis struct $name:ident { $($fields:tt)* } $($check:tt)*) => {
        $crate::table!(@table [] $(#[doc = $doc])* $vis $name { $($fields)* } $($check)*);
    };
    (
        @table $of:tt
        $(#[doc = $doc:expr])*
        $vis:vis $name:ident {
            $(
                $(#[doc = $help:expr])*
                $field_vis:vis $field:ident: $type:ty $(= $default:expr)? $(; $unit:literal $(; $range:expr)?)?
            ),* $(,)?
        }
        $(check $check:path;)?
    ) => {
        $crate::table!(@struct $of $(#[doc = $doc])* $vis $name {
            $($(#[doc = $help])* $field_vis $field: $type)*
        });

        $crate::table!(@default $of $name { $($field ($($default)?))* });

        impl $crate::Field for $name {
            fn expects() -> String {
                $crate::table::expects(&[$($crate::table::key(stringify!($field))),*])
            }

            fn read(node: &$crate::Node, errors: &mut $crate::Errors) -> Option<Self> {
                let names = [$($crate::table::key(stringify!($field))),*];
                #[allow(unused_variables, unused_mut)]
                let mut row = $crate::table::Row::open(node, errors, &names)?;
                let value = $crate::table!(@read $of $name row {
                    $($field: $type [$($default)?] [$($($unit; $range)?)?])*
                });
                $crate::table!(@check row value $($check)?)
            }

            fn to_json(&self) -> $crate::serde_json::Value {
                $crate::table::object(vec![
                    $(($crate::table::key(stringify!($field)), $crate::Field::to_json(&self.$field))),*
                ])
            }

            fn json_schema() -> $crate::serde_json::Value {
                $crate::table::json_schema::<Self>()
            }

            fn is_complete(&self) -> bool {
                true $(&& $crate::Field::is_complete(&self.$field))*
            }
        }

        impl $crate::Table for $name {
            fn doc() -> String {
                $crate::join_doc(&[$($doc),*])
            }

            fn fields() -> Vec<$crate::FieldDoc> {
                vec![$(
                    $crate::FieldDoc::of::<$type>(
                        $crate::table::key(stringify!($field)),
                        $crate::table!(@unit $($unit)?),
                        $crate::table!(@option $($default)?),
                        $crate::join_doc(&[$($help),*]),
                    )$($(.ranged::<$type>(&($range)))?)?
                ),*]
            }
        }
    };
}
