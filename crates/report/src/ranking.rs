//! The tables that a page shows: the foremost rows by a measure, and how many there are.

use becalm_engine::order;
use becalm_scenario::Scenario;
use serde_json::{Value, json};

use crate::tables::Tables;

/// Rows of a table that a page shows.
const MOST_ROWS: usize = 40;
/// A victim got less than this share of what it offers.
const HURT: f64 = 0.9;

/// A value of a table.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    Number(f64),
    Text(String),
}

impl Cell {
    fn json(&self) -> Value {
        match self {
            Cell::Text(text) => json!(text),
            // Six digits are more than is shown, and short in JSON.
            Cell::Number(value) if value.is_finite() && value.fract() != 0.0 => {
                json!(format!("{value:.5e}").parse::<f64>().unwrap_or(*value))
            }
            Cell::Number(value) if value.is_finite() => json!(*value as i64),
            Cell::Number(value) if value.is_infinite() => json!("inf"),
            Cell::Number(_) => Value::Null,
        }
    }
}

struct Column {
    name: String,
    kind: &'static str,
    unit: String,
    cells: Vec<Cell>,
}

/// A table as a page shows it: columns are `text`, `count`, `share`, `index`, `number` with a unit, or `link`, a place
/// in the list of links.
pub(crate) struct Shown {
    name: &'static str,
    total: usize,
    columns: Vec<Column>,
}

impl Shown {
    /// A table without columns, which stands for `total` rows.
    pub fn new(name: &'static str, total: usize) -> Shown {
        Shown { name, total, columns: Vec::new() }
    }

    pub fn cells(&mut self, name: &str, kind: &'static str, unit: &str, cells: Vec<Cell>) {
        self.columns.push(Column { name: name.to_string(), kind, unit: unit.to_string(), cells });
    }

    fn numbers(&mut self, name: &str, kind: &'static str, unit: &str, values: &[f64]) {
        self.cells(name, kind, unit, values.iter().map(|&value| Cell::Number(value)).collect());
    }

    pub fn text(&mut self, name: &str, values: &[String]) {
        self.cells(name, "text", "", values.iter().cloned().map(Cell::Text).collect());
    }

    pub fn count(&mut self, name: &str, values: &[f64]) {
        self.numbers(name, "count", "", values);
    }

    pub fn share(&mut self, name: &str, values: &[f64]) {
        self.numbers(name, "share", "", values);
    }

    pub fn number(&mut self, name: &str, unit: &str, values: &[f64]) {
        self.numbers(name, "number", unit, values);
    }

    pub fn json(&self) -> Value {
        let rows = self.columns.first().map_or(0, |column| column.cells.len());
        let columns: Vec<Value> =
            self.columns.iter().map(|c| json!({"name": c.name, "kind": c.kind, "unit": c.unit})).collect();
        let row = |i: usize| self.columns.iter().map(|column| column.cells[i].json()).collect::<Vec<_>>();
        let rows: Vec<_> = (0..rows).map(row).collect();
        json!({"name": self.name, "total": self.total, "columns": columns, "rows": rows})
    }
}

/// Rows of a table, largest measure first.
fn ranked(count: usize, measure: impl Fn(usize) -> f64, wanted: impl Fn(usize) -> bool) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..count).filter(|&row| wanted(row)).collect();
    order::sort_by(&mut rows, |&a, &b| measure(b).total_cmp(&measure(a)).then(a.cmp(&b)));
    rows
}

fn pick<T: Clone>(values: &[T], rows: &[usize]) -> Vec<T> {
    rows.iter().filter_map(|&row| values.get(row).cloned()).collect()
}

/// `hottest` and `blocked`: the links with the highest utilization, and those that waited longest for credit.
pub(crate) fn links(tables: &Tables) -> Vec<Shown> {
    let column = |name: &str| tables.numbers("links", name);
    let (busy, stalled) = (column("utilization"), column("stalled_share"));
    let table = |name: &'static str, measure: &[f64]| {
        let rows = ranked(measure.len(), |row| measure[row], |row| measure[row] > 0.0);
        let mut shown = Shown::new(name, rows.len());
        let rows = &rows[..rows.len().min(MOST_ROWS)];
        shown.numbers("link", "link", "", &rows.iter().map(|&row| row as f64).collect::<Vec<_>>());
        shown.number("rate", "B/s", &pick(&column("rate"), rows));
        shown.share("utilization", &pick(&busy, rows));
        shown.share("stalled_share", &pick(&stalled, rows));
        shown.number("xmit_wait", "s", &pick(&column("xmit_wait"), rows));
        shown.count("marked", &pick(&column("marked"), rows));
        shown
    };
    if busy.is_empty() { Vec::new() } else { vec![table("hottest", &busy), table("blocked", &stalled)] }
}

/// `tree`: roots, by the time since which they are, then branches; the place of a row among the links follows from the
/// order of both tables.
pub(crate) fn tree(scenario: &Scenario, tables: &Tables) -> Option<Shown> {
    let roles = tables.text("tree", "role");
    let lanes = *scenario.sections().switch.vls as usize;
    let (since, root) = (tables.numbers("tree", "since"), |row: usize| roles[row] == "root");
    let mut rows = ranked(roles.len(), |row| -since[row], |row| roles[row] != "calm");
    order::sort_by_key(&mut rows, |&row| !root(row));
    let mut shown = Shown::new("tree", rows.len());
    rows.truncate(MOST_ROWS);
    shown.numbers("link", "link", "", &rows.iter().map(|row| (row / lanes) as f64).collect::<Vec<_>>());
    if lanes > 1 {
        shown.count("vl", &pick(&tables.numbers("tree", "vl"), &rows));
    }
    shown.text("role", &pick(roles, &rows));
    for (name, unit) in [("since", "s"), ("longest", "s")] {
        shown.number(name, unit, &pick(&tables.numbers("tree", name), &rows));
    }
    for name in ["root_share", "branch_share"] {
        shown.share(name, &pick(&tables.numbers("tree", name), &rows));
    }
    (!roles.is_empty()).then_some(shown)
}

/// `victims`: hosts and groups with more victims of congestion than contributors, those that got least first.
pub(crate) fn victims(tables: &Tables) -> Option<Shown> {
    let column = |name: &str| tables.numbers("victims", name);
    let (victims, contributors, share) = (column("victims"), column("contributors"), column("delivered_share"));
    let mut rows = hurt(&victims, &contributors, &share);
    let mut shown = Shown::new("victims", rows.len());
    rows.truncate(MOST_ROWS);
    shown.text("host", &pick(tables.text("victims", "host"), &rows));
    shown.text("group", &pick(tables.text("victims", "group"), &rows));
    shown.count("flows", &pick(&column("flows"), &rows));
    shown.count("victims", &pick(&victims, &rows));
    shown.number("offered", "B/s", &pick(&column("offered"), &rows));
    shown.number("delivered", "B/s", &pick(&column("delivered"), &rows));
    shown.share("delivered_share", &pick(&share, &rows));
    (!share.is_empty()).then_some(shown)
}

fn hurt(victims: &[f64], contributors: &[f64], share: &[f64]) -> Vec<usize> {
    ranked(share.len(), |row| -share[row], |row| victims[row] > contributors[row] && share[row] < HURT)
}

/// Numbers of the nodes of hosts that are victims.
pub(crate) fn victim_nodes(scenario: &Scenario, tables: &Tables) -> Vec<u32> {
    let column = |name: &str| tables.numbers("victims", name);
    let rows = hurt(&column("victims"), &column("contributors"), &column("delivered_share"));
    let hosts = tables.text("victims", "host");
    let names: std::collections::HashMap<&str, u32> =
        (0u32..).zip(scenario.topology().nodes()).map(|(i, node)| (node.name.as_str(), i)).collect();
    let mut nodes: Vec<u32> = rows.iter().filter_map(|&row| names.get(hosts[row].as_str()).copied()).collect();
    order::sort_and_dedup(&mut nodes, Ord::cmp);
    nodes
}
