//! Groups of flows: their rates and marks over time, latencies, and delivered shares of offered traffic.

use std::collections::{HashMap, HashSet};

use becalm_scenario::Scenario;
use serde_json::{Value, json};

use crate::pack::Pack;
use crate::ranking::Shown;
use crate::schema::Schema;
use crate::tables::Tables;

/// Rates of all groups, one after another, and marked shares if frames contain them; null if nothing was recorded.
pub(crate) fn over_time(scenario: &Scenario, tables: &Tables, pack: &mut Pack) -> Value {
    let names = scenario.group_names();
    let of = |table: &str, column: &str, value: &str| -> Option<Vec<(usize, f64, f64)>> {
        let numbers: HashMap<&str, usize> = names.iter().enumerate().map(|(i, name)| (name.as_str(), i)).collect();
        let kinds = tables.text(table, "kind");
        let (times, values, of) =
            (tables.numbers(table, "time"), tables.numbers(table, value), tables.text(table, column));
        let rows = (0..times.len()).filter(|&row| kinds.is_empty() || kinds[row] == "group");
        let found: Vec<_> = rows
            .filter_map(|row| Some((*numbers.get(of.get(row)?.as_str())?, times[row], *values.get(row)?)))
            .collect();
        (!found.is_empty()).then_some(found)
    };
    let framed = of("frames_groups", "group", "rate");
    let marked = of("frames_groups", "group", "marked_share");
    let Some(rates) = framed.or_else(|| of("series", "name", "rate")) else { return Value::Null };
    let times: Vec<f64> = rates.iter().filter(|(group, ..)| *group == rates[0].0).map(|(_, time, _)| *time).collect();
    let by_group = |rows: &[(usize, f64, f64)]| -> Vec<f64> {
        let values = |group: usize| rows.iter().filter(move |row| row.0 == group).map(|row| row.2);
        (0..names.len()).flat_map(values).collect()
    };
    json!({
        "times": times,
        "rates": pack.reals(&by_group(&rates)),
        "marked": marked.map(|rows| pack.reals(&by_group(&rows))),
        "window": if tables.columns("frames_groups").is_empty() {
            (*scenario.sections().observe.window).as_secs()
        } else {
            0.0
        },
    })
}

/// For every group, the share of packets that arrived within a time, at the times where it grows.
pub(crate) fn latencies(scenario: &Scenario, tables: &Tables, pack: &mut Pack) -> Vec<Value> {
    let (of, to) = (tables.text("latencies", "group"), tables.numbers("latencies", "to"));
    let (from, packets) = (tables.numbers("latencies", "from"), tables.numbers("latencies", "packets"));
    let curve = |name: String| {
        let rows: Vec<usize> = (0..to.len()).filter(|&row| of[row] == name).collect();
        let total: f64 = rows.iter().map(|&row| packets[row]).sum();
        let (mut times, mut shares, mut sum) = (vec![], vec![], 0.0);
        for row in rows {
            // Between ranges the curve is flat.
            if times.last() != Some(&from[row]) {
                times.push(from[row]);
                shares.push(sum / total);
            }
            sum += packets[row];
            times.push(to[row]);
            shares.push(sum / total);
        }
        json!({"packets": total, "times": pack.reals(&times), "shares": pack.reals(&shares)})
    };
    scenario.group_names().into_iter().map(curve).collect()
}

/// The table of groups, with the rate per source and the delivered share of the offered traffic.
pub(crate) fn table<'a>(scenario: &Scenario, tables: &Tables, schema: &'a Schema) -> Option<Shown<'a>> {
    let names = tables.text("groups", "group");
    if names.is_empty() {
        return None;
    }
    let mut sources: Vec<HashSet<u32>> = vec![HashSet::new(); names.len()];
    for (source, _, group) in scenario.flow_ends() {
        sources[group as usize].insert(source.0);
    }
    let sources: Vec<f64> = sources.iter().map(|hosts| hosts.len() as f64).collect();
    let rates = tables.numbers("groups", "rate");
    let of = tables.text("victims", "group");
    let sum = |column: &str, name: &str| -> f64 {
        let values = tables.numbers("victims", column);
        of.iter().zip(values).filter(|(group, _)| *group == name).map(|(_, value)| value).sum()
    };
    let got = names.iter().map(|name| sum("delivered", name) / sum("offered", name)).collect::<Vec<f64>>();
    let rows: Vec<usize> = (0..names.len()).collect();
    let mut shown = Shown::new("groups", "groups", schema, names.len());
    let each: Vec<f64> = rates.iter().zip(&sources).map(|(rate, sources)| rate / sources).collect();
    ["group", "flows"].into_iter().for_each(|name| shown.column(tables, name, &rows));
    shown.derived("sources", "count", "hosts", "Number of sending hosts.", &sources);
    shown.column(tables, "rate", &rows);
    shown.derived("rate_per_source", "rate", "B/s", "`rate` divided by the number of sources.", &each);
    let meaning = "Delivered bytes divided by offered bytes, as in the table `victims`.";
    shown.derived("delivered_of_offered", "share", "", meaning, &got);
    let shown_before = ["flows", "rate", "share"];
    for column in tables.columns("groups").iter().skip(1).filter(|c| !shown_before.contains(&c.name.as_str())) {
        shown.column(tables, &column.name, &rows);
    }
    Some(shown)
}
