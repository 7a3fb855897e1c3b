//! The result tables of a replication, by name.

use becalm_metrics::{Data, Table};

/// A column with its unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Name of the column.
    pub name: String,
    /// Unit of the values; empty for plain numbers and text.
    pub unit: String,
    /// The values.
    pub data: Data,
}

/// Tables of one replication; any may be missing.
#[derive(Clone, Debug, Default)]
pub struct Tables(Vec<(String, Vec<Column>)>);

impl Tables {
    /// Adds a table. Shared names become text.
    pub fn insert(&mut self, name: String, mut columns: Vec<Column>) {
        for column in &mut columns {
            if let Data::Names(names) = &column.data {
                column.data = Data::Text(names.iter().map(str::to_string).collect());
            }
        }
        self.0.push((name, columns));
    }

    /// The names of all tables.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// All columns of a table; empty if the table is missing.
    pub fn columns(&self, table: &str) -> &[Column] {
        self.0.iter().find(|(name, _)| name == table).map_or(&[], |(_, columns)| columns)
    }

    fn data(&self, table: &str, column: &str) -> Option<&Data> {
        self.columns(table).iter().find(|each| each.name == column).map(|each| &each.data)
    }

    /// A column of numbers; empty if the column is missing.
    pub fn numbers(&self, table: &str, column: &str) -> Vec<f64> {
        match self.data(table, column) {
            Some(Data::F64(values)) => values.clone(),
            Some(Data::U64(values)) => values.iter().map(|&value| value as f64).collect(),
            _ => Vec::new(),
        }
    }

    /// A column of text; empty if the column is missing.
    pub fn text(&self, table: &str, column: &str) -> &[String] {
        match self.data(table, column) {
            Some(Data::Text(values)) => values,
            _ => &[],
        }
    }

    /// A column of rows of bytes; empty if the column is missing.
    pub fn bytes(&self, table: &str, column: &str) -> &[Vec<u8>] {
        match self.data(table, column) {
            Some(Data::Bytes(rows)) => rows,
            _ => &[],
        }
    }
}

impl From<Vec<Table>> for Tables {
    fn from(given: Vec<Table>) -> Tables {
        let mut tables = Tables::default();
        for table in given {
            let columns = table.columns.into_iter();
            let columns = columns.map(|c| Column { name: c.name.to_string(), unit: c.unit.to_string(), data: c.data });
            tables.insert(table.name.to_string(), columns.collect());
        }
        tables
    }
}
