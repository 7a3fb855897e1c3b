//! The tables that a page shows: the top rows by a measure, and the total number of rows.

use std::cmp::Ordering;

use becalm_engine::order;
use becalm_scenario::{FlowPaths, Scenario};
use serde_json::{Value, json};

use crate::harm::waiting;
use crate::schema::{Declared, Schema};
use crate::tables::Tables;

/// Largest number of table rows on a page.
const MOST_ROWS: usize = 40;
/// Tables that other parts of a page show.
const ELSEWHERE: [&str; 6] = ["groups", "links", "victims", "tree", "latencies", "completion_times"];

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
            // Six digits exceed what is shown, and are short in JSON.
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
    kind: String,
    unit: String,
    meaning: String,
    cells: Vec<Cell>,
}

/// A table as a page shows it; a column has a kind of the schema, or the kind `link`, an index into the list of links.
pub(crate) struct Shown<'a> {
    name: String,
    /// What a row represents; empty if the page has its own words for the table.
    about: String,
    total: usize,
    columns: Vec<Column>,
    /// The table from which the columns come.
    source: &'a str,
    schema: &'a Schema,
}

impl<'a> Shown<'a> {
    /// A table without columns that represents `total` rows of a result table.
    pub fn new(name: &str, source: &'a str, schema: &'a Schema, total: usize) -> Shown<'a> {
        Shown { name: name.to_string(), about: String::new(), total, columns: Vec::new(), source, schema }
    }

    fn cells(&mut self, name: &str, declared: Declared<'_>, cells: Vec<Cell>) {
        let Declared { kind, unit, meaning } = declared;
        let [name, kind, unit, meaning] = [name, kind, unit, meaning].map(str::to_string);
        self.columns.push(Column { name, kind, unit, meaning, cells });
    }

    /// Adds a column that does not exist in the results.
    pub fn derived(&mut self, name: &str, kind: &str, unit: &str, meaning: &str, values: &[f64]) {
        self.cells(name, Declared { kind, unit, meaning }, values.iter().map(|&value| Cell::Number(value)).collect());
    }

    /// Adds rows of a declared column; does nothing if the results lack it or each of its cells is a row of bytes.
    pub fn column(&mut self, tables: &Tables, name: &str, rows: &[usize]) {
        let Some(declared) = self.schema.column(self.source, name) else { return };
        let (text, numbers) = (tables.text(self.source, name), tables.numbers(self.source, name));
        let cells: Vec<Cell> = match text.is_empty() {
            false => pick(text, rows).into_iter().map(Cell::Text).collect(),
            true => pick(&numbers, rows).into_iter().map(Cell::Number).collect(),
        };
        if cells.len() == rows.len() && declared.kind != "row" {
            self.cells(name, declared, cells);
        }
    }

    fn links(&mut self, places: impl Iterator<Item = usize>) {
        let declared = Declared { kind: "link", unit: "", meaning: "Link." };
        self.cells("link", declared, places.map(|place| Cell::Number(place as f64)).collect());
    }

    pub fn json(&self) -> Value {
        let rows = self.columns.first().map_or(0, |column| column.cells.len());
        let column = |c: &Column| json!({"name": c.name, "kind": c.kind, "unit": c.unit, "meaning": c.meaning});
        let columns: Vec<Value> = self.columns.iter().map(column).collect();
        let row = |i: usize| self.columns.iter().map(|column| column.cells[i].json()).collect::<Vec<_>>();
        let rows: Vec<_> = (0..rows).map(row).collect();
        json!({"name": self.name, "about": self.about, "total": self.total, "columns": columns, "rows": rows})
    }
}

/// Row numbers of a table, largest measure first.
fn ranked(count: usize, measure: impl Fn(usize) -> f64, wanted: impl Fn(usize) -> bool) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..count).filter(|&row| wanted(row)).collect();
    order::sort_by(&mut rows, |&a, &b| measure(b).total_cmp(&measure(a)).then(a.cmp(&b)));
    rows
}

fn pick<T: Clone>(values: &[T], rows: &[usize]) -> Vec<T> {
    rows.iter().filter_map(|&row| values.get(row).cloned()).collect()
}

/// `hottest` and `blocked`: the links with the highest utilization, and those that waited longest for credit.
pub(crate) fn links<'a>(tables: &Tables, schema: &'a Schema) -> Vec<Shown<'a>> {
    let table = |name: &str, by: &str| {
        let measure = tables.numbers("links", by);
        let mut rows = ranked(measure.len(), |row| measure[row], |row| measure[row] > 0.0);
        let mut shown = Shown::new(name, "links", schema, rows.len());
        rows.truncate(MOST_ROWS);
        shown.links(rows.iter().copied());
        for column in ["rate", "utilization", "stalled_share", "xmit_wait", "marked"] {
            shown.column(tables, column, &rows);
        }
        shown
    };
    match tables.columns("links").is_empty() {
        true => Vec::new(),
        false => vec![table("hottest", "utilization"), table("blocked", "stalled_share")],
    }
}

/// `tree`: roots by start time, then branches; a row's link follows from the order of both tables.
pub(crate) fn tree<'a>(scenario: &Scenario, tables: &Tables, schema: &'a Schema) -> Option<Shown<'a>> {
    let roles = tables.text("tree", "role");
    let lanes = usize::from(scenario.sections().vls());
    let (since, root) = (tables.numbers("tree", "since"), |row: usize| roles[row] == "root");
    let mut rows = ranked(roles.len(), |row| -since[row], |row| roles[row] != "calm");
    order::sort_by_key(&mut rows, |&row| !root(row));
    let mut shown = Shown::new("tree", "tree", schema, rows.len());
    rows.truncate(MOST_ROWS);
    shown.links(rows.iter().map(|row| row / lanes));
    if lanes > 1 {
        shown.column(tables, "vl", &rows);
    }
    for name in ["role", "since", "longest", "root_share", "branch_share", "offered", "contributors"] {
        shown.column(tables, name, &rows);
    }
    (!roles.is_empty()).then_some(shown)
}

/// Numbers of links that are relevant roots and of outputs that are branches, regardless of the rows shown, and the
/// main root. Null without the table.
///
/// Only roots that flows oversubscribe are relevant. The main root is the relevant one to which victims lose most;
/// among equals, the one that was a root longest. Without a relevant root, it is the one that was a root longest. A
/// link has the role of the lane that was root or branch longest.
pub(crate) fn roles(scenario: &Scenario, tables: &Tables, paths: &FlowPaths) -> Value {
    let Some(found) = Bottlenecks::new(scenario, tables) else { return Value::Null };
    let (share, since) = (tables.numbers("tree", "root_share"), tables.numbers("tree", "since"));
    let Bottlenecks { main, links, branch } = &found;
    let roles = tables.text("tree", "role");
    let is_root = |&link: &usize| roles[main[link]] == "root";
    let lost = waiting(tables, paths, links, branch);
    let lost = lost.iter().map(|behind| behind.iter().map(|victim| victim.lost).sum::<f64>());
    let counting = links.iter().copied().zip(lost).filter(|(link, _)| is_root(link));
    // A root that no flows oversubscribe occurs by chance; `explain` does not name it either.
    let mut counting: Vec<(usize, f64)> = counting.collect();
    // Losses that differ by less than a byte per run are equal.
    let window = (*scenario.sections().run.duration).as_secs() - (*scenario.sections().run.warmup).as_secs();
    let worst = |&(link, lost): &(usize, f64)| ((lost * window).round(), share[main[link]]);
    order::sort_by(&mut counting, |a, b| worst(b).partial_cmp(&worst(a)).unwrap_or(Ordering::Equal));
    let longest = || ranked(main.len(), |link| share[main[link]], |link| is_root(&link)).into_iter().next();
    let first = counting.first().map(|&(link, _)| link).or_else(longest);
    let first = first.map(|link| json!({"link": link, "since": since[main[link]]}));
    let branches = roles.iter().filter(|role| *role == "branch").count();
    json!({"roots": counting.len(), "branches": branches, "first": first})
}

/// Links that flows oversubscribe, roots or not.
pub(crate) struct Bottlenecks {
    /// For each link, the row of `tree` of the lane that was root or branch longest.
    main: Vec<usize>,
    /// The links.
    pub links: Vec<usize>,
    /// For each link of the fabric, the share of the window in which it was a branch.
    pub branch: Vec<f64>,
}

impl Bottlenecks {
    /// None without the table `tree`.
    pub fn new(scenario: &Scenario, tables: &Tables) -> Option<Bottlenecks> {
        let lanes = usize::from(scenario.sections().vls());
        let [share, branch, flows] =
            ["root_share", "branch_share", "contributors"].map(|name| tables.numbers("tree", name));
        let role = |row: &usize| share[*row].max(branch[*row]);
        let main: Vec<usize> = (0..share.len() / lanes)
            .map(|link| {
                let rows = link * lanes..(link + 1) * lanes;
                // The first of several equal lanes.
                rows.rev().max_by(|a, b| role(a).total_cmp(&role(b))).unwrap_or(0)
            })
            .collect();
        let crowded =
            |link: &usize| flows.chunks(lanes).nth(*link).is_some_and(|own| own.iter().any(|&flows| flows > 0.0));
        let links = (0..main.len()).filter(crowded).collect();
        let branch = main.iter().map(|&row| branch[row]).collect();
        (!share.is_empty()).then_some(Bottlenecks { main, links, branch })
    }
}

/// `victims`: hosts and groups with victims of congestion, largest loss first.
pub(crate) fn victims<'a>(tables: &Tables, schema: &'a Schema) -> Option<Shown<'a>> {
    let mut rows = hurt(tables);
    let mut shown = Shown::new("victims", "victims", schema, rows.len());
    rows.truncate(MOST_ROWS);
    let columns = ["host", "group", "flows", "victims", "own_link", "offered", "delivered", "delivered_share", "lost"];
    columns.into_iter().for_each(|name| shown.column(tables, name, &rows));
    (!tables.columns("victims").is_empty()).then_some(shown)
}

/// All other tables without a time per row; a new table needs no entry here.
pub(crate) fn others<'a>(tables: &'a Tables, schema: &'a Schema) -> impl Iterator<Item = Shown<'a>> {
    let names = tables.names().filter(|name| !ELSEWHERE.contains(name));
    names.filter_map(|name| {
        let about = schema.summary(name)?.to_string();
        let columns = tables.columns(name);
        let count = columns.first()?.data.len();
        let mut rows: Vec<usize> = (0..count).collect();
        if let Some(rank) = schema.rank(name) {
            let measure = tables.numbers(name, rank);
            let known = |row: usize| measure.get(row).copied().filter(|value| !value.is_nan()).unwrap_or(f64::MIN);
            rows = ranked(count, known, |_| true);
        }
        rows.truncate(MOST_ROWS);
        let mut shown = Shown { about, ..Shown::new(name, name, schema, count) };
        columns.iter().for_each(|column| shown.column(tables, &column.name, &rows));
        Some(shown)
    })
}

fn hurt(tables: &Tables) -> Vec<usize> {
    let (victims, lost) = (tables.numbers("victims", "victims"), tables.numbers("victims", "lost"));
    ranked(victims.len(), |row| lost.get(row).copied().unwrap_or(0.0), |row| victims[row] > 0.0)
}

/// Node numbers of hosts that are victims.
pub(crate) fn victim_nodes(scenario: &Scenario, tables: &Tables) -> Vec<u32> {
    let (rows, hosts) = (hurt(tables), tables.text("victims", "host"));
    let names: std::collections::HashMap<&str, u32> =
        (0u32..).zip(scenario.topology().nodes()).map(|(i, node)| (node.name.as_str(), i)).collect();
    let mut nodes: Vec<u32> = rows.iter().filter_map(|&row| names.get(hosts[row].as_str()).copied()).collect();
    order::sort_and_dedup(&mut nodes, Ord::cmp);
    nodes
}
