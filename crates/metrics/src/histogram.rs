//! Tables of histograms of times.

use crate::quantiles::Quantiles;
use crate::schema::TableSchema;
use crate::table::Table;

/// There are 2 to this power ranges between a time and its double.
const BITS: u8 = 4;

/// A table of histograms, one row per nonempty range of times.
///
/// `named` yields each group's name and its counts of integer nanoseconds; `counted` is the name of the count column.
pub(crate) fn table<'a>(
    schema: &'static TableSchema,
    counted: &str,
    named: impl IntoIterator<Item = (String, &'a Quantiles)>,
) -> Table {
    let (mut names, mut from, mut to, mut counts) = (vec![], vec![], vec![], vec![]);
    for (name, quantiles) in named {
        for (low, high, count) in quantiles.ranges(BITS) {
            names.push(name.clone());
            from.push(low as f64 / 1e9);
            to.push((high + 1) as f64 / 1e9);
            counts.push(count);
        }
    }
    Table::new(schema).with("group", names).with("from", from).with("to", to).with(counted, counts)
}
