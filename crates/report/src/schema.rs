//! Declarations of a run's tables: the core's own, or those in a page's header.

use becalm_scenario::result_schema;
use serde_json::Value;

/// Declarations of all tables, as [`result_schema`] writes them.
pub(crate) struct Schema(Value);

/// Declaration of a column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Declared<'a> {
    pub kind: &'a str,
    pub unit: &'a str,
    pub meaning: &'a str,
}

impl Schema {
    /// The declarations in a page's header, if present: results may include tables that this core does not produce.
    pub fn of(about: &Value) -> Schema {
        Schema(about.get("schema").filter(|schema| schema.is_array()).cloned().unwrap_or_else(result_schema))
    }

    fn table(&self, name: &str) -> Option<&Value> {
        self.0.as_array()?.iter().find(|table| table["name"] == name)
    }

    /// What a row of a table represents; `None` for undeclared tables and tables with a time per row.
    pub fn summary(&self, table: &str) -> Option<&str> {
        self.table(table).filter(|table| table["over_time"] == false)?["rows"].as_str()
    }

    /// The column by which rows are sorted, if any.
    pub fn rank(&self, table: &str) -> Option<&str> {
        self.table(table)?["rank"].as_str().filter(|rank| !rank.is_empty())
    }

    /// Declaration of a column.
    pub fn column(&self, table: &str, name: &str) -> Option<Declared<'_>> {
        let column = self.table(table)?["columns"].as_array()?.iter().find(|column| column["name"] == name)?;
        let text = |key: &str| column[key].as_str().unwrap_or("");
        Some(Declared { kind: text("kind"), unit: text("unit"), meaning: text("meaning") })
    }
}
