//! Tables: columns of equal length, declared by a schema.

use crate::schema::{Kind, TableSchema};

/// The values of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// Real numbers; NaN where undefined.
    F64(Vec<f64>),
    /// Counts and numbers of things.
    U64(Vec<u64>),
    /// Names.
    Text(Vec<String>),
    /// Names of which many are equal.
    Names(Names),
    /// Rows of bytes, such as one byte per link.
    Bytes(Vec<Vec<u8>>),
}

/// Names as places in a list, for columns with many rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Names {
    /// All names that may occur.
    pub list: Vec<String>,
    /// For each row, the place of its name in the list.
    pub of: Vec<u32>,
}

impl Names {
    /// The name of every row.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.of.iter().map(|&place| self.list[place as usize].as_str())
    }
}

impl Data {
    /// Number of values.
    pub fn len(&self) -> usize {
        match self {
            Data::F64(values) => values.len(),
            Data::U64(values) => values.len(),
            Data::Text(values) => values.len(),
            Data::Names(names) => names.of.len(),
            Data::Bytes(rows) => rows.len(),
        }
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether a column of this kind may contain these values.
    fn suits(&self, kind: Kind) -> bool {
        match self {
            Data::Text(_) | Data::Names(_) => kind == Kind::Name,
            Data::Bytes(_) => kind == Kind::Row,
            Data::U64(_) | Data::F64(_) => !matches!(kind, Kind::Name | Kind::Row),
        }
    }
}

impl From<Vec<f64>> for Data {
    fn from(values: Vec<f64>) -> Data {
        Data::F64(values)
    }
}

impl From<Vec<u64>> for Data {
    fn from(values: Vec<u64>) -> Data {
        Data::U64(values)
    }
}

impl From<Vec<String>> for Data {
    fn from(values: Vec<String>) -> Data {
        Data::Text(values)
    }
}

impl From<Names> for Data {
    fn from(names: Names) -> Data {
        Data::Names(names)
    }
}

impl From<Vec<Vec<u8>>> for Data {
    fn from(rows: Vec<Vec<u8>>) -> Data {
        Data::Bytes(rows)
    }
}

/// A column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Name, unique in its table.
    pub name: &'static str,
    /// Unit of the values: `s`, `B/s`, `packets`; empty for shares and names.
    pub unit: &'static str,
    /// The values.
    pub data: Data,
}

/// A table.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Name, unique among the results of a run.
    pub name: &'static str,
    /// Columns of equal length.
    pub columns: Vec<Column>,
    schema: &'static TableSchema,
}

impl Table {
    /// A table of this schema, still without columns.
    pub fn new(schema: &'static TableSchema) -> Table {
        Table { name: schema.name, columns: Vec::new(), schema }
    }

    /// Adds the next column of the schema, with the same length as the others.
    ///
    /// # Panics
    /// If the schema has another column at this position, or the column has another kind.
    pub fn with(mut self, name: &str, data: impl Into<Data>) -> Table {
        let data = data.into();
        let next = self.schema.all_columns().nth(self.columns.len());
        let fits = next.is_some_and(|next| next.name == name && data.suits(next.kind));
        let Some(next) = next.filter(|_| fits) else {
            panic!("table {}: its schema has {next:?} instead of the column {name}", self.name)
        };
        debug_assert!(self.columns.is_empty() || data.len() == self.rows(), "column {name} of {}", self.name);
        self.columns.push(Column { name: next.name, unit: next.unit, data });
        self
    }

    /// Declaration of the table.
    pub fn schema(&self) -> &'static TableSchema {
        self.schema
    }

    /// Whether the table has all columns of its schema.
    pub fn is_complete(&self) -> bool {
        self.columns.len() == self.schema.all_columns().count()
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.data.len())
    }

    /// The values of the column with this name.
    pub fn column(&self, name: &str) -> Option<&Data> {
        self.columns.iter().find(|column| column.name == name).map(|column| &column.data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::LATENCIES;

    #[test]
    fn columns_are_found_by_name() {
        let table = Table::new(&LATENCIES).with("group", vec!["g".to_string()]).with("from", vec![1e-9]);
        assert_eq!((table.rows(), table.is_complete()), (1, false));
        assert_eq!((table.column("from"), table.columns[1].unit), (Some(&Data::F64(vec![1e-9])), "s"));
        assert_eq!(table.column("to"), None);
        assert!(table.with("to", vec![2e-9]).with("packets", vec![1]).is_complete());
    }

    #[test]
    #[should_panic(expected = "instead of the column rate")]
    fn a_column_that_is_not_declared_is_refused() {
        let _ = Table::new(&LATENCIES).with("rate", vec![1e9]);
    }

    #[test]
    #[should_panic(expected = "instead of the column group")]
    fn a_column_of_another_kind_is_refused() {
        let _ = Table::new(&LATENCIES).with("group", vec![1e9]);
    }
}
