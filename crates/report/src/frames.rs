//! Frames of the fabric for a page. Slowly changing values are stored as differences.

use becalm_engine::order;
use serde_json::{Map, Value, json};

use crate::pack::{Deflate, Filter, Pack};
use crate::tables::Tables;

/// Step of buffer shares, in 255ths: 4%, finer than colours and widths can show.
const FINE: u8 = 10;
/// Step of the other shares of a link, in 255ths.
const COARSE: u8 = 17;
/// Maximum total bytes of the shares that the tree does not need, unless everything is requested.
const MOST_BYTES: usize = 24_000;
/// One row in this many is sampled to estimate whether a share is small enough: most are far from it, and packing is
/// slow.
const SAMPLED: usize = 8;
/// Shares of a link other than its buffer and role, most informative first.
const DETAILS: [&str; 3] = ["stalled", "marked", "busy"];

/// Every `every`th frame of a replication, and the names of the omitted shares; `Null` without frames.
///
/// With `all`, every share is kept in full resolution. Without `deflate`, every share is kept and no filter is chosen.
pub(crate) fn frames(
    tables: &Tables,
    every: usize,
    (all, deflate): (bool, Option<Deflate>),
    pack: &mut Pack,
) -> (Value, Vec<&'static str>) {
    let (times, vls) = (tables.numbers("frames", "time"), tables.numbers("frames", "vl"));
    if times.is_empty() {
        return (Value::Null, Vec::new());
    }
    let rows_of = |vl: f64| -> Vec<usize> {
        let rows: Vec<usize> = (0..vls.len()).filter(|&row| vls[row] == vl).collect();
        thinned(&rows, every)
    };
    let mut lanes: Vec<f64> = vls.clone();
    order::sort_and_dedup(&mut lanes, f64::total_cmp);
    let first = rows_of(lanes[0]);
    let column = |name: &str, rows: &[usize]| -> Vec<u8> {
        let all = tables.bytes("frames", name);
        rows.iter().flat_map(|&row| all.get(row).map_or(&[][..], Vec::as_slice)).copied().collect()
    };
    let width = tables.bytes("frames", "occupancy").first().map_or(0, Vec::len);
    let filter = |bytes: &[u8]| deflate.map_or(Filter::None, |deflate| smaller(bytes, width, deflate));
    let mut kept = Vec::new();
    for &vl in &lanes {
        let rows = rows_of(vl);
        let (mut occupancy, role) = (column("occupancy", &rows), column("role", &rows));
        if !all {
            occupancy.iter_mut().for_each(|share| *share = rounded_up(*share, FINE));
        }
        // Unused lanes are omitted, except the first.
        if vl == lanes[0] || occupancy.iter().chain(&role).any(|&value| value > 0) {
            kept.push(json!({
                "vl": vl,
                "occupancy": pack.bytes(&occupancy, filter(&occupancy)),
                "role": pack.bytes(&role, filter(&role)),
            }));
        }
    }
    let (mut details, mut omitted, mut room) = (Map::new(), Vec::new(), MOST_BYTES);
    for name in DETAILS {
        let exact = column(name, &first);
        let bytes = if all { exact } else { exact.into_iter().map(|share| rounded_up(share, COARSE)).collect() };
        let limit = deflate.filter(|_| !all);
        let size = limit.map_or(Some(0), |deflate| size_within(&bytes, width, room, deflate));
        if let Some(size) = size {
            room -= size;
            details.insert(name.to_string(), pack.bytes(&bytes, Filter::None));
        } else {
            omitted.push(name);
        }
    }
    let times: Vec<f64> = first.iter().map(|&row| times[row]).collect();
    (json!({"times": times, "lanes": kept, "details": details}), omitted)
}

/// The filter with which rows deflate better, judged by a few rows from the middle. Differences suit values that stay
/// the same or grow, but not queues that come and go.
fn smaller(bytes: &[u8], width: usize, deflate: Deflate) -> Filter {
    let rows: Vec<&[u8]> = bytes.chunks_exact(width.max(1)).collect();
    let middle = rows.len() / 2;
    let (from, until) = (middle.saturating_sub(SAMPLED / 2), rows.len().min(middle + SAMPLED / 2));
    let Some(sample) = rows.get(from..until).filter(|sample| sample.len() > 1) else { return Filter::None };
    let differences: Vec<u8> = sample
        .windows(2)
        .flat_map(|pair| pair[1].iter().zip(pair[0]).map(|(after, before)| after.wrapping_sub(*before)))
        .collect();
    match deflate(&differences).len() < deflate(&sample[1..].concat()).len() {
        true => Filter::Difference(width),
        false => Filter::None,
    }
}

/// The deflated size of rows of bytes, if it is at most `most`.
fn size_within(bytes: &[u8], width: usize, most: usize, deflate: Deflate) -> Option<usize> {
    let sample: Vec<u8> = bytes.chunks(width.max(1)).step_by(SAMPLED).flatten().copied().collect();
    // Rows are similar, so a sample deflates to slightly more than its share.
    if deflate(&sample).len() > most.saturating_mul(2) / SAMPLED.min(bytes.len().div_ceil(width.max(1))).max(1) {
        return None;
    }
    Some(deflate(bytes).len()).filter(|&size| size <= most)
}

/// Every `every`th item, always including the last.
pub(crate) fn thinned(rows: &[usize], every: usize) -> Vec<usize> {
    rows.iter().rev().step_by(every).rev().copied().collect()
}

/// A share rounded up to a multiple of `step`; only 0 becomes 0, and only 255 becomes 255.
fn rounded_up(share: u8, step: u8) -> u8 {
    match share {
        255 => 255,
        _ => share.div_ceil(step).saturating_mul(step).min(254),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pack::deflated;
    use crate::tables::Column;
    use becalm_metrics::Data;

    fn tables() -> Tables {
        let column = |name: &str, data: Data| Column { name: name.to_string(), unit: String::new(), data };
        let rows = |values: [[u8; 2]; 4]| Data::Bytes(values.map(Vec::from).to_vec());
        let mut tables = Tables::default();
        let none = [[0; 2]; 4];
        tables.insert(
            "frames".to_string(),
            vec![
                column("time", Data::F64(vec![1.0, 1.0, 2.0, 2.0])),
                column("vl", Data::U64(vec![0, 1, 0, 1])),
                column("occupancy", rows([[1, 2], [0, 0], [3, 2], [0, 0]])),
                column("role", rows([[0, 1], [0, 0], [2, 1], [0, 0]])),
                column("busy", rows([[255, 1], [255, 1], [17, 0], [17, 0]])),
                column("stalled", rows(none)),
                column("marked", rows(none)),
            ],
        );
        tables
    }

    #[test]
    fn lanes_without_packets_are_left_out_and_shares_are_coarse() {
        let mut pack = Pack::default();
        let (frames, omitted) = frames(&tables(), 1, (false, Some(deflated as Deflate)), &mut pack);
        assert_eq!(frames["times"], json!([1.0, 2.0]));
        assert_eq!(frames["lanes"].as_array().unwrap().len(), 1);
        assert!(omitted.is_empty());
        assert_eq!([255, 254, 1, 17, 18, 0].map(|share| rounded_up(share, COARSE)), [255, 254, 17, 17, 34, 0]);
    }

    #[test]
    fn what_does_not_fit_is_left_out_and_what_does_is_measured() {
        let calm = vec![17u8; 100_000];
        let size = size_within(&calm, 1000, 2000, deflated).expect("the size is small");
        assert_eq!(size, deflated(&calm).len());
        assert_eq!(size_within(&calm, 1000, size - 1, deflated), None);
        let next = |state: &u64| Some(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
        let busy: Vec<u8> =
            std::iter::successors(Some(1), next).take(100_000).map(|state| (state >> 56) as u8).collect();
        assert_eq!(size_within(&busy, 1000, 20_000, deflated), None);
        assert_eq!(size_within(&[], 0, 10, deflated), Some(deflated(&[]).len()));
    }

    #[test]
    fn rows_that_change_little_are_differences_and_noise_is_not() {
        let noise = |i: u32| (i.wrapping_mul(2_654_435_761) >> 24) as u8;
        let row: Vec<u8> = (0..4000).map(noise).collect();
        assert_eq!(smaller(&row.repeat(20), 4000, deflated), Filter::Difference(4000));
        // A third of the links is full at any time, but always a different third.
        let changing: Vec<u8> = (0..80_000).map(|i| if noise(i) < 85 { 255 } else { 0 }).collect();
        assert_eq!(smaller(&changing, 4000, deflated), Filter::None);
        assert_eq!(smaller(&row, 4000, deflated), Filter::None);
        assert_eq!(smaller(&[], 0, deflated), Filter::None);
    }

    #[test]
    fn the_last_frame_stays() {
        let (frames, _) = frames(&tables(), 2, (true, Some(deflated as Deflate)), &mut Pack::default());
        assert_eq!(frames["times"], json!([2.0]));
        assert_eq!(thinned(&[0, 1, 2, 3, 4], 2), [0, 2, 4]);
    }
}
