//! The congestion tree over time: numbers of roots and branches, and the periods of the main ones.

use std::collections::HashMap;

use becalm_engine::order;
use becalm_scenario::{Direction, Scenario};
use serde_json::{Value, json};

use crate::pack::{Filter, Pack};
use crate::tables::Tables;

/// Number of steps into which a run is divided.
const STEPS: usize = 400;
/// Number of outputs whose periods are shown.
const SHOWN: usize = 24;
/// Smallest share of a step for which a role is shown.
const LEAST: f32 = 0.1;

/// Numbers of roots and branches over time, and the periods of the outputs with the longest time as root or branch;
/// null without spans. `whole` is the end of the run.
pub(crate) fn growth(scenario: &Scenario, tables: &Tables, whole: f64, pack: &mut Pack) -> Value {
    if tables.columns("spans").is_empty() {
        return Value::Null;
    }
    let (begin, end) = (tables.numbers("spans", "begin"), tables.numbers("spans", "end"));
    let roots: Vec<bool> = tables.text("spans", "role").iter().map(|role| role == "root").collect();
    let step = whole / STEPS as f64;
    // Mean numbers within each step, so that short periods are neither lost nor exaggerated.
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
        "rows": rows(scenario, tables, step, pack),
    })
}

/// A virtual lane of an output: its total times as branch and as root, and its share of every step in each role.
#[derive(Default)]
struct Row {
    since: f64,
    times: [f64; 2],
    steps: Vec<[f32; 2]>,
}

impl Row {
    fn add(&mut self, begin: f64, end: f64, root: bool, step: f64) {
        if self.steps.is_empty() {
            (self.since, self.steps) = (begin, vec![[0.0; 2]; STEPS]);
        }
        self.times[usize::from(root)] += end - begin;
        for at in (begin / step) as usize..STEPS {
            let (low, high) = (at as f64 * step, (at + 1) as f64 * step);
            if end <= low {
                break;
            }
            self.steps[at][usize::from(root)] += ((end.min(high) - begin.max(low)) / step) as f32;
        }
    }

    /// The output's main role in each step, if a role lasted long enough to be visible: 0 calm, 1 root, 2 branch.
    fn roles(&self) -> impl Iterator<Item = u8> {
        self.steps.iter().map(|&[branch, root]| match root + branch >= LEAST {
            true if root >= branch => 1,
            true => 2,
            false => 0,
        })
    }
}

fn rows(scenario: &Scenario, tables: &Tables, step: f64, pack: &mut Pack) -> Value {
    let topology = scenario.topology();
    let links = scenario.directions();
    let name = |link: &Direction| (topology.node(link.from.node).name.as_str(), u64::from(link.from.port));
    let places: HashMap<(&str, u64), usize> = links.iter().map(name).zip(0..).collect();
    let (from, port, vl) =
        (tables.text("spans", "from"), tables.numbers("spans", "from_port"), tables.numbers("spans", "vl"));
    let (begin, end, role) =
        (tables.numbers("spans", "begin"), tables.numbers("spans", "end"), tables.text("spans", "role"));
    // The rows of an output's lane are adjacent.
    let mut rows: Vec<((usize, u64), Row)> = Vec::new();
    for i in 0..begin.len() {
        let Some(&link) = places.get(&(from[i].as_str(), port[i] as u64)) else { continue };
        let lane = (link, vl[i] as u64);
        if rows.last().is_none_or(|(last, _)| *last != lane) {
            rows.push((lane, Row::default()));
        }
        rows.last_mut().expect("just added").1.add(begin[i], end[i], role[i] == "root", step);
    }
    // Roots come first, however many branches there are.
    let is_root = |row: &Row| row.times[1] > row.times[0];
    let longest = |a: &Row, b: &Row| b.times.iter().sum::<f64>().total_cmp(&a.times.iter().sum());
    order::sort_by(&mut rows, |(_, a), (_, b)| is_root(b).cmp(&is_root(a)).then(longest(a, b)));
    rows.truncate(SHOWN);
    let roles: Vec<u8> = rows.iter().flat_map(|(_, row)| row.roles()).collect();
    let row = |((link, vl), row): &((usize, u64), Row)| json!({"link": link, "vl": vl, "since": row.since, "root": row.times[1], "branch": row.times[0]});
    json!({"steps": STEPS, "roles": pack.bytes(&roles, Filter::None), "of": rows.iter().map(row).collect::<Vec<_>>()})
}
