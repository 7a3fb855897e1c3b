//! Congestion control tables (CCT): from an index to an injection-rate delay, in the encoding of the specification.
//!
//! An entry is a 2-bit shift and a 14-bit multiplier; the delay after a packet with transmission time Tp is
//! (Tp >> shift) * multiplier. So a delay is a multiple of the packet's own time, in steps of 1/8 up to 2047.875, of
//! 1/4 up to 4095.75, of 1/2 up to 8191.5, and of 1 up to 16383. The bits that Tp >> shift drops are less than a tick
//! of the adapter's clock; they are kept here.

mod entry;
mod formula;

use becalm_schema::Conflict;

pub use entry::CctEntry;
use entry::MAX_ENTRIES;
pub use formula::{Geometric, Linear, Quadratic};

becalm_schema::table! {
    /// The entries one by one.
    pub struct List {
        /// Pairs [shift, multiplier], from index 0 on.
        pub entries: Vec<CctEntry>,
    }
    check List::check;
}

impl List {
    fn check(&self) -> Result<(), Conflict> {
        let length = self.entries.len();
        Conflict::unless((1..=MAX_ENTRIES as usize).contains(&length), "entries", || {
            format!("must have between 1 and {MAX_ENTRIES} entries, has {length}")
        })
    }
}

becalm_schema::choice! {
    /// Source of a table's entries.
    pub enum CctParams {
        /// Delays that grow with the square of the index.
        Quadratic(Quadratic) = "quadratic",
        /// Delays that grow with the index.
        Linear(Linear) = "linear",
        /// Delays that grow by a factor from index to index.
        Geometric(Geometric) = "geometric",
        /// Entries one by one.
        List(List) = "list",
    }
}

impl CctParams {
    /// Number of entries.
    pub fn len(&self) -> u32 {
        match self {
            CctParams::Quadratic(formula) => formula.entries,
            CctParams::Linear(formula) => formula.entries,
            CctParams::Geometric(formula) => formula.entries,
            CctParams::List(list) => list.entries.len() as u32,
        }
    }

    /// Whether there are no entries, which no scenario allows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The delay of the formula at an index, as a multiple of a packet's transmission time, before it is rounded to an
    /// entry; `None` beyond the last entry.
    pub fn wanted(&self, index: u32) -> Option<f64> {
        let gap = match self {
            CctParams::Quadratic(formula) => formula.gap(index),
            CctParams::Linear(formula) => formula.gap(index),
            CctParams::Geometric(formula) => formula.gap(index),
            CctParams::List(list) => list.entries.get(index as usize)?.gap(),
        };
        (index < self.len()).then_some(gap)
    }

    /// The entries. A delay that no entry can express becomes the longest; no scenario allows one.
    pub fn entries(&self) -> Vec<CctEntry> {
        if let CctParams::List(list) = self {
            return list.entries.clone();
        }
        let gaps = (0..self.len()).filter_map(|index| self.wanted(index));
        gaps.map(|gap| CctEntry::nearest(gap).unwrap_or(CctEntry::LONGEST)).collect()
    }
}

impl Default for CctParams {
    fn default() -> CctParams {
        CctParams::Quadratic(Quadratic::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_schema::{Field, read, read_json};

    #[test]
    fn a_list_is_taken_as_it_stands() {
        let table: CctParams = read("[list]\nentries = [[0, 0], [3, 1], [1, 16383]]", "f.toml").unwrap();
        assert_eq!(table.entries().into_iter().map(CctEntry::gap).collect::<Vec<_>>(), [0.0, 0.125, 8191.5]);
        assert_eq!((table.wanted(2), table.wanted(3)), (Some(8191.5), None));
        assert_eq!(read_json::<CctParams>(&table.to_json(), "").unwrap(), table);
    }

    #[test]
    fn wrong_entries_are_reported_with_their_place() {
        let wrong = read::<CctParams>("[list]\nentries = [[0, 0], [4, 1], [0, 16384], [1]]", "f.toml").unwrap_err();
        let keys: Vec<&str> = wrong.list.iter().map(|error| error.key.as_str()).collect();
        assert_eq!(keys, ["list.entries[1]", "list.entries[2]", "list.entries[3]"]);
        assert!(wrong.to_string().contains("shift between 0 and 3 and multiplier between 0 and 16383"), "{wrong}");
        let wrong = read::<CctParams>("[list]\nentries = []", "f.toml").unwrap_err();
        assert!(wrong.to_string().contains("must have between 1 and 16384 entries"), "{wrong}");
    }
}
