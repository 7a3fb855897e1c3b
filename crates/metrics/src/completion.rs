//! Means and percentiles of the completion times and slowdowns of messages, for all messages and by size.

use becalm_engine::order;

use crate::histogram;
use crate::quantiles::Quantiles;
use crate::schema;
use crate::table::Table;

/// Precision bits of the counts of completion times.
const BITS: u8 = 10;
/// Number of size bins, each with an equal share of a group's messages.
const BINS: usize = 20;

/// One message of a group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Completion {
    /// Group of the message.
    pub group: u32,
    /// Payload in bytes.
    pub bytes: u64,
    /// Seconds from posting to the arrival of the last byte.
    pub time: f64,
    /// Ratio of that time to the time on an empty network.
    pub slowdown: f64,
}

/// Mean and percentiles of a set of numbers; NaN if the set is empty.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Spread {
    mean: f64,
    p50: f64,
    p95: f64,
    p99: f64,
    p999: f64,
    max: f64,
}

impl Spread {
    /// The percentile for a share is the smallest number that is at least as large as that share of the numbers.
    fn of(numbers: impl Iterator<Item = f64>) -> Spread {
        let mut sorted: Vec<f64> = numbers.collect();
        order::sort_by(&mut sorted, f64::total_cmp);
        let n = sorted.len();
        let rank = |per_mille: usize| (per_mille * n).div_ceil(1000).max(1) - 1;
        let at = |per_mille| sorted.get(rank(per_mille)).copied().unwrap_or(f64::NAN);
        let mean = sorted.iter().sum::<f64>() / n as f64;
        Spread { mean, p50: at(500), p95: at(950), p99: at(990), p999: at(999), max: at(1000) }
    }
}

/// Statistics of several messages.
struct Summary {
    messages: u64,
    bytes: u64,
    smallest: u64,
    largest: u64,
    time: Spread,
    slowdown: Spread,
}

impl Summary {
    fn of(messages: &[Completion]) -> Summary {
        let sizes = || messages.iter().map(|message| message.bytes);
        Summary {
            messages: messages.len() as u64,
            bytes: sizes().sum(),
            smallest: sizes().min().unwrap_or(0),
            largest: sizes().max().unwrap_or(0),
            time: Spread::of(messages.iter().map(|message| message.time)),
            slowdown: Spread::of(messages.iter().map(|message| message.slowdown)),
        }
    }
}

/// The table `completion`, with one row per group. `unfinished` counts the messages that were posted but not delivered.
pub fn by_group(messages: &[Completion], groups: &[String], unfinished: Vec<u64>) -> Table {
    let of_groups = split(messages, groups.len());
    let summaries: Vec<Summary> = of_groups.iter().map(|messages| Summary::of(messages)).collect();
    let table = Table::new(&schema::COMPLETION)
        .with("group", groups.to_vec())
        .with("messages", column(&summaries, |s| s.messages))
        .with("unfinished", unfinished)
        .with("bytes", column(&summaries, |s| s.bytes));
    with_spreads(table, &summaries)
}

/// The table `completion_by_size`, with up to 20 rows per group, each with a twentieth of the group's messages in order
/// of size. Messages of equal size share a row.
pub fn by_size(messages: &[Completion], groups: &[String]) -> Table {
    let (mut names, mut summaries) = (Vec::new(), Vec::new());
    for (mut of_group, name) in split(messages, groups.len()).into_iter().zip(groups) {
        order::sort_by_key(&mut of_group, |message| message.bytes);
        for bin in bins(&of_group) {
            names.push(name.clone());
            summaries.push(Summary::of(bin));
        }
    }
    let table = Table::new(&schema::COMPLETION_BY_SIZE)
        .with("group", names)
        .with("smallest", column(&summaries, |s| s.smallest))
        .with("largest", column(&summaries, |s| s.largest))
        .with("messages", column(&summaries, |s| s.messages));
    with_spreads(table, &summaries)
}

/// The table `completion_times`, with a histogram for every group.
pub fn histogram(messages: &[Completion], groups: &[String]) -> Table {
    let mut times = vec![Quantiles::new(BITS); groups.len()];
    for message in messages {
        times[message.group as usize].add((message.time * 1e9).round().max(1.0) as u64);
    }
    histogram::table(&schema::COMPLETION_TIMES, "messages", groups.iter().cloned().zip(&times))
}

fn split(messages: &[Completion], groups: usize) -> Vec<Vec<Completion>> {
    let mut split = vec![Vec::new(); groups];
    messages.iter().for_each(|message| split[message.group as usize].push(*message));
    split
}

/// Splits messages sorted by size after each twentieth, keeping messages of equal size together.
fn bins(sorted: &[Completion]) -> Vec<&[Completion]> {
    let mut bins = Vec::new();
    let mut rest = sorted;
    for number in 1..=BINS {
        let Some(last) = (number * sorted.len()).div_ceil(BINS).checked_sub(1) else { break };
        let end = rest.partition_point(|message| message.bytes <= sorted[last].bytes);
        let (bin, after) = rest.split_at(end);
        if !bin.is_empty() {
            bins.push(bin);
        }
        rest = after;
    }
    bins
}

fn column<T>(summaries: &[Summary], value: impl Fn(&Summary) -> T) -> Vec<T> {
    summaries.iter().map(value).collect()
}

fn with_spreads(table: Table, summaries: &[Summary]) -> Table {
    table
        .with("completion_mean", column(summaries, |s| s.time.mean))
        .with("completion_p50", column(summaries, |s| s.time.p50))
        .with("completion_p95", column(summaries, |s| s.time.p95))
        .with("completion_p99", column(summaries, |s| s.time.p99))
        .with("completion_p999", column(summaries, |s| s.time.p999))
        .with("completion_max", column(summaries, |s| s.time.max))
        .with("slowdown_mean", column(summaries, |s| s.slowdown.mean))
        .with("slowdown_p50", column(summaries, |s| s.slowdown.p50))
        .with("slowdown_p95", column(summaries, |s| s.slowdown.p95))
        .with("slowdown_p99", column(summaries, |s| s.slowdown.p99))
        .with("slowdown_p999", column(summaries, |s| s.slowdown.p999))
        .with("slowdown_max", column(summaries, |s| s.slowdown.max))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Data;

    fn message(bytes: u64, time: f64) -> Completion {
        Completion { group: 0, bytes, time, slowdown: 2.0 * time }
    }

    fn floats(table: &Table, name: &str) -> Vec<f64> {
        match table.column(name).unwrap() {
            Data::F64(values) => values.clone(),
            Data::U64(values) => values.iter().map(|&value| value as f64).collect(),
            Data::Text(_) | Data::Names(_) | Data::Bytes(_) => panic!("{name} holds no numbers"),
        }
    }

    #[test]
    fn percentiles_are_those_of_the_nearest_rank() {
        let messages: Vec<_> = (1..=2000).rev().map(|i| message(10, f64::from(i))).collect();
        let table = by_group(&messages, &["f".into(), "idle".into()], vec![3, 0]);
        for (name, value) in [("mean", 1000.5), ("p50", 1000.0), ("p95", 1900.0), ("p99", 1980.0), ("p999", 1998.0)] {
            assert_eq!(floats(&table, &format!("completion_{name}"))[0], value, "{name}");
            assert_eq!(floats(&table, &format!("slowdown_{name}"))[0], 2.0 * value, "{name}");
        }
        assert_eq!((floats(&table, "completion_max")[0], floats(&table, "bytes")[0]), (2000.0, 20_000.0));
        assert!(floats(&table, "slowdown_p50")[1].is_nan());
        assert_eq!(floats(&table, "messages"), [2000.0, 0.0]);
    }

    #[test]
    fn a_histogram_counts_every_message() {
        let messages: Vec<_> = (1..=100).map(|i| message(10, f64::from(i) * 1e-6)).collect();
        let table = histogram(&messages, &["f".into()]);
        assert_eq!(floats(&table, "messages").iter().sum::<f64>(), 100.0);
        let (from, to) = (floats(&table, "from"), floats(&table, "to"));
        assert!(from[0] <= 1e-6 && to[0] > 1e-6 && from.iter().zip(&to).all(|(from, to)| to / from < 1.07));
    }

    #[test]
    fn a_bin_has_a_twentieth_of_the_messages_and_sizes_stay_together() {
        let messages: Vec<_> = (1..=200).map(|i| message(i, 1.0)).collect();
        let table = by_size(&messages, &["f".into()]);
        assert_eq!(floats(&table, "messages"), [10.0; 20]);
        assert_eq!(floats(&table, "largest")[..2], [10.0, 20.0]);
        assert_eq!(floats(&table, "smallest")[..2], [1.0, 11.0]);
        // Half of the messages have the same size, so their bins merge into one.
        let messages: Vec<_> = (1..=200).map(|i| message(i.min(101), 1.0)).collect();
        let table = by_size(&messages, &["f".into()]);
        assert_eq!(floats(&table, "messages"), [vec![10.0; 10], vec![100.0]].concat());
        assert_eq!(by_size(&[message(5, 1.0)], &["f".into()]).rows(), 1);
        assert_eq!(by_size(&[], &["f".into()]).rows(), 0);
    }
}
