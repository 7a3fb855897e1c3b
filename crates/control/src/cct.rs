//! Congestion control tables (CCT), which map an index to an injection-rate delay, in the specification's encoding.
//!
//! An entry consists of a 2-bit shift and a 14-bit multiplier. The delay after a packet with the transmission time Tp
//! is (Tp >> shift) * multiplier. A delay is thus a multiple of the packet's transmission time, in steps of 1/8 up to
//! 2047.875, of 1/4 up to 4095.75, of 1/2 up to 8191.5, and of 1 up to 16383. The bits that Tp >> shift drops represent
//! less than a tick of the adapter's clock. Here they are kept.

mod entry;
mod formula;

use becalm_schema::Conflict;

pub use entry::CctEntry;
use entry::MAX_ENTRIES;
pub use formula::{Geometric, Linear, Quadratic};

becalm_schema::table! {
    /// A list of entries.
    pub struct List {
        /// Pairs [shift, multiplier], starting at index 0.
        pub entries: Vec<CctEntry>,
    }
    check List::check;
}

impl List {
    fn check(&self) -> Result<(), Conflict> {
        let length = self.entries.len();
        Conflict::unless((1..=MAX_ENTRIES as usize).contains(&length), "entries", || {
            format!("must have between 1 and {MAX_ENTRIES} entries, but has {length}")
        })
    }
}

becalm_schema::choice! {
    /// Source of a table's entries.
    pub enum CctParams {
        /// Delays proportional to the square of the index.
        Quadratic(Quadratic) = "quadratic",
        /// Delays proportional to the index.
        Linear(Linear) = "linear",
        /// Delays that grow by a constant factor per index.
        Geometric(Geometric) = "geometric",
        /// A list of entries.
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

    /// Whether the table has no entries, which no scenario allows.
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

    /// The entries. A delay that no entry can express is replaced by the longest; scenarios do not allow such delays.
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
        assert!(wrong.to_string().contains("shift from 0 to 3, multiplier from 0 to 16383"), "{wrong}");
        let wrong = read::<CctParams>("[list]\nentries = []", "f.toml").unwrap_err();
        assert!(wrong.to_string().contains("must have between 1 and 16384 entries"), "{wrong}");
    }
}
