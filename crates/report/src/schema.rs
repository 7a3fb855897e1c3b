//! What the tables of a run are declared to be: the core's own, or as the page's maker hands them on.

use becalm_scenario::result_schema;
use serde_json::Value;

/// The declaration of every table, as [`result_schema`] writes it.
pub(crate) struct Schema(Value);

/// The declaration of a column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Declared<'a> {
    pub kind: &'a str,
    pub unit: &'a str,
    pub meaning: &'a str,
}

impl Schema {
    /// That of a page's header, if it has one: results may have tables that this core does not make.
    pub fn of(about: &Value) -> Schema {
        Schema(about.get("schema").filter(|schema| schema.is_array()).cloned().unwrap_or_else(result_schema))
    }

    fn table(&self, name: &str) -> Option<&Value> {
        self.0.as_array()?.iter().find(|table| table["name"] == name)
    }

    /// What a row of a table stands for; none for a table that is not declared, or has times of its own.
    pub fn summary(&self, table: &str) -> Option<&str> {
        self.table(table).filter(|table| table["over_time"] == false)?["rows"].as_str()
    }

    /// The column by which rows are put in order, if there is one.
    pub fn rank(&self, table: &str) -> Option<&str> {
        self.table(table)?["rank"].as_str().filter(|rank| !rank.is_empty())
    }

    /// A column of a table.
    pub fn column(&self, table: &str, name: &str) -> Option<Declared<'_>> {
        let column = self.table(table)?["columns"].as_array()?.iter().find(|column| column["name"] == name)?;
        let text = |key: &str| column[key].as_str().unwrap_or("");
        Some(Declared { kind: text("kind"), unit: text("unit"), meaning: text("meaning") })
    }
}
