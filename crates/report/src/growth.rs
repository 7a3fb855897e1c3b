//! The congestion tree over time: how many outputs are roots and branches, and when the foremost were.

use std::collections::BTreeMap;

use becalm_scenario::Scenario;
use serde_json::{Value, json};

use crate::pack::Pack;
use crate::tables::Tables;

/// Steps into which a run is divided.
const STEPS: usize = 400;
/// Outputs whose periods are shown.
const SHOWN: usize = 24;

/// Numbers of roots and branches over time, and the periods of the outputs that were roots or branches for longest;
/// null without spans.
pub(crate) fn growth(scenario: &Scenario, tables: &Tables, pack: &mut Pack) -> Value {
    if tables.columns("spans").is_empty() {
        return Value::Null;
    }
    let duration = (*scenario.sections().run.duration).as_secs();
    let (begin, end) = (tables.numbers("spans", "begin"), tables.numbers("spans", "end"));
    let roots: Vec<bool> = tables.text("spans", "role").iter().map(|role| role == "root").collect();
    let step = duration / STEPS as f64;
    // Mean numbers within each step, so that no short period is lost or seems long.
    let mut counts = [vec![0.0; STEPS], vec![0.0; STEPS]];
    for ((&begin, &end), &root) in begin.iter().zip(&end).zip(&roots) {
        let first = (begin / step) as usize;
        for (at, count) in counts[usize::from(!root)].iter_mut().enumerate().skip(first) {
            let (low, high) = (at as f64 * step, (at + 1) as f64 * step);
            if end <= low {
                break;
            }
            *count += (end.min(high) - begin.max(low)) / step;
        }
    }
    json!({
        "step": step,
        "roots": pack.reals(&counts[0]),
        "branches": pack.reals(&counts[1]),
        "rows": rows(scenario, tables, step),
    })
}

/// One virtual lane of an output: its place in the list of links, its total time as a root and as a branch, its periods.
#[derive(Default)]
struct Row {
    root: f64,
    branch: f64,
    periods: Vec<(f64, f64, bool)>,
}

fn rows(scenario: &Scenario, tables: &Tables, step: f64) -> Vec<Value> {
    let numbers: BTreeMap<(&str, u64), usize> = scenario
        .directions()
        .iter()
        .enumerate()
        .map(|(i, link)| ((scenario.topology().node(link.from.node).name.as_str(), u64::from(link.from.port)), i))
        .collect();
    let (from, port, vl) =
        (tables.text("spans", "from"), tables.numbers("spans", "from_port"), tables.numbers("spans", "vl"));
    let (begin, end, role) =
        (tables.numbers("spans", "begin"), tables.numbers("spans", "end"), tables.text("spans", "role"));
    let mut rows: BTreeMap<(usize, u64), Row> = BTreeMap::new();
    for i in 0..begin.len() {
        let Some(&link) = numbers.get(&(from[i].as_str(), port[i] as u64)) else { continue };
        let row = rows.entry((link, vl[i] as u64)).or_default();
        let (root, length) = (role[i] == "root", end[i] - begin[i]);
        *(if root { &mut row.root } else { &mut row.branch }) += length;
        match row.periods.last_mut() {
            // Gaps that are too short to be seen are closed.
            Some((_, last, kind)) if *kind == root && begin[i] - *last < step / 2.0 => *last = end[i],
            _ => row.periods.push((begin[i], end[i], root)),
        }
    }
    let mut rows: Vec<_> = rows.into_iter().collect();
    // Roots come first, however many branches they have.
    rows.sort_by(|(_, a), (_, b)| {
        (b.root > b.branch).cmp(&(a.root > a.branch)).then((b.root + b.branch).total_cmp(&(a.root + a.branch)))
    });
    let row = |((link, vl), row): ((usize, u64), Row)| {
        let long = row.periods.into_iter().filter(|(begin, end, _)| end - begin > step / 8.0);
        let periods: Vec<Value> = long.map(|(begin, end, root)| json!([begin, end, u8::from(root)])).collect();
        json!({"link": link, "vl": vl, "root": row.root, "branch": row.branch, "periods": periods})
    };
    rows.into_iter().take(SHOWN).map(row).collect()
}
