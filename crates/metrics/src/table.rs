//! Tables: named columns of equal length, with units.

/// The values of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// Real numbers; NaN where undefined.
    F64(Vec<f64>),
    /// Counts and numbers of things.
    U64(Vec<u64>),
    /// Names.
    Text(Vec<String>),
    /// Rows of bytes, such as one byte for each link.
    Bytes(Vec<Vec<u8>>),
}

impl Data {
    /// Number of values.
    pub fn len(&self) -> usize {
        match self {
            Data::F64(values) => values.len(),
            Data::U64(values) => values.len(),
            Data::Text(values) => values.len(),
            Data::Bytes(rows) => rows.len(),
        }
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
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
}

impl Table {
    /// A table without columns.
    pub fn new(name: &'static str) -> Table {
        Table { name, columns: Vec::new() }
    }

    /// Adds a column, as long as the others.
    pub fn with(mut self, name: &'static str, unit: &'static str, data: impl Into<Data>) -> Table {
        let data = data.into();
        debug_assert!(self.columns.is_empty() || data.len() == self.rows(), "column {name} of {}", self.name);
        self.columns.push(Column { name, unit, data });
        self
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

    #[test]
    fn columns_are_found_by_name() {
        let table = Table::new("links").with("from", "", vec!["A".to_string()]).with("rate", "B/s", vec![1e9]);
        assert_eq!(table.rows(), 1);
        assert_eq!(table.column("rate"), Some(&Data::F64(vec![1e9])));
        assert_eq!(table.column("to"), None);
    }
}
