//! Declarations of all tables, with the columns, their kinds, units and meanings, and the settings that request the
//! tables.
//!
//! These declarations are the only source of information about tables. Table builders, the attributes of results in
//! Python, the documentation, the store, reports and pages all use them.

mod messages;
mod network;
mod over_time;
mod plans;
mod traffic;

pub use messages::*;
pub use network::*;
pub use over_time::*;
pub use plans::*;
pub use traffic::*;

/// Type of a column's values, which determines how they are displayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The name of a host, group, link or role.
    Name,
    /// A number that identifies something, such as a flow, a port or a virtual lane.
    Number,
    /// A number of things.
    Count,
    /// A part of a whole, from 0 to 1.
    Share,
    /// An index from 0 to 1 that is not a share, such as Jain's.
    Index,
    /// A multiple of another quantity; may exceed 1.
    Ratio,
    /// Bytes per second.
    Rate,
    /// Seconds.
    Time,
    /// Bytes.
    Bytes,
    /// Another quantity with a unit.
    Quantity,
    /// 1 for yes, 0 for no.
    Flag,
    /// A row of bytes, one for each link.
    Row,
}

impl Kind {
    /// Name of the kind.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Name => "name",
            Kind::Number => "number",
            Kind::Count => "count",
            Kind::Share => "share",
            Kind::Index => "index",
            Kind::Ratio => "ratio",
            Kind::Rate => "rate",
            Kind::Time => "time",
            Kind::Bytes => "bytes",
            Kind::Quantity => "quantity",
            Kind::Flag => "flag",
            Kind::Row => "row",
        }
    }
}

/// The declaration of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnSchema {
    /// Name, unique in its table.
    pub name: &'static str,
    /// Kind of the values.
    pub kind: Kind,
    /// Unit of the values: `s`, `B/s`, `packets`; empty for shares and names.
    pub unit: &'static str,
    /// Meaning, as a sentence.
    pub meaning: &'static str,
}

/// The declaration of a table.
#[derive(Debug, PartialEq, Eq)]
pub struct TableSchema {
    /// Name, unique among the results of a run.
    pub name: &'static str,
    /// What a row represents, as a sentence.
    pub rows: &'static str,
    /// Scenario setting that requests the table; empty for a table that every run has.
    pub asked_by: &'static str,
    /// Whether each row has a time; a summary of a run omits such tables.
    pub over_time: bool,
    /// Column by which a page sorts the rows, largest first; empty to keep the table's order.
    pub rank: &'static str,
    /// The columns in order, in groups that tables may share.
    pub columns: &'static [&'static [ColumnSchema]],
}

impl TableSchema {
    /// All columns in order.
    pub fn all_columns(&self) -> impl Iterator<Item = &'static ColumnSchema> {
        self.columns.iter().flat_map(|part| part.iter())
    }
}

/// The tables of results, in the order of the documentation.
pub static RESULTS: [&TableSchema; 24] = [
    &FLOWS,
    &GROUPS,
    &LATENCIES,
    &JOBS,
    &RANKS,
    &OPS,
    &LINKS,
    &BUFFERS,
    &HOSTS,
    &TREE,
    &VICTIMS,
    &SERIES,
    &PACES,
    &SNAPSHOTS,
    &QUEUES,
    &COMPLETION,
    &COMPLETION_BY_SIZE,
    &MESSAGES,
    &COMPLETION_TIMES,
    &FRAMES,
    &FRAMES_GROUPS,
    &PAUSES,
    &FAULTS,
    &SPANS,
];

const fn column(name: &'static str, kind: Kind, unit: &'static str, meaning: &'static str) -> ColumnSchema {
    ColumnSchema { name, kind, unit, meaning }
}

const fn name(name: &'static str, meaning: &'static str) -> ColumnSchema {
    column(name, Kind::Name, "", meaning)
}

const fn number(name: &'static str, meaning: &'static str) -> ColumnSchema {
    column(name, Kind::Number, "", meaning)
}

const fn count(name: &'static str, unit: &'static str, meaning: &'static str) -> ColumnSchema {
    column(name, Kind::Count, unit, meaning)
}

const fn share(name: &'static str, meaning: &'static str) -> ColumnSchema {
    column(name, Kind::Share, "", meaning)
}

const fn index(name: &'static str, meaning: &'static str) -> ColumnSchema {
    column(name, Kind::Index, "", meaning)
}

const fn ratio(name: &'static str, meaning: &'static str) -> ColumnSchema {
    column(name, Kind::Ratio, "", meaning)
}

const fn rate(name: &'static str, meaning: &'static str) -> ColumnSchema {
    column(name, Kind::Rate, "B/s", meaning)
}

const fn time(name: &'static str, meaning: &'static str) -> ColumnSchema {
    column(name, Kind::Time, "s", meaning)
}

const fn bytes(name: &'static str, meaning: &'static str) -> ColumnSchema {
    column(name, Kind::Bytes, "B", meaning)
}

const fn quantity(name: &'static str, unit: &'static str, meaning: &'static str) -> ColumnSchema {
    column(name, Kind::Quantity, unit, meaning)
}

const fn flag(name: &'static str, meaning: &'static str) -> ColumnSchema {
    column(name, Kind::Flag, "", meaning)
}

const fn row(name: &'static str, meaning: &'static str) -> ColumnSchema {
    column(name, Kind::Row, "", meaning)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_are_unique_and_meanings_are_sentences() {
        let names: HashSet<&str> = RESULTS.iter().map(|table| table.name).collect();
        assert_eq!(names.len(), RESULTS.len());
        for table in RESULTS.iter().chain(&PLANS) {
            let columns: Vec<&ColumnSchema> = table.all_columns().collect();
            let names: HashSet<&str> = columns.iter().map(|column| column.name).collect();
            assert_eq!(names.len(), columns.len(), "{}", table.name);
            assert!(table.rank.is_empty() || names.contains(table.rank), "{}", table.name);
            let sentences = columns.iter().map(|column| column.meaning).chain([table.rows]);
            sentences.for_each(|text| assert!(text.ends_with('.'), "{}: {text}", table.name));
        }
    }
}
